"""From what a use case answers about a case to the problem that says why nothing was done."""

from __future__ import annotations

from functions.domain import cases, claims, proposals
from functions.domain.problems import Code, Problem, problem, quoted
from functions.handlers.http import Refusal, not_found
from functions.usecases.case_effects import AttemptAlive
from functions.usecases.reopen_request import NotReopened
from functions.usecases.views.saga import iso


def missing(field: str, message: str, hint: str) -> Refusal:
    """A field that this very request needs."""
    return Refusal(problem(Code.MISSING_FIELD, message, hint, at=(field,)))


def case_refused(said: object) -> Refusal:
    """Why a case is not as somebody wanted it. None: it is nobody's of theirs."""
    if said is None:
        return not_found("case")
    found = _about_the_claim(said) or _about_the_proposal(said) or _about_the_way(said)
    if found is None:
        raise TypeError(f"no refusal: {type(said).__name__}")
    return Refusal(found)


def _about_the_claim(said: object) -> Problem | None:
    match said:
        case cases.HeldBy(person=holder, until=until):
            text = f"{quoted(holder)} works on it until {iso(until)}."
            hint = "Take another case, or wait for the claim to end."
            return problem(Code.CLAIM_CONFLICT, text, hint)
        case cases.AlreadySettled(case=case):
            text = f"It was settled at {iso(case.settled_at)}."
            return problem(Code.CASE_CLOSED, text, "Nothing is left to do here.")
        case cases.NotHeld():
            hint = "Claim it first; a claim lasts fifteen minutes."
            return problem(Code.NOT_CLAIMED, "You do not hold this case.", hint)
        case claims.NotAMember(person=person, group=group):
            text = f"{quoted(person)} is nobody else in the group {group}."
            hint = "Name another member of the group that owns the case, as this person signs in."
            return problem(Code.NOT_A_MEMBER, text, hint, at=("to",))
        case cases.Full():
            hint = "Settle the case; what else there is to say belongs into its evidence."
            return problem(Code.CASE_FULL, "The history of this case takes no more notes.", hint)
        case _:
            return None


def _about_the_proposal(said: object) -> Problem | None:
    match said:
        case proposals.Pending(proposal=proposal):
            text = f"{quoted(proposal.by)} has proposed {proposal.resolution.value}."
            hint = "Answer that proposal, or have it withdrawn, before another one is made."
            return problem(Code.PROPOSAL_OPEN, text, hint)
        case proposals.NoProposal():
            hint = "Read the case again: it shows what is proposed now."
            return problem(Code.NO_PROPOSAL, "No such proposal waits for an answer.", hint)
        case proposals.SamePerson():
            hint = "Ask another member of the group, or withdraw the proposal."
            text = "Whoever proposes cannot answer."
            return problem(Code.ANOTHER_PERSON_NEEDED, text, hint)
        case proposals.NotYours(by=by):
            text = f"{quoted(by)} has made this proposal."
            return problem(Code.NOT_YOUR_PROPOSAL, text, "You may refuse it, with a reason.")
        case proposals.Void():
            hint = "Read the case again, and propose anew if it still holds."
            text = "What is owed has changed since this was proposed."
            return problem(Code.PROPOSAL_VOID, text, hint)
        case proposals.NotDeclared(declared=declared, field=field):
            what = "alternate" if field == "alternate" else "other action"
            return problem(
                Code.NOT_ONE_OF,
                f"No {what} of this name is declared for this undo.",
                "Name one of those that are listed." if declared else "Leave it out.",
                at=(field,),
                allowed=list(declared),
            )
        case _:
            return None


def _about_the_way(said: object) -> Problem | None:
    match said:
        case cases.NotAllowed(allowed=allowed):
            return problem(
                Code.RESOLUTION_NOT_ALLOWED,
                "This case can not be settled in that way.",
                "Choose one of those that are listed.",
                at=("resolution",),
                allowed=[a.value for a in allowed],
            )
        case cases.NeedsTwo():
            hint = "Propose it; another member of the group confirms."
            text = "Two people have to agree to this."
            return problem(Code.ANOTHER_PERSON_NEEDED, text, hint, at=("resolution",))
        case AttemptAlive(until=until):
            hint = f"Ask again after {iso(until)}."
            text = "An attempt may still be running, or its effect may still arrive."
            return problem(Code.ATTEMPT_ALIVE, text, hint)
        case NotReopened(most=most):
            text = f"This request takes at most {most} more plans."
            hint = f"Reopen it for 1 to {most}." if most else "Close it."
            return problem(Code.OUT_OF_RANGE, text, hint, at=("attempts",))
        case _:
            return None
