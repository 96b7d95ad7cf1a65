"""What is still owed, and whether automation can do something about it."""

from __future__ import annotations

from functions.domain.ledger.records import Attention, Direction, Saga
from functions.domain.ledger.undo import is_settled, unmet


def can_be_driven(saga: Saga) -> bool:
    """Whether an execution would bring this saga forward.

    Going forward, any open case stops it, and a case of the whole saga does in either direction. Compensating, each
    branch goes on by itself: there is something to do while some undo is owed that neither has a case nor waits for one
    that is owed; and the end itself has to be written.
    """
    if saga.head.attention is Attention.MANUAL:
        return False
    if saga.head.direction is not Direction.COMPENSATING:
        return saga.head.outcome is None and not any(step.case for step in saga.steps)
    owed = [step for step in saga.steps if not is_settled(step)]
    if not owed:
        return saga.head.outcome is None
    return any(step.case is None and not unmet(saga, step.index) for step in owed)
