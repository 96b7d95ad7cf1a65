"""The forward command's transitions: every pair of states, and the rules that make them safe."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from functions.domain.ledger import by_person, forward
from functions.domain.ledger.forward import (
    SETTLINGS,
    TRANSITIONS,
    Answered,
    Busy,
    IllegalTransition,
    Proceed,
    SettleFirst,
    Stop,
    Stopped,
)
from functions.domain.ledger.records import HISTORY_LENGTH, ForwardState, StepRecord
from functions.domain.outcome import (
    Applied,
    NotApplied,
    NotFound,
    Outcome,
    Receipt,
    Refused,
    Tombstoned,
    Unknown,
    UnknownCause,
)
from tests.unit.ledger import (
    DIGEST,
    HOLDS,
    INPUTS,
    LEASE,
    NOW,
    ONE,
    OTHER,
    SETTLES_AFTER,
    findings,
    negatives,
    outcomes,
    step,
    steps,
    undoing,
)

S = ForwardState
ALLOWED = {
    (S.PREPARED, S.STARTED),
    (S.PREPARED, S.REFUSED),
    (S.PREPARED, S.COMPLETED),
    (S.STARTED, S.STARTED),
    (S.STARTED, S.COMPLETED),
    (S.STARTED, S.REFUSED),
    (S.STARTED, S.RELEASED),
    (S.STARTED, S.UNKNOWN),
    (S.UNKNOWN, S.UNKNOWN),
    (S.UNKNOWN, S.STARTED),
    (S.UNKNOWN, S.COMPLETED),
    (S.UNKNOWN, S.RELEASED),
    (S.RELEASED, S.STARTED),
    (S.RELEASED, S.REFUSED),
    (S.RELEASED, S.COMPLETED),
    (S.REFUSED, S.RELEASED),
    (S.REFUSED, S.COMPLETED),
}


def claim(record: StepRecord, **more: Any) -> forward.ClaimDecision:
    return forward.claim(
        record, **{"now": NOW, "lease": LEASE, "digest": DIGEST, "by": "saga-1-1", **more}
    )


def settle(record: StepRecord, now: int = NOW) -> forward.ClaimDecision:
    return forward.settle_claim(record, now=now, lease=LEASE, by="saga-1-1")


def claimed(record: StepRecord, **more: Any) -> StepRecord:
    decision = claim(record, **more)
    assert isinstance(decision, Proceed), decision
    return decision.record


def asked(record: StepRecord, now: int = NOW) -> StepRecord:
    decision = settle(record, now)
    assert isinstance(decision, Proceed), decision
    return decision.record


def concluded(record: StepRecord, outcome: Outcome, fence: int | None = None) -> StepRecord | None:
    at = record.forward.fence if fence is None else fence
    return forward.conclude(record, at, outcome, now=NOW + 1_000, undo_inputs=INPUTS)


def found(record: StepRecord, finding: Any, **more: Any) -> StepRecord | None:
    arguments: dict[str, Any] = {
        "now": NOW,
        "asked_at": NOW,
        "settles_after": SETTLES_AFTER,
        "undo_inputs": INPUTS,
        **more,
    }
    return forward.conclude_settling(record, record.forward.fence, finding, **arguments)


# The table


@pytest.mark.parametrize(("before", "after"), list(product(S, S)))
def test_a_step_moves_only_as_the_table_says(before: S, after: S) -> None:
    record = step(state=before)
    if (before, after) in ALLOWED:
        assert forward.moved(record, after).forward.state is after
    else:
        with pytest.raises(IllegalTransition):
            forward.moved(record, after)


def test_nothing_follows_completed() -> None:
    assert TRANSITIONS[S.COMPLETED] == frozenset()
    assert set(TRANSITIONS) == set(S)


# The claim


def test_a_claim_counts_raises_the_fence_and_holds_until_no_call_can_be_sent() -> None:
    after = claimed(step()).forward
    assert (after.state, after.attempts, after.fence) == (S.STARTED, 1, 1)
    assert after.deadline == NOW + LEASE.call
    assert after.lease_until == NOW + HOLDS
    assert [(e.fence, e.purpose, e.outcome) for e in after.history] == [(1, "call", None)]


@given(steps(), st.booleans())
def test_a_claim_is_given_only_where_nothing_stands_against_it(
    record: StepRecord,
    settled: bool,  # noqa: FBT001 - drawn
) -> None:
    decision = claim(record, settled=settled)
    before = record.forward
    if isinstance(decision, Proceed):
        assert before.state in {S.PREPARED, S.STARTED, S.UNKNOWN, S.RELEASED}
        assert not before.barred
        assert record.case is None
        assert not before.conflicted
        assert before.attempts < before.budget
        assert settled or not forward.is_unsettled(before)
        assert before.state is not S.STARTED or now_lapsed(before)
        after = decision.record.forward
        assert after.fence == before.fence + 1
        assert after.attempts == before.attempts + 1
        assert after.unsettled == forward.is_unsettled(before)
        assert after.receipt is None
    if isinstance(decision, Answered):
        assert before.receipt == decision.receipt
        assert not before.barred
    if isinstance(decision, Busy):
        assert decision.until > NOW


def now_lapsed(command: Any) -> bool:
    return bool(command.lease_until <= NOW)


@pytest.mark.parametrize("state", S)
def test_a_barred_step_never_starts_and_answers_nobody(state: S) -> None:
    record = forward.bar(step(state=state, receipt=ONE if state is S.COMPLETED else None))
    assert claim(record, settled=True) == Stopped(Stop.BARRED)


@pytest.mark.parametrize("state", [s for s in S if s is not S.COMPLETED])
def test_an_open_case_stands_against_every_claim(state: S) -> None:
    record = step(state=state).model_copy(update={"case": "case-1"})
    assert claim(record, settled=True) == Stopped(Stop.CASE_OPEN)


def test_a_completed_step_answers_with_its_receipt_whatever_else_is_wrong() -> None:
    record = step(state=S.COMPLETED, receipt=ONE, attempts=9, conflicted=True)
    assert claim(record.model_copy(update={"case": "c"}), digest="other") == Answered(ONE)


@pytest.mark.parametrize("state", [S.PREPARED, S.STARTED, S.UNKNOWN, S.RELEASED])
def test_another_digest_is_investigated_whatever_the_state(state: S) -> None:
    assert claim(step(state=state), digest="e" * 64, settled=True) == Stopped(Stop.KEY_CONFLICT)


def test_a_step_with_bound_results_takes_its_digest_from_its_first_claim() -> None:
    first = claimed(step(digest=None), digest="b" * 64)
    assert first.forward.digest == "b" * 64
    lapsed = {"now": NOW + HOLDS, "settled": True}
    assert claim(first, digest=DIGEST, **lapsed) == Stopped(Stop.KEY_CONFLICT)
    assert isinstance(claim(first, digest="b" * 64, **lapsed), Proceed)


def test_a_lease_is_waited_out_to_its_last_millisecond_and_then_it_has_lapsed() -> None:
    started = claimed(step())
    assert claim(started, now=NOW + HOLDS - 1) == Busy(NOW + HOLDS)
    assert claim(started, now=NOW + HOLDS) == SettleFirst()
    assert settle(started, NOW + HOLDS - 1) == Busy(NOW + HOLDS)
    assert isinstance(settle(started, NOW + HOLDS), Proceed)


def test_the_budget_is_refused_by_the_claim_that_would_exceed_it() -> None:
    assert isinstance(claim(step(attempts=2, state=S.RELEASED)), Proceed)
    assert claim(step(attempts=3, state=S.RELEASED)) == Stopped(Stop.BUDGET_SPENT)


def test_a_claim_over_an_unsettled_call_stays_unsettled() -> None:
    for record in (step(state=S.UNKNOWN, unsettled=True), step(state=S.STARTED)):
        assert claim(record) == SettleFirst()
        assert claimed(record, settled=True).forward.unsettled


@given(
    st.integers(1, 20),
    st.integers(0, 2**40),
    st.booleans(),
    st.text("abc-", min_size=1, max_size=20),
)
def test_a_fresh_claim_equals_a_claim_on_every_untouched_record(
    budget: int,
    now: int,
    with_undo: bool,  # noqa: FBT001 - drawn
    by: str,
) -> None:
    record = step(budget=budget)
    record = record if with_undo else record.model_copy(update={"undo": None})
    fields = forward.fresh_claim(now=now, lease=LEASE, by=by)
    item: Any = record.model_dump(mode="json")
    for path, value in fields.items():
        parent, _, name = path.partition(".")
        item[parent][name] = value
    assert StepRecord.model_validate(item, strict=False) == claimed(record, now=now, by=by)


# What a call answered


def test_applied_completes_with_receipt_and_undo_inputs_at_once() -> None:
    after = concluded(claimed(step()), Applied(receipt=ONE))
    assert after is not None
    assert (after.forward.state, after.forward.receipt) == (S.COMPLETED, ONE)
    assert (after.forward.lease_until, after.forward.unsettled) == (0, False)
    assert after.forward.history[-1].outcome == "applied"
    assert after.undo is not None
    assert (after.undo.inputs, after.undo.condition) == (INPUTS, "1")


@pytest.mark.parametrize("state", [S.STARTED, S.UNKNOWN, S.RELEASED, S.REFUSED])
@pytest.mark.parametrize("fence", [0, 1, 2, 7])
def test_a_late_success_completes_any_record_that_is_not_completed(state: S, fence: int) -> None:
    record = forward.bar(step(state=state, fence=2, unsettled=True)).model_copy(
        update={"case": "case-1"}
    )
    after = concluded(record, Applied(receipt=ONE), fence)
    assert after is not None
    assert after.forward.state is S.COMPLETED
    assert after.forward.barred
    assert after.case == "case-1"


def test_a_success_without_any_claim_is_a_bug() -> None:
    with pytest.raises(IllegalTransition):
        concluded(step(), Applied(receipt=ONE))


@given(outcomes | st.just(Applied(receipt=OTHER)), st.integers(0, 5))
def test_a_receipt_never_changes(outcome: Outcome, fence: int) -> None:
    record = step(state=S.COMPLETED, receipt=ONE, fence=3)
    assert concluded(record, outcome, fence) is None
    assert found(record, outcome) is None


@given(steps(), outcomes, st.integers(0, 6))
def test_a_negative_answer_counts_only_under_the_current_fence_of_a_started_call(
    record: StepRecord, outcome: Outcome, fence: int
) -> None:
    if isinstance(outcome, Applied):
        return
    after = concluded(record, outcome, fence)
    if fence != record.forward.fence or record.forward.state is not S.STARTED:
        assert after is None
    else:
        assert after is not None
        assert after.forward.lease_until == 0
        assert after.forward.deadline <= record.forward.deadline


@given(negatives)
def test_a_negative_answer_says_what_it_says_of_a_settled_step(outcome: Outcome) -> None:
    after = concluded(claimed(step()), outcome)
    assert after is not None
    expected = S.REFUSED if isinstance(outcome, Refused) else S.RELEASED
    assert after.forward.state is expected
    assert forward.never_happened(after.forward)


@given(negatives)
def test_a_later_negative_answer_never_clears_an_unknown(outcome: Outcome) -> None:
    record = claimed(step(state=S.UNKNOWN, unsettled=True, fence=1), settled=True)
    after = concluded(record, outcome)
    assert after is not None
    assert (after.forward.state, after.forward.unsettled) == (S.UNKNOWN, True)
    assert not forward.never_happened(after.forward)


@pytest.mark.parametrize("cause", UnknownCause)
def test_an_unknown_is_unsettled_and_a_key_conflict_is_kept(cause: UnknownCause) -> None:
    after = concluded(claimed(step()), Unknown(reason="?", cause=cause))
    assert after is not None
    assert (after.forward.state, after.forward.unsettled) == (S.UNKNOWN, True)
    assert after.forward.conflicted is (cause is UnknownCause.KEY_CONFLICT)
    later = concluded(
        after.model_copy(update={"forward": after.forward.model_copy(update={"state": S.STARTED})}),
        NotApplied(reason="busy"),
    )
    assert later is not None
    assert later.forward.conflicted is after.forward.conflicted


def test_an_answer_ends_the_deadline_of_its_call_and_never_moves_it_later() -> None:
    early = concluded(claimed(step()), Unknown(reason="?"))
    assert early is not None
    assert early.forward.deadline == NOW + 1_000
    lapsed = claimed(step(), now=NOW - 60_000)
    late = concluded(lapsed, Unknown(reason="?"))
    assert late is not None
    assert late.forward.deadline == NOW - 60_000 + LEASE.call


# Settling


def test_a_settle_claim_counts_no_attempt_and_moves_no_deadline() -> None:
    record = step(state=S.STARTED, attempts=3, fence=3, deadline=NOW - 5)
    after = asked(record).forward
    assert (after.state, after.attempts, after.settlings) == (S.UNKNOWN, 3, 1)
    assert (after.fence, after.deadline, after.unsettled) == (4, NOW - 5, True)
    assert after.lease_until == NOW + HOLDS
    assert after.history[-1].purpose == "settle"


def test_a_target_is_asked_a_bounded_number_of_times_and_then_a_person() -> None:
    record = step(state=S.UNKNOWN, unsettled=True)
    for number in range(SETTLINGS):
        record = asked(record, NOW + number)
        after = found(record, Unknown(reason="?"))
        assert after is not None
        record = after
    assert settle(record) == Stopped(Stop.PERSON_NEEDED)
    again = by_person.ask_again(record)
    assert isinstance(settle(again), Proceed)
    assert again.forward.fence == record.forward.fence + 1


def test_settling_a_completed_step_answers_even_under_a_bar() -> None:
    assert settle(forward.bar(step(state=S.COMPLETED, receipt=ONE))) == Answered(ONE)


def test_a_tombstone_settles_at_once() -> None:
    record = asked(step(state=S.UNKNOWN, unsettled=True, deadline=NOW))
    after = found(record, Tombstoned())
    assert after is not None
    assert (after.forward.state, after.forward.unsettled) == (S.RELEASED, False)


@pytest.mark.parametrize(
    ("asked_at", "settles_after", "absent"),
    [
        (NOW + SETTLES_AFTER - 1, SETTLES_AFTER, False),
        (NOW + SETTLES_AFTER, SETTLES_AFTER, True),
        (NOW, 0, True),
        (NOW + 10**9, None, False),
    ],
)
def test_not_there_counts_only_if_it_was_asked_when_no_late_effect_was_possible(
    asked_at: int,
    settles_after: int | None,
    absent: bool,  # noqa: FBT001 - a column of the table
) -> None:
    record = asked(step(state=S.UNKNOWN, unsettled=True, deadline=NOW))
    after = found(
        record, NotFound(), now=NOW + 10**9, asked_at=asked_at, settles_after=settles_after
    )
    assert after is not None
    assert after.forward.state is (S.RELEASED if absent else S.UNKNOWN)
    assert after.forward.unsettled is not absent


@given(findings)
def test_only_presence_absence_and_tombstones_settle(finding: Any) -> None:
    record = asked(step(state=S.STARTED, deadline=NOW - SETTLES_AFTER))
    after = found(record, finding)
    assert after is not None
    settles = isinstance(finding, Applied | NotFound | Tombstoned)
    assert forward.is_unsettled(after.forward) is not settles
    assert after.forward.lease_until == 0
    assert after.forward.history[-1].outcome == finding.kind


@given(findings, st.integers(0, 5))
def test_what_was_found_counts_only_under_its_own_fence_unless_it_is_the_effect(
    finding: Any, fence: int
) -> None:
    record = asked(step(state=S.STARTED, fence=2))
    arguments: Any = {"now": NOW, "asked_at": NOW, "settles_after": SETTLES_AFTER}
    after = forward.conclude_settling(record, fence, finding, **arguments)
    if isinstance(finding, Applied):
        assert after is not None
        assert after.forward.state is S.COMPLETED
    else:
        assert (after is None) is (fence != record.forward.fence)


def test_a_settling_that_lost_its_place_to_a_call_changes_nothing() -> None:
    settling = asked(step(state=S.UNKNOWN, unsettled=True))
    calling = claimed(settling, settled=True, now=NOW + HOLDS)
    for finding in (NotFound(), Tombstoned(), Unknown(reason="?")):
        late = forward.conclude_settling(
            calling,
            settling.forward.fence,
            finding,
            now=NOW,
            asked_at=NOW + 10**9,
            settles_after=0,
        )
        assert late is None


# Checks, people, bars


@pytest.mark.parametrize("state", [S.PREPARED, S.RELEASED])
def test_a_failed_check_refuses_before_a_call_and_is_kept(state: S) -> None:
    after = forward.refuse_before_call(
        step(state=state), now=NOW, reason="x" * 900, by="saga-1-1"
    ).forward
    assert (after.state, after.attempts, after.fence) == (S.REFUSED, 0, 0)
    assert (after.history[-1].cause, len(after.history[-1].reason or "")) == ("precondition", 500)


@pytest.mark.parametrize("state", [S.STARTED, S.UNKNOWN, S.COMPLETED, S.REFUSED])
def test_a_check_refuses_nothing_that_is_under_way_or_decided(state: S) -> None:
    with pytest.raises(IllegalTransition):
        forward.refuse_before_call(step(state=state), now=NOW, reason="x", by="saga-1-1")


@pytest.mark.parametrize("state", [S.STARTED, S.UNKNOWN, S.RELEASED, S.REFUSED, S.PREPARED])
def test_a_persons_retry_gives_one_more_attempt_under_a_new_fence_and_forgets_nothing(
    state: S,
) -> None:
    record = step(state=state, attempts=5, settlings=8, fence=6, conflicted=True, unsettled=True)
    after = by_person.retry(record).forward
    assert (after.budget, after.attempts, after.fence) == (6, 5, 7)
    assert (after.settlings, after.lease_until, after.conflicted) == (0, 0, False)
    assert after.unsettled
    assert after.state is (S.RELEASED if state is S.REFUSED else state)
    late = forward.conclude(
        by_person.retry(record), 6, NotApplied(reason="late"), now=NOW, undo_inputs=None
    )
    assert late is None


@pytest.mark.parametrize("state", [S.PREPARED, S.STARTED, S.UNKNOWN, S.RELEASED, S.REFUSED])
def test_a_person_can_do_any_unfinished_step_by_hand_under_a_new_fence(state: S) -> None:
    by_hand = Receipt(resource="by hand: case-1")
    after = by_person.complete(step(state=state, fence=2, unsettled=True), by_hand, now=NOW)
    assert (after.forward.state, after.forward.receipt) == (S.COMPLETED, by_hand)
    assert (after.forward.fence, after.forward.by_hand, after.forward.unsettled) == (3, True, False)


def test_nobody_does_a_boundary_by_hand_that_was_never_started() -> None:
    boundary = step().model_copy(update={"boundary": True})
    with pytest.raises(IllegalTransition):
        by_person.complete(boundary, ONE, now=NOW)
    with pytest.raises(IllegalTransition):
        by_person.complete(step(state=S.COMPLETED, receipt=ONE), OTHER, now=NOW)


@pytest.mark.parametrize("state", [S.STARTED, S.UNKNOWN])
def test_a_person_who_found_nothing_settles_the_step_under_a_new_fence(state: S) -> None:
    after = by_person.found_absent(
        step(state=state, unsettled=True, attempts=3, fence=4, conflicted=True)
    ).forward
    assert (after.state, after.unsettled, after.conflicted) == (S.RELEASED, False, False)
    assert (after.fence, after.budget) == (5, 4)
    assert forward.never_happened(after)


@given(steps())
def test_what_never_happened_has_nothing_unaccounted_for(record: StepRecord) -> None:
    command = record.forward
    if forward.never_happened(command):
        assert command.state in {S.PREPARED, S.UNKNOWN, S.RELEASED, S.REFUSED}
        assert not command.unsettled
    assert not (forward.never_happened(command) and command.state in {S.STARTED, S.COMPLETED})


@given(steps())
def test_a_bar_changes_nothing_else(record: StepRecord) -> None:
    barred = forward.bar(record)
    assert barred.forward.barred
    unbarred = barred.forward.model_copy(update={"barred": record.forward.barred})
    assert barred.model_copy(update={"forward": unbarred}) == record


def test_a_history_keeps_its_first_entry_and_the_latest() -> None:
    record = step(budget=100)
    for number in range(HISTORY_LENGTH + 10):
        record = claimed(record, now=NOW + number, settled=True)
        after = concluded(record, NotApplied(reason="busy"))
        assert after is not None
        record = after
    fences = [e.fence for e in record.forward.history]
    assert len(fences) == HISTORY_LENGTH
    assert fences == [1, *range(12, 51)]


# Whole histories


class ForwardHistories(RuleBasedStateMachine):
    """Any workers, dying at any moment, over one step whose target never lies about its key."""

    def __init__(self) -> None:
        super().__init__()
        self.record = step()
        self.now = NOW
        self.at_large: list[tuple[int, bool]] = []
        """Calls that may still report: fence, and whether they took effect."""
        self.effect = False
        self.calls = 0
        self.barred_at: int | None = None
        self.budget = self.record.forward.budget
        self.receipt: Receipt | None = None

    def move(self, after: StepRecord | None) -> None:
        if after is None:
            return
        before = self.record.forward
        assert after.forward.state in TRANSITIONS[before.state] | {before.state}
        assert after.forward.fence >= before.fence
        assert after.forward.attempts >= before.attempts
        if before.unsettled and not after.forward.unsettled:
            assert after.forward.state in {S.COMPLETED, S.RELEASED}
        self.record = after

    @rule(takes_effect=st.booleans())
    def claim_and_call(self, takes_effect: bool) -> None:  # noqa: FBT001 - drawn
        decision = claim(self.record, now=self.now, settled=True)
        if not isinstance(decision, Proceed):
            return
        assert self.barred_at is None
        self.calls += 1
        self.move(decision.record)
        self.effect = self.effect or takes_effect
        self.at_large.append((self.record.forward.fence, takes_effect or self.effect))

    @precondition(lambda self: self.at_large)
    @rule(data=st.data(), answer=negatives)
    def report(self, data: st.DataObject, answer: Outcome) -> None:
        index = data.draw(st.integers(0, len(self.at_large) - 1))
        fence, applied = self.at_large.pop(index)
        said: Outcome = Applied(receipt=ONE) if applied else answer
        if data.draw(st.booleans()):
            said = Unknown(reason="lost")
        self.move(forward.conclude(self.record, fence, said, now=self.now, undo_inputs=INPUTS))

    @precondition(lambda self: self.at_large)
    @rule()
    def die(self) -> None:
        self.at_large.pop()

    @rule(seconds=st.sampled_from([1, 20, 100]))
    def pass_time(self, seconds: int) -> None:
        self.now += seconds * 1000

    @rule(tombstone=st.booleans())
    def ask(self, tombstone: bool) -> None:  # noqa: FBT001 - drawn
        if not forward.is_unsettled(self.record.forward):
            return
        decision = forward.settle_claim(self.record, now=self.now, lease=LEASE, by="saga-1-1")
        if not isinstance(decision, Proceed):
            return
        self.move(decision.record)
        finding: Any = NotFound()
        if self.effect:
            finding = Applied(receipt=ONE)
        elif tombstone:
            finding = Tombstoned()
            self.at_large = [(fence, False) for fence, _ in self.at_large]
        self.move(
            forward.conclude_settling(
                self.record,
                self.record.forward.fence,
                finding,
                now=self.now,
                asked_at=self.now,
                settles_after=SETTLES_AFTER,
                undo_inputs=INPUTS,
            )
        )

    @rule()
    def turn(self) -> None:
        self.barred_at = self.barred_at or self.now
        self.move(forward.bar(self.record))

    @precondition(lambda self: self.record.forward.state is not S.COMPLETED)
    @rule()
    def retry_by_a_person(self) -> None:
        self.budget = max(self.budget, self.record.forward.attempts) + 1
        self.record = by_person.retry(self.record)

    @invariant()
    def attempts_never_exceed_the_budget(self) -> None:
        command = self.record.forward
        assert command.attempts <= command.budget == self.budget
        assert command.attempts == self.calls

    @invariant()
    def an_effect_is_never_taken_for_nothing(self) -> None:
        if self.effect:
            assert not forward.never_happened(self.record.forward)

    @invariant()
    def a_receipt_never_changes(self) -> None:
        now = self.record.forward.receipt
        assert self.receipt is None or self.receipt == now
        self.receipt = now
        assert (now is not None) == (self.record.forward.state is S.COMPLETED)

    @invariant()
    def the_undo_has_what_it_needs_as_soon_as_the_effect_is_known(self) -> None:
        undo = self.record.undo
        assert undo is not None
        assert (undo.inputs is not None) == (self.record.forward.receipt is not None)


ForwardHistories.TestCase.settings = settings(
    max_examples=60, stateful_step_count=30, deadline=None
)
TestForwardHistories = ForwardHistories.TestCase


def test_a_step_without_an_undo_completes_as_well() -> None:
    plain = step().model_copy(update={"undo": None})
    after = concluded(claimed(plain), Applied(receipt=ONE))
    assert after is not None
    assert after.undo is None
    assert undoing(step()).undo is not None
