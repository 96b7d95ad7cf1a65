"""What people write into an open case: what they found, and what they are about to do at the target themselves.

Manual actions need checkpoints too (seed two): who is about to act says so first. If that person is never heard of again,
the next one reads *attempted*, and finds the same key in the evidence.
"""

from __future__ import annotations

from collections.abc import Mapping

from functions.domain.cases import (
    AlreadySettled,
    Case,
    CaseEvent,
    CaseState,
    Full,
    NotHeld,
    entered,
    has_room,
    holder,
)
from functions.domain.ledger.records import Millis

OBSERVED = "observed"
ATTEMPTED = "attempted"


def observe(
    case: Case, *, person: str, text: str, facts: Mapping[str, str], now: Millis
) -> Case | AlreadySettled | Full:
    """Add what one found. Whoever may see the case may add to it, claimed or not."""
    return _noted(case, CaseEvent(at=now, who=person, what=OBSERVED, text=text, facts=dict(facts)))


def attempt(
    case: Case, *, person: str, text: str, facts: Mapping[str, str], now: Millis
) -> Case | AlreadySettled | NotHeld | Full:
    """Say what one is about to do by hand, before one does it: for this the case has to be one's own."""
    if case.state is CaseState.OPEN and holder(case, now) != person:
        return NotHeld()
    return _noted(case, CaseEvent(at=now, who=person, what=ATTEMPTED, text=text, facts=dict(facts)))


def attempted(case: Case) -> CaseEvent | None:
    """The last thing that somebody was about to do by hand."""
    return next((e for e in reversed(case.events) if e.what == ATTEMPTED), None)


def _noted(case: Case, event: CaseEvent) -> Case | AlreadySettled | Full:
    if case.state is CaseState.SETTLED:
        return AlreadySettled(case)
    if not has_room(case, event):
        return Full()
    return case.model_copy(update={"events": entered(case, event)})
