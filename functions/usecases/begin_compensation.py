"""Turning a saga: the one transaction after which nothing goes forward any more."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from functions.domain import approvals
from functions.domain.approvals import Approval, ApprovalState
from functions.domain.ledger import forward
from functions.domain.ledger import head as heads
from functions.domain.ledger import undo as undos
from functions.domain.ledger.records import Direction, ForwardState, Saga, StepRecord
from functions.ports import Change, Clock, Stale, Store
from functions.usecases import errors
from functions.usecases.records import changed, read_approval, the_saga
from functions.usecases.world import StepRef

TRIES = 20
Why = Callable[[Saga, Approval | None, int], str]


def begin_compensation(store: Store, clock: Clock, ref: StepRef) -> None:
    """Turn the saga because step `ref` did not end well. Idempotent.

    Raises Superseded for an old driver, StepBarred where the boundary is being, or has been, crossed, and BadRequest for a
    step that the saga does not have.
    """
    turn(store, clock, ref.saga_id, partial(_why, ref.index), epoch=ref.epoch)


def turn(
    store: Store,
    clock: Clock,
    saga_id: str,
    why: Why,
    *,
    epoch: int | None = None,
) -> Saga:
    """The transaction: the head's direction, a bar on every step that is not completed, the open approval closed.

    What never happened is not owed from here on: the machine enters the chain of undos at the step that failed, so nobody
    asks the steps behind it.

    `why` makes the reason of the saga, its latest approval and the time. Answers the saga as it was just before.
    """
    for _ in range(TRIES):
        saga = the_saga(store, saga_id)
        if epoch is not None and epoch < saga.head.epoch:
            raise errors.Superseded(f"{saga_id}: driver {epoch} of {saga.head.epoch}")
        if saga.head.direction is Direction.COMPENSATING:
            return saga
        if not heads.may_compensate(saga.head):
            raise errors.StepBarred(f"{saga_id}: at its boundary, or past it")
        approval = _latest_approval(store, saga)
        now = clock.now()
        try:
            store.write(_changes(saga, approval, why(saga, approval, now), now))
        except Stale:
            continue
        return saga
    raise errors.StillRunning(f"{saga_id} keeps changing")


def _changes(saga: Saga, approval: Approval | None, why: str, now: int) -> list[Change]:
    turned = heads.begin_compensation(saga.head, now=now, reason=why)
    changes = [changed(saga.head, turned)]
    changes += [
        changed(step, undos.waive(forward.bar(step)))
        for step in saga.steps
        if step.forward.state is not ForwardState.COMPLETED
    ]
    if approval is not None and approval.state in {ApprovalState.OPEN, ApprovalState.APPROVED}:
        changes.append(changed(approval, approvals.close(approval, now)))
    return changes


def _latest_approval(store: Store, saga: Saga) -> Approval | None:
    asked = next((s.approval for s in saga.steps if s.approval is not None), None)
    return read_approval(store, asked)


def _why(index: int, saga: Saga, approval: Approval | None, now: int) -> str:
    if index >= len(saga.steps):
        raise errors.BadRequest(f"{saga.head.saga_id}: there is no step {index}")
    step = saga.steps[index]
    if approval is not None and approval.index == index:
        denied = approvals.denial(approval, now)
        if denied is not None:
            return f"{step.name}: {denied}"[:500]
    return _reported(step)


def _reported(step: StepRecord) -> str:
    entry = next((e for e in reversed(step.forward.history) if e.outcome is not None), None)
    if entry is None:
        return f"{step.name} did not report"
    return f"{step.name} was {entry.outcome}: {entry.reason or 'no reason given'}"[:500]
