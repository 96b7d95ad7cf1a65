"""The undo command's transitions: its own states, its own key, its own budget, and its place in the order."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from functions.domain.ledger import by_person, forward, undo
from functions.domain.ledger.forward import Busy, IllegalTransition, SettleFirst, Stop, Stopped
from functions.domain.ledger.records import Direction, ForwardState, StepRecord, Undo, UndoState
from functions.domain.ledger.undo import (
    SETTLED,
    SETTLINGS,
    TRANSITIONS,
    NotNeeded,
    SettleForward,
    Undone,
    UndoProceed,
    Waiting,
)
from functions.domain.outcome import (
    Applied,
    NotApplied,
    NotFound,
    Outcome,
    Refused,
    Tombstoned,
    Unknown,
    UnknownCause,
)
from tests.unit.ledger import (
    HOLDS,
    LEASE,
    NOW,
    ONE,
    OTHER,
    SETTLES_AFTER,
    completed,
    findings,
    negatives,
    outcomes,
    saga,
    step,
    steps,
    undoing,
)

S = UndoState
BACK = Direction.COMPENSATING
ALLOWED = {
    *product([S.PENDING], [S.RUNNING, S.NOT_NEEDED, S.BLOCKED, S.RESOLVED, S.ACCEPTED]),
    *product([S.RUNNING], [S.RUNNING, S.SUCCEEDED, S.PENDING, S.BLOCKED, S.UNKNOWN]),
    *product(
        [S.UNKNOWN],
        [S.UNKNOWN, S.RUNNING, S.SUCCEEDED, S.PENDING, S.BLOCKED, S.RESOLVED, S.ACCEPTED],
    ),
    *product([S.BLOCKED], [S.PENDING, S.UNKNOWN, S.SUCCEEDED, S.RESOLVED, S.ACCEPTED]),
    (S.NOT_NEEDED, S.PENDING),
    (S.RESOLVED, S.PENDING),
}


def claim(record: StepRecord, *others: StepRecord, **more: Any) -> undo.UndoDecision:
    arguments: dict[str, Any] = {"now": NOW, "lease": LEASE, "by": "saga-1-1", **more}
    return undo.claim(saga(record, *others, direction=BACK), 0, **arguments)


def claimed(record: StepRecord, **more: Any) -> StepRecord:
    decision = claim(record, **more)
    assert isinstance(decision, UndoProceed), decision
    return decision.record


def settle(record: StepRecord, now: int = NOW) -> undo.UndoDecision:
    return undo.settle_claim(record, now=now, lease=LEASE, by="saga-1-1")


def asked(record: StepRecord, now: int = NOW) -> StepRecord:
    decision = settle(record, now)
    assert isinstance(decision, UndoProceed), decision
    return decision.record


def of(record: StepRecord | None) -> Undo:
    assert record is not None
    assert record.undo is not None
    return record.undo


def concluded(record: StepRecord, outcome: Outcome, fence: int | None = None) -> StepRecord | None:
    at = of(record).fence if fence is None else fence
    return undo.conclude(record, at, outcome, now=NOW + 1_000)


def found(record: StepRecord, finding: Any, **more: Any) -> StepRecord | None:
    arguments: dict[str, Any] = {
        "now": NOW,
        "asked_at": NOW,
        "settles_after": SETTLES_AFTER,
        **more,
    }
    return undo.conclude_settling(record, of(record).fence, finding, **arguments)


# The table


@pytest.mark.parametrize(("before", "after"), list(product(S, S)))
def test_an_undo_moves_only_as_the_table_says(before: S, after: S) -> None:
    record = completed(state=before)
    if (before, after) in ALLOWED:
        assert of(undo.moved(record, after)).state is after
    else:
        with pytest.raises(IllegalTransition):
            undo.moved(record, after)


def test_every_state_has_its_row_and_what_is_settled_is_left_only_for_a_late_effect() -> None:
    assert set(TRANSITIONS) == set(S)
    assert {s for s in SETTLED if TRANSITIONS[s]} == {S.NOT_NEEDED, S.RESOLVED}
    assert TRANSITIONS[S.NOT_NEEDED] == TRANSITIONS[S.RESOLVED] == {S.PENDING}


def test_a_step_without_an_undo_has_nothing_to_move_and_owes_nothing() -> None:
    plain = step().model_copy(update={"undo": None})
    assert undo.is_settled(plain)
    assert undo.conclude(plain, 0, Applied(receipt=ONE), now=NOW) is None
    assert settle(plain) == Undone()
    for change in (undo.reawaken, by_person.retry_undo, by_person.undo_found_absent):
        with pytest.raises(IllegalTransition):
            change(plain)
    with pytest.raises(IllegalTransition):
        claim(plain)


# The claim


@pytest.mark.parametrize("direction", [Direction.FORWARD, Direction.FINISHING])
@pytest.mark.parametrize("state", S)
def test_no_undo_starts_unless_the_saga_compensates(direction: Direction, state: S) -> None:
    decision = undo.claim(
        saga(completed(state=state), direction=direction),
        0,
        now=NOW,
        lease=LEASE,
        by="saga-1-1",
        settled=True,
    )
    assert decision == Stopped(Stop.BARRED)


@pytest.mark.parametrize("state", sorted(SETTLED))
def test_what_is_settled_is_not_done_again(state: S) -> None:
    assert claim(completed(state=state), settled=True) == Undone()
    assert settle(completed(state=state)) == Undone()


def test_a_claim_counts_raises_the_fence_and_holds_its_lease() -> None:
    after = of(claimed(completed()))
    assert (after.state, after.attempts, after.fence) == (S.RUNNING, 1, 1)
    assert (after.deadline, after.lease_until) == (NOW + LEASE.call, NOW + HOLDS)
    assert of(claimed(completed())).history[-1].purpose == "call"


@given(steps(), st.booleans())
def test_an_undo_is_called_only_where_an_effect_is_known_and_nothing_stands_against_it(
    record: StepRecord,
    settled: bool,  # noqa: FBT001 - drawn
) -> None:
    try:
        decision = claim(record, settled=settled)
    except IllegalTransition:
        # Only histories that cannot be: an undo that ran for a step that never happened.
        assert of(record).state in {S.RUNNING, S.UNKNOWN, S.BLOCKED}
        assert record.forward.state is not ForwardState.COMPLETED
        return
    before = of(record)
    if isinstance(decision, UndoProceed):
        assert record.forward.state is ForwardState.COMPLETED
        assert record.case is None
        assert before.inputs is not None
        assert before.attempts < before.budget
        assert before.lease_until <= NOW
        assert (before.conflicted, before.needs_person) == (False, False)
        assert settled or not undo.undo_unsettled(before)
        assert of(decision.record).fence == before.fence + 1
    if isinstance(decision, NotNeeded):
        assert forward.never_happened(record.forward)
        assert record.forward.lease_until <= NOW


@pytest.mark.parametrize(
    ("state", "unsettled", "lease", "decision"),
    [
        (ForwardState.STARTED, False, NOW + 1, Busy(NOW + 1)),
        (ForwardState.STARTED, False, NOW, SettleForward()),
        (ForwardState.UNKNOWN, True, NOW + 1, Busy(NOW + 1)),
        (ForwardState.UNKNOWN, True, 0, SettleForward()),
        (ForwardState.RELEASED, False, 0, None),
        (ForwardState.REFUSED, False, 0, None),
        (ForwardState.PREPARED, False, 0, None),
    ],
)
def test_before_anything_is_undone_the_forward_call_is_accounted_for(
    state: ForwardState,
    unsettled: bool,  # noqa: FBT001 - a column of the table
    lease: int,
    decision: Any,
) -> None:
    record = forward.bar(step(state=state, unsettled=unsettled, lease_until=lease))
    if decision is None:
        said = claim(record)
        assert isinstance(said, NotNeeded)
        assert of(said.record).state is S.NOT_NEEDED
    else:
        assert claim(record) == decision


def test_stops_in_their_order() -> None:
    stops = {
        Stop.CASE_OPEN: completed().model_copy(update={"case": "case-1"}),
        Stop.KEY_CONFLICT: completed(conflicted=True),
        Stop.REFUSED: completed(state=S.BLOCKED),
        Stop.PERSON_NEEDED: completed(needs_person=True),
        Stop.BUDGET_SPENT: completed(attempts=3),
    }
    for stop, record in stops.items():
        assert claim(record, settled=True) == Stopped(stop)
    without_inputs = undoing(completed(), inputs=None)
    assert claim(without_inputs, settled=True) == Stopped(Stop.PERSON_NEEDED)


def test_an_undo_waits_for_every_unsettled_one_that_it_depends_on_whatever_their_forward() -> None:
    later = [
        completed(1),
        completed(2, state=S.SUCCEEDED),
        step(3),
        completed(4, state=S.BLOCKED),
        completed(5, state=S.RESOLVED),
        completed(6, state=S.ACCEPTED),
        undoing(step(7), state=S.NOT_NEEDED),
    ]
    record = completed(waits_for=tuple(range(1, 8)))
    assert claim(record, *later) == Waiting((1, 3, 4))
    settled = [undoing(r, state=S.SUCCEEDED) for r in later]
    assert isinstance(claim(record, *settled), UndoProceed)


def test_an_undo_that_waits_does_not_keep_its_own_step_from_being_found_not_needed() -> None:
    record = forward.bar(undoing(step(), waits_for=(1,)))
    assert isinstance(claim(record, completed(1)), NotNeeded)


def test_order_is_kept_transitively_because_what_waits_is_not_settled() -> None:
    chain = [completed(0, waits_for=(1,)), completed(1, waits_for=(2,)), completed(2)]
    assert undo.unmet(saga(*chain), 0) == (1,)
    chain[2] = completed(2, state=S.SUCCEEDED)
    assert undo.unmet(saga(*chain), 0) == (1,)
    assert undo.unmet(saga(*chain), 1) == ()


# What an undo call answered


def test_success_is_a_checkpoint_with_its_result_and_its_notice() -> None:
    answer = Applied(receipt=OTHER, notice="The unit had been sold meanwhile.")
    after = of(concluded(claimed(completed()), answer))
    assert (after.state, after.result, after.notice) == (
        S.SUCCEEDED,
        OTHER,
        "The unit had been sold meanwhile.",
    )
    assert (after.lease_until, after.unsettled) == (0, False)


@pytest.mark.parametrize("state", [s for s in S if s not in SETTLED])
@pytest.mark.parametrize("fence", [0, 2, 9])
def test_a_late_success_counts_in_every_unsettled_state(state: S, fence: int) -> None:
    record = completed(state=state, fence=2, unsettled=True)
    assert of(concluded(record, Applied(receipt=ONE), fence)).state is S.SUCCEEDED


@given(outcomes, st.sampled_from(sorted(SETTLED)), st.integers(0, 5))
def test_a_checkpoint_never_changes(outcome: Outcome, state: S, fence: int) -> None:
    record = completed(state=state, result=ONE, fence=3)
    assert concluded(record, outcome, fence) is None
    assert found(record, outcome) is None


@given(negatives)
def test_a_later_negative_answer_never_clears_an_unknown(outcome: Outcome) -> None:
    record = claimed(completed(state=S.UNKNOWN, unsettled=True), settled=True)
    after = of(concluded(record, outcome))
    assert (after.state, after.unsettled) == (S.UNKNOWN, True)


@pytest.mark.parametrize(("outcome", "state"), [("refused", S.BLOCKED), ("not_applied", S.PENDING)])
def test_a_plain_no_blocks_and_a_not_now_is_pending_again(outcome: str, state: S) -> None:
    answer: Outcome = Refused(reason="no") if outcome == "refused" else NotApplied(reason="busy")
    after = of(concluded(claimed(completed()), answer))
    assert (after.state, after.unsettled) == (state, False)


@given(steps(), outcomes, st.integers(0, 6))
def test_a_negative_answer_counts_only_under_the_current_fence_of_a_running_call(
    record: StepRecord, outcome: Outcome, fence: int
) -> None:
    if isinstance(outcome, Applied):
        return
    before = of(record)
    after = concluded(record, outcome, fence)
    counts = before.state is S.RUNNING and fence == before.fence
    assert (after is not None) is counts


def test_a_conflicting_key_is_kept_until_a_person_reopens() -> None:
    after = concluded(claimed(completed()), Unknown(reason="?", cause=UnknownCause.KEY_CONFLICT))
    assert after is not None
    assert claim(after, settled=True) == Stopped(Stop.KEY_CONFLICT)


# Settling


def test_a_settle_claim_counts_no_attempt_and_moves_no_deadline() -> None:
    after = of(asked(completed(state=S.RUNNING, attempts=2, fence=2, deadline=NOW - 5)))
    assert (after.state, after.attempts, after.settlings) == (S.UNKNOWN, 2, 1)
    assert (after.fence, after.deadline, after.unsettled) == (3, NOW - 5, True)


def test_a_live_undo_is_waited_for_and_a_lapsed_one_settled_first() -> None:
    record = claimed(completed())
    assert claim(record, now=NOW + HOLDS - 1) == Busy(NOW + HOLDS)
    assert settle(record, NOW + HOLDS - 1) == Busy(NOW + HOLDS)
    assert claim(record, now=NOW + HOLDS) == SettleFirst()


def test_asking_is_bounded() -> None:
    record = completed(state=S.UNKNOWN, unsettled=True)
    for _ in range(SETTLINGS):
        after = found(asked(record), Unknown(reason="?"))
        assert after is not None
        record = after
    assert settle(record) == Stopped(Stop.PERSON_NEEDED)


@pytest.mark.parametrize(
    ("asked_at", "settles_after", "absent"),
    [
        (NOW + SETTLES_AFTER - 1, SETTLES_AFTER, False),
        (NOW + SETTLES_AFTER, SETTLES_AFTER, True),
        (NOW + 10**9, None, False),
    ],
)
def test_not_there_counts_only_if_it_was_asked_when_no_late_undo_was_possible(
    asked_at: int,
    settles_after: int | None,
    absent: bool,  # noqa: FBT001 - a column of the table
) -> None:
    record = asked(completed(state=S.UNKNOWN, unsettled=True, deadline=NOW))
    after = of(
        found(record, NotFound(), now=NOW + 10**9, asked_at=asked_at, settles_after=settles_after)
    )
    assert (after.state, after.unsettled) == (S.PENDING if absent else S.UNKNOWN, not absent)


@given(findings)
def test_only_presence_absence_and_tombstones_settle(finding: Any) -> None:
    record = asked(completed(state=S.RUNNING, deadline=NOW - SETTLES_AFTER))
    after = of(found(record, finding))
    settles = isinstance(finding, Applied | NotFound | Tombstoned)
    assert undo.undo_unsettled(after) is not settles


@given(findings, st.integers(0, 5))
def test_what_was_found_counts_only_under_its_own_fence_unless_it_is_the_undo(
    finding: Any, fence: int
) -> None:
    record = asked(completed(state=S.RUNNING, fence=2))
    arguments: Any = {"now": NOW, "asked_at": NOW, "settles_after": SETTLES_AFTER}
    after = undo.conclude_settling(record, fence, finding, **arguments)
    if isinstance(finding, Applied):
        assert of(after).state is S.SUCCEEDED
    else:
        assert (after is None) is (fence != of(record).fence)


# People


@pytest.mark.parametrize("state", [S.PENDING, S.RUNNING, S.UNKNOWN, S.BLOCKED])
def test_a_case_takes_an_undo_over_and_forgets_no_unknown(state: S) -> None:
    after = of(undo.block(completed(state=state)))
    assert after.state is S.BLOCKED
    assert after.unsettled is (state is S.RUNNING)


@pytest.mark.parametrize("unsettled", [False, True])
def test_a_persons_retry_gives_one_more_attempt_under_a_new_fence_and_forgets_no_unknown(
    unsettled: bool,  # noqa: FBT001 - a column of the table
) -> None:
    record = completed(
        state=S.BLOCKED,
        unsettled=unsettled,
        attempts=3,
        settlings=8,
        fence=4,
        conflicted=True,
        needs_person=True,
    )
    again = by_person.retry_undo(record)
    after = of(again)
    assert after.state is (S.UNKNOWN if unsettled else S.PENDING)
    assert (after.budget, after.fence, after.settlings) == (4, 5, 0)
    assert (after.conflicted, after.needs_person) == (False, False)
    assert after.unsettled is unsettled
    if unsettled:
        assert claim(again) == SettleFirst()
        assert isinstance(settle(again), UndoProceed)
    else:
        assert isinstance(claim(again), UndoProceed)


def test_a_person_who_found_nothing_settles_the_undo() -> None:
    record = completed(state=S.BLOCKED, unsettled=True, attempts=3)
    again = by_person.undo_found_absent(record)
    assert (of(again).state, of(again).unsettled) == (S.PENDING, False)
    assert isinstance(claim(again), UndoProceed)


@pytest.mark.parametrize("accepted", [False, True])
def test_a_person_settles_what_is_blocked_and_nothing_that_runs(
    accepted: bool,  # noqa: FBT001 - a column of the table
) -> None:
    after = of(by_person.settle_undo(completed(state=S.BLOCKED, unsettled=True), accepted=accepted))
    assert after.state is (S.ACCEPTED if accepted else S.RESOLVED)
    assert not after.unsettled
    with pytest.raises(IllegalTransition):
        by_person.settle_undo(completed(state=S.RUNNING), accepted=accepted)
    with pytest.raises(IllegalTransition):
        by_person.settle_undo(completed(state=S.SUCCEEDED), accepted=accepted)


@pytest.mark.parametrize("state", sorted(SETTLED))
def test_an_undo_is_owed_again_only_where_it_was_settled_without_an_effect(state: S) -> None:
    if state in {S.NOT_NEEDED, S.RESOLVED}:
        assert of(undo.reawaken(completed(state=state))).state is S.PENDING
    else:
        with pytest.raises(IllegalTransition):
            undo.reawaken(completed(state=state))


@given(steps())
def test_only_what_never_happened_is_waived(record: StepRecord) -> None:
    waived = undo.waive(record)
    if waived != record:
        assert of(waived).state is S.NOT_NEEDED
        assert of(record).state is S.PENDING
        assert forward.never_happened(record.forward)


# Whole histories


class UndoHistories(RuleBasedStateMachine):
    """Any workers, dying at any moment, over one undo whose target never lies about its key."""

    def __init__(self) -> None:
        super().__init__()
        self.record = completed()
        self.now = NOW
        self.at_large: list[tuple[int, bool]] = []
        self.effect = False
        self.calls = 0
        self.checkpoint: Undo | None = None

    def move(self, after: StepRecord | None) -> None:
        if after is None:
            return
        before, then = of(self.record), of(after)
        assert then.state in TRANSITIONS[before.state] | {before.state} or (
            before.state is S.PENDING and then.state is S.SUCCEEDED
        )
        assert then.fence >= before.fence
        if before.unsettled and not then.unsettled:
            assert then.state in {S.SUCCEEDED, S.PENDING}
        self.record = after

    @rule(takes_effect=st.booleans())
    def claim_and_call(self, takes_effect: bool) -> None:  # noqa: FBT001 - drawn
        decision = claim(self.record, now=self.now, settled=True)
        if not isinstance(decision, UndoProceed):
            return
        self.calls += 1
        self.move(decision.record)
        self.effect = self.effect or takes_effect
        self.at_large.append((of(self.record).fence, self.effect))

    @precondition(lambda self: self.at_large)
    @rule(data=st.data(), answer=negatives)
    def report(self, data: st.DataObject, answer: Outcome) -> None:
        fence, applied = self.at_large.pop(data.draw(st.integers(0, len(self.at_large) - 1)))
        said: Outcome = Applied(receipt=ONE) if applied else answer
        if data.draw(st.booleans()):
            said = Unknown(reason="lost")
        self.move(undo.conclude(self.record, fence, said, now=self.now))

    @rule(seconds=st.sampled_from([1, 20, 100]))
    def pass_time(self, seconds: int) -> None:
        self.now += seconds * 1000

    @rule()
    def ask(self) -> None:
        if not undo.undo_unsettled(of(self.record)):
            return
        decision = undo.settle_claim(self.record, now=self.now, lease=LEASE, by="saga-1-1")
        if not isinstance(decision, UndoProceed):
            return
        self.move(decision.record)
        finding: Any = Applied(receipt=ONE) if self.effect else NotFound()
        self.move(
            undo.conclude_settling(
                self.record,
                of(self.record).fence,
                finding,
                now=self.now,
                asked_at=self.now,
                settles_after=SETTLES_AFTER,
            )
        )

    @precondition(lambda self: of(self.record).state not in SETTLED)
    @rule()
    def give_up_and_retry_by_a_person(self) -> None:
        self.record = by_person.retry_undo(undo.block(self.record))

    @invariant()
    def attempts_never_exceed_the_budget(self) -> None:
        command = of(self.record)
        assert command.attempts == self.calls <= command.budget

    @invariant()
    def what_was_done_is_never_taken_for_undone_or_done_again_as_new(self) -> None:
        command = of(self.record)
        if self.effect:
            assert command.state is S.SUCCEEDED or undo.undo_unsettled(command)
        else:
            assert command.state is not S.SUCCEEDED

    @invariant()
    def a_checkpoint_never_changes(self) -> None:
        command = of(self.record)
        assert self.checkpoint is None or self.checkpoint == command
        if command.state is S.SUCCEEDED:
            self.checkpoint = command


UndoHistories.TestCase.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
TestUndoHistories = UndoHistories.TestCase
