"""Approvals and cases as people see them. The callback token is in neither."""

from __future__ import annotations

from typing import Any, Literal

from functions.domain.approvals import Approval, ApprovalState
from functions.domain.cases import Case, CaseCause, CaseState, Resolution
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


class CaseEventView(View):
    """One line of a case's own history."""

    at: str | None
    who: str
    what: str
    text: str | None


class CaseSummary(View):
    """One line of the operator's list."""

    case_id: str
    saga_id: str | None
    request_id: str | None
    catalogue: str | None
    cause: CaseCause
    obligation: str
    state: CaseState
    claimed_by: str | None
    claimed_until: str | None
    created_at: str | None


class CaseView(CaseSummary):
    """All that a person needs to settle it."""

    group: str
    why: str
    step: int | None
    direction: str
    evidence: dict[str, Any]
    allowed: list[Resolution]
    resolution: Resolution | None
    events: list[CaseEventView]
    settled_at: str | None
    agent: AgentWords | None


def case_summary(case: Case) -> CaseSummary:
    """One line of a list."""
    return CaseSummary(**_case_summary(case))


def case_view(case: Case, saga: Saga | None) -> CaseView:
    """The whole case, with the words of the agent whose plan it came from."""
    return CaseView(
        **_case_summary(case),
        group=case.group,
        why=case.why,
        step=case.index,
        direction=case.direction,
        evidence=case.evidence,
        allowed=list(case.allowed),
        resolution=case.resolution,
        events=[
            CaseEventView(at=iso(e.at), who=e.who, what=e.what, text=e.text) for e in case.events
        ],
        settled_at=iso(case.settled_at),
        agent=AgentWords(rationale=saga.head.rationale, notes=list(saga.head.notes))
        if saga is not None
        else None,
    )


def _case_summary(case: Case) -> dict[str, Any]:
    return {
        "case_id": case.id,
        "saga_id": case.saga_id,
        "request_id": case.request_id,
        "catalogue": case.catalogue,
        "cause": case.cause,
        "obligation": case.obligation,
        "state": case.state,
        "claimed_by": case.claimed_by,
        "claimed_until": iso(case.claimed_until),
        "created_at": iso(case.created_at),
    }
