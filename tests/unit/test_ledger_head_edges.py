"""The head at its edges: every condition counts by itself, and the end that is written unread equals the one that is read."""

from __future__ import annotations

from typing import Any

import pytest

from functions.domain.ledger import head as heads
from functions.domain.ledger.forward import IllegalTransition
from functions.domain.ledger.records import Attention, Direction, Pivot, SagaOutcome
from functions.domain.ledger.records import UndoState as S
from functions.domain.ledger.recovery import can_be_driven, is_over
from tests.unit.ledger import NOW, completed, head, saga, step

LATER = NOW + 5_000
ENDED, TURNED = {"outcome": SagaOutcome.COMPLETED}, {"direction": Direction.COMPENSATING}
WATCHED = {"attention": Attention.BLOCKED}
BACK: dict[str, Any] = {"direction": Direction.COMPENSATING}


@pytest.mark.parametrize("change", [ENDED, TURNED, {"pivot": Pivot.CROSSED}, WATCHED])
def test_the_boundary_starts_only_where_everything_allows_it(change: dict[str, Any]) -> None:
    assert heads.may_cross(head())
    assert not heads.may_cross(head(**change))
    with pytest.raises(IllegalTransition):
        heads.cross(head(**change), now=LATER)


@pytest.mark.parametrize("change", [ENDED, TURNED, {"pivot": Pivot.CROSSED}])
@pytest.mark.parametrize("pivot", [Pivot.AHEAD, Pivot.CROSSING])
def test_an_effect_of_the_boundary_takes_only_an_open_forward_saga_across(
    pivot: Pivot, change: dict[str, Any]
) -> None:
    assert heads.may_be_crossed(head(pivot=pivot))
    assert not heads.may_be_crossed(head(**{"pivot": pivot, **change}))


@pytest.mark.parametrize("change", [ENDED, TURNED, {"pivot": Pivot.CROSSING}])
def test_only_an_open_forward_saga_before_its_boundary_turns(change: dict[str, Any]) -> None:
    assert heads.may_compensate(head())
    assert not heads.may_compensate(head(**change))


@pytest.mark.parametrize("finishing", [True, False])
def test_a_head_that_has_not_been_read_completes_only_if_nothing_stands_against_it(
    finishing: bool,  # noqa: FBT001 - a case
) -> None:
    direction = "finishing" if finishing else "forward"
    assert heads.completion_guard(finishing=finishing) == {
        "direction": direction,
        "outcome": None,
        "attention": "none",
        "accepted": False,
    }


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, None),
        (SagaOutcome.COMPLETED, SagaOutcome.RESOLVED_MANUALLY),
        (SagaOutcome.COMPENSATED, SagaOutcome.RESOLVED_MANUALLY),
        (SagaOutcome.RESOLVED_MANUALLY, SagaOutcome.RESOLVED_MANUALLY),
    ],
)
def test_what_was_accepted_shows_in_an_end_and_makes_none(
    before: SagaOutcome | None, after: SagaOutcome | None
) -> None:
    accepted = heads.accept(head(outcome=before), now=LATER)
    assert (accepted.accepted, accepted.outcome, accepted.updated_at) == (True, after, LATER)


@pytest.mark.parametrize("end", [SagaOutcome.COMPLETED, SagaOutcome.COMPENSATED])
def test_whatever_did_not_simply_complete_is_listed_for_review(end: SagaOutcome) -> None:
    assert heads.accept(head(outcome=end), now=LATER).review == "acme"
    assert heads.accept(head(), now=LATER).review is None
    finished = heads.complete(head(direction=Direction.FINISHING), now=LATER)
    by_hand = heads.complete(head(direction=Direction.FINISHING, accepted=True), now=LATER)
    undone = heads.finish_compensation(saga(completed(0, state=S.SUCCEEDED), **BACK), now=LATER)
    assert undone is not None
    assert (finished.review, by_hand.review, undone.review) == (None, "acme", "acme")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (Attention.NONE, Attention.NONE),
        (Attention.BLOCKED, Attention.NONE),
        (Attention.MANUAL, Attention.MANUAL),
    ],
)
def test_an_end_hides_no_case_but_those_of_undos(before: Attention, after: Attention) -> None:
    ended = heads.complete(head(attention=before, direction=Direction.FINISHING), now=LATER)
    assert ended.attention is after
    assert ended.outcome is SagaOutcome.COMPLETED


def test_a_case_of_an_undo_hides_none_of_the_saga() -> None:
    manual = head(attention=Attention.MANUAL)
    assert heads.attend(manual, Attention.BLOCKED, now=LATER).attention is Attention.MANUAL
    assert heads.attend(head(), Attention.BLOCKED, now=LATER).attention is Attention.BLOCKED


def test_what_rests_is_reminded_of_no_more_and_is_open_until_it_is_retained_or_closed() -> None:
    due: dict[str, Any] = {"open": "open-1", "due_at": NOW, "due_shard": "due-1", "wanted": "case"}
    resting = heads.rest(head(**due))
    assert (resting.open, resting.due_at, resting.due_shard) == ("open-1", None, None)
    assert resting.wanted is None
    kept = heads.retained(head(**due), until=LATER)
    assert (kept.open, kept.due_at, kept.due_shard) == (None, None, None)
    assert kept.forgotten_at == -(-LATER // 1000)
    closed = heads.close(head(**due), now=LATER)
    assert (closed.open, closed.due_at, closed.wanted) == (None, LATER, None)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (Attention.NONE, Attention.NONE),
        (Attention.MANUAL, Attention.BLOCKED),
        (Attention.BLOCKED, Attention.BLOCKED),
    ],
)
def test_where_only_undos_are_left_to_people_the_others_may_go_on(
    before: Attention, after: Attention
) -> None:
    assert heads.keep_blocked(head(attention=before), now=LATER).attention is after


def _plain_last() -> Any:
    return step(1).model_copy(update={"undo": None})


@pytest.mark.parametrize(
    ("last", "more", "outcome"),
    [
        (completed(1, state=S.SUCCEEDED), {}, SagaOutcome.COMPENSATED),
        (completed(1, state=S.ACCEPTED), {}, SagaOutcome.RESOLVED_MANUALLY),
        (completed(1, state=S.SUCCEEDED), {"accepted": True}, SagaOutcome.RESOLVED_MANUALLY),
        (_plain_last(), {}, SagaOutcome.COMPENSATED),
    ],
)
def test_a_saga_that_owes_nothing_ends_as_what_became_of_its_undos(
    last: Any, more: dict[str, Any], outcome: SagaOutcome
) -> None:
    ended = heads.finish_compensation(
        saga(completed(0, state=S.SUCCEEDED), last, **BACK, **more), now=LATER
    )
    assert ended is not None
    assert ended.outcome is outcome


@pytest.mark.parametrize(
    ("steps", "change"),
    [
        ((completed(0, state=S.SUCCEEDED),), {"direction": Direction.FORWARD}),
        ((completed(0, state=S.SUCCEEDED),), {**BACK, "outcome": SagaOutcome.COMPENSATED}),
        ((completed(0, state=S.SUCCEEDED), completed(1, state=S.BLOCKED)), BACK),
    ],
)
def test_no_end_is_written_twice_or_while_something_is_owed(
    steps: tuple[Any, ...], change: dict[str, Any]
) -> None:
    assert heads.finish_compensation(saga(*steps, **change), now=LATER) is None


def _driven(*steps: Any, **more: Any) -> bool:
    return can_be_driven(saga(*(steps or (step(0), step(1))), **more))


def test_whether_an_execution_would_bring_a_saga_forward() -> None:
    with_case = completed(0, state=S.BLOCKED).model_copy(update={"case": "case-1"})
    waiting = completed(0, state=S.PENDING, waits_for=(1,))
    held = completed(1, state=S.BLOCKED).model_copy(update={"case": "case-1"})
    done = completed(0, state=S.SUCCEEDED)
    assert _driven()
    assert not _driven(outcome=SagaOutcome.COMPLETED)
    assert not _driven(attention=Attention.MANUAL)
    assert not _driven(with_case, step(1))
    assert not _driven(with_case, **BACK)
    assert not _driven(waiting, held, **BACK)
    assert _driven(waiting, completed(1, state=S.PENDING), **BACK)
    assert _driven(with_case, completed(1, state=S.PENDING), **BACK)
    assert _driven(done, **BACK)
    assert not _driven(done, **BACK, outcome=SagaOutcome.COMPENSATED)
    assert not _driven(waiting, completed(1), attention=Attention.MANUAL, **BACK)


OVER: dict[str, Any] = {"direction": Direction.FINISHING, "outcome": SagaOutcome.COMPLETED}
UNDONE: dict[str, Any] = {**BACK, "outcome": SagaOutcome.COMPENSATED}
DONE = completed(0, state=S.PENDING)


@pytest.mark.parametrize(
    ("steps", "change", "over"),
    [
        ((DONE,), OVER, True),
        ((DONE,), {**OVER, "outcome": None}, False),
        ((DONE,), {**OVER, "attention": Attention.MANUAL}, False),
        ((DONE,), {**OVER, "attention": Attention.BLOCKED}, False),
        ((DONE,), {**OVER, "wanted": "case"}, False),
        ((DONE.model_copy(update={"case": "case-1"}),), OVER, False),
        ((DONE.model_copy(update={"late": "too late"}),), OVER, False),
        ((DONE,), UNDONE, False),
        ((completed(0, state=S.SUCCEEDED),), UNDONE, True),
        ((completed(0, state=S.SUCCEEDED), DONE), UNDONE, False),
    ],
)
def test_a_saga_is_over_when_nothing_of_it_is_anybodys(
    steps: tuple[Any, ...],
    change: dict[str, Any],
    over: bool,  # noqa: FBT001 - a case
) -> None:
    assert is_over(saga(*steps, **change)) is over
