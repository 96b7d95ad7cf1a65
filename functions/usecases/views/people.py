"""Approvals as people see them, without the callback token."""

from __future__ import annotations

from typing import Any, Literal

from functions.domain.approvals import Approval, ApprovalState
from functions.domain.ledger.records import ForwardState, Saga, UndoState
from functions.usecases.views.saga import View, iso


class DecisionView(View):
    """One person's answer."""

    person: str
    decision: Literal["approve", "reject"]
    at: str | None
    reason: str | None


class ApprovalSummary(View):
    """One line of the approver's list."""

    approval_id: str
    saga_id: str
    catalogue: str
    step: str
    sentence: str
    reason: str
    state: ApprovalState
    group: str
    needed: int
    decisions: list[DecisionView]
    created_at: str | None
    expires_at: str | None


class AgentWords(View):
    """What the agent wrote: its words, no facts. Shown below the facts, and labelled."""

    rationale: str
    notes: list[str]


class ApprovalView(ApprovalSummary):
    """What an approver decides on: the validated facts first, the agent's own words last."""

    excluded: list[str]
    again: str | None
    superseded_by: str | None
    arguments: str
    binds: str
    exists: list[str]
    on_approve: list[str]
    on_reject: list[str]
    agent: AgentWords


def approval_summary(approval: Approval) -> ApprovalSummary:
    """One line of a list."""
    return ApprovalSummary(**_summary(approval))


def approval_view(approval: Approval, saga: Saga) -> ApprovalView:
    """The whole question. What follows on yes and on no is read from the saga's own steps."""
    later = saga.steps[approval.index :]
    return ApprovalView(
        **_summary(approval),
        excluded=list(approval.excluded),
        again=approval.again,
        superseded_by=approval.superseded_by,
        arguments=approval.arguments,
        binds=approval.binds,
        exists=[s.sentence for s in saga.steps if s.forward.state is ForwardState.COMPLETED],
        on_approve=[s.sentence for s in later],
        on_reject=[
            f"{s.undo.operation}: {s.sentence}"
            for s in reversed(saga.steps[: approval.index])
            if s.undo is not None
            and s.forward.state is ForwardState.COMPLETED
            and s.undo.state is UndoState.PENDING
        ],
        agent=AgentWords(rationale=saga.head.rationale, notes=list(saga.head.notes)),
    )


def _summary(approval: Approval) -> dict[str, Any]:
    return {
        "approval_id": approval.id,
        "saga_id": approval.saga_id,
        "catalogue": approval.catalogue,
        "step": approval.step,
        "sentence": approval.sentence,
        "reason": approval.reason,
        "state": approval.state,
        "group": approval.group,
        "needed": approval.needed,
        "decisions": [
            DecisionView(person=d.person, decision=d.decision, at=iso(d.at), reason=d.reason)
            for d in approval.decisions
        ],
        "created_at": iso(approval.created_at),
        "expires_at": iso(approval.expires_at),
    }
