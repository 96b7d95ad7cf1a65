"""Turning a saga, undoing what it did in order, and the end of it: whatever dies on the way."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from functions.domain.cases import CaseCause
from functions.domain.ledger import forward
from functions.domain.ledger.records import (
    Attention,
    Direction,
    ForwardState,
    Pivot,
    SagaOutcome,
    UndoState,
)
from functions.usecases import errors
from functions.usecases.begin_compensation import begin_compensation
from functions.usecases.cancel_saga import Cancelled, TooLate, cancel_saga
from functions.usecases.finish_compensation import finish_compensation
from functions.usecases.open_case import open_case
from functions.usecases.records import read_case
from functions.usecases.run_step import run_step
from functions.usecases.undo_step import undo_step
from functions.usecases.world import StepRef
from tests.unit.kernel import KEYS_KEPT_FOR, SAGA, SETTLES, SETTLES_AFTER, Bench, Killed
from tests.unit.kernel_machine import attend, rest, swept

UNDO_KEYED = ["keys+status+tombstone", "keys+status", "keys"]
PATIENT = {"StillRunning", "NotSettledYet", "OutcomeUnknown", "NotAppliedYet"}


def run(bench: Bench, *indexes: int) -> None:
    for index in indexes:
        run_step(bench.world_at(index), bench.ref(index))


def begin(bench: Bench, index: int, epoch: int | None = None) -> None:
    begin_compensation(bench.store, bench.clock, bench.ref(index, epoch))


def finish(bench: Bench) -> str:
    return finish_compensation(bench.store, bench.clock, SAGA)


def turned(bench: Bench, *done: int, because: int) -> Bench:
    """Steps `done` took effect, then the saga turned because of another."""
    bench.admit()
    run(bench, *done)
    begin(bench, because)
    return bench


def undo(bench: Bench, index: int) -> str:
    """One delivery of an undo: what the machine is told."""
    try:
        return undo_step(bench.world_at(index), bench.ref(index))["outcome"]
    except errors.StepError as error:
        return type(error).__name__
    except Killed:
        return "Killed"


def undone(bench: Bench, index: int) -> str:
    """Deliveries until one is final, with the machine's patience between them."""
    said = ""
    for _ in range(12):
        said = undo(bench, index)
        if said not in PATIENT:
            return said
        bench.lapse(index)
    return said


def state_of(bench: Bench, index: int) -> UndoState:
    undo = bench.step(index).undo
    assert undo is not None
    return undo.state


def die_at(at: str) -> Callable[[str], None]:
    def hook(point: str) -> None:
        if point == at:
            raise Killed(point)

    return hook


# Turning


def test_the_turn_is_one_write_of_direction_and_bars() -> None:
    bench = Bench()
    bench.admit()
    run(bench, 0)
    writes = bench.store.writes
    begin(bench, 1)
    assert bench.store.writes - writes == 1
    assert bench.head.direction is Direction.COMPENSATING
    assert [s.forward.barred for s in bench.saga.steps] == [False, True, True, True, True]


def test_turning_again_changes_nothing() -> None:
    bench = turned(Bench(), 0, because=1)
    before = bench.saga
    begin(bench, 1)
    begin(bench, 0)
    assert bench.saga == before


def test_the_reason_is_what_the_failed_step_reported() -> None:
    bench = Bench()
    bench.admit()
    run(bench, 0)
    bench.target.trouble(bench.key(1), "refuse")
    with pytest.raises(errors.StepRefused):
        run(bench, 1)
    begin(bench, 1)
    assert bench.head.reason == "hold was refused: declined"


@pytest.mark.parametrize("at", ["crossing", "crossed"])
def test_nothing_turns_at_the_boundary_or_past_it(at: str) -> None:
    bench = Bench()
    bench.admit()
    run(bench, 0, 1)
    if at == "crossing":
        bench.target.trouble(bench.key(2), "silent")
        with pytest.raises(errors.OutcomeUnknown):
            run(bench, 2)
    else:
        run(bench, 2)
    before = bench.saga
    with pytest.raises(errors.StepBarred):
        begin(bench, 2)
    assert isinstance(
        cancel_saga(bench.store, bench.clock, bench.callbacks, SAGA, person="operator-1"), TooLate
    )
    assert bench.saga == before


def test_an_old_driver_turns_nothing() -> None:
    bench = Bench()
    bench.admit(epoch=3)
    with pytest.raises(errors.Superseded):
        begin(bench, 1, epoch=2)
    assert bench.head.direction is Direction.FORWARD


def test_after_the_turn_no_forward_step_starts() -> None:
    bench = turned(Bench(), 0, because=1)
    for index in range(1, 5):
        with pytest.raises(errors.StepBarred):
            run(bench, index)
    assert [key for side, key in bench.target.calls if side == "do"] == [bench.key(0)]


def test_a_step_that_completes_while_the_saga_turns_is_owed() -> None:
    bench = Bench()
    bench.admit()

    def complete(point: str) -> None:
        if point == "before write":
            bench.wire.hook = None
            run(bench, 0)

    bench.wire.hook = complete
    begin(bench, 0)
    step = bench.step(0)
    assert (step.forward.state, step.forward.barred) == (ForwardState.COMPLETED, False)
    assert undone(bench, 0) == "applied"


def test_a_boundary_that_starts_while_the_saga_turns_keeps_it_from_turning() -> None:
    bench = Bench()
    bench.admit()
    run(bench, 0, 1)

    def cross(point: str) -> None:
        if point == "before write":
            bench.wire.hook = None
            run(bench, 2)

    bench.wire.hook = cross
    with pytest.raises(errors.StepBarred):
        begin(bench, 1)
    assert bench.head.pivot is Pivot.CROSSED


def test_a_saga_that_turns_while_its_boundary_starts_keeps_it_from_starting() -> None:
    bench = Bench()
    bench.admit()
    run(bench, 0, 1)

    def turn(point: str) -> None:
        if point == "before write":
            bench.wire.hook = None
            begin(bench, 1)

    bench.wire.hook = turn
    with pytest.raises(errors.StepBarred):
        run(bench, 2)
    assert bench.target.count(bench.key(2)) == 0


# Undoing


def test_an_undo_is_refused_before_the_saga_has_turned_and_past_the_boundary() -> None:
    bench = Bench()
    bench.admit()
    run(bench, 0)
    assert undo(bench, 0) == "Superseded"
    run(bench, 1, 2)
    assert undo(bench, 0) == "Superseded"
    assert all(side != "undo" for side, _ in bench.target.calls)


def test_an_undo_uses_its_own_key_the_receipt_the_fixed_inputs_and_the_version() -> None:
    bench = turned(Bench(), 0, because=1)
    calls: list[Any] = []
    adapters: Any = bench.targets.adapters
    adapters.adapters["target.adapters:undo"] = lambda call: (
        calls.append(call) or bench.target.undo(call)
    )
    assert undo(bench, 0) == "applied"
    [call] = calls
    assert call.key == f"{SAGA}:0:undo"
    assert call.inputs == {"order": "4471", "resource": "do-1"}
    assert call.receipt.resource == "do-1"
    assert call.condition == "1"


def test_undos_wait_for_later_ones_and_say_so_without_a_call() -> None:
    bench = turned(Bench(), 0, 1, because=2)
    assert undo(bench, 0) == "waiting"
    assert undo(bench, 1) == "applied"
    assert undo(bench, 0) == "applied"
    undos = [key for side, key in bench.target.calls if side == "undo"]
    assert undos == [bench.key(1, "undo"), bench.key(0, "undo")]


def test_an_undo_that_waits_goes_on_when_the_one_before_is_settled_by_a_person() -> None:
    bench = turned(Bench(), 0, 1, because=2)
    bench.target.trouble(bench.key(1, "undo"), "refuse")
    assert undo(bench, 1) == "UndoBlocked"
    open_case(bench.store, bench.clock, bench.notices, bench.ref(1), "undo")
    assert undo(bench, 0) == "waiting"
    step = bench.step(1)
    assert step.undo is not None
    resolved = step.undo.model_copy(update={"state": UndoState.RESOLVED})
    bench.put(step, step.model_copy(update={"undo": resolved, "case": None}))
    assert undo(bench, 0) == "applied"


def test_steps_that_are_declared_independent_do_not_wait_for_each_other() -> None:
    bench = turned(Bench(reserve={"independent_of": ("hold",)}), 0, 1, because=2)
    assert undo(bench, 0) == "applied"
    assert undo(bench, 1) == "applied"


def test_what_never_happened_is_not_undone() -> None:
    bench = Bench()
    bench.admit()
    bench.target.trouble(bench.key(0), "refuse")
    with pytest.raises(errors.StepRefused):
        run(bench, 0)
    begin(bench, 0)
    assert [undo(bench, index) for index in (1, 0)] == ["settled", "settled"]
    assert [state_of(bench, index) for index in (0, 1)] == [UndoState.NOT_NEEDED] * 2
    assert all(side == "do" for side, _ in bench.target.calls)
    assert finish(bench) == "compensated"


def test_a_duplicate_undo_is_answered_from_the_ledger_without_a_call() -> None:
    bench = turned(Bench(), 0, because=1)
    assert undo(bench, 0) == "applied"
    before, calls = bench.step(0), list(bench.target.calls)
    assert [undo(bench, 0) for _ in range(3)] == ["settled"] * 3
    assert bench.step(0) == before
    assert bench.target.calls == calls


@pytest.mark.parametrize("days", [0.05, 2.1, 91, 400])
def test_a_replayed_undo_is_no_act_however_late_it_comes(days: float) -> None:
    bench = turned(Bench(), 0, because=1)
    assert undo(bench, 0) == "applied"
    bench.clock.pass_(days * 86_400)
    assert undo(bench, 0) == "settled"
    assert bench.target.count(bench.key(0, "undo")) == 1
    stored = bench.stored(bench.step(0))
    assert stored is not None
    assert not {"ttl", "expiration", "expires_at"} & set(stored)


@pytest.mark.parametrize("undo_kind", list(SETTLES))
def test_an_undo_killed_at_any_point_is_neither_made_twice_nor_forgotten(undo_kind: str) -> None:
    clean = turned(Bench(undo_settles=undo_kind), 0, because=1)
    before = len(clean.wire.points)
    assert undo(clean, 0) == "applied"
    for point in range(1, len(clean.wire.points) - before + 1):
        bench = turned(Bench(undo_settles=undo_kind), 0, because=1)
        bench.wire.kill_after(point)
        assert undo(bench, 0) == "Killed"
        said = undone(bench, 0)
        happened = bench.target.count(bench.key(0, "undo"))
        assert happened <= 1, point
        if said in {"applied", "settled"}:
            assert happened == 1
            assert state_of(bench, 0) is UndoState.SUCCEEDED
        else:
            assert undo_kind not in UNDO_KEYED
            assert said == "PersonNeeded", (point, said)
            record = bench.step(0).undo
            assert record is not None
            assert record.unsettled or record.state is UndoState.RUNNING


@pytest.mark.parametrize("undo_kind", UNDO_KEYED)
def test_an_undo_whose_answer_is_lost_is_repeated_under_its_key_and_done_once(
    undo_kind: str,
) -> None:
    bench = turned(Bench(undo_settles=undo_kind), 0, because=1)
    bench.target.trouble(bench.key(0, "undo"), "lost")
    assert undo(bench, 0) == "OutcomeUnknown"
    assert undo(bench, 0) in {"applied", "settled"}
    assert bench.target.count(bench.key(0, "undo")) == 1


def test_the_undo_of_an_unknown_forward_call_settles_that_first() -> None:
    for fault, effects in (("lost", 1), ("delayed", 0)):
        bench = Bench()
        bench.admit()
        bench.target.trouble(bench.key(0), fault)
        with pytest.raises(errors.OutcomeUnknown):
            run(bench, 0)
        begin(bench, 0)
        assert undone(bench, 0) in {"applied", "settled"}
        bench.target.arrive()
        assert bench.target.count(bench.key(0)) == effects
        assert bench.target.count(bench.key(0, "undo")) == effects


def test_a_forward_call_that_cannot_be_settled_is_nobodys_but_a_persons_to_undo() -> None:
    bench = Bench("keys")
    bench.admit()
    bench.target.trouble(bench.key(0), "lost")
    with pytest.raises(errors.OutcomeUnknown):
        run(bench, 0)
    begin(bench, 0)
    assert undone(bench, 0) == "PersonNeeded"
    open_case(bench.store, bench.clock, bench.notices, bench.ref(0), "undo")
    case = read_case(bench.store, bench.step(0).case or "")
    assert case is not None
    assert case.cause is CaseCause.OUTCOME_UNSETTLED
    assert "Nobody knows" in case.obligation


def test_a_live_forward_call_is_waited_for() -> None:
    bench = Bench()
    bench.admit()
    bench.wire.hook = die_at("before do")
    with pytest.raises(Killed):
        run(bench, 0)
    bench.wire.hook = None
    begin(bench, 0)
    assert undo(bench, 0) == "StillRunning"
    assert bench.target.tombstones == set()
    bench.lapse(0)
    assert undo(bench, 0) == "settled"
    assert bench.target.tombstones == {bench.key(0)}


def test_waiting_for_late_forward_effects_does_not_use_up_how_often_one_may_ask() -> None:
    bench = Bench("keys+status")
    bench.admit()
    bench.target.trouble(bench.key(0), "silent")
    with pytest.raises(errors.OutcomeUnknown):
        run(bench, 0)
    begin(bench, 0)
    assert [undo(bench, 0) for _ in range(20)] == ["NotSettledYet"] * 20
    assert bench.step(0).forward.settlings == 1
    bench.lapse(0)
    assert undo(bench, 0) == "settled"


def test_waiting_for_a_late_undo_does_not_use_up_how_often_one_may_ask() -> None:
    bench = turned(Bench(undo_settles="status"), 0, because=1)
    bench.target.trouble(bench.key(0, "undo"), "silent")
    assert undo(bench, 0) == "OutcomeUnknown"
    assert [undo(bench, 0) for _ in range(20)] == ["NotSettledYet"] * 20
    bench.lapse(0)
    assert undo(bench, 0) == "applied"


def test_an_undo_that_is_not_there_is_judged_by_when_that_was_asked() -> None:
    bench = turned(Bench(undo_settles="status"), 0, because=1)
    bench.target.trouble(bench.key(0, "undo"), "delayed")
    assert undo(bench, 0) == "OutcomeUnknown"
    record = bench.step(0).undo
    assert record is not None
    settles = forward.settles_at(record, 60_000)
    bench.clock.at = settles - 1

    def slow(point: str) -> None:
        if point == "after status":
            bench.target.arrive()
            bench.clock.at = settles + 1000

    bench.wire.hook = slow
    assert undo(bench, 0) == "NotSettledYet"
    bench.wire.hook = None
    assert undo(bench, 0) == "settled"
    assert bench.target.count(bench.key(0, "undo")) == 1


def test_an_undo_that_a_person_reconciles_is_not_called_again_after_an_unknown() -> None:
    bench = turned(Bench(undo_settles="person"), 0, because=1)
    bench.target.trouble(bench.key(0, "undo"), "silent")
    assert undo(bench, 0) == "OutcomeUnknown"
    bench.lapse(0)
    assert [undo(bench, 0) for _ in range(3)] == ["PersonNeeded"] * 3
    assert bench.target.calls.count(("undo", bench.key(0, "undo"))) == 1


def test_an_undo_key_that_the_target_has_forgotten_protects_nothing() -> None:
    bench = turned(Bench(undo_settles="keys"), 0, because=1)
    bench.target.trouble(bench.key(0, "undo"), "lost")
    assert undo(bench, 0) == "OutcomeUnknown"
    bench.clock.pass_(KEYS_KEPT_FOR.total_seconds() + 1)
    assert undo(bench, 0) == "PersonNeeded"
    assert bench.target.count(bench.key(0, "undo")) == 1


def test_an_undo_key_protects_only_a_repeat_that_lands_before_it_is_forgotten() -> None:
    bench = turned(Bench(undo_settles="keys"), 0, because=1)
    bench.target.trouble(bench.key(0, "undo"), "lost")
    assert undo(bench, 0) == "OutcomeUnknown"
    command = bench.step(0).undo
    assert command is not None
    forgotten = command.history[0].started_at + int(KEYS_KEPT_FOR / timedelta(milliseconds=1))
    lands = bench.world_at(0).undo_lease.call + int(SETTLES_AFTER / timedelta(milliseconds=1))
    bench.clock.at = forgotten - lands
    assert undo(bench, 0) == "PersonNeeded"
    bench.clock.at = forgotten - lands - 1
    assert undo(bench, 0) == "applied"
    assert bench.target.count(bench.key(0, "undo")) == 1


def test_an_undo_key_with_other_parameters_is_investigated_and_never_repeated() -> None:
    bench = turned(Bench(), 0, because=1)
    bench.target.trouble(bench.key(0, "undo"), "conflict")
    assert undo(bench, 0) == "KeyConflict"
    calls = len(bench.target.calls)
    assert [undo(bench, 0) for _ in range(3)] == ["KeyConflict"] * 3
    assert len(bench.target.calls) == calls


def test_an_undo_fails_within_its_budget_and_then_for_good() -> None:
    bench = turned(Bench(), 0, because=1)
    bench.target.trouble(bench.key(0, "undo"), *["busy"] * 9)
    said = [undo(bench, 0) for _ in range(6)]
    assert said == ["NotAppliedYet"] * 3 + ["BudgetSpent"] * 3


def test_an_undo_without_authority_stops_and_tries_no_other() -> None:
    bench = turned(Bench(), 0, because=1)
    bench.target.secret = "rotated"
    assert undo(bench, 0) == "AuthorityLost"
    assert bench.credentials.fresh_reads == ["shop/shop"]
    assert undo(bench, 0) == "UndoBlocked"
    open_case(bench.store, bench.clock, bench.notices, bench.ref(0), "undo")
    case = read_case(bench.store, bench.step(0).case or "")
    assert case is not None
    assert case.cause is CaseCause.AUTHORITY_LOST


def test_an_undo_of_high_impact_waits_for_a_person_before_its_call() -> None:
    bench = Bench()
    bench.admit()
    run(bench, 0)
    step = bench.step(0)
    assert step.undo is not None
    bench.put(
        step,
        step.model_copy(update={"undo": step.undo.model_copy(update={"needs_person": True})}),
    )
    begin(bench, 1)
    assert undo(bench, 0) == "PersonNeeded"
    assert all(side == "do" for side, _ in bench.target.calls)


def test_an_undo_whose_inputs_could_not_be_made_waits_for_a_person() -> None:
    bench = Bench()
    bench.admit()
    run(bench, 0)
    step = bench.step(0)
    assert step.undo is not None
    bench.put(step, step.model_copy(update={"undo": step.undo.model_copy(update={"inputs": None})}))
    begin(bench, 1)
    assert undo(bench, 0) == "PersonNeeded"
    assert all(side == "do" for side, _ in bench.target.calls)


def test_a_late_undo_success_counts_although_its_attempt_was_given_up() -> None:
    bench = turned(Bench(), 0, because=1)

    def takeover(point: str) -> None:
        if point == "after undo":
            bench.wire.hook = None
            bench.lapse(0)
            bench.target.trouble(bench.key(0, "undo"), "refuse")
            bench.target.trouble(bench.key(0, "undo"), "silent", operation="status")
            assert undo(bench, 0) in {"OutcomeUnknown", "UndoBlocked"}

    bench.wire.hook = takeover
    assert undo(bench, 0) == "applied"
    assert state_of(bench, 0) is UndoState.SUCCEEDED


def test_a_late_undo_failure_leaves_the_winners_checkpoint_intact() -> None:
    bench = turned(Bench(), 0, because=1)
    bench.target.trouble(bench.key(0, "undo"), "busy")
    won: list[Any] = []

    def takeover(point: str) -> None:
        if point == "after undo":
            bench.wire.hook = None
            bench.lapse(0)
            assert undone(bench, 0) == "applied"
            won.append(bench.step(0))

    bench.wire.hook = takeover
    assert undo(bench, 0) == "NotAppliedYet"
    assert bench.step(0) == won[0]


def test_only_a_steps_own_undo_function_touches_it() -> None:
    bench = turned(Bench(), 0, because=1)
    for world, index in (("hold", 0), ("reserve", 9)):
        with pytest.raises(errors.BadRequest):
            undo_step(bench.world(world), StepRef(SAGA, index, f"{SAGA}-1"))
    with pytest.raises(errors.BadRequest):
        undo_step(bench.world("charge"), bench.ref(2))


# Effects that come late


@pytest.mark.parametrize("settled_as", [UndoState.NOT_NEEDED, UndoState.RESOLVED])
def test_an_effect_that_comes_after_its_undo_was_settled_is_owed_again_and_a_persons(
    settled_as: UndoState,
) -> None:
    bench = Bench()
    bench.admit("reserve", "hold")
    run(bench, 0)

    def stall(point: str) -> None:
        if point == "after do":
            bench.wire.hook = None
            bench.lapse(1)
            begin(bench, 1)
            step = bench.step(1)
            assert step.undo is not None
            absent = step.forward.model_copy(
                update={"state": ForwardState.RELEASED, "unsettled": False, "lease_until": 0}
            )
            undo = step.undo.model_copy(update={"state": settled_as})
            bench.put(step, step.model_copy(update={"forward": absent, "undo": undo}))
            assert undo_step(bench.world_at(0), bench.ref(0))["outcome"] == "applied"
            assert finish(bench) == "compensated"

    bench.wire.hook = stall
    with pytest.raises(errors.StepBarred):
        run(bench, 1)
    assert state_of(bench, 1) is UndoState.PENDING
    assert attend(bench) == "case"
    assert bench.head.attention is Attention.MANUAL
    case = read_case(bench.store, bench.step(1).case or "")
    assert case is not None
    assert case.cause is CaseCause.LATE_EFFECT
    assert "does not account for" in case.obligation
    assert bench.notices.cases == [case.id]


def test_an_effect_that_a_person_had_undone_by_hand_is_not_undone_again_when_its_worker_reports_it() -> (
    None
):
    bench = Bench()
    bench.admit("reserve", "hold")
    run(bench, 0)

    def stall(point: str) -> None:
        if point == "after do":
            bench.wire.hook = None
            bench.lapse(1)
            begin(bench, 1)
            open_case(bench.store, bench.clock, bench.notices, bench.ref(1), "undo")
            step = bench.step(1)
            assert step.undo is not None
            by_hand = step.undo.model_copy(update={"state": UndoState.RESOLVED})
            bench.put(step, step.model_copy(update={"undo": by_hand, "case": None}))

    bench.wire.hook = stall
    with pytest.raises(errors.StepBarred):
        run(bench, 1)
    assert undo(bench, 1) == "CaseOpen"
    assert bench.target.count(bench.key(1, "undo")) == 0
    case_id = open_case(bench.store, bench.clock, bench.notices, bench.ref(1), "undo")
    case = read_case(bench.store, case_id or "")
    assert case is not None
    assert case.cause is CaseCause.LATE_EFFECT
    assert bench.step(1).late is None


# The end


def test_a_saga_is_compensated_only_when_nothing_is_owed() -> None:
    bench = turned(Bench(), 0, 1, because=2)
    with pytest.raises(errors.NotSettledYet):
        finish(bench)
    undo(bench, 1)
    with pytest.raises(errors.NotSettledYet):
        finish(bench)
    undo(bench, 0)
    assert finish(bench) == "compensated"
    assert finish(bench) == "compensated"
    assert bench.head.outcome is SagaOutcome.COMPENSATED
    assert bench.head.ended_at == bench.clock.at
    assert bench.head.due_at == bench.clock.at
    assert swept(bench) == {"retained": 1}
    assert bench.head.due_at is None


def test_a_saga_whose_undo_is_a_persons_ends_its_execution_as_blocked() -> None:
    bench = turned(Bench(), 0, because=1)
    bench.target.trouble(bench.key(0, "undo"), "refuse")
    assert undo(bench, 0) == "UndoBlocked"
    open_case(bench.store, bench.clock, bench.notices, bench.ref(0), "undo")
    assert finish(bench) == "blocked"
    assert bench.head.outcome is None
    assert bench.head.attention is Attention.BLOCKED


def test_a_case_opens_once_however_often_its_task_gives_up() -> None:
    bench = turned(Bench(), 0, because=1)
    bench.target.trouble(bench.key(0, "undo"), "refuse")
    undo(bench, 0)
    opened = {
        open_case(bench.store, bench.clock, bench.notices, bench.ref(0), "undo") for _ in range(3)
    }
    assert opened == {bench.step(0).case}
    assert bench.step(0).cases == 1


def test_no_case_opens_where_nothing_is_owed() -> None:
    bench = turned(Bench(), 0, because=1)
    undo(bench, 0)
    ref = bench.ref(0)
    assert open_case(bench.store, bench.clock, bench.notices, ref, "undo") is None
    assert bench.notices.cases == []
    assert bench.head.wanted is None, "its own driver goes on"


def test_no_case_of_an_undo_opens_while_the_saga_goes_forward() -> None:
    bench = Bench()
    bench.admit()
    run(bench, 0, 1)
    for index in (0, 1):
        ref = bench.ref(index)
        assert open_case(bench.store, bench.clock, bench.notices, ref, "undo") is None
        assert bench.step(index).case is None
        assert state_of(bench, index) is UndoState.PENDING


def test_no_case_opens_for_an_undo_that_only_waits_for_another() -> None:
    bench = turned(Bench(), 0, 1, because=2)
    assert open_case(bench.store, bench.clock, bench.notices, bench.ref(0), "undo") is None
    assert bench.step(0).case is None
    assert state_of(bench, 0) is UndoState.PENDING
    assert open_case(bench.store, bench.clock, bench.notices, bench.ref(1), "undo") is not None


def test_a_task_that_gave_up_late_wakes_no_saga_that_has_ended() -> None:
    bench = Bench()
    bench.admit()
    run(bench, 0, 1, 2, 3, 4)
    ended = bench.head
    assert ended.outcome is SagaOutcome.COMPLETED
    assert open_case(bench.store, bench.clock, bench.notices, bench.ref(4), "do") is None
    assert bench.head == ended


def test_an_old_driver_opens_no_case() -> None:
    bench = turned(Bench(), 0, because=1)
    bench.put(bench.head, bench.head.model_copy(update={"epoch": 5}))
    with pytest.raises(errors.Superseded):
        open_case(bench.store, bench.clock, bench.notices, StepRef(SAGA, 0, f"{SAGA}-1"), "undo")


def test_a_task_that_gave_up_on_a_completed_step_asks_for_a_new_driver() -> None:
    bench = Bench()
    bench.admit()
    run(bench, 0, 1, 2, 3)
    assert open_case(bench.store, bench.clock, bench.notices, bench.ref(3), "do") is None
    assert bench.head.wanted == "resume"


# Cancelling


def test_a_plan_of_compensable_steps_cancelled_during_its_last_call_is_undone() -> None:
    bench = Bench()
    bench.admit("reserve", "hold", epoch=0)
    attend(bench)

    def cancel(point: str) -> None:
        if point == "after do" and bench.target.count(bench.key(1)):
            bench.wire.hook = None
            said = cancel_saga(bench.store, bench.clock, bench.callbacks, SAGA, person="operator-1")
            assert isinstance(said, Cancelled)

    bench.wire.hook = cancel
    rest(bench)
    assert bench.head.outcome is SagaOutcome.COMPENSATED
    assert bench.head.reason == "cancelled by operator-1"
    assert [bench.target.count(bench.key(i, "undo")) for i in (0, 1)] == [1, 1]
    assert len(bench.machines.started) == 1


def test_a_completed_plan_of_compensable_steps_cannot_be_cancelled() -> None:
    bench = Bench()
    bench.admit("reserve", "hold")
    run(bench, 0, 1)
    assert bench.head.outcome is SagaOutcome.COMPLETED
    assert isinstance(
        cancel_saga(bench.store, bench.clock, bench.callbacks, SAGA, person="operator-1"), TooLate
    )


def test_a_saga_that_never_started_is_cancelled_and_still_driven_to_its_end() -> None:
    bench = Bench()
    bench.admit(epoch=0)
    cancel_saga(bench.store, bench.clock, bench.callbacks, SAGA, person="operator-1")
    attend(bench)
    rest(bench)
    assert bench.head.outcome is SagaOutcome.COMPENSATED
    assert bench.target.calls == []


def test_cancelling_twice_is_cancelling_once() -> None:
    bench = Bench()
    bench.admit()
    run(bench, 0)
    for _ in range(2):
        said = cancel_saga(bench.store, bench.clock, bench.callbacks, SAGA, person="operator-1")
        assert isinstance(said, Cancelled)
    assert bench.head.reason == "cancelled by operator-1"
