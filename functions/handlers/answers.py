"""From what a use case answers people to the problem that says why not."""

from __future__ import annotations

from functions.domain import approvals
from functions.domain.approvals import Approval, ApprovalState, Decision
from functions.domain.ledger.status import Status
from functions.domain.problems import Code, problem, quoted
from functions.handlers.http import Refusal, not_found
from functions.handlers.identity import forbidden
from functions.usecases.views.saga import iso

Refused = approvals.NotOpen | approvals.NotAsShown | approvals.SaidOtherwise | approvals.MayNot


def decision_refused(said: Refused | None, now: int, standing: Status | None) -> Refusal:
    """Why a decision does not count. `standing` is where the approval's saga is now."""
    match said:
        case None:
            return not_found("approval")
        case approvals.MayNot(why=why):
            return forbidden(f"You may not decide this: {why}.")
        case approvals.NotAsShown(approval=approval):
            return _not_as_shown(approval)
        case approvals.SaidOtherwise(approval=approval, first=first):
            return _said_otherwise(approval, first)
        case approvals.NotOpen(approval=approval):
            return _not_open(approval, now, standing)


def _said_otherwise(approval: Approval, first: Decision) -> Refusal:
    code, hint = Code.ALREADY_DECIDED, "The first decision stands."
    if approval.state is ApprovalState.OPEN:
        code = Code.ALREADY_APPROVED_BY_YOU
        hint = "What you said first stands; somebody else may still reject."
    text = f"You have answered already: {_told(first)}."
    return Refusal(problem(code, text, hint), saga_id=approval.saga_id)


def _not_as_shown(approval: Approval) -> Refusal:
    hint = "Read it again, and decide on what it says now."
    text = "What you were shown is not what this approval is for."
    if approval.superseded_by is not None:
        text = f"It is asked anew, as {approval.superseded_by}."
        hint = "Read that one and decide on it: this one lets nothing run any more."
    return Refusal(problem(Code.APPROVAL_CHANGED, text, hint), saga_id=approval.saga_id)


def _not_open(approval: Approval, now: int, standing: Status | None) -> Refusal:
    late = approval.state is ApprovalState.OPEN and now >= approval.expires_at
    if late or approval.state is ApprovalState.EXPIRED:
        text = f"It expired at {iso(approval.expires_at)}."
        if standing is not None:
            text = f"{text} Its saga is {standing.value.replace('_', ' ')}."
        hint = "Look at the saga: without an approval in time it is undone."
        return Refusal(problem(Code.APPROVAL_EXPIRED, text, hint), saga_id=approval.saga_id)
    by = ", ".join(_told(d) for d in approval.decisions) or "the saga turned before anybody did"
    text, hint = f"Decided already: {by}.", "The first decision stands."
    return Refusal(problem(Code.ALREADY_DECIDED, text, hint), saga_id=approval.saga_id)


def _told(decision: Decision) -> str:
    return f"{quoted(decision.person)} said {decision.decision} at {iso(decision.at)}"
