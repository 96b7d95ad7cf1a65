"""The head's transitions: direction, boundary, outcome. Each moves only along the declared graph."""

from __future__ import annotations

import zlib
from typing import Literal

from functions.domain.ledger.forward import IllegalTransition
from functions.domain.ledger.records import (
    Attention,
    Direction,
    Head,
    Millis,
    Pivot,
    Saga,
    SagaOutcome,
    UndoState,
)
from functions.domain.ledger.undo import is_settled

DUE_SHARDS = 4
DRIVERS = 8
"""How many executions automation may start for a saga before a person is asked."""
DIRECTIONS: dict[Direction, frozenset[Direction]] = {
    Direction.FORWARD: frozenset({Direction.COMPENSATING, Direction.FINISHING}),
    Direction.COMPENSATING: frozenset(),
    Direction.FINISHING: frozenset(),
}
PIVOTS: dict[Pivot, frozenset[Pivot]] = {
    Pivot.NONE: frozenset(),
    Pivot.AHEAD: frozenset({Pivot.CROSSING}),
    Pivot.CROSSING: frozenset({Pivot.CROSSED, Pivot.AHEAD}),
    Pivot.CROSSED: frozenset(),
}


def _turned(head: Head, direction: Direction, **changes: object) -> Head:
    if direction not in DIRECTIONS[head.direction]:
        raise IllegalTransition(f"{head.saga_id}: {head.direction} -> {direction}")
    return head.model_copy(update={"direction": direction, **changes})


def _pivoted(head: Head, pivot: Pivot, **changes: object) -> Head:
    if pivot not in PIVOTS[head.pivot]:
        raise IllegalTransition(f"{head.saga_id}: pivot {head.pivot} -> {pivot}")
    return head.model_copy(update={"pivot": pivot, **changes})


def may_compensate(head: Head) -> bool:
    """Whether the saga may still turn: not ended, going forward, and the boundary not being crossed."""
    return (
        head.outcome is None
        and head.direction is Direction.FORWARD
        and head.pivot in {Pivot.NONE, Pivot.AHEAD}
    )


def may_cross(head: Head) -> bool:
    """Whether the boundary may be started for the first time."""
    return (
        head.outcome is None
        and head.direction is Direction.FORWARD
        and head.pivot is Pivot.AHEAD
        and head.attention is Attention.NONE
    )


def begin_compensation(head: Head, *, now: Millis, reason: str) -> Head:
    """Turn the saga, once and for all."""
    if not may_compensate(head):
        raise IllegalTransition(f"{head.saga_id}: may not compensate")
    return _turned(head, Direction.COMPENSATING, reason=reason[:500], turned_at=now, updated_at=now)


def cross(head: Head, *, now: Millis) -> Head:
    """Ahead -> crossing: written with the boundary's first claim, before its call."""
    if not may_cross(head):
        raise IllegalTransition(f"{head.saga_id}: may not cross")
    return _pivoted(head, Pivot.CROSSING, updated_at=now)


def may_be_crossed(head: Head) -> bool:
    """Whether an effect of the boundary, found now, takes the saga across it."""
    ahead = head.pivot in {Pivot.AHEAD, Pivot.CROSSING}
    return head.outcome is None and head.direction is Direction.FORWARD and ahead


def crossed(head: Head, *, now: Millis, last: bool) -> Head:
    """The boundary has been applied: only forward from here, also where the saga had just stepped back from it."""
    crossing = head if head.pivot is Pivot.CROSSING else _pivoted(head, Pivot.CROSSING)
    after = _pivoted(crossing, Pivot.CROSSED, updated_at=now)
    after = _turned(after, Direction.FINISHING)
    return complete(after, now=now) if last else after


def step_back(head: Head, *, now: Millis) -> Head:
    """Crossing -> ahead: only in the write that settles that nothing exists."""
    return _pivoted(head, Pivot.AHEAD, updated_at=now)


def complete(head: Head, *, now: Millis) -> Head:
    """The last step is done. What a person accepted on the way shows in the outcome."""
    outcome = SagaOutcome.RESOLVED_MANUALLY if head.accepted else SagaOutcome.COMPLETED
    return _ended(head, outcome, now)


def completion_guard(*, finishing: bool) -> dict[str, object]:
    """What the last step's write requires of a head it has not read."""
    return {
        "direction": Direction.FINISHING.value if finishing else Direction.FORWARD.value,
        "outcome": None,
        "attention": Attention.NONE.value,
        "accepted": False,
    }


def completion_fields(saga_id: str, now: Millis) -> dict[str, object]:
    """What the last step's write sets on it: equals `complete` on every head that the guard admits."""
    return {
        "outcome": SagaOutcome.COMPLETED.value,
        "updated_at": now,
        "ended_at": now,
        "due_at": now,
        "due_shard": due_shard(saga_id),
        "wanted": None,
        "open": None,
    }


def accept(head: Head, *, now: Millis) -> Head:
    """Two people have accepted a remaining effect: the saga does not end as if there were none, nor has it."""
    ended = head.outcome in {SagaOutcome.COMPLETED, SagaOutcome.COMPENSATED}
    outcome = SagaOutcome.RESOLVED_MANUALLY if ended else head.outcome
    review = head.tenant if ended else head.review
    return head.model_copy(
        update={"accepted": True, "outcome": outcome, "review": review, "updated_at": now}
    )


def _ended(head: Head, outcome: SagaOutcome, now: Millis) -> Head:
    """It is due once more: the sweeper says until when its records are kept."""
    # An undo's case says nothing more once everything is settled; another one is still somebody's to look at.
    attention = Attention.MANUAL if head.attention is Attention.MANUAL else Attention.NONE
    return head.model_copy(
        update={
            "outcome": outcome,
            "review": None if outcome is SagaOutcome.COMPLETED else head.tenant,
            "attention": attention,
            "updated_at": now,
            "ended_at": now,
            "due_at": now,
            "due_shard": due_shard(head.saga_id),
            "wanted": None,
            "open": None,
        }
    )


def want(head: Head, what: Literal["start", "resume", "case"], *, now: Millis) -> Head:
    """Ask the starter for something; the stream tells it, and the due index reminds the sweeper.

    Of whatever something is wanted, that is open, also where it had ended.
    """
    return head.model_copy(
        update={
            "wanted": what,
            "open": open_shard(head.saga_id),
            "forgotten_at": None,
            "updated_at": now,
            "due_at": now,
            "due_shard": due_shard(head.saga_id),
        }
    )


def attend(head: Head, attention: Attention, *, now: Millis) -> Head:
    """A person is needed. The reminder stays: other branches may go on, and their driver may die.

    A case of the saga or of a step's effect is not hidden behind one of an undo.
    """
    if head.attention is Attention.MANUAL:
        attention = Attention.MANUAL
    return head.model_copy(update={"attention": attention, "updated_at": now, "wanted": None})


def rest(head: Head) -> Head:
    """Nothing can be driven, and nothing is asked for: no reminder is needed."""
    return head.model_copy(update={"wanted": None, "due_at": None, "due_shard": None})


def close(head: Head, *, now: Millis) -> Head:
    """An ended saga's last case is settled: it is due once more, as at its end."""
    return head.model_copy(
        update={
            "wanted": None,
            "open": None,
            "due_at": now,
            "due_shard": due_shard(head.saga_id),
        }
    )


def retained(head: Head, *, until: Millis) -> Head:
    """Ended, and nobody has a case of it: what is known of it is kept until then."""
    return rest(head).model_copy(update={"open": None, "forgotten_at": expiry(until)})


def expiry(until: Millis) -> int:
    """When a record may be forgotten, as the tables want it: in whole seconds, never early."""
    return -(-until // 1000)


def release(head: Head, *, now: Millis) -> Head:
    """The last open case is settled: automation may go on."""
    return head.model_copy(update={"attention": Attention.NONE, "updated_at": now})


def keep_blocked(head: Head, *, now: Millis) -> Head:
    """What is still open are cases of undos alone: the other branches may go on."""
    if head.attention is Attention.NONE:
        return head
    return head.model_copy(update={"attention": Attention.BLOCKED, "updated_at": now})


def driven(head: Head, *, machine: str, execution: str, now: Millis, look_again: Millis) -> Head:
    """A new driver: written before it is started, so that an older one can tell that it is old."""
    return head.model_copy(
        update={
            "epoch": head.epoch + 1,
            "machine": machine,
            "execution": execution,
            "drivers_left": head.drivers_left - 1,
            "wanted": None,
            "updated_at": now,
            "due_at": look_again,
            "due_shard": due_shard(head.saga_id),
        }
    )


def look_again(head: Head, *, at: Millis) -> Head:
    """Its driver is alive: remind of it again later."""
    return head.model_copy(update={"due_at": at, "due_shard": due_shard(head.saga_id)})


def due_shard(saga_id: str) -> str:
    """The partition of the due index that reminds of this saga: spread, so that no one partition runs hot."""
    return f"due-{_shard(saga_id)}"


def open_shard(saga_id: str) -> str:
    """The partition of the open index that lists this saga: a deployment asks there what it must not take away."""
    return f"open-{_shard(saga_id)}"


def _shard(saga_id: str) -> int:
    return zlib.crc32(saga_id.encode()) % DUE_SHARDS


def finish_compensation(saga: Saga, *, now: Millis) -> Head | None:
    """The terminal head if every step's compensation is settled, or None."""
    head = saga.head
    if head.direction is not Direction.COMPENSATING or head.outcome is not None:
        return None
    if not all(is_settled(step) for step in saga.steps):
        return None
    by_acceptance = head.accepted or any(
        s.undo is not None and s.undo.state is UndoState.ACCEPTED for s in saga.steps
    )
    outcome = SagaOutcome.RESOLVED_MANUALLY if by_acceptance else SagaOutcome.COMPENSATED
    return _ended(head, outcome, now)
