"""Another action in place of an undo: what an answer under the earlier key still changes, and what it does not."""

from __future__ import annotations

from typing import Any

import pytest

from functions.domain.ledger import by_person, undo
from functions.domain.ledger.forward import IllegalTransition
from functions.domain.ledger.records import (
    DeclaredAction,
    ReplacedAction,
    StepRecord,
    Substitution,
    UndoState,
)
from functions.domain.outcome import (
    Applied,
    NotApplied,
    NotFound,
    Outcome,
    Refused,
    Unknown,
    UnknownCause,
)
from tests.unit.ledger import AUTHORITY, NOW, ONE, OTHER, SETTLES_AFTER, completed, undoing
from tests.unit.test_ledger_undo import claimed, of

S = UndoState
REFUND = DeclaredAction(name="refund", authority=AUTHORITY, budget=2, sentence="Refund it.")
CREDIT = DeclaredAction(name="credit", authority=AUTHORITY, budget=2, sentence="Credit it.")


def instead(record: StepRecord, name: str) -> StepRecord:
    """Two people have agreed to another action."""
    command = of(record)
    return by_person.undo_otherwise(
        record,
        ReplacedAction(
            at=NOW,
            case="case-1",
            proposed_by="olga",
            confirmed_by="omar",
            operation=command.operation,
            key=command.key,
            authority=command.authority,
            attempts=command.attempts,
            since=command.since,
            history=command.history,
            instead=name,
        ),
    )


def chosen(**changes: Any) -> StepRecord:
    """The undo was refused under fence 3; refund is to be made instead."""
    blocked = completed(
        state=S.BLOCKED, fence=3, attempts=2, other_actions=(REFUND, CREDIT), **changes
    )
    return instead(blocked, "refund")


def late(record: StepRecord, outcome: Outcome | None = None, fence: int = 3) -> StepRecord | None:
    return undo.conclude(record, fence, outcome or Applied(receipt=OTHER), now=NOW + 1)


def told(record: StepRecord | None) -> StepRecord:
    assert record is not None
    return record


@pytest.mark.parametrize(
    "outcome", [Refused(reason="no"), NotApplied(reason="busy"), Unknown(reason="silence")]
)
def test_what_did_not_take_effect_under_the_earlier_key_says_nothing_any_more(
    outcome: Outcome,
) -> None:
    assert late(chosen(), outcome) is None
    assert late(claimed(chosen()), outcome) is None


def test_an_earlier_key_that_took_effect_is_the_compensation_where_nothing_else_was_called() -> (
    None
):
    after = told(late(chosen()))
    assert of(after).state is S.SUCCEEDED
    assert (of(after).overtaken, after.doubled) == (True, True)
    assert after.late == of(after).notice
    assert after.late == "un_step_0 took effect after all, under saga-1:0:undo: res-2"


@pytest.mark.parametrize("state", [S.RUNNING, S.BLOCKED, S.PENDING])
def test_where_the_other_action_was_called_a_person_looks_before_more_is_done(state: S) -> None:
    record = undoing(claimed(chosen()), state=state)
    after = told(late(record))
    assert of(after).state is state
    assert (of(after).overtaken, of(after).needs_person, after.doubled) == (True, True, True)


def test_where_somebody_has_settled_it_by_hand_it_stays_settled_and_is_shown() -> None:
    after = told(late(undoing(chosen(), state=S.RESOLVED)))
    assert of(after).state is S.RESOLVED
    assert after.late is not None


def test_it_is_told_once_and_beside_what_was_told_before() -> None:
    after = told(late(chosen()))
    assert late(after) is None
    before = chosen().model_copy(update={"late": "the effect came late", "doubled": False})
    both = told(late(before))
    assert both.late is not None
    assert both.late.startswith("the effect came late; un_step_0 took effect after all")
    assert both.doubled is False


def test_of_several_earlier_keys_the_one_that_was_used_then_is_named() -> None:
    refund = chosen()
    blocked = undoing(refund, state=S.BLOCKED, fence=6)
    credit = instead(blocked, "credit")
    assert "un_step_0 took effect after all, under saga-1:0:undo:" in str(told(late(credit)).late)
    second = told(late(credit, fence=5)).late
    assert "refund took effect after all, under saga-1:0:undo:refund:" in str(second)


def test_an_earlier_key_that_is_found_when_asked_is_told_the_same_way() -> None:
    asked: dict[str, Any] = {"now": NOW + 1, "asked_at": NOW, "settles_after": SETTLES_AFTER}
    found = undo.conclude_settling(chosen(), 3, Applied(receipt=OTHER), **asked)
    assert of(found).state is S.SUCCEEDED
    assert told(found).late is not None
    assert undo.conclude_settling(chosen(), 3, NotFound(), **asked) is None


def test_what_was_asked_counts_only_while_it_is_asked() -> None:
    running = completed(state=S.RUNNING, fence=4, attempts=1)
    asked: dict[str, Any] = {"now": NOW + 1, "asked_at": NOW, "settles_after": 0}
    assert undo.conclude_settling(running, 4, NotFound(), **asked) is None


@pytest.mark.parametrize(
    ("before", "outcome", "after"),
    [
        (True, NotApplied(reason="busy"), True),
        (False, Unknown(reason="other", cause=UnknownCause.KEY_CONFLICT), True),
        (False, NotApplied(reason="busy"), False),
    ],
)
def test_a_conflict_is_never_forgotten_by_an_answer(
    before: bool,  # noqa: FBT001 - a case
    outcome: Outcome,
    after: bool,  # noqa: FBT001 - a case
) -> None:
    record = completed(state=S.RUNNING, fence=4, attempts=1, conflicted=before)
    assert of(undo.conclude(record, 4, outcome, now=NOW + 1)).conflicted is after


def test_a_receipt_of_the_present_key_is_simply_its_success() -> None:
    record = claimed(chosen())
    after = told(undo.conclude(record, of(record).fence, Applied(receipt=ONE), now=NOW + 1))
    assert (of(after).state, of(after).overtaken, after.late) == (S.SUCCEEDED, False, None)


PLAIN = completed().model_copy(update={"undo": None})


def replaced(name: str) -> ReplacedAction:
    return ReplacedAction(
        at=NOW,
        case="case-1",
        proposed_by="olga",
        confirmed_by="omar",
        operation="un_step_0",
        key="saga-1:0:undo",
        authority=AUTHORITY,
        attempts=0,
        since=0,
        history=(),
        instead=name,
    )


@pytest.mark.parametrize(
    "record",
    [
        completed(state=S.UNKNOWN, unsettled=True, other_actions=(REFUND,)),
        completed(state=S.RUNNING, other_actions=(REFUND,)),
    ],
)
def test_nothing_takes_the_place_of_an_undo_that_may_still_land(record: StepRecord) -> None:
    with pytest.raises(IllegalTransition, match="step_0: its undo may still land"):
        by_person.undo_otherwise(record, replaced("refund"))


def test_only_what_was_declared_takes_its_place_and_each_once() -> None:
    blocked = completed(state=S.BLOCKED, other_actions=(REFUND,))
    with pytest.raises(ValueError, match="credit was not declared"):
        by_person.undo_otherwise(blocked, replaced("credit"))
    again = undoing(instead(blocked, "refund"), state=S.BLOCKED)
    with pytest.raises(ValueError, match="refund was not declared"):
        instead(again, "refund")


def test_a_step_without_an_undo_has_no_authority_to_change() -> None:
    substitution = Substitution(
        at=NOW,
        case="case-1",
        proposed_by="olga",
        confirmed_by="omar",
        instead_of=AUTHORITY,
        authority=AUTHORITY,
    )
    with pytest.raises(IllegalTransition, match="step_0 has no undo"):
        by_person.retry_undo_under(PLAIN, substitution)
    with pytest.raises(IllegalTransition, match="step_0 has no undo"):
        by_person.undo_otherwise(PLAIN, replaced("refund"))


def test_the_chosen_action_has_its_own_key_budget_and_range_of_fences() -> None:
    command = of(chosen())
    assert command.key == "saga-1:0:undo:refund"
    assert (command.operation, command.budget, command.attempts) == ("refund", 2, 0)
    assert (command.since, command.fence, command.history) == (4, 4, ())
    assert [each.key for each in command.replaced] == ["saga-1:0:undo"]
