"""Cases: opened with what a person needs, settled once, and after that automation goes on from the ledger."""

from __future__ import annotations

from typing import Any

import pytest

from functions.domain.cases import Case, CaseCause, Resolution
from functions.domain.ledger.head import open_shard
from functions.domain.ledger.records import (
    Attention,
    Direction,
    ForwardState,
    Pivot,
    SagaOutcome,
    UndoState,
)
from functions.domain.outcome import Receipt
from functions.usecases import errors
from functions.usecases.begin_compensation import begin_compensation
from functions.usecases.case_effects import Agreement, saga_changes
from functions.usecases.claim_case import claim_case
from functions.usecases.finish_compensation import finish_compensation
from functions.usecases.open_case import open_case
from functions.usecases.records import key_of, read_case
from functions.usecases.resolve_case import Answer, AttemptAlive, NotAllowed, Settled, resolve_case
from functions.usecases.run_step import run_step
from functions.usecases.settle_step import settle_boundary
from functions.usecases.undo_step import undo_step
from tests.unit.kernel import SAGA, SETTLES_AFTER, Bench, Killed
from tests.unit.kernel_machine import attend, rest, swept

WHO: dict[str, Any] = {
    "tenants": frozenset({"acme"}),
    "person": "operator-1",
    "groups": frozenset({"operators"}),
}
MILLIS = int(SETTLES_AFTER.total_seconds() * 1000)


def the_case(bench: Bench, index: int) -> Case:
    case = read_case(bench.store, bench.step(index).case or "")
    assert case is not None
    return case


def opened(bench: Bench, index: int, side: Any) -> Case:
    open_case(bench.store, bench.clock, bench.notices, bench.ref(index), side)
    return the_case(bench, index)


def resolve(
    bench: Bench, case: Case, resolution: Resolution = Resolution.RETRY, **more: Any
) -> Answer | None:
    claim_case(bench.store, bench.clock, case.id, **WHO)
    return resolve_case(
        bench.store,
        bench.clock,
        case.id,
        **{
            **WHO,
            "resolution": resolution,
            "evidence": "seen in the console",
            "settles_after": MILLIS,
            **more,
        },
    )


def run(bench: Bench, *indexes: int) -> None:
    for index in indexes:
        run_step(bench.world_at(index), bench.ref(index))


def compensating(bench: Bench, *done: int, because: int) -> None:
    """Steps `done` have taken effect, then the saga turns."""
    run(bench, *done)
    begin_compensation(bench.store, bench.clock, bench.ref(because))


def test_an_undo_whose_outcome_is_unknown_can_be_retried_by_a_person() -> None:
    bench = Bench()
    bench.admit()
    compensating(bench, 0, because=1)
    bench.target.trouble(bench.key(0, "undo"), "lost")
    bench.target.trouble(bench.key(0, "undo"), *["silent"] * 20, operation="status")
    for _ in range(6):
        with pytest.raises(errors.StepError):
            undo_step(bench.world_at(0), bench.ref(0))
        bench.lapse(0)
        bench.target.trouble(bench.key(0, "undo"), "silent")
    case = opened(bench, 0, "undo")
    assert isinstance(resolve(bench, case), Settled)
    bench.target.troubles.clear()
    assert undo_step(bench.world_at(0), bench.ref(0))["outcome"] in {"settled", "applied"}
    assert bench.target.count(bench.key(0, "undo")) == 1


@pytest.mark.parametrize("resolution", [Resolution.RETRY, Resolution.DONE])
def test_a_case_can_be_settled_when_the_undo_has_succeeded_late_in_the_meantime(
    resolution: Resolution,
) -> None:
    bench = Bench()
    bench.admit()
    compensating(bench, 0, because=1)
    opened_by: list[Case] = []

    def taken_over(point: str) -> None:
        if point == "after undo":
            bench.wire.hook = None
            bench.lapse(0)
            opened_by.append(opened(bench, 0, "undo"))

    bench.wire.hook = taken_over
    undo_step(bench.world_at(0), bench.ref(0))
    undo = bench.step(0).undo
    assert undo is not None
    assert undo.state is UndoState.SUCCEEDED
    assert isinstance(resolve(bench, opened_by[0], resolution), Settled)
    assert bench.step(0).case is None
    assert bench.step(0).undo == undo


def test_a_person_who_did_the_boundary_by_hand_takes_the_saga_across_it() -> None:
    bench = Bench("person")
    bench.admit()
    run(bench, 0, 1)
    bench.target.trouble(bench.key(2), "silent")
    with pytest.raises(errors.OutcomeUnknown):
        run_step(bench.world_at(2), bench.ref(2))
    with pytest.raises(errors.PersonNeeded):
        settle_boundary(bench.world_at(2), bench.ref(2))
    case = opened(bench, 2, "do")
    bench.lapse(2)
    assert isinstance(resolve(bench, case, Resolution.DONE), Settled)
    assert bench.head.pivot is Pivot.CROSSED
    attend(bench)
    rest(bench)
    assert bench.head.outcome is SagaOutcome.COMPLETED


def test_a_boundary_that_is_the_last_step_and_done_by_hand_completes_the_saga() -> None:
    bench = Bench("person")
    bench.admit("reserve", "hold", "charge")
    run(bench, 0, 1)
    bench.target.trouble(bench.key(2), "silent")
    with pytest.raises(errors.OutcomeUnknown):
        run_step(bench.world_at(2), bench.ref(2))
    case = opened(bench, 2, "do")
    bench.lapse(2)
    assert isinstance(resolve(bench, case, Resolution.DONE), Settled)
    assert bench.head.outcome is SagaOutcome.COMPLETED
    assert bench.head.pivot is Pivot.CROSSED


def test_a_boundary_that_was_never_started_cannot_be_declared_done_by_hand() -> None:
    bench = Bench()
    bench.admit()
    run(bench, 0, 1)
    case = opened(bench, 2, "do")
    assert isinstance(resolve(bench, case, Resolution.DONE), NotAllowed)
    assert bench.step(2).forward.state is ForwardState.PREPARED
    assert bench.head.pivot is Pivot.AHEAD
    assert isinstance(resolve(bench, case), Settled)


def test_a_boundary_that_was_refused_after_its_case_was_opened_cannot_be_declared_done() -> None:
    bench = Bench()
    bench.admit()
    run(bench, 0, 1)
    bench.target.trouble(bench.key(2), "refuse")
    cases: list[Case] = []

    def given_up(point: str) -> None:
        if point == "after do":
            bench.wire.hook = None
            cases.append(opened(bench, 2, "do"))

    bench.wire.hook = given_up
    with pytest.raises(errors.StepRefused):
        run_step(bench.world_at(2), bench.ref(2))
    assert Resolution.DONE in cases[0].allowed
    assert bench.head.pivot is Pivot.AHEAD
    bench.lapse(2)
    assert resolve(bench, cases[0], Resolution.DONE) == NotAllowed((Resolution.RETRY,))
    assert bench.step(2).forward.state is ForwardState.REFUSED


@pytest.mark.parametrize(
    "who",
    [
        {"case_id": "no-such-case"},
        {"tenants": frozenset({"globex"})},
        {"groups": frozenset({"approvers"})},
    ],
    ids=["unknown", "of another tenant", "of another group"],
)
def test_nobody_settles_a_case_that_is_not_theirs(who: dict[str, Any]) -> None:
    bench = Bench()
    bench.admit()
    compensating(bench, 0, because=1)
    case = opened(bench, 0, "undo")
    claim_case(bench.store, bench.clock, case.id, **WHO)
    before = bench.saga
    asked: dict[str, Any] = {"case_id": case.id, **WHO, **who}
    said = resolve_case(
        bench.store,
        bench.clock,
        **asked,
        resolution=Resolution.RETRY,
        evidence=None,
        settles_after=MILLIS,
    )
    assert said is None
    assert bench.saga == before


def test_a_case_of_a_saga_that_was_forgotten_is_no_longer_settled() -> None:
    bench = Bench()
    bench.admit()
    compensating(bench, 0, because=1)
    case = opened(bench, 0, "undo")
    claim_case(bench.store, bench.clock, case.id, **WHO)
    del bench.store._items[key_of(bench.head)]
    assert resolve(bench, case) is None
    assert read_case(bench.store, case.id) is not None


def test_a_person_who_found_no_effect_of_an_unknown_call_leaves_nothing_to_be_undone() -> None:
    bench = Bench("keys")
    bench.admit()
    bench.target.trouble(bench.key(0), "silent")
    with pytest.raises(errors.OutcomeUnknown):
        run_step(bench.world_at(0), bench.ref(0))
    begin_compensation(bench.store, bench.clock, bench.ref(0))
    bench.lapse(0)
    case = opened(bench, 0, "undo")
    assert isinstance(resolve(bench, case, Resolution.DID_NOT_HAPPEN), Settled)
    assert bench.step(0).forward.state is ForwardState.RELEASED
    assert undo_step(bench.world_at(0), bench.ref(0))["outcome"] == "settled"
    undo = bench.step(0).undo
    assert undo is not None
    assert undo.state is UndoState.NOT_NEEDED
    assert bench.target.count(bench.key(0, "undo")) == 0


def test_a_step_whose_worker_died_can_be_done_by_hand_once_no_late_effect_is_possible() -> None:
    bench = Bench("keys")
    bench.admit()
    run(bench, 0, 1, 2)
    bench.wire.hook = lambda point: die(point, "before do")
    with pytest.raises(Killed):
        run_step(bench.world_at(3), bench.ref(3))
    bench.wire.hook = None
    case = opened(bench, 3, "do")
    assert bench.step(3).forward.state is ForwardState.STARTED
    assert isinstance(resolve(bench, case, Resolution.DONE), AttemptAlive)
    bench.lapse(3)
    assert isinstance(resolve(bench, case, Resolution.DONE), Settled)
    assert bench.step(3).forward.by_hand


def test_a_step_that_never_started_can_be_done_by_hand_after_the_boundary() -> None:
    bench = Bench()
    bench.admit()
    run(bench, 0, 1, 2)
    case = opened(bench, 3, "do")
    assert isinstance(resolve(bench, case, Resolution.DONE), Settled)
    receipt = bench.step(3).forward.receipt
    assert receipt == Receipt(
        resource=f"by hand: {case.id}", details={"evidence": "seen in the console"}
    )
    attend(bench)
    rest(bench)
    assert bench.head.outcome is SagaOutcome.COMPLETED
    assert bench.target.count(bench.key(3)) == 0


@pytest.mark.parametrize(
    ("said", "kept"), [(None, {}), ("w" * 600, {"evidence": "w" * 500})], ids=["nothing", "a lot"]
)
def test_what_a_person_says_is_kept_with_the_receipt_as_far_as_it_fits(
    said: str | None, kept: dict[str, str]
) -> None:
    bench = Bench()
    bench.admit()
    run(bench, 0, 1, 2)
    case = opened(bench, 3, "do")
    settled = case.model_copy(update={"allowed": (Resolution.DONE,)})
    changes = saga_changes(
        bench.saga, settled, Agreement(Resolution.DONE, said), bench.clock.now(), MILLIS
    )
    assert isinstance(changes, list)
    bench.store.write(changes)
    receipt = bench.step(3).forward.receipt
    assert receipt is not None
    assert receipt.details == kept


def comes_late(bench: Bench, index: int, **changes: Any) -> None:
    """The effect of a step is recorded when nobody expected it any more."""
    step = bench.step(index)
    effect = step.forward.model_copy(
        update={"state": ForwardState.COMPLETED, "receipt": Receipt(resource="late-1")}
    )
    late = {"forward": effect, "late": "it came late", **changes}
    bench.put(step, step.model_copy(update=late))


def two_cases(bench: Bench, *, late: int) -> Case:
    """A saga that compensates: the undo of step 1 was given up, and an effect of step `late` came too late."""
    bench.admit()
    compensating(bench, 0, 1, because=2)
    case = opened(bench, 1, "undo")
    comes_late(bench, late)
    assert attend(bench) == "case"
    assert bench.head.attention is Attention.MANUAL
    return case


@pytest.mark.parametrize("late", [0, 2], ids=["of a step with an undo", "of the boundary"])
def test_a_settled_undo_does_not_hide_the_case_of_a_late_effect(late: int) -> None:
    bench = Bench()
    case = two_cases(bench, late=late)
    assert isinstance(resolve(bench, case, Resolution.DONE), Settled)
    assert bench.head.attention is Attention.MANUAL
    assert isinstance(resolve(bench, the_case(bench, late), Resolution.DONE), Settled)
    assert bench.head.attention is Attention.NONE


def test_what_is_left_are_undos_and_is_shown_as_blocked() -> None:
    bench = Bench()
    two_cases(bench, late=0)
    assert isinstance(resolve(bench, the_case(bench, 0), Resolution.DONE), Settled)
    assert bench.head.attention is Attention.BLOCKED


def die(point: str, at: str) -> None:
    if point == at:
        raise Killed(point)


def test_a_retried_undo_case_asks_again_about_a_forward_call_that_nobody_knew_of() -> None:
    bench = Bench("keys+status")
    bench.admit()
    bench.target.trouble(bench.key(0), "lost")
    with pytest.raises(errors.OutcomeUnknown):
        run_step(bench.world_at(0), bench.ref(0))
    begin_compensation(bench.store, bench.clock, bench.ref(0))
    bench.target.trouble("", *["silent"] * 20, operation="status")
    for _ in range(10):
        with pytest.raises(errors.StepError):
            undo_step(bench.world_at(0), bench.ref(0))
    case = opened(bench, 0, "undo")
    assert isinstance(resolve(bench, case), Settled)
    bench.target.troubles.clear()
    assert undo_step(bench.world_at(0), bench.ref(0))["outcome"] == "applied"
    assert bench.target.count(bench.key(0, "undo")) == 1


def test_a_saga_that_no_driver_could_end_gets_drivers_again_when_its_case_is_settled() -> None:
    bench = Bench()
    bench.admit()
    exhausted = bench.head.model_copy(update={"drivers_left": 0, "due_at": bench.clock.at})
    bench.put(bench.head, exhausted)
    bench.machines.executions["machine-1", f"{SAGA}-1"] = "ended"
    assert attend(bench) == "case"
    assert bench.head.attention is Attention.MANUAL
    [case_id] = bench.notices.cases
    case = read_case(bench.store, case_id)
    assert case is not None
    assert isinstance(resolve(bench, case), Settled)
    attend(bench)
    rest(bench)
    assert bench.head.outcome is SagaOutcome.COMPLETED


def test_a_saga_that_could_not_be_resumed_goes_on_with_the_functions_of_today() -> None:
    bench = Bench()
    bench.admit()
    bench.put(bench.head, bench.head.model_copy(update={"drivers_left": 0, "machine": "old"}))
    bench.machines.executions["old", f"{SAGA}-1"] = "ended"
    assert attend(bench) == "case"
    case = read_case(bench.store, bench.notices.cases[0])
    assert case is not None
    assert bench.head.machine == "old"
    resolve(bench, case)
    assert attend(bench) == "started"
    assert bench.head.machine not in {None, "old"}
    assert bench.machines.executions.keys() >= {(bench.head.machine, f"{SAGA}-2")}


def test_a_retried_undo_leaves_a_call_that_is_known_as_it_was() -> None:
    bench = Bench()
    bench.admit()
    compensating(bench, 0, because=1)
    before = bench.step(0).forward
    case = opened(bench, 0, "undo")
    assert isinstance(resolve(bench, case), Settled)
    assert bench.step(0).forward == before


def test_a_case_opens_however_long_the_words_that_describe_it() -> None:
    bench = Bench()
    bench.admit()
    compensating(bench, 0, because=1)
    step = bench.step(0)
    assert step.forward.receipt is not None
    receipt = step.forward.receipt.model_copy(update={"resource": "r" * 300})
    forward = step.forward.model_copy(update={"receipt": receipt})
    bench.put(step, step.model_copy(update={"sentence": "s" * 500, "forward": forward}))
    case = opened(bench, 0, "undo")
    assert len(case.obligation) <= 500
    assert "un_reserve" in case.obligation


def test_an_ended_saga_does_not_stay_due_after_its_late_case_is_settled() -> None:
    bench = Bench()
    bench.admit()
    run(bench, 0, 1, 2, 3, 4)
    step = bench.step(0)
    bench.put(step, step.model_copy(update={"late": "a second effect was reported"}))
    assert attend(bench) == "case"
    ended_at = bench.head.ended_at
    bench.clock.pass_(60)
    assert isinstance(resolve(bench, the_case(bench, 0), Resolution.DONE), Settled)
    assert bench.head.ended_at == ended_at
    for _ in range(3):
        bench.clock.pass_(600)
        swept(bench)
    assert bench.head.due_at is None
    assert bench.head.outcome is SagaOutcome.COMPLETED
    assert bench.machines.started == []


def test_a_boundary_that_took_effect_after_the_turn_is_a_persons_and_has_no_undo_to_settle() -> (
    None
):
    bench = Bench()
    bench.admit()
    compensating(bench, 0, 1, because=2)
    comes_late(bench, 2)
    assert attend(bench) == "case"
    case = the_case(bench, 2)
    assert case.allowed == (Resolution.DONE, Resolution.ACCEPT)
    assert isinstance(resolve(bench, case, Resolution.DONE), Settled)
    after = bench.step(2)
    assert (after.case, after.late, after.undo) == (None, None, None)
    assert after.forward.receipt == Receipt(resource="late-1")


def late_second_effect(bench: Bench) -> Case:
    """A stalled worker reports an effect of its own, beside the one that its successor has recorded."""

    def takeover(point: str) -> None:
        if point == "after do":
            bench.wire.hook = None
            bench.lapse(0)
            bench.target.effects.clear()
            run(bench, 0)

    bench.wire.hook = takeover
    run(bench, 0)
    assert attend(bench) == "case"
    return the_case(bench, 0)


def test_settling_another_steps_case_takes_no_saga_across_its_boundary() -> None:
    bench = Bench("status")
    bench.admit()
    run(bench, 0, 1)
    bench.target.trouble(bench.key(2), "lost")
    with pytest.raises(errors.OutcomeUnknown):
        run_step(bench.world_at(2), bench.ref(2))
    step = bench.step(0)
    bench.put(step, step.model_copy(update={"late": "a second effect", "doubled": True}))
    assert attend(bench) == "case"
    assert bench.head.pivot is Pivot.CROSSING
    assert isinstance(resolve(bench, the_case(bench, 0), Resolution.DONE), Settled)
    assert (bench.head.pivot, bench.head.direction) == (Pivot.CROSSING, Direction.FORWARD)


@pytest.mark.parametrize(
    ("resolution", "wanted"), [(Resolution.RETRY, "resume"), (Resolution.DONE, None)]
)
def test_an_ended_saga_is_driven_again_only_where_a_late_effect_is_still_to_be_undone(
    resolution: Resolution, wanted: str | None
) -> None:
    bench = Bench()
    bench.admit()
    compensating(bench, because=0)
    assert finish_compensation(bench.store, bench.clock, SAGA) == "compensated"
    step = bench.step(0)
    assert step.undo is not None
    owed = step.undo.model_copy(update={"state": UndoState.PENDING, "inputs": {"order": "4471"}})
    comes_late(bench, 0, undo=owed)
    assert attend(bench) == "case"
    assert isinstance(resolve(bench, the_case(bench, 0), resolution), Settled)
    assert bench.head.wanted == wanted
    assert (bench.head.open is not None) is (wanted is not None)


def test_a_retried_step_past_the_boundary_is_driven_on_and_listed_as_open() -> None:
    bench = Bench()
    bench.admit()
    run(bench, 0, 1, 2)
    case = opened(bench, 3, "do")
    assert bench.head.wanted is None
    assert isinstance(resolve(bench, case), Settled)
    assert (bench.head.wanted, bench.head.open) == ("resume", open_shard(SAGA))


def test_a_persons_retry_is_driven_although_another_case_is_still_open() -> None:
    bench = Bench()
    bench.admit()
    run(bench, 0, 1, 2)
    step = bench.step(0)
    bench.put(step, step.model_copy(update={"late": "a second effect", "doubled": True}))
    assert attend(bench) == "case"
    bench.machines.executions["machine-1", f"{SAGA}-1"] = "ended"
    assert isinstance(resolve(bench, opened(bench, 3, "do")), Settled)
    assert attend(bench) == "started"
    rest(bench)
    assert bench.head.outcome is SagaOutcome.COMPLETED
    assert bench.head.attention is Attention.MANUAL


def test_dealing_with_a_second_effect_leaves_the_first_one_to_be_undone() -> None:
    bench = Bench("status")
    bench.admit()
    case = late_second_effect(bench)
    assert case.cause is CaseCause.SECOND_EFFECT
    assert case.allowed == (Resolution.DONE, Resolution.ACCEPT)
    assert isinstance(resolve(bench, case, Resolution.DONE), Settled)
    begin_compensation(bench.store, bench.clock, bench.ref(1))
    assert undo_step(bench.world_at(0), bench.ref(0))["outcome"] == "applied"
    assert bench.target.count(bench.key(0, "undo")) == 1


def test_a_late_effect_beside_an_open_case_is_not_forgotten_with_it() -> None:
    bench = Bench()
    bench.admit()
    compensating(bench, 0, because=1)
    step = bench.step(0)
    bench.put(step, step.model_copy(update={"late": "a second effect", "doubled": True}))
    case = opened(bench, 0, "undo")
    assert case.cause is not CaseCause.SECOND_EFFECT
    assert attend(bench) != "case"
    assert bench.step(0).case == case.id
    assert isinstance(resolve(bench, case, Resolution.DONE), Settled)
    assert attend(bench) == "case"
    assert the_case(bench, 0).cause is CaseCause.SECOND_EFFECT
