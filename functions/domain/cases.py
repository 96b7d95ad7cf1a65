"""A case: what automation could not settle, with all that a person needs to settle it.

A first-class route of its own, not an instruction to read logs (seed two, "Escalation must carry enough evidence to
act"): what is owed in one sentence, why automation stopped, what exists, what is unfinished, and what may be done.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal

from functions.domain.ledger.records import Millis
from functions.domain.outcome import Frozen, Identifier, ShortText

CLAIM_LASTS = 15 * 60 * 1000
ANNOUNCE_AGAIN = 10 * 24 * 3600 * 1000
"""SQS forgets a message after 14 days at most; an open case is announced again before that."""


class CaseCause(StrEnum):
    """Why a person is needed."""

    UNDO_BLOCKED = "undo_blocked"
    UNDO_BUDGET_SPENT = "undo_budget_spent"
    UNDO_NEEDS_PERSON = "undo_needs_person"
    AUTHORITY_LOST = "authority_lost"
    OUTCOME_UNSETTLED = "outcome_unsettled"
    STEP_REFUSED = "step_refused"
    BUDGET_SPENT = "budget_spent"
    KEY_CONFLICT = "key_conflict"
    LATE_EFFECT = "late_effect"
    SECOND_EFFECT = "second_effect"
    CANNOT_RESUME = "cannot_resume"
    REQUEST_ESCALATED = "request_escalated"


class Resolution(StrEnum):
    """What a person may do with a case."""

    RETRY = "retry"
    DONE = "done"
    ACCEPT = "accept"
    DID_NOT_HAPPEN = "did_not_happen"
    CLOSE = "close"


class CaseState(StrEnum):
    """Open until somebody settles it; claims are leases on an open case."""

    OPEN = "open"
    SETTLED = "settled"


class CaseEvent(Frozen):
    """One line of a case's own history: who did or saw what, when."""

    at: Millis
    who: Identifier
    what: Identifier
    text: ShortText | None = None


class Case(Frozen):
    """One open obligation. `evidence` is a bounded JSON object, a snapshot of what was known when it opened."""

    id: Identifier
    tenant: Identifier
    catalogue: Identifier | None = None
    group: Identifier
    saga_id: Identifier | None = None
    request_id: Identifier | None = None
    index: int | None = None
    direction: Literal["do", "undo", "saga", "request"]
    cause: CaseCause
    obligation: ShortText
    why: ShortText
    evidence: dict[str, Any]
    allowed: tuple[Resolution, ...]
    state: CaseState = CaseState.OPEN
    resolution: Resolution | None = None
    claimed_by: Identifier | None = None
    claimed_until: Millis = 0
    events: tuple[CaseEvent, ...] = ()
    announced: int = 0
    created_at: Millis
    settled_at: Millis | None = None
    open: Identifier | None = None
    due_shard: Identifier | None = None
    due_at: Millis | None = None
    version: int = 0


@dataclass(frozen=True, slots=True)
class Claimed:
    """The next record, with this person's lease."""

    case: Case


@dataclass(frozen=True, slots=True)
class HeldBy:
    """Somebody else holds a live claim."""

    person: str
    until: Millis


@dataclass(frozen=True, slots=True)
class AlreadySettled:
    """Nothing is left to do."""

    case: Case


@dataclass(frozen=True, slots=True)
class NotHeld:
    """A resolution needs a live claim of one's own."""


@dataclass(frozen=True, slots=True)
class NotAllowed:
    """This obligation cannot be settled that way."""

    allowed: tuple[Resolution, ...]


def case_id(saga_id: str, index: int, direction: str, number: int) -> str:
    """The id of a step's n-th case in one direction, the same however often opening it is tried."""
    return f"{saga_id}-{index}-{direction}-{number}"


def claim(case: Case, *, person: str, now: Millis) -> Claimed | HeldBy | AlreadySettled:
    """Take a case, or renew one's own claim on it."""
    if case.state is CaseState.SETTLED:
        return AlreadySettled(case)
    if case.claimed_by not in {None, person} and now < case.claimed_until:
        return HeldBy(case.claimed_by or "", case.claimed_until)
    event = CaseEvent(at=now, who=person, what="claimed")
    return Claimed(
        case.model_copy(
            update={
                "claimed_by": person,
                "claimed_until": now + CLAIM_LASTS,
                "events": (*case.events, event)[-200:],
            }
        )
    )


def settle(
    case: Case, *, person: str, resolution: Resolution, text: str | None, now: Millis
) -> Case | AlreadySettled | NotHeld | NotAllowed:
    """Record what was done about it, by the person who holds the claim."""
    if case.state is CaseState.SETTLED:
        return AlreadySettled(case)
    if case.claimed_by != person or now >= case.claimed_until:
        return NotHeld()
    if resolution not in case.allowed:
        return NotAllowed(case.allowed)
    event = CaseEvent(at=now, who=person, what=resolution.value, text=text)
    return case.model_copy(
        update={
            "state": CaseState.SETTLED,
            "resolution": resolution,
            "settled_at": now,
            "events": (*case.events, event)[-200:],
            "open": None,
            "due_at": None,
            "due_shard": None,
        }
    )
