"""A step runs once: whatever dies, whatever is lost, whoever else is at it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

import pytest

from functions.aws import idempotency
from functions.domain.catalogue import Settlement
from functions.domain.ledger import by_person, forward
from functions.domain.ledger.records import Direction, ForwardState, Pivot
from functions.domain.outcome import Applied, Receipt
from functions.ports import CredentialLost, Intent
from functions.usecases import errors
from functions.usecases.conclusion import conclude_forward
from functions.usecases.run_step import run_step
from functions.usecases.world import StepRef
from tests.unit.kernel import (
    KEYS_KEPT_FOR,
    SAGA,
    SECRET,
    SETTLES,
    SETTLES_AFTER,
    Bench,
    Killed,
)

KEYED = [name for name, offers in SETTLES.items() if "keys" in offers]
AGAIN = 12


def run(bench: Bench, *indexes: int) -> None:
    for index in indexes:
        run_step(bench.world_at(index), bench.ref(index))


def ready(bench: Bench, index: int) -> Bench:
    """Everything before step `index` is done."""
    bench.admit()
    run(bench, *range(index))
    return bench


def delivered(bench: Bench, index: int) -> str:
    """One delivery: what the machine is told."""
    try:
        return run_step(bench.world_at(index), bench.ref(index))["outcome"]
    except errors.StepError as error:
        return type(error).__name__
    except Killed:
        return "Killed"


def redelivered(bench: Bench, index: int) -> str:
    """Deliveries until one is final, with the machine's patience between them."""
    said = ""
    for _ in range(AGAIN):
        said = delivered(bench, index)
        if said not in {"StillRunning", "NotSettledYet", "OutcomeUnknown", "NotAppliedYet"}:
            return said
        bench.lapse(index)
    return said


def points(make: Callable[[], Bench], index: int) -> int:
    """At how many points on its way a step can be killed."""
    bench = ready(make(), index)
    before = len(bench.wire.points)
    run(bench, index)
    return len(bench.wire.points) - before


# The order of things


def test_a_step_is_claimed_then_called_then_recorded() -> None:
    bench = ready(Bench(), 0)
    bench.wire.points.clear()
    run(bench, 0)
    assert bench.wire.points == [
        *("before write", "after write"),
        *("before do", "after do"),
        *("before write", "after write"),
    ]


def test_the_claim_is_durable_with_key_undo_and_authority_before_the_call() -> None:
    bench = ready(Bench(), 0)
    seen = []
    bench.wire.hook = lambda point: seen.append(bench.step(0)) if point == "before do" else None
    run(bench, 0)
    [claimed] = seen
    assert claimed.forward.state is ForwardState.STARTED
    assert claimed.forward.attempts == claimed.forward.fence == 1
    assert claimed.undo is not None
    assert claimed.undo.key == bench.key(0, "undo")
    assert claimed.undo.authority.credential == "shop"


def test_the_receipt_and_the_undos_inputs_are_one_write() -> None:
    bench = ready(Bench(), 0)
    run(bench, 0)
    step = bench.step(0)
    assert step.version == 2
    assert step.forward.receipt == Receipt(resource="do-1", version="1")
    assert step.undo is not None
    assert step.undo.inputs == {"order": "4471", "resource": "do-1"}
    assert step.undo.condition == "1"


def test_a_step_that_requires_another_is_given_its_receipt_and_digests_it() -> None:
    bench = ready(Bench(), 3)
    calls = []
    bench.targets.adapters.adapters["target.adapters:do"] = lambda call: (
        calls.append(call) or bench.target.do(call)
    )
    run(bench, 3)
    assert calls[0].results == {"reserve": Receipt(resource="do-1", version="1")}
    assert bench.step(3).forward.digest != bench.step(3).arguments_digest


@pytest.mark.parametrize("index", [1, 3])
def test_a_step_whose_required_receipt_is_missing_does_not_start(index: int) -> None:
    bench = Bench(hold={"requires": ("reserve",)})
    bench.admit()
    assert delivered(bench, index) == "StepBarred"
    assert bench.step(index).version == 0
    assert bench.target.calls == []


# Malformed deliveries


@pytest.mark.parametrize("saga_id", [None, "", "SAGA", "a b", "x" * 50, "saga-1:0:do"])
def test_a_delivery_without_a_saga_is_an_error_before_any_write(saga_id: Any) -> None:
    bench = ready(Bench(), 0)
    writes = bench.store.writes
    with pytest.raises((ValueError, TypeError)):
        run_step(bench.world_at(0), StepRef(saga_id, 0, f"{SAGA}-1"))
    assert bench.store.writes == writes
    assert bench.target.calls == []


@pytest.mark.parametrize("index", [None, -1, True, "0", 1000])
def test_a_delivery_without_a_step_is_an_error_before_any_write(index: Any) -> None:
    bench = ready(Bench(), 0)
    writes = bench.store.writes
    with pytest.raises((ValueError, TypeError)):
        run_step(bench.world_at(0), StepRef(SAGA, index, f"{SAGA}-1"))
    assert bench.store.writes == writes


@pytest.mark.parametrize(
    ("name", "index"), [("reserve", 1), ("reserve", 4), ("ship", 4), ("charge", 0)]
)
def test_a_function_never_touches_another_steps_record(name: str, index: int) -> None:
    bench = ready(Bench(), 0)
    writes = bench.store.writes
    with pytest.raises(errors.BadRequest):
        run_step(bench.world(name), bench.ref(index))
    assert bench.store.writes == writes
    assert bench.target.calls == []


def test_a_step_that_uses_others_and_does_not_exist_is_a_bad_request_too() -> None:
    bench = ready(Bench(), 2)
    with pytest.raises(errors.BadRequest, match="there is no such step"):
        run_step(bench.world("charge"), bench.ref(9))


def test_a_step_that_does_not_exist_is_a_bad_request() -> None:
    bench = ready(Bench(), 0)
    with pytest.raises(errors.BadRequest):
        run_step(bench.world("reserve"), bench.ref(7))


# Idempotency is not decoration


def test_it_refuses_to_act_where_idempotency_is_switched_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bench = ready(Bench(), 0)
    monkeypatch.setenv("POWERTOOLS_IDEMPOTENCY_DISABLED", "1")
    with pytest.raises(RuntimeError, match="POWERTOOLS_IDEMPOTENCY_DISABLED"):
        run(bench, 0)
    assert bench.step(0).version == 0
    assert bench.target.calls == []


@pytest.mark.parametrize("kind", list(SETTLES))
@pytest.mark.parametrize("index", [0, 2, 3])
def test_a_duplicate_delivery_is_answered_from_the_ledger_without_a_call(
    kind: str, index: int
) -> None:
    bench = ready(Bench(kind), index)
    run(bench, index)
    before, calls = bench.step(index), list(bench.target.calls)
    assert delivered(bench, index) == "applied"
    assert bench.step(index) == before
    assert bench.target.calls == calls


def test_without_the_decorator_a_duplicate_delivery_would_act_twice() -> None:
    def undecorated(_: Intent, call: Callable[[], Mapping[str, Any]]) -> Mapping[str, Any]:
        return call()

    bench = Bench("tombstone", once=undecorated)
    bench.admit()
    for _ in range(2):
        with pytest.raises(LookupError):
            run_step(bench.world_at(0), bench.ref(0))
    bench.once = idempotency.once
    for _ in range(2):
        run(bench, 0)
    assert bench.target.count(bench.key(0)) == 1


def test_a_layer_that_is_not_asked_for_its_own_key_refuses() -> None:
    bench = ready(Bench(), 0)
    intent = type("I", (), {"key": "saga-1:0:do"})()
    layer = idempotency.LedgerPersistence(intent)
    assert layer._get_hashed_idempotency_key("saga-1:0:do") == "saga-1:0:do"
    with pytest.raises(ValueError, match="not this intent's key"):
        layer._get_hashed_idempotency_key("saga-1:1:do")
    assert bench.target.calls == []


# Death at every point


@pytest.mark.parametrize("kind", list(SETTLES))
@pytest.mark.parametrize("index", [0, 2, 3])
def test_a_step_killed_at_any_point_never_has_two_effects_nor_is_taken_for_nothing(
    kind: str, index: int
) -> None:
    for point in range(1, points(lambda: Bench(kind), index) + 1):
        bench = ready(Bench(kind), index)
        bench.wire.kill_after(point)
        with pytest.raises(Killed):
            run_step(bench.world_at(index), bench.ref(index))
        said = redelivered(bench, index)
        happened = bench.target.count(bench.key(index))
        state = bench.step(index).forward
        assert happened <= 1, point
        if said == "applied":
            assert happened == 1
            assert state.state is ForwardState.COMPLETED
            assert state.receipt is not None
            assert state.receipt.resource == bench.target.resource(bench.key(index))
        else:
            assert said == "PersonNeeded", (point, said)
            assert forward.is_unsettled(state)


@pytest.mark.parametrize("kind", KEYED)
@pytest.mark.parametrize("index", [0, 2, 3])
def test_with_keys_a_step_killed_at_any_point_completes_by_itself(kind: str, index: int) -> None:
    for point in range(1, points(lambda: Bench(kind), index) + 1):
        bench = ready(Bench(kind), index)
        bench.wire.kill_after(point)
        with pytest.raises(Killed):
            run_step(bench.world_at(index), bench.ref(index))
        assert redelivered(bench, index) == "applied"
        assert bench.target.count(bench.key(index)) == 1


def test_a_live_claim_is_waited_for_and_a_lapsed_one_is_settled_first() -> None:
    bench = ready(Bench(), 0)
    bench.wire.hook = lambda point: _die(point, "after do")
    assert delivered(bench, 0) == "Killed"
    bench.wire.hook = None
    lease = bench.step(0).forward.lease_until
    bench.clock.at = lease - 1000
    assert delivered(bench, 0) == "StillRunning"
    assert bench.target.calls == [("do", bench.key(0))]
    bench.clock.at = lease + 1000
    assert delivered(bench, 0) == "applied"
    assert bench.target.calls == [("do", bench.key(0)), ("status", bench.key(0))]
    assert bench.target.count(bench.key(0)) == 1


def _die(point: str, at: str) -> None:
    if point == at:
        raise Killed(point)


def test_a_dead_attempt_counts_so_that_a_step_that_kills_its_process_ends() -> None:
    bench = ready(Bench("keys"), 3)
    bench.wire.hook = lambda point: _die(point, "before do")
    said = []
    for _ in range(6):
        said.append(delivered(bench, 3))
        bench.lapse(3)
    assert said == ["Killed"] * 3 + ["BudgetSpent"] * 3
    assert bench.step(3).forward.attempts == 3


# Lost and unplanned answers


@pytest.mark.parametrize("fault", ["lost", "boom"])
@pytest.mark.parametrize("kind", KEYED)
def test_a_lost_answer_is_unknown_then_settled_with_one_effect(kind: str, fault: str) -> None:
    bench = ready(Bench(kind), 0)
    bench.target.trouble(bench.key(0), fault)
    assert delivered(bench, 0) == "OutcomeUnknown"
    step = bench.step(0)
    assert step.forward.state is ForwardState.UNKNOWN
    assert step.forward.unsettled
    assert step.forward.history[-1].outcome == "unknown"
    assert delivered(bench, 0) == "applied"
    assert bench.target.count(bench.key(0)) == 1


def test_a_refusal_after_an_unknown_does_not_mean_that_nothing_happened() -> None:
    bench = ready(Bench("keys"), 0)
    bench.target.trouble(bench.key(0), "lost", "refuse", "busy")
    said = [delivered(bench, 0) for _ in range(3)]
    assert said == ["OutcomeUnknown", "StepRefused", "NotAppliedYet"]
    assert bench.step(0).forward.state is ForwardState.UNKNOWN
    assert bench.step(0).forward.unsettled


def test_a_plain_refusal_is_final_and_not_called_again() -> None:
    bench = ready(Bench(), 0)
    bench.target.trouble(bench.key(0), "refuse")
    assert delivered(bench, 0) == "StepRefused"
    assert bench.step(0).forward.state is ForwardState.REFUSED
    assert delivered(bench, 0) == "StepRefused"
    assert len(bench.target.calls) == 1


def test_a_call_that_did_nothing_is_made_again_within_the_budget() -> None:
    bench = ready(Bench(), 0)
    bench.target.trouble(bench.key(0), *["busy"] * 5)
    said = [delivered(bench, 0) for _ in range(5)]
    assert said == ["NotAppliedYet"] * 3 + ["BudgetSpent"] * 2
    assert bench.step(0).forward.state is ForwardState.RELEASED


@pytest.mark.parametrize("answer", [None, "done", {"kind": "applied"}, object()])
def test_an_adapter_that_answers_nonsense_leaves_an_unknown(answer: Any) -> None:
    bench = ready(Bench("keys"), 0)
    bench.targets.adapters.adapters["target.adapters:do"] = lambda _: answer
    assert delivered(bench, 0) == "OutcomeUnknown"
    assert bench.step(0).forward.unsettled


def test_a_status_query_that_answers_nonsense_settles_nothing() -> None:
    bench = ready(Bench("status"), 0)
    bench.target.trouble(bench.key(0), "lost")
    delivered(bench, 0)
    bench.targets.adapters.adapters["target.adapters:status"] = lambda _: None
    assert delivered(bench, 0) == "OutcomeUnknown"
    assert bench.step(0).forward.lease_until == 0


# "Not there"


def test_not_there_proves_nothing_before_a_late_effect_has_become_impossible() -> None:
    bench = ready(Bench("status"), 0)
    bench.target.trouble(bench.key(0), "delayed")
    assert delivered(bench, 0) == "OutcomeUnknown"
    assert delivered(bench, 0) == "NotSettledYet"
    bench.target.arrive()
    bench.lapse(0)
    assert delivered(bench, 0) == "applied"
    assert bench.target.count(bench.key(0)) == 1


def test_not_there_is_judged_by_when_it_was_asked_not_by_when_it_is_written() -> None:
    bench = ready(Bench("status"), 0)
    bench.target.trouble(bench.key(0), "delayed")
    delivered(bench, 0)
    settles = forward.settles_at(bench.step(0).forward, int(SETTLES_AFTER.total_seconds() * 1000))
    bench.clock.at = settles - 1

    def slow(point: str) -> None:
        if point == "after status":
            bench.target.arrive()
            bench.clock.at = settles + 1000

    bench.wire.hook = slow
    assert delivered(bench, 0) == "NotSettledYet"
    bench.wire.hook = None
    assert delivered(bench, 0) == "applied"
    assert bench.target.count(bench.key(0)) == 1


def test_waiting_for_late_effects_does_not_use_up_how_often_one_may_ask() -> None:
    bench = ready(Bench("status"), 0)
    bench.target.trouble(bench.key(0), "silent")
    delivered(bench, 0)
    assert [delivered(bench, 0) for _ in range(20)] == ["NotSettledYet"] * 20
    assert bench.step(0).forward.settlings == 1
    bench.lapse(0)
    assert delivered(bench, 0) == "applied"


# When keys protect, and when not


def test_a_key_that_the_target_has_forgotten_protects_nothing() -> None:
    bench = ready(Bench("keys"), 0)
    bench.target.trouble(bench.key(0), "lost")
    delivered(bench, 0)
    bench.clock.pass_(KEYS_KEPT_FOR.total_seconds() + 1)
    assert delivered(bench, 0) == "PersonNeeded"
    assert bench.target.count(bench.key(0)) == 1


def test_a_keys_age_is_counted_from_its_first_use_however_many_attempts_there_were() -> None:
    bench = Bench("keys", attempts=60)
    bench.admit()
    hours = KEYS_KEPT_FOR / timedelta(hours=1)
    bench.target.trouble(bench.key(0), "lost", *["silent"] * 59)
    said = []
    for _ in range(60):
        said.append(delivered(bench, 0))
        bench.clock.pass_(hours * 3600 / 48)
    assert "PersonNeeded" in said
    assert said.index("PersonNeeded") == 48
    assert set(said[48:]) == {"PersonNeeded"}


def test_a_key_protects_only_a_repeat_that_lands_before_it_is_forgotten() -> None:
    bench = ready(Bench("keys"), 0)
    bench.target.trouble(bench.key(0), "lost")
    delivered(bench, 0)
    [first] = bench.step(0).forward.history
    forgotten = first.started_at + int(KEYS_KEPT_FOR / timedelta(milliseconds=1))
    lands = bench.world_at(0).lease.call + int(SETTLES_AFTER / timedelta(milliseconds=1))
    bench.clock.at = forgotten - lands
    assert delivered(bench, 0) == "PersonNeeded"
    bench.clock.at = forgotten - lands - 1
    assert delivered(bench, 0) == "applied"
    assert bench.target.count(bench.key(0)) == 1


def test_where_a_person_reconciles_no_machine_calls_again_after_an_unknown() -> None:
    for settlement in (
        Settlement(settles_after=SETTLES_AFTER, reconcile="person"),
        Settlement(settles_after=SETTLES_AFTER, keys_kept_for=KEYS_KEPT_FOR, reconcile="person"),
    ):
        bench = ready(Bench("person", ship={"settlement": settlement}), 3)
        bench.target.trouble(bench.key(3), "silent")
        assert delivered(bench, 3) == "OutcomeUnknown"
        for _ in range(5):
            bench.lapse(3)
            assert delivered(bench, 3) == "PersonNeeded"
        assert bench.target.calls.count(("do", bench.key(3))) == 1


def test_where_a_person_reconciles_a_machine_still_finds_what_is_there() -> None:
    bench = ready(Bench("status"), 3)
    bench.target.trouble(bench.key(3), "silent")
    delivered(bench, 3)
    bench.lapse(3)
    assert delivered(bench, 3) == "PersonNeeded"
    assert forward.is_unsettled(bench.step(3).forward)
    bench.target.effects.append(("do", bench.key(3), "do-late"))
    assert delivered(bench, 3) == "applied"
    assert bench.target.calls.count(("do", bench.key(3))) == 1


@pytest.mark.parametrize("when", ["fresh", "unknown", "lapsed"])
def test_a_key_with_other_parameters_is_for_a_person_and_never_replayed(when: str) -> None:
    bench = ready(Bench("keys+status"), 0)
    if when == "unknown":
        bench.target.trouble(bench.key(0), "silent")
        delivered(bench, 0)
    elif when == "lapsed":
        bench.wire.hook = lambda point: _die(point, "before do")
        delivered(bench, 0)
        bench.wire.hook = None
        bench.lapse(0)
    bench.target.trouble(bench.key(0), "conflict")
    assert delivered(bench, 0) == "KeyConflict"
    calls = len(bench.target.calls)
    assert [delivered(bench, 0) for _ in range(3)] == ["KeyConflict"] * 3
    assert len(bench.target.calls) == calls
    assert bench.step(0).forward.conflicted


@pytest.mark.parametrize(
    "state", [ForwardState.STARTED, ForwardState.UNKNOWN, ForwardState.RELEASED]
)
def test_a_record_whose_digest_is_another_is_never_called_under_its_key(
    state: ForwardState,
) -> None:
    bench = ready(Bench(), 0)
    step = bench.step(0)
    changed = step.forward.model_copy(
        update={"state": state, "digest": "another", "fence": 1, "attempts": 1}
    )
    bench.put(step, step.model_copy(update={"forward": changed}))
    assert delivered(bench, 0) == "KeyConflict"
    assert bench.target.calls == []


# Zombies: an attempt that outlives its lease


def zombie(bench: Bench, index: int, meanwhile: Callable[[], None], at: str = "after do") -> str:
    """A delivery that stalls at a point past its lease, while something else happens; then it goes on."""

    def stall(point: str) -> None:
        if point == at:
            bench.wire.hook = None
            bench.lapse(index)
            meanwhile()

    bench.wire.hook = stall
    return delivered(bench, index)


def test_a_late_success_leaves_the_winners_receipt_intact() -> None:
    bench = ready(Bench("keys"), 0)
    won = []

    def takeover() -> None:
        assert delivered(bench, 0) == "applied"
        won.append(bench.step(0))

    assert zombie(bench, 0, takeover, at="before do") == "applied"
    assert bench.step(0) == won[0]
    assert bench.target.count(bench.key(0)) == 1
    assert delivered(bench, 0) == "applied"
    assert len(bench.target.calls) == 2


def test_a_late_failure_leaves_the_winners_receipt_intact() -> None:
    for fault in ("refuse", "busy", "silent", "authority", "conflict"):
        bench = ready(Bench("keys"), 0)
        won = []

        def takeover(bench: Bench = bench, won: list[Any] = won, fault: str = fault) -> None:
            assert delivered(bench, 0) == "applied"
            won.append(bench.step(0))
            bench.target.trouble(bench.key(0), fault, fault)

        assert zombie(bench, 0, takeover, at="before do") != "applied"
        assert bench.step(0) == won[0], fault
        assert bench.step(0).late is None


def test_a_late_failure_does_not_release_the_attempt_that_took_over() -> None:
    bench = ready(Bench("keys"), 0)
    bench.target.trouble(bench.key(0), "refuse")

    def takeover() -> None:
        bench.wire.hook = lambda point: _die(point, "before do")
        assert delivered(bench, 0) == "Killed"
        bench.wire.hook = None

    assert zombie(bench, 0, takeover) == "StepRefused"
    step = bench.step(0)
    assert step.forward.state is ForwardState.STARTED
    assert step.forward.fence == 2
    assert step.forward.unsettled


def test_a_late_success_completes_a_step_that_was_taken_for_refused() -> None:
    bench = ready(Bench("status"), 0)

    def takeover() -> None:
        bench.target.effects.clear()
        bench.target.trouble(bench.key(0), "refuse")
        assert delivered(bench, 0) == "StepRefused"

    assert zombie(bench, 0, takeover) == "applied"
    assert bench.step(0).forward.state is ForwardState.COMPLETED


def test_two_effects_with_two_receipts_are_shown_to_a_person_and_the_first_receipt_stays() -> None:
    bench = ready(Bench("status"), 0)

    def takeover() -> None:
        bench.target.effects.clear()
        assert delivered(bench, 0) == "applied"

    assert zombie(bench, 0, takeover) == "applied"
    step = bench.step(0)
    assert step.forward.receipt is not None
    assert step.forward.receipt.resource == "do-2"
    assert step.late is not None
    assert "do-1" in step.late
    assert bench.head.wanted == "case"


def test_every_further_effect_is_shown_and_none_of_them_twice() -> None:
    bench = ready(Bench("status"), 0)

    def the_third() -> None:
        bench.target.effects.clear()
        assert delivered(bench, 0) == "applied"

    def the_second() -> None:
        bench.target.effects.clear()
        assert zombie(bench, 0, the_third) == "applied"

    assert zombie(bench, 0, the_second) == "applied"
    step = bench.step(0)
    assert step.forward.receipt is not None
    assert step.forward.receipt.resource == "do-3"
    second, first = "do-2, besides do-3", "do-1, besides do-3"
    assert (
        step.late
        == f"a second effect was reported: {second}; a second effect was reported: {first}"
    )
    assert step.doubled
    told = bench.store.writes
    conclude_forward(
        bench.world_at(0),
        step,
        bench.head,
        lambda *_: None,
        Applied(receipt=Receipt(resource="do-1")),
    )
    assert bench.store.writes == told


def test_an_effect_that_turns_up_after_a_person_did_it_by_hand_is_shown_to_a_person() -> None:
    bench = ready(Bench("keys"), 3)

    def by_hand() -> None:
        step = bench.step(3)
        done = by_person.complete(step, Receipt(resource="by hand: case"), now=bench.clock.now())
        bench.put(step, done)

    assert zombie(bench, 3, by_hand) == "applied"
    assert bench.step(3).late is not None
    assert bench.head.wanted == "case"


def test_a_barred_step_does_not_start_and_a_barred_call_is_recorded_but_leads_nowhere() -> None:
    bench = ready(Bench(), 1)
    step = bench.step(1)
    bench.put(step, forward.bar(step))
    assert delivered(bench, 1) == "StepBarred"
    assert bench.target.count(bench.key(1)) == 0

    bench = ready(Bench(), 1)
    bench.wire.hook = lambda point: (
        bench.put(bench.step(1), forward.bar(bench.step(1))) if point == "before do" else None
    )
    assert delivered(bench, 1) == "StepBarred"
    bench.wire.hook = None
    assert bench.step(1).forward.state is ForwardState.COMPLETED
    assert delivered(bench, 1) == "StepBarred"


def test_an_open_case_keeps_everybody_from_the_step() -> None:
    bench = ready(Bench(), 0)
    step = bench.step(0)
    bench.put(step, step.model_copy(update={"case": "case-1"}))
    assert delivered(bench, 0) == "CaseOpen"
    assert bench.target.calls == []


# Authority


def test_a_lost_authority_is_read_again_once_and_then_it_is_lost() -> None:
    bench = ready(Bench(), 0)
    bench.target.secret = "rotated"
    assert delivered(bench, 0) == "AuthorityLost"
    assert bench.credentials.fresh_reads == ["shop/shop"]
    assert len(bench.target.calls) == 2
    assert bench.step(0).forward.state is ForwardState.REFUSED
    assert delivered(bench, 0) == "StepRefused"
    assert len(bench.target.calls) == 2


def test_a_rotated_credential_is_found_by_reading_it_again() -> None:
    bench = ready(Bench(), 0)
    bench.target.secret = "rotated"
    kept = {"shop/shop": SECRET}

    def read(reference: str, *, fresh: bool) -> str:
        if fresh:
            kept[reference] = "rotated"
        return kept[reference]

    bench.credentials.read = read
    assert delivered(bench, 0) == "applied"


def test_a_credential_that_cannot_be_read_is_a_lost_authority_without_a_call() -> None:
    bench = ready(Bench(), 0)
    bench.credentials.values.clear()
    with pytest.raises(CredentialLost):
        bench.credentials.read("shop/shop", fresh=True)
    assert delivered(bench, 0) == "AuthorityLost"
    assert bench.target.calls == []


def test_a_lost_authority_after_an_unknown_call_settles_nothing() -> None:
    bench = ready(Bench("keys+status"), 0)
    bench.target.trouble(bench.key(0), "lost")
    assert delivered(bench, 0) == "OutcomeUnknown"
    bench.target.secret = "rotated"
    assert delivered(bench, 0) == "AuthorityLost"
    assert forward.is_unsettled(bench.step(0).forward)


# Writing down what happened


def test_a_receipt_is_written_whoever_else_writes_the_record_at_the_same_time() -> None:
    bench = ready(Bench(), 0)
    left = iter(range(8))

    def busy(point: str) -> None:
        if point == "before write" and bench.target.calls and next(left, None) is not None:
            step = bench.step(0)
            hook, bench.wire.hook = bench.wire.hook, None
            bench.put(step, step.model_copy(update={"rounds": step.rounds + 1}))
            bench.wire.hook = hook

    bench.wire.hook = busy
    assert delivered(bench, 0) == "applied"
    assert bench.step(0).forward.state is ForwardState.COMPLETED
    assert bench.step(0).rounds == 8


def test_a_store_that_fails_after_the_call_leaves_the_claim_to_be_settled() -> None:
    bench = ready(Bench("keys"), 0)

    def fail(point: str) -> None:
        if point == "before write" and bench.target.calls:
            raise ConnectionError

    bench.wire.hook = fail
    with pytest.raises(ConnectionError):
        run_step(bench.world_at(0), bench.ref(0))
    bench.wire.hook = None
    assert bench.step(0).forward.state is ForwardState.STARTED
    assert redelivered(bench, 0) == "applied"
    assert bench.target.count(bench.key(0)) == 1


@pytest.mark.parametrize("made", [ValueError("no such field"), {"order": 4471}, None, {1: "x"}])
def test_undo_inputs_that_cannot_be_made_never_cost_a_receipt(made: Any) -> None:
    bench = Bench()
    undo = bench.world("reserve").step.undo
    assert undo is not None

    def fixed(_arguments: Any, _receipt: Any) -> Any:
        if isinstance(made, Exception):
            raise made
        return made

    object.__setattr__(undo, "fixed_inputs", fixed)
    bench.admit()
    assert delivered(bench, 0) == "applied"
    step = bench.step(0)
    assert step.forward.receipt is not None
    assert step.undo is not None
    assert step.undo.inputs is None


def test_the_last_step_and_the_saga_are_completed_in_one_write() -> None:
    bench = ready(Bench(), 4)
    writes = bench.store.writes
    run(bench, 4)
    assert bench.store.writes - writes == 2
    assert bench.head.outcome == "completed"
    assert bench.head.pivot is Pivot.CROSSED


def test_a_last_step_whose_saga_has_turned_is_recorded_and_does_not_complete_it() -> None:
    bench = Bench()
    bench.admit("reserve", "hold")
    run(bench, 0)

    def turned(point: str) -> None:
        if point == "before do":
            bench.wire.hook = None
            head, step = bench.head, bench.step(1)
            bench.put(step, forward.bar(step))
            bench.put(head, head.model_copy(update={"direction": Direction.COMPENSATING}))

    bench.wire.hook = turned
    assert delivered(bench, 1) == "StepBarred"
    assert bench.step(1).forward.state is ForwardState.COMPLETED
    assert bench.head.outcome is None


def test_the_layer_unwraps_what_the_claim_raises_so_that_a_catch_by_name_can_match() -> None:
    class Odd(Exception):
        pass

    class Raising:
        key = "saga-1:0:do"

        def claim(self) -> None:
            raise Odd

        def conclude(self, answer: Mapping[str, Any]) -> None:
            raise AssertionError(answer)

        def broke(self) -> None:
            raise AssertionError

    with pytest.raises(Odd):
        idempotency.once(Raising(), dict)


def test_a_call_that_raises_is_recorded_as_broken_off_and_its_error_comes_out() -> None:
    said = []

    class Quiet:
        key = "saga-1:0:do"

        def claim(self) -> None:
            said.append("claim")

        def conclude(self, answer: Mapping[str, Any]) -> None:
            raise AssertionError(answer)

        def broke(self) -> None:
            said.append("broke")

    def call() -> Mapping[str, Any]:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        idempotency.once(Quiet(), call)
    assert said == ["claim", "broke"]


def test_answers_come_back_as_they_were_given() -> None:
    answer = Applied(receipt=Receipt(resource="é-9007199254740993")).model_dump(mode="json")
    kept = []

    class Keeping:
        key = "saga-1:0:do"

        def claim(self) -> None:
            return None

        def conclude(self, answer: Mapping[str, Any]) -> None:
            kept.append(answer)

        def broke(self) -> None:
            raise AssertionError

    assert idempotency.once(Keeping(), lambda: answer) == answer == kept[0]
