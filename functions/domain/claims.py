"""What may become of a claim beside taking it: kept longer, given back, given to somebody else."""

from __future__ import annotations

from dataclasses import dataclass

from functions.domain.cases import (
    CLAIM_LASTS,
    HANDED_OVER_LASTS,
    AlreadySettled,
    Case,
    CaseEvent,
    CaseState,
    NotHeld,
    holder,
    leased,
)
from functions.domain.ledger.records import Millis


@dataclass(frozen=True, slots=True)
class NotAMember:
    """Whoever should get the case is not in the group that owns it, or has it already."""

    person: str
    group: str


def renew(case: Case, *, person: str, now: Millis) -> Case | AlreadySettled | NotHeld:
    """Keep one's own live claim longer. One that has ended is claimed anew: somebody else may have been at it."""
    return _held(case, person, now) or leased(
        case, person, now + CLAIM_LASTS, CaseEvent(at=now, who=person, what="renewed")
    )


def release(
    case: Case, *, person: str, note: str | None, now: Millis
) -> Case | AlreadySettled | NotHeld:
    """Give one's own claim back, so that others need not wait for its end."""
    return _held(case, person, now) or leased(
        case, None, 0, CaseEvent(at=now, who=person, what="released", text=note)
    )


def hand_over(
    case: Case, *, person: str, to: str, member: bool, note: str | None, now: Millis
) -> Case | AlreadySettled | NotHeld | NotAMember:
    """Give one's own claim to a named person. `member`: whether that person belongs to the group that owns the case."""
    refused = _held(case, person, now)
    if refused is not None:
        return refused
    if not member or to == person:
        return NotAMember(to, case.group)
    facts = {"to": to} | ({} if note is None else {"note": note[:300]})
    event = CaseEvent(at=now, who=person, what="handed_over", facts=facts)
    return leased(case, to, now + HANDED_OVER_LASTS, event, given_by=person)


def _held(case: Case, person: str, now: Millis) -> AlreadySettled | NotHeld | None:
    if case.state is CaseState.SETTLED:
        return AlreadySettled(case)
    return None if holder(case, now) == person else NotHeld()
