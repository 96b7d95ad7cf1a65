"""What everyone sees of a saga, derived from its head and steps: never stored, so never out of step with them."""

from __future__ import annotations

from enum import StrEnum

from functions.domain.ledger.records import (
    Attention,
    Direction,
    ForwardState,
    Pivot,
    Saga,
    SagaOutcome,
)


class Status(StrEnum):
    """Seed two: the visible status tells these apart, and never calls a compensated saga completed."""

    ADMITTED = "admitted"
    RUNNING = "running"
    AWAITING_APPROVAL = "awaiting_approval"
    FINISHING = "finishing"
    POST_PIVOT_RETRYING = "post_pivot_retrying"
    COMPLETED = "completed"
    COMPENSATING = "compensating"
    COMPENSATION_BLOCKED = "compensation_blocked"
    COMPENSATED = "compensated"
    AWAITING_MANUAL_RESOLUTION = "awaiting_manual_resolution"
    RESOLVED_MANUALLY = "resolved_manually"


FINAL = frozenset({Status.COMPLETED, Status.COMPENSATED, Status.RESOLVED_MANUALLY})
"""Nothing changes any more, unless an effect turns up that nobody knew of."""

_ENDS = {
    SagaOutcome.COMPLETED: Status.COMPLETED,
    SagaOutcome.COMPENSATED: Status.COMPENSATED,
    SagaOutcome.RESOLVED_MANUALLY: Status.RESOLVED_MANUALLY,
}


def status(saga: Saga) -> Status:
    """The status of a saga as one consistent read found it."""
    head = saga.head
    if head.attention is Attention.BLOCKED:
        return Status.COMPENSATION_BLOCKED
    if head.attention is Attention.MANUAL:
        return Status.AWAITING_MANUAL_RESOLUTION
    if head.outcome is not None:
        return _ENDS[head.outcome]
    match head.direction:
        case Direction.COMPENSATING:
            return Status.COMPENSATING
        case Direction.FINISHING:
            return Status.POST_PIVOT_RETRYING if _retrying(saga) else Status.FINISHING
        case Direction.FORWARD:
            return _forward(saga)


def _forward(saga: Saga) -> Status:
    if saga.head.epoch == 0:
        return Status.ADMITTED
    asked = any(
        s.approval is not None and s.forward.state is ForwardState.PREPARED for s in saga.steps
    )
    if asked and saga.head.pivot is Pivot.AHEAD:
        return Status.AWAITING_APPROVAL
    return Status.RUNNING


def _retrying(saga: Saga) -> bool:
    return any(
        s.forward.attempts > 1 or s.forward.state in {ForwardState.UNKNOWN, ForwardState.RELEASED}
        for s in saga.steps
        if s.forward.state is not ForwardState.COMPLETED
    )
