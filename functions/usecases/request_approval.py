"""The gate: the machine's callback token is put beside the question that people are asked."""

from __future__ import annotations

from functions.domain import approvals
from functions.domain.approvals import Approval, ApprovalState
from functions.domain.ledger.head import due_shard
from functions.domain.ledger.records import Direction
from functions.ports import Callbacks, Notices, Stale, Store
from functions.usecases import errors
from functions.usecases.decide_approval import answer
from functions.usecases.records import changed, parsed, read_approval, the_saga
from functions.usecases.world import StepRef, epoch_of

TRIES = 20


def request_approval(
    store: Store, callbacks: Callbacks, notices: Notices, ref: StepRef, token: str
) -> None:
    """Store the token and announce the approval; answer at once where a decision exists already.

    Raises Superseded for an old driver, StepBarred where the saga has turned, BadRequest where nobody was asked.
    """
    for _ in range(TRIES):
        saga = the_saga(store, ref.saga_id)
        if ref.epoch < saga.head.epoch:
            raise errors.Superseded(f"{ref.saga_id}: driver {ref.epoch} of {saga.head.epoch}")
        if saga.head.direction is not Direction.FORWARD:
            raise errors.StepBarred(f"{ref.saga_id} no longer goes forward")
        approval = _asked(store, saga.steps[ref.index].approval)
        if approval.execution is not None and ref.epoch < epoch_of(approval.execution):
            # The head was read before a newer driver was written, and that one waits here by now.
            raise errors.Superseded(f"{ref.saga_id}: {approval.execution} waits already")
        waiting = approvals.waited_for(
            approval, token=token, execution=ref.execution, due_shard=due_shard(ref.saga_id)
        )
        try:
            [written] = store.write([changed(approval, waiting)])
        except Stale:
            continue
        stored = parsed(Approval, written)
        if stored.state is ApprovalState.OPEN:
            notices.approval(stored.id)
        else:
            answer(store, callbacks, stored)
        return
    raise errors.StillRunning(f"{ref.saga_id} keeps changing")


def _asked(store: Store, approval_id: str | None) -> Approval:
    approval = read_approval(store, approval_id)
    if approval is None:
        raise errors.BadRequest("nobody was asked to approve this step")
    return approval
