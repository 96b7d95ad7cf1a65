"""A case: what automation could not settle, with all that a person needs to settle it.

A first-class route of its own, not an instruction to read logs (seed two, "Escalation must carry enough evidence to
act"): what is owed in one sentence, why automation stopped, what exists, what is unfinished, and what may be done.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from functions.domain.ledger.records import AuthorityReference, DeclaredAction, Millis
from functions.domain.outcome import Frozen, Identifier, ShortText

CLAIM_LASTS = 15 * 60 * 1000
HANDED_OVER_LASTS = 60 * 60 * 1000
"""Longer than a claim: whoever gets a case from somebody else has to notice it first."""
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
    RETRY_WITH_ALTERNATE = "retry_with_alternate"
    ANOTHER_ACTION = "another_action"
    DONE = "done"
    ACCEPT = "accept"
    DID_NOT_HAPPEN = "did_not_happen"
    CLOSE = "close"
    REOPEN = "reopen"


BY_TWO = frozenset({Resolution.RETRY_WITH_ALTERNATE, Resolution.ANOTHER_ACTION, Resolution.ACCEPT})
"""One person proposes these, and nothing happens until another one agrees."""


class CaseState(StrEnum):
    """Open until somebody settles it; claims are leases on an open case."""

    OPEN = "open"
    SETTLED = "settled"


Facts = dict[
    Annotated[str, StringConstraints(min_length=1, max_length=60)],
    Annotated[str, StringConstraints(max_length=300)],
]


class CaseEvent(Frozen):
    """One line of a case's own history: who did or saw what, when. Lines are added, and never changed."""

    at: Millis
    who: Identifier
    what: Identifier
    text: ShortText | None = None
    facts: Annotated[Facts, Field(max_length=10)] = {}


class Proposal(Frozen):
    """What one person wants done that two have to agree to, bound to the obligation as it was then."""

    id: Identifier
    resolution: Resolution
    alternate: AuthorityReference | None = None
    action: DeclaredAction | None = None
    reason: ShortText
    by: Identifier
    at: Millis
    binds: Identifier


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
    alternates: tuple[AuthorityReference, ...] = ()
    """The other principals that the catalogue had declared for this undo when the saga was admitted."""
    other_actions: tuple[DeclaredAction, ...] = ()
    """What the catalogue had declared by then to be done in place of this undo."""
    state: CaseState = CaseState.OPEN
    resolution: Resolution | None = None
    claimed_by: Identifier | None = None
    claimed_until: Millis = 0
    handed_over_by: Identifier | None = None
    """Who gave the present claim to its holder, where somebody did."""
    proposal: Proposal | None = None
    proposals: int = 0
    events: tuple[CaseEvent, ...] = ()
    announced: int = 0
    created_at: Millis
    settled_at: Millis | None = None
    open: Identifier | None = None
    due_shard: Identifier | None = None
    due_at: Millis | None = None
    forgotten_at: int | None = None
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
    """This needs a live claim of one's own."""


@dataclass(frozen=True, slots=True)
class NotAllowed:
    """This obligation cannot be settled that way."""

    allowed: tuple[Resolution, ...]


@dataclass(frozen=True, slots=True)
class NeedsTwo:
    """Two people have to agree to this: it is proposed, not done."""


@dataclass(frozen=True, slots=True)
class Full:
    """The case's history takes no more notes."""


def case_id(saga_id: str, index: int, direction: str, number: int) -> str:
    """The id of a step's n-th case in one direction, the same however often opening it is tried."""
    return f"{saga_id}-{index}-{direction}-{number}"


def holder(case: Case, now: Millis) -> str | None:
    """Who holds a live claim on an open case."""
    live = case.state is CaseState.OPEN and now < case.claimed_until
    return case.claimed_by if live else None


def claim(case: Case, *, person: str, now: Millis) -> Claimed | HeldBy | AlreadySettled:
    """Take a case, or renew one's own claim on it."""
    if case.state is CaseState.SETTLED:
        return AlreadySettled(case)
    held = holder(case, now)
    if held is not None and held != person:
        return HeldBy(held, case.claimed_until)
    event = CaseEvent(at=now, who=person, what="renewed" if held == person else "claimed")
    return Claimed(leased(case, person, now + CLAIM_LASTS, event))


def leased(
    case: Case, person: str | None, until: Millis, event: CaseEvent, *, given_by: str | None = None
) -> Case:
    """The case in these hands until then."""
    return case.model_copy(
        update={
            "claimed_by": person,
            "claimed_until": until,
            "handed_over_by": given_by,
            "events": entered(case, event),
        }
    )


def settle(
    case: Case,
    *,
    person: str,
    resolution: Resolution,
    text: str | None,
    now: Millis,
    facts: Facts | None = None,
) -> Case | AlreadySettled | NotHeld | NotAllowed | NeedsTwo:
    """Record what was done about it, by the person who holds the claim."""
    if case.state is CaseState.SETTLED:
        return AlreadySettled(case)
    if holder(case, now) != person:
        return NotHeld()
    if resolution not in case.allowed:
        return NotAllowed(case.allowed)
    if resolution in BY_TWO:
        return NeedsTwo()
    event = CaseEvent(at=now, who=person, what=resolution.value, text=text, facts=facts or {})
    return settled(case, resolution, event)


def settled(case: Case, resolution: Resolution, event: CaseEvent) -> Case:
    """The case with nothing left to do; what was proposed meanwhile is off the table."""
    return case.model_copy(
        update={
            "state": CaseState.SETTLED,
            "resolution": resolution,
            "settled_at": event.at,
            "proposal": None,
            "events": entered(case, event),
            "open": None,
            "due_at": None,
            "due_shard": None,
        }
    )


MOST_EVENTS = 200
MOST_NOTES = 150
MOST_NOTED = 100_000
"""Bytes: with its evidence a case stays far below what one record may hold."""
_PASSING = frozenset({"claimed", "renewed", "released", "handed_over"})


def entered(case: Case, event: CaseEvent) -> tuple[CaseEvent, ...]:
    """The history with `event` at its end. Where it grows too long the oldest changes of hands go, and no note ever."""
    events = (*case.events, event)
    if len(events) <= MOST_EVENTS:
        return events
    oldest = next((i for i, e in enumerate(events) if e.what in _PASSING), 0)
    return (*events[:oldest], *events[oldest + 1 :])


def has_room(case: Case, event: CaseEvent) -> bool:
    """Whether the history takes one more note: what people found and proposed is kept whole, so it is bounded."""
    notes = [e for e in (*case.events, event) if e.what not in _PASSING]
    size = sum(len(e.model_dump_json().encode()) for e in notes)
    return len(notes) <= MOST_NOTES and size <= MOST_NOTED
