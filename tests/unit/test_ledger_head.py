"""A saga's head moves only along its declared graph, and its end is written only when nothing is owed."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from functions.domain.ledger import head as heads
from functions.domain.ledger.forward import IllegalTransition
from functions.domain.ledger.records import (
    Attention,
    Direction,
    Head,
    Pivot,
    SagaOutcome,
    UndoState,
)
from functions.domain.ledger.recovery import can_be_driven
from functions.domain.ledger.status import Status, status
from functions.domain.ledger.undo import SETTLED
from tests.unit.ledger import NOW, completed, head, saga, step

LATER = NOW + 5_000
any_head = st.builds(
    lambda direction, pivot, attention, outcome, accepted, wanted: head(
        direction=direction,
        pivot=pivot,
        attention=attention,
        outcome=outcome,
        accepted=accepted,
        wanted=wanted,
        due_at=NOW,
        due_shard="due-0",
    ),
    st.sampled_from(Direction),
    st.sampled_from(Pivot),
    st.sampled_from(Attention),
    st.sampled_from([None, *SagaOutcome]),
    st.booleans(),
    st.sampled_from([None, "start", "resume", "case"]),
)
ALL = [head(direction=d, pivot=p) for d, p in product(Direction, Pivot)]


def turn(before: Head) -> Head:
    return heads.begin_compensation(before, now=LATER, reason="because")


def crossed(before: Head) -> Head:
    return heads.crossed(before, now=LATER, last=False)


def back(before: Head) -> Head:
    return heads.step_back(before, now=LATER)


# The graph


def test_a_direction_turns_once_and_never_back() -> None:
    assert {(a, b) for a, after in heads.DIRECTIONS.items() for b in after} == {
        (Direction.FORWARD, Direction.COMPENSATING),
        (Direction.FORWARD, Direction.FINISHING),
    }
    assert {(a, b) for a, after in heads.PIVOTS.items() for b in after} == {
        (Pivot.AHEAD, Pivot.CROSSING),
        (Pivot.CROSSING, Pivot.CROSSED),
        (Pivot.CROSSING, Pivot.AHEAD),
    }


@given(any_head)
def test_a_saga_turns_only_on_its_way_forward_before_its_boundary(before: Head) -> None:
    may = (
        before.outcome is None
        and before.direction is Direction.FORWARD
        and before.pivot in {Pivot.NONE, Pivot.AHEAD}
    )
    assert heads.may_compensate(before) is may
    if may:
        after = turn(before)
        assert (after.direction, after.reason) == (Direction.COMPENSATING, "because")
        assert after.pivot is before.pivot
    else:
        with pytest.raises(IllegalTransition):
            turn(before)


@given(any_head)
def test_a_boundary_starts_only_forward_unended_and_in_nobodys_hands(before: Head) -> None:
    may = (
        before.outcome is None
        and before.direction is Direction.FORWARD
        and before.pivot is Pivot.AHEAD
        and before.attention is Attention.NONE
    )
    assert heads.may_cross(before) is may
    if may:
        assert heads.cross(before, now=LATER).pivot is Pivot.CROSSING
    else:
        with pytest.raises(IllegalTransition):
            heads.cross(before, now=LATER)


@pytest.mark.parametrize("before", ALL, ids=lambda h: f"{h.direction} {h.pivot}")
def test_a_boundary_is_crossed_forward_alone_and_then_the_saga_finishes(before: Head) -> None:
    forward = before.direction is Direction.FORWARD
    if forward and before.pivot in {Pivot.AHEAD, Pivot.CROSSING}:
        assert heads.may_be_crossed(before)
        after = crossed(before)
        assert (after.direction, after.pivot, after.outcome) == (
            Direction.FINISHING,
            Pivot.CROSSED,
            None,
        )
        last = heads.crossed(before, now=LATER, last=True)
        assert (last.outcome, last.ended_at) == (SagaOutcome.COMPLETED, LATER)
    else:
        assert not heads.may_be_crossed(before)
        with pytest.raises(IllegalTransition):
            crossed(before)


@pytest.mark.parametrize("before", ALL, ids=lambda h: f"{h.direction} {h.pivot}")
def test_only_a_boundary_that_is_being_crossed_is_stepped_back_from(before: Head) -> None:
    if before.pivot is Pivot.CROSSING:
        after = back(before)
        assert (after.pivot, after.direction) == (Pivot.AHEAD, before.direction)
    else:
        with pytest.raises(IllegalTransition):
            back(before)


class HeadHistories(RuleBasedStateMachine):
    """Any transitions in any order: refused, or along the graph."""

    def __init__(self) -> None:
        super().__init__()
        self.head = head()
        self.seen = [self.head]

    def move(self, change: Any) -> None:
        try:
            after = change(self.head)
        except IllegalTransition:
            return
        self.seen.append(after)
        self.head = after

    @rule()
    def turn(self) -> None:
        self.move(turn)

    @rule()
    def cross(self) -> None:
        self.move(lambda h: heads.cross(h, now=LATER))

    @rule(last=st.booleans())
    def crossed(self, last: bool) -> None:  # noqa: FBT001 - drawn
        self.move(lambda h: heads.crossed(h, now=LATER, last=last))

    @rule()
    def step_back(self) -> None:
        self.move(back)

    @rule(attention=st.sampled_from([Attention.BLOCKED, Attention.MANUAL]))
    def attend(self, attention: Attention) -> None:
        self.move(lambda h: heads.attend(h, attention, now=LATER))

    @rule()
    def release(self) -> None:
        self.move(lambda h: heads.release(h, now=LATER))

    @invariant()
    def once_turned_it_never_crosses_and_once_crossed_it_never_turns(self) -> None:
        directions = [h.direction for h in self.seen]
        pivots = [h.pivot for h in self.seen]
        if Direction.COMPENSATING in directions:
            at = directions.index(Direction.COMPENSATING)
            assert set(directions[at:]) == {Direction.COMPENSATING}
            assert Pivot.CROSSED not in pivots
        if Pivot.CROSSED in pivots:
            at = pivots.index(Pivot.CROSSED)
            assert set(pivots[at:]) == {Pivot.CROSSED}
            assert set(directions[at:]) == {Direction.FINISHING}

    @invariant()
    def an_outcome_is_kept(self) -> None:
        outcomes = [h.outcome for h in self.seen]
        ends = [o for o in outcomes if o is not None]
        assert outcomes[len(outcomes) - len(ends) :] == ends
        assert len(set(ends)) <= 1


HeadHistories.TestCase.settings = settings(max_examples=60, stateful_step_count=20, deadline=None)
TestHeadHistories = HeadHistories.TestCase


# The end


def guarded(before: Head, guard: dict[str, object]) -> bool:
    item = before.model_dump(mode="json")
    return all(item[name] == value for name, value in guard.items())


@given(any_head, st.booleans())
def test_the_last_steps_blind_write_equals_completing_every_head_that_its_guard_admits(
    before: Head,
    finishing: bool,  # noqa: FBT001 - drawn
) -> None:
    if not guarded(before, heads.completion_guard(finishing=finishing)):
        return
    blind = Head.model_validate(
        before.model_dump(mode="json") | heads.completion_fields(before.saga_id, LATER),
        strict=False,
    )
    assert blind == heads.complete(before, now=LATER)
    assert blind.outcome is SagaOutcome.COMPLETED


@given(any_head)
def test_the_guard_admits_no_turned_no_ended_and_no_attended_saga(before: Head) -> None:
    for finishing in (True, False):
        if guarded(before, heads.completion_guard(finishing=finishing)):
            assert before.outcome is None
            assert before.direction is not Direction.COMPENSATING
            assert before.attention is Attention.NONE


def test_what_a_person_accepted_shows_in_the_outcome() -> None:
    assert heads.complete(head(accepted=True), now=NOW).outcome is SagaOutcome.RESOLVED_MANUALLY
    accepted = saga(completed(state=UndoState.ACCEPTED), direction=Direction.COMPENSATING)
    ended = heads.finish_compensation(accepted, now=NOW)
    assert ended is not None
    assert ended.outcome is SagaOutcome.RESOLVED_MANUALLY


@pytest.mark.parametrize("state", UndoState)
def test_a_saga_is_compensated_only_when_every_undo_is_settled(state: UndoState) -> None:
    steps = (completed(0, state=UndoState.SUCCEEDED), completed(1, state=state))
    ended = heads.finish_compensation(saga(*steps, direction=Direction.COMPENSATING), now=NOW)
    assert (ended is not None) is (state in SETTLED)
    for direction in (Direction.FORWARD, Direction.FINISHING):
        assert heads.finish_compensation(saga(*steps, direction=direction), now=NOW) is None
    already = saga(*steps, direction=Direction.COMPENSATING, outcome=SagaOutcome.COMPENSATED)
    assert heads.finish_compensation(already, now=NOW) is None


# Drivers and reminders


def test_a_new_driver_is_counted_named_and_to_be_looked_at_again() -> None:
    after = heads.driven(
        head(wanted="start"), machine="m", execution="saga-1-1", now=LATER, look_again=LATER + 1
    )
    assert (after.epoch, after.execution, after.machine) == (1, "saga-1-1", "m")
    assert (after.drivers_left, after.wanted) == (heads.DRIVERS - 1, None)
    assert (after.due_at, after.due_shard) == (LATER + 1, heads.due_shard("saga-1"))


@pytest.mark.parametrize("what", ["start", "resume", "case"])
def test_what_is_wanted_is_also_due(what: Any) -> None:
    after = heads.want(head(), what, now=LATER)
    assert (after.wanted, after.due_at) == (what, LATER)
    assert after.due_shard == heads.due_shard("saga-1")
    rested = heads.rest(after)
    assert (rested.wanted, rested.due_at, rested.due_shard) == (None, None, None)


@given(any_head)
def test_every_saga_that_is_not_at_rest_can_be_driven_or_is_in_a_persons_hands(
    before: Head,
) -> None:
    for steps in ((step(),), (completed(),), (completed(state=UndoState.SUCCEEDED),)):
        one = saga(*steps).model_copy(update={"head": before})
        at_rest = before.outcome is not None and (
            before.direction is not Direction.COMPENSATING
            or all(s.undo is None or s.undo.state in SETTLED for s in steps)
        )
        with_people = before.attention is Attention.MANUAL
        assert can_be_driven(one) is not (at_rest or with_people)


# What everyone sees


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, Status.ADMITTED),
        ({"epoch": 1}, Status.RUNNING),
        ({"direction": Direction.FINISHING, "epoch": 1}, Status.FINISHING),
        ({"direction": Direction.COMPENSATING}, Status.COMPENSATING),
        (
            {"direction": Direction.COMPENSATING, "attention": Attention.BLOCKED},
            Status.COMPENSATION_BLOCKED,
        ),
        ({"attention": Attention.MANUAL}, Status.AWAITING_MANUAL_RESOLUTION),
        ({"outcome": SagaOutcome.COMPLETED}, Status.COMPLETED),
        ({"outcome": SagaOutcome.COMPENSATED}, Status.COMPENSATED),
        ({"outcome": SagaOutcome.RESOLVED_MANUALLY}, Status.RESOLVED_MANUALLY),
        (
            {"outcome": SagaOutcome.COMPENSATED, "attention": Attention.MANUAL},
            Status.AWAITING_MANUAL_RESOLUTION,
        ),
    ],
)
def test_the_status_is_derived_and_never_calls_anything_else_completed(
    changes: dict[str, Any], expected: Status
) -> None:
    assert status(saga(step(), **changes)) is expected
