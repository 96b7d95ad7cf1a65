"""From what a use case answers people to the problem that says why not."""

from __future__ import annotations

from functions.domain import approvals, cases
from functions.domain.approvals import Approval, ApprovalState
from functions.domain.problems import Code, problem, quoted
from functions.handlers.http import Refusal, not_found
from functions.handlers.identity import forbidden
from functions.usecases.resolve_case import AttemptAlive
from functions.usecases.views.saga import iso


def decision_refused(
    said: approvals.NotOpen | approvals.MayNot | None, person: str, now: int
) -> Refusal:
    """Why a decision does not count."""
    if said is None:
        return not_found("approval")
    if isinstance(said, approvals.MayNot):
        return forbidden(f"You may not decide this: {said.why}.")
    approval = said.approval
    if approval.state is ApprovalState.EXPIRED or _too_late(approval, now):
        hint = "Look at the saga: without an approval in time it is undone."
        return Refusal(
            problem(Code.APPROVAL_EXPIRED, f"It expired at {iso(approval.expires_at)}.", hint),
            saga_id=approval.saga_id,
        )
    first = approval.decisions[0] if approval.decisions else None
    by = f"{first.person} said {first.decision} at {iso(first.at)}" if first else "the saga turned"
    mine = any(d.person == person for d in approval.decisions)
    text = f"You have decided already: {by}." if mine else f"Decided already: {by}."
    hint = "The first decision stands."
    return Refusal(problem(Code.ALREADY_DECIDED, text, hint), saga_id=approval.saga_id)


def _too_late(approval: Approval, now: int) -> bool:
    return approval.state is ApprovalState.OPEN and now >= approval.expires_at


def claim_refused(claimed: cases.HeldBy | cases.AlreadySettled | None) -> Refusal:
    """Why a case can not be claimed."""
    match claimed:
        case None:
            return not_found("case")
        case cases.HeldBy(person=holder, until=until):
            text = f"{quoted(holder)} works on it until {iso(until)}."
            return Refusal(
                problem(
                    Code.CLAIM_CONFLICT, text, "Take another case, or wait for the claim to end."
                )
            )
        case cases.AlreadySettled(case=case):
            text = f"It was settled at {iso(case.settled_at)}."
            return Refusal(problem(Code.CASE_CLOSED, text, "Nothing is left to do here."))


def resolution_refused(
    answer: cases.AlreadySettled | cases.NotHeld | cases.NotAllowed | AttemptAlive | None,
) -> Refusal:
    """Why a case can not be settled in this way now."""
    match answer:
        case None | cases.AlreadySettled():
            return claim_refused(answer)
        case cases.NotHeld():
            hint = "Claim it first; a claim lasts fifteen minutes."
            return Refusal(problem(Code.NOT_CLAIMED, "You do not hold this case.", hint))
        case cases.NotAllowed(allowed=allowed):
            return Refusal(
                problem(
                    Code.RESOLUTION_NOT_ALLOWED,
                    "This case can not be settled in that way.",
                    "Choose one of those that are listed.",
                    at=("resolution",),
                    allowed=[a.value for a in allowed],
                )
            )
        case AttemptAlive(until=until):
            hint = f"Ask again after {iso(until)}."
            text = "An attempt may still be running, or its effect may still arrive."
            return Refusal(problem(Code.ATTEMPT_ALIVE, text, hint))
