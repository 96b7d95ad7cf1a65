"""Nobody forgets a saga: started, watched, resumed, handed to a person when automation has tried often enough."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from functions.domain.cases import ANNOUNCE_AGAIN, Case, CaseCause, Resolution
from functions.domain.ledger import head as heads
from functions.domain.ledger.records import Attention, Head, SagaOutcome
from functions.domain.ledger.status import Status, status
from functions.domain.shape import Shape
from functions.ports import JSON, MachineGone, NoMachine, Table
from functions.usecases import errors
from functions.usecases.begin_compensation import begin_compensation
from functions.usecases.cancel_saga import cancel_saga
from functions.usecases.claim_case import claim_case
from functions.usecases.open_case import open_case
from functions.usecases.records import changed, created, read_case
from functions.usecases.rescue import rescue
from functions.usecases.resolve_case import resolve_case
from functions.usecases.run_step import run_step
from functions.usecases.start_saga import LOOK_AGAIN, START_AGAIN, attend_to, drive
from functions.usecases.sweep import AT_ONCE, SHARDS, sweep
from tests.unit.kernel import SAGA, Bench, Killed
from tests.unit.kernel_machine import attend, compiled, rest, swept


def admitted(**more: Any) -> Bench:
    """A saga that an agent's plan has just become: nothing drives it yet."""
    bench = Bench(**more)
    bench.admit(epoch=0)
    return bench


def started(bench: Bench) -> list[str]:
    return bench.machines.started


def rescued(bench: Bench, execution: str) -> str:
    return rescue(
        bench.store,
        lambda saga: drive(bench.store, bench.clock, bench.machines, bench.notices, compiled, saga),
        execution,
    )


def kill(bench: Bench, act: Callable[[], object], point: int) -> bool:
    """Do it, dying at the n-th point; False where there are fewer points."""
    bench.wire.kill_after(point)
    try:
        act()
    except Killed:
        return True
    finally:
        bench.wire.kill_at = None
    return False


# Starting


def test_an_admitted_saga_gets_its_machine_and_its_first_driver() -> None:
    bench = admitted()
    assert status(bench.saga) is Status.ADMITTED
    assert attend(bench) == "started"
    head = bench.head
    assert started(bench) == [f"{SAGA}-1"]
    assert (head.epoch, head.execution, head.wanted) == (1, f"{SAGA}-1", None)
    assert head.machine in bench.machines.machines
    assert head.due_at == bench.clock.at + START_AGAIN


def test_however_often_the_stream_delivers_it_one_driver_is_started() -> None:
    bench = admitted()
    said = [attend(bench) for _ in range(4)]
    assert said == ["started", "running", "running", "running"]
    assert started(bench) == [f"{SAGA}-1"]


def test_of_two_starters_at_once_one_starts() -> None:
    bench = admitted()
    said: list[str] = []

    def another(point: str) -> None:
        if point == "before write":
            bench.wire.hook = None
            said.append(attend(bench))

    bench.wire.hook = another
    said.append(attend(bench))
    assert sorted(said) == ["raced", "started"]
    assert started(bench) == [f"{SAGA}-1"]


def test_a_starter_killed_at_any_point_is_made_good_by_the_sweeper() -> None:
    for point in range(1, 20):
        bench = admitted()
        if not kill(bench, lambda b=bench: attend(b), point):
            assert point > 4
            return
        bench.clock.pass_(60)
        swept(bench)
        assert started(bench) == [f"{SAGA}-1"], point
        assert bench.head.epoch == 1
    raise AssertionError("never ran to its end")


def test_a_start_that_was_lost_after_the_head_was_written_is_made_again_under_the_same_name() -> (
    None
):
    bench = admitted()
    start = bench.machines.start

    def lost(*_: Any) -> None:
        raise ConnectionError

    bench.machines.start = lost
    with pytest.raises(ConnectionError):
        attend(bench)
    assert bench.head.execution == f"{SAGA}-1"
    assert swept(bench) == {}
    bench.machines.start = start
    bench.clock.pass_(START_AGAIN / 1000)
    assert swept(bench) == {"started": 1}
    assert started(bench) == [f"{SAGA}-1"]


def test_a_machine_that_was_deleted_is_made_again_and_remembered() -> None:
    bench = admitted()
    attend(bench)
    bench.machines.vanish()
    bench.clock.pass_(60)
    assert swept(bench) == {"started": 1}
    assert bench.head.epoch == 2
    assert bench.head.machine in bench.machines.machines
    bench.machines.machines["another"] = {}
    head = bench.head
    bench.put(head, head.model_copy(update={"machine": "gone", "execution": f"{SAGA}-3"}))
    bench.clock.pass_(60)
    assert swept(bench) == {"started": 1}
    assert bench.head.machine in bench.machines.machines
    bench.clock.pass_(600)
    assert swept(bench) == {"running": 1}


def test_a_resumed_saga_whose_machine_was_deleted_remembers_the_one_that_was_made_for_it() -> None:
    bench = admitted()
    head = bench.head
    bench.put(head, head.model_copy(update={"machine": "gone", "wanted": "resume"}))
    assert attend(bench) == "started"
    assert bench.head.machine in bench.machines.machines
    assert bench.machines.driver(bench.head.machine or "", f"{SAGA}-1") == "running"


@pytest.mark.parametrize(
    ("lost", "execution"), [("machine", f"{SAGA}-2"), ("execution", f"{SAGA}-1")]
)
def test_a_saga_of_which_no_driver_can_be_looked_for_gets_a_new_one(
    lost: str, execution: str
) -> None:
    bench = admitted()
    attend(bench)
    known = {"machine": None} if lost == "machine" else {"execution": None, "epoch": 0}
    bench.machines.started.clear()
    bench.machines.executions.clear()
    bench.put(bench.head, bench.head.model_copy(update={**known, "wanted": None}))
    assert attend(bench) == "started"
    assert started(bench) == [execution]
    assert bench.head.execution == execution
    assert bench.head.machine in bench.machines.machines


def test_a_machine_that_is_not_there_yet_leaves_the_saga_due() -> None:
    bench = admitted()
    start = bench.machines.start

    def not_yet(machine: str, *_: Any) -> None:
        raise MachineGone(machine)

    bench.machines.start = not_yet
    with pytest.raises(MachineGone):
        attend(bench)
    bench.machines.start = start
    bench.clock.pass_(60)
    assert swept(bench) == {"started": 1}


def test_a_saga_that_does_not_exist_is_nobodys() -> None:
    assert attend(Bench(), "saga-9") == "unknown"


# Watching


def test_a_live_driver_is_looked_at_again_later() -> None:
    bench = admitted()
    attend(bench)
    bench.clock.pass_(START_AGAIN / 1000)
    assert swept(bench) == {"running": 1}
    assert bench.head.due_at == bench.clock.at + LOOK_AGAIN
    assert swept(bench) == {}


def test_a_driver_that_ended_without_ending_the_saga_is_followed_by_another() -> None:
    bench = admitted()
    attend(bench)
    bench.machines.end(f"{SAGA}-1")
    bench.clock.pass_(60)
    assert swept(bench) == {"started": 1}
    assert started(bench) == [f"{SAGA}-1", f"{SAGA}-2"]
    rest(bench)
    assert bench.head.outcome is SagaOutcome.COMPLETED


def test_a_saga_that_no_driver_brings_to_an_end_becomes_a_case() -> None:
    bench = admitted()
    for _ in range(heads.DRIVERS + 3):
        attend(bench)
        bench.machines.end(bench.head.execution or "")
        bench.clock.pass_(60)
    assert len(started(bench)) == heads.DRIVERS
    assert bench.head.attention is Attention.MANUAL
    assert status(bench.saga) is Status.AWAITING_MANUAL_RESOLUTION
    [case_id] = bench.notices.cases
    case = read_case(bench.store, case_id)
    assert case is not None
    assert case.cause is CaseCause.CANNOT_RESUME
    assert case.allowed == (Resolution.RETRY,)
    assert swept(bench) == {}


def test_a_saga_whose_machine_cannot_be_made_becomes_a_case_that_says_why() -> None:
    bench = admitted()

    def no_such_function(_: Shape) -> tuple[str, dict[str, JSON]]:
        raise NoMachine("this deployment has no 'ship'" + "!" * 600)

    said = attend_to(
        bench.store, bench.clock, bench.machines, bench.notices, no_such_function, SAGA
    )
    assert said == "case"
    assert started(bench) == []
    assert bench.head.attention is Attention.MANUAL
    [case_id] = bench.head.cases
    assert bench.notices.cases == [case_id]
    case = read_case(bench.store, case_id)
    assert case is not None
    assert case.why == ("this deployment has no 'ship'" + "!" * 600)[:500]


def test_a_saga_that_was_driven_too_often_says_how_often_and_by_what() -> None:
    bench = Bench()
    bench.admit(epoch=heads.DRIVERS)
    bench.put(bench.head, bench.head.model_copy(update={"wanted": "resume"}))
    assert attend(bench) == "case"
    case = read_case(bench.store, bench.head.cases[0])
    assert case is not None
    assert (
        case.why == f"{heads.DRIVERS} executions were started; the last was {SAGA}-{heads.DRIVERS}."
    )


def test_an_ended_saga_is_due_once_more_to_say_how_long_it_is_kept() -> None:
    bench = admitted()
    attend(bench)
    rest(bench)
    assert swept(bench) == {"retained": 1}
    assert bench.head.due_at is None
    bench.clock.pass_(86_400)
    assert swept(bench) == {}


# Rescue


def test_a_failed_execution_is_followed_by_another_if_it_was_the_driver() -> None:
    bench = admitted()
    attend(bench)
    bench.machines.end(f"{SAGA}-1")
    assert rescued(bench, f"{SAGA}-1") == "started"
    assert started(bench)[-1] == f"{SAGA}-2"
    assert rescued(bench, f"{SAGA}-1") == "not ours"
    assert rescued(bench, "saga-7-1") == "not ours"


def test_a_saga_at_rest_is_not_rescued() -> None:
    bench = admitted()
    attend(bench)
    rest(bench)
    assert rescued(bench, f"{SAGA}-1") == "at rest"
    assert started(bench) == [f"{SAGA}-1"]


@pytest.mark.parametrize("index", range(5))
@pytest.mark.parametrize("at", ["before do", "after do"])
def test_an_execution_stopped_at_any_step_loses_nothing(index: int, at: str) -> None:
    bench = admitted()
    attend(bench)
    for done in range(index):
        run_step(bench.world_at(done), bench.ref(done))

    def stop(point: str) -> None:
        if point == at:
            bench.wire.hook = None
            raise Killed(point)

    bench.wire.hook = stop
    with pytest.raises(Killed):
        run_step(bench.world_at(index), bench.ref(index))
    bench.machines.end(f"{SAGA}-1")
    rescued(bench, f"{SAGA}-1")
    rest(bench)
    assert bench.head.outcome is SagaOutcome.COMPLETED
    assert [bench.target.count(bench.key(i)) for i in range(5)] == [1] * 5


# Sweeping


def test_one_item_that_fails_each_time_keeps_none_of_the_others_from_its_turn() -> None:
    bench = Bench()
    for number in range(AT_ONCE + 5):
        bench.clock.at += 1
        bench.admit(saga_id=f"saga-x{number}", epoch=0)
    last = f"saga-x{AT_ONCE + 4}"
    attended: list[str] = []

    def failing(saga_id: str) -> str:
        attended.append(saga_id)
        if saga_id != last:
            raise ConnectionError
        return "started"

    done = sweep(
        bench.store,
        bench.clock,
        bench.callbacks,
        bench.notices,
        failing,
        lambda _tenant, _request: "request",
    )
    assert done == {"failed": AT_ONCE + 4, "started": 1}
    assert len(attended) == len(set(attended)) == AT_ONCE + 5


def test_more_items_than_a_page_in_one_shard_are_all_attended_to() -> None:
    bench = Bench()
    bench.admit()
    head = bench.head
    for number in range(AT_ONCE + 7):
        record = head.model_copy(
            update={"saga_id": f"saga-y{number}", "due_shard": SHARDS[0], "due_at": 1}
        )
        bench.store.write([created(record)])
    attended: list[str] = []
    sweep(
        bench.store,
        bench.clock,
        bench.callbacks,
        bench.notices,
        lambda saga_id: attended.append(saga_id) or "x",
        lambda _tenant, _request: "request",
    )
    assert len(attended) == AT_ONCE + 7


def test_every_sagas_shard_is_one_that_the_sweeper_reads() -> None:
    assert {heads.due_shard(f"saga-{n}") for n in range(200)} == set(SHARDS)


def the_open_case(bench: Bench) -> Case:
    bench.admit()
    run_step(bench.world_at(0), bench.ref(0))
    begin_compensation(bench.store, bench.clock, bench.ref(1))
    open_case(bench.store, bench.clock, bench.notices, bench.ref(0), "undo")
    case = read_case(bench.store, bench.step(0).case or "")
    assert case is not None
    return case


def test_an_open_case_is_announced_again_before_the_queue_forgets_it() -> None:
    bench = Bench()
    case = the_open_case(bench)
    assert bench.notices.cases == [case.id]
    for number in range(1, 4):
        bench.clock.pass_(ANNOUNCE_AGAIN / 1000)
        assert swept(bench)["announced"] == 1
        assert swept(bench).get("announced") is None
        assert bench.notices.cases == [case.id] * (number + 1)
    assert ANNOUNCE_AGAIN < 14 * 24 * 3600 * 1000


def test_a_settled_case_is_announced_no_more() -> None:
    bench = Bench()
    case = the_open_case(bench)
    who: dict[str, Any] = {
        "tenants": frozenset({"acme"}),
        "person": "operator-1",
        "groups": frozenset({"operators"}),
    }
    claim_case(bench.store, bench.clock, case.id, **who)
    resolve_case(
        bench.store,
        bench.clock,
        case.id,
        **who,
        resolution=Resolution.RETRY,
        evidence=None,
        settles_after=0,
    )
    bench.clock.pass_(ANNOUNCE_AGAIN / 1000)
    assert "announced" not in swept(bench)
    people, _ = bench.store.index(Table.PEOPLE, "due", heads.due_shard(SAGA), up_to=2**53)
    assert people == []
    opened, _ = bench.store.index(Table.PEOPLE, "open", "case#acme")
    assert opened == []


# Resuming


def test_completed_steps_answer_a_new_driver_from_the_ledger() -> None:
    bench = admitted()
    attend(bench)
    for index in range(3):
        run_step(bench.world_at(index), bench.ref(index))
    calls = list(bench.target.calls)
    bench.machines.end(f"{SAGA}-1")
    bench.clock.pass_(60)
    swept(bench)
    rest(bench)
    assert bench.target.calls[: len(calls)] == calls
    assert len(bench.target.calls) == 5
    assert bench.head.outcome is SagaOutcome.COMPLETED


def test_a_compensating_saga_goes_on_at_its_first_unresolved_undo() -> None:
    bench = admitted()
    attend(bench)
    for index in range(2):
        run_step(bench.world_at(index), bench.ref(index))
    bench.target.trouble(bench.key(2), "refuse")
    left = iter(range(1))

    def die(point: str) -> None:
        if point == "before undo" and bench.target.count(bench.key(1, "undo")):
            if next(left, None) is None:
                return
            raise ConnectionError

    bench.wire.hook = die
    rest(bench)
    assert bench.head.outcome is SagaOutcome.COMPENSATED
    assert [bench.target.count(bench.key(i, "undo")) for i in range(2)] == [1, 1]


def test_a_driver_that_dies_after_the_turn_never_leads_forward_again() -> None:
    bench = admitted()
    attend(bench)
    run_step(bench.world_at(0), bench.ref(0))
    begin_compensation(bench.store, bench.clock, bench.ref(1))
    bench.machines.end(f"{SAGA}-1")
    bench.clock.pass_(60)
    swept(bench)
    rest(bench)
    assert bench.head.outcome is SagaOutcome.COMPENSATED
    assert bench.target.count(bench.key(1)) == 0


def test_a_branch_in_a_persons_hands_does_not_strand_the_others() -> None:
    bench = admitted(reserve={"independent_of": ("hold",)})
    attend(bench)
    for index in range(2):
        run_step(bench.world_at(index), bench.ref(index))
    begin_compensation(bench.store, bench.clock, bench.ref(2))
    open_case(bench.store, bench.clock, bench.notices, bench.ref(1), "undo")
    bench.machines.end(f"{SAGA}-1")
    assert bench.head.attention is Attention.BLOCKED
    bench.clock.pass_(60)
    swept(bench)
    rest(bench)
    assert bench.target.count(bench.key(0, "undo")) == 1
    assert bench.head.outcome is None
    assert status(bench.saga) is Status.COMPENSATION_BLOCKED


def test_a_late_effect_of_a_step_that_has_an_open_case_gets_its_own_case_after_it() -> None:
    bench = Bench()
    case = the_open_case(bench)
    step, head = bench.step(0), bench.head
    bench.store.write(
        [
            changed(step, step.model_copy(update={"late": "a second effect"})),
            changed(head, heads.want(head, "case", now=bench.clock.at)),
        ]
    )
    attend(bench)
    assert bench.step(0).case == case.id
    step, head = bench.step(0), bench.head
    bench.store.write(
        [
            changed(step, step.model_copy(update={"case": None})),
            changed(head, heads.want(head, "resume", now=bench.clock.at)),
        ]
    )
    assert attend(bench) == "case"
    assert bench.step(0).case not in {None, case.id}


def test_a_cancelled_saga_whose_driver_is_gone_is_driven_to_its_end() -> None:
    bench = admitted()
    attend(bench)
    run_step(bench.world_at(0), bench.ref(0))
    bench.machines.end(f"{SAGA}-1")
    cancel_saga(bench.store, bench.clock, bench.callbacks, SAGA, person="operator-1")
    bench.clock.pass_(60)
    swept(bench)
    rest(bench)
    assert bench.head.outcome is SagaOutcome.COMPENSATED


def test_an_execution_is_named_by_its_saga_and_its_number() -> None:
    bench = admitted()
    attend(bench)
    assert bench.ref(0).epoch == 1
    head: Head = bench.head
    assert head.execution == f"{SAGA}-{head.epoch}"


def test_a_saga_that_turned_at_its_first_step_is_driven_by_a_second_execution_too() -> None:
    bench = admitted()
    attend(bench)
    bench.target.trouble(bench.key(0), "refuse")
    with pytest.raises(errors.StepRefused):
        run_step(bench.world_at(0), bench.ref(0))
    bench.machines.end(f"{SAGA}-1")
    bench.clock.pass_(60)
    swept(bench)
    rest(bench)
    assert bench.head.outcome is SagaOutcome.COMPENSATED
