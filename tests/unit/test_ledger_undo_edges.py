"""The undo command at its edges: steps that have none, words of refusals, and what each claim writes down."""

from __future__ import annotations

from typing import Any

import pytest

from functions.domain.ledger import by_person, undo
from functions.domain.ledger.forward import IllegalTransition
from functions.domain.ledger.records import StepRecord, UndoState
from functions.domain.outcome import Applied, NotFound, RefusalCause, Refused
from tests.unit.ledger import LEASE, NOW, ONE, SETTLES_AFTER, completed, saga, step, undoing
from tests.unit.test_ledger_undo import BACK, asked, claim, claimed, of, settle

S = UndoState
PLAIN = step().model_copy(update={"undo": None})
"""A step of a kind that is never undone."""


def test_a_move_that_the_table_does_not_know_is_named_with_where_it_stood() -> None:
    with pytest.raises(IllegalTransition, match=r"undo of step_0: none -> pending"):
        undo.reawaken(PLAIN)
    with pytest.raises(IllegalTransition, match=r"undo of step_0: succeeded -> pending"):
        undo.reawaken(completed(state=S.SUCCEEDED))


@pytest.mark.parametrize("change", [by_person.retry_undo, by_person.undo_found_absent])
def test_a_step_without_an_undo_cannot_be_reopened_and_is_told_so(change: Any) -> None:
    with pytest.raises(IllegalTransition, match="step_0 has no undo"):
        change(PLAIN)


def test_a_step_without_an_undo_cannot_be_claimed_and_is_told_so() -> None:
    with pytest.raises(IllegalTransition, match="step_0 has no undo"):
        undo.claim(saga(PLAIN, direction=BACK), 0, now=NOW, lease=LEASE, by="saga-1-1")


def test_a_step_without_an_undo_waits_for_nobody_and_is_left_as_it_is() -> None:
    assert undo.unmet(saga(PLAIN), 0) == ()
    assert undo.waive(PLAIN) is PLAIN
    assert undo.block(PLAIN) is PLAIN
    assert not undo.came_too_late(PLAIN)
    late: dict[str, Any] = {"now": NOW, "asked_at": NOW, "settles_after": SETTLES_AFTER}
    assert undo.conclude_settling(PLAIN, 0, Applied(receipt=ONE), **late) is None
    assert undo.conclude_settling(PLAIN, 0, NotFound(), **late) is None


@pytest.mark.parametrize("attempts", [0, 2])
def test_a_call_is_entered_as_a_call_with_a_deadline_of_its_own(attempts: int) -> None:
    after = of(claimed(completed(attempts=attempts, settlings=3, fence=4, deadline=NOW - 9)))
    assert (after.state, after.attempts, after.settlings) == (S.RUNNING, attempts + 1, 3)
    assert (after.fence, after.deadline) == (5, NOW + LEASE.call)
    assert after.lease_until == NOW + LEASE.call + LEASE.grace
    [entry] = after.history
    assert (entry.purpose, entry.fence, entry.started_at) == ("call", 5, NOW)


def test_a_question_is_entered_as_a_settling_and_moves_no_deadline() -> None:
    record = completed(state=S.UNKNOWN, unsettled=True, settlings=3, fence=4, deadline=NOW - 9)
    after = of(asked(record))
    assert (after.state, after.attempts, after.settlings) == (S.UNKNOWN, 0, 4)
    assert (after.fence, after.deadline) == (5, NOW - 9)
    [entry] = after.history
    assert (entry.purpose, entry.fence, entry.started_at) == ("settle", 5, NOW)


@pytest.mark.parametrize("unsettled", [True, False])
def test_a_running_undo_is_unsettled_whatever_it_says(unsettled: bool) -> None:  # noqa: FBT001 - a case
    assert undo.undo_unsettled(of(completed(state=S.RUNNING, unsettled=unsettled)))
    assert undo.undo_unsettled(of(completed(state=S.UNKNOWN, unsettled=unsettled))) is unsettled


def _late(record: StepRecord, **more: Any) -> StepRecord:
    return record.model_copy(update={"late": "it came too late", **more})


def test_an_effect_that_nobody_accounted_for_is_a_persons_and_one_besides_the_receipts_is_not() -> (
    None
):
    assert undo.came_too_late(_late(completed()))
    assert not undo.came_too_late(_late(completed(), doubled=True))
    assert not undo.came_too_late(completed().model_copy(update={"doubled": True}))
    assert claim(_late(completed())) == undo.Stopped(undo.Stop.CASE_OPEN)
    assert isinstance(claim(_late(completed(), doubled=True)), undo.UndoProceed)


def test_what_is_settled_is_not_asked_about() -> None:
    for state in undo.SETTLED:
        assert settle(undoing(completed(), state=state)) == undo.Undone()


def test_what_the_target_said_of_the_undos_key_is_kept_with_its_cause_and_its_words() -> None:
    record = asked(completed(state=S.UNKNOWN, unsettled=True))
    said = Refused(reason="401", cause=RefusalCause.AUTHORITY)
    after = undo.conclude_settling(
        record, of(record).fence, said, now=NOW + 1, asked_at=NOW, settles_after=None
    )
    [entry] = of(after).history
    assert (entry.outcome, entry.cause, entry.reason) == ("refused", "authority", "401")
