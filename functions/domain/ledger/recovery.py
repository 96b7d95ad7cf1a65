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


def is_over(saga: Saga) -> bool:
    """Whether it has ended for good: nothing is owed, nobody has a case of it, and no late effect waits for one."""
    head = saga.head
    return (
        head.outcome is not None
        and head.attention is Attention.NONE
        and head.wanted is None
        and not any(step.case or step.late for step in saga.steps)
        and (
            head.direction is not Direction.COMPENSATING
            or all(is_settled(step) for step in saga.steps)
        )
    )
