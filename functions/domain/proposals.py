"""What takes two: one person proposes, another one of the same group agrees, and only then does anything happen.

A proposal is bound to the obligation as it was when it was made. Once that has changed, nobody can agree to it any more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from functions.domain import keys
from functions.domain.cases import (
    BY_TWO,
    AlreadySettled,
    Case,
    CaseEvent,
    CaseState,
    Full,
    HeldBy,
    NotAllowed,
    NotHeld,
    Proposal,
    Resolution,
    entered,
    has_room,
    holder,
    settled,
)
from functions.domain.ledger.records import Millis, Saga, StepRecord


@dataclass(frozen=True, slots=True)
class Wanted:
    """What somebody proposes: which resolution, why, and for another principal or another action its declared name."""

    resolution: Resolution
    reason: str
    alternate: str | None = None
    action: str | None = None


@dataclass(frozen=True, slots=True)
class NotDeclared:
    """Nothing of that name is declared for this undo; `field` is where it was asked for."""

    declared: tuple[str, ...]
    field: Literal["alternate", "action"] = "alternate"


@dataclass(frozen=True, slots=True)
class Pending:
    """Another proposal waits for its answer."""

    proposal: Proposal


@dataclass(frozen=True, slots=True)
class NoProposal:
    """This proposal does not wait for an answer (any more)."""


@dataclass(frozen=True, slots=True)
class SamePerson:
    """The second person has to be another one."""


@dataclass(frozen=True, slots=True)
class NotYours:
    """A proposal is withdrawn by whoever made it; everybody else may refuse it."""

    by: str


@dataclass(frozen=True, slots=True)
class Void:
    """The obligation has changed since: the next record, without the proposal."""

    case: Case


@dataclass(frozen=True, slots=True)
class Agreed:
    """Two people agree: the settled case, and what they agreed to."""

    case: Case
    proposal: Proposal


def binding(saga: Saga, step: StepRecord) -> str:
    """A digest of the obligation: it changes whenever the step, or the saga's direction, does."""
    head = saga.head
    return keys.digest(
        {
            "saga": head.saga_id,
            "step": step.index,
            "version": step.version,
            "direction": head.direction.value,
            "pivot": head.pivot.value,
        }
    )


def propose(
    case: Case, wanted: Wanted, *, person: str, binds: str, now: Millis
) -> Case | AlreadySettled | NotHeld | NotAllowed | NotDeclared | Pending | Full:
    """Put something up for a second person. One at a time: a proposal that is void makes room for the next."""
    if case.state is CaseState.SETTLED:
        return AlreadySettled(case)
    if holder(case, now) != person:
        return NotHeld()
    if wanted.resolution not in case.allowed or wanted.resolution not in BY_TWO:
        one_first = wanted.resolution is Resolution.ANOTHER_ACTION
        return NotAllowed(tuple(r for r in case.allowed if one_first or r in BY_TWO))
    if case.proposal is not None and case.proposal.binds == binds:
        return Pending(case.proposal)
    if (undeclared := _undeclared(case, wanted)) is not None:
        return undeclared
    proposal = Proposal(
        id=f"{case.id}-p{case.proposals + 1}",
        resolution=wanted.resolution,
        alternate=next((a for a in case.alternates if a.alternate == wanted.alternate), None),
        action=next((a for a in case.other_actions if a.name == wanted.action), None),
        reason=wanted.reason,
        by=person,
        at=now,
        binds=binds,
    )
    event = _event("proposed", proposal, person, wanted.reason, now)
    if not has_room(case, event):
        return Full()
    return case.model_copy(
        update={
            "proposal": proposal,
            "proposals": case.proposals + 1,
            "events": entered(case, event),
        }
    )


def _undeclared(case: Case, wanted: Wanted) -> NotDeclared | None:
    """A name is said exactly where one is chosen by it, and it is one that the case offers."""
    alternates = tuple(a.alternate for a in case.alternates if a.alternate)
    actions = tuple(a.name for a in case.other_actions)
    if wanted.resolution is Resolution.RETRY_WITH_ALTERNATE:
        if wanted.alternate not in alternates:
            return NotDeclared(alternates)
    elif wanted.alternate is not None:
        return NotDeclared(())
    if wanted.resolution is Resolution.ANOTHER_ACTION:
        return None if wanted.action in actions else NotDeclared(actions, "action")
    return None if wanted.action is None else NotDeclared((), "action")


def confirm(
    case: Case, proposal_id: str, *, person: str, binds: str, now: Millis
) -> Agreed | AlreadySettled | NoProposal | SamePerson | HeldBy | Void:
    """Agree to a proposal. Nobody agrees over the head of a third person who works on the case by now."""
    proposal = _pending(case, proposal_id)
    if not isinstance(proposal, Proposal):
        return proposal
    if proposal.by == person:
        return SamePerson()
    if proposal.binds != binds:
        return Void(_without(case, _event("voided", proposal, person, None, now)))
    held = holder(case, now)
    if held is not None and held not in {person, proposal.by}:
        return HeldBy(held, case.claimed_until)
    event = _event("confirmed", proposal, person, proposal.reason, now)
    return Agreed(settled(case, proposal.resolution, event), proposal)


def refuse(
    case: Case, proposal_id: str, *, person: str, reason: str, now: Millis
) -> Case | AlreadySettled | NoProposal | SamePerson:
    """Say no to somebody else's proposal."""
    proposal = _pending(case, proposal_id)
    if not isinstance(proposal, Proposal):
        return proposal
    if proposal.by == person:
        return SamePerson()
    return _without(case, _event("refused", proposal, person, reason, now))


def withdraw(
    case: Case, proposal_id: str, *, person: str, now: Millis
) -> Case | AlreadySettled | NoProposal | NotYours:
    """Take one's own proposal back."""
    proposal = _pending(case, proposal_id)
    if not isinstance(proposal, Proposal):
        return proposal
    if proposal.by != person:
        return NotYours(proposal.by)
    return _without(case, _event("withdrawn", proposal, person, None, now))


def _pending(case: Case, proposal_id: str) -> Proposal | AlreadySettled | NoProposal:
    if case.state is CaseState.SETTLED:
        return AlreadySettled(case)
    if case.proposal is None or case.proposal.id != proposal_id:
        return NoProposal()
    return case.proposal


def _without(case: Case, event: CaseEvent) -> Case:
    return case.model_copy(update={"proposal": None, "events": entered(case, event)})


def _event(what: str, proposal: Proposal, person: str, text: str | None, now: Millis) -> CaseEvent:
    facts = {"proposal": proposal.id, "resolution": proposal.resolution.value}
    if proposal.alternate is not None and proposal.alternate.alternate is not None:
        facts["alternate"] = proposal.alternate.alternate
    if proposal.action is not None:
        facts["action"] = proposal.action.name
    if person != proposal.by:
        facts["proposed_by"] = proposal.by
    return CaseEvent(at=now, who=person, what=what, text=text, facts=facts)
