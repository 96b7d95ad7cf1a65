"""A person's decision: written first, on the record that holds the token; the waiting machine is answered second."""

from __future__ import annotations

from typing import Literal

from functions.domain import approvals
from functions.domain.approvals import Approval, ApprovalState, Decided
from functions.ports import Callbacks, Clock, Stale, Store
from functions.usecases.records import approval_key, changed, current, parsed, read_approval

TRIES = 20
_DENIALS = {
    ApprovalState.REJECTED: "ApprovalRejected",
    ApprovalState.EXPIRED: "ApprovalExpired",
    ApprovalState.CLOSED: "SagaCancelled",
}
"""Error names that the gate does not ask again after (statemachines/errors.py)."""


def decide_approval(
    store: Store,
    clock: Clock,
    callbacks: Callbacks,
    approval_id: str,
    *,
    tenants: frozenset[str],
    person: str,
    groups: frozenset[str],
    decision: Literal["approve", "reject"],
    reason: str | None,
    binds: str | None = None,
) -> approvals.Answer | None:
    """Decide on an approval; None if these tenants have none by that id. The decision counts once it is written."""
    approval = read_approval(store, approval_id)
    for _ in range(TRIES):
        if approval is None or approval.tenant not in tenants:
            return None
        now = clock.now()
        said = approvals.decide(
            approval,
            person=person,
            groups=groups,
            decision=decision,
            reason=reason,
            now=now,
            binds=binds,
        )
        if not isinstance(said, Decided):
            return said
        try:
            [written] = store.write([changed(approval, said.approval)])
        except Stale as stale:
            approval = current(Approval, stale.current, approval_key(approval_id))
            continue
        return Decided(answer(store, callbacks, parsed(Approval, written)))
    raise Stale({})


def answer(store: Store, callbacks: Callbacks, approval: Approval) -> Approval:
    """Tell the waiting machine, if there is one and there is something to tell. The sweeper repeats it if need be."""
    if approval.token is None or approval.answered or approval.state is ApprovalState.OPEN:
        return approval
    for token in (*approval.earlier_tokens, approval.token):
        if approval.state in {ApprovalState.APPROVED, ApprovalState.CONSUMED}:
            callbacks.succeed(token)
        else:
            callbacks.fail(token, _DENIALS[approval.state], approval.state.value)
    done = approval.model_copy(update={"answered": True, "due_at": None, "due_shard": None})
    try:
        store.write([changed(approval, done)])
    except Stale:
        return approval
    return done
