"""What becomes of a notice that somebody takes from the queue: the case that it names decides.

A notice is a reminder and no more: it says which case to look at, may come twice, and is never what a case depends on.
"""

from __future__ import annotations

from dataclasses import dataclass

from functions.domain.cases import CLAIM_LASTS, Case, CaseState
from functions.domain.ledger.records import Millis

HIDDEN = CLAIM_LASTS // 1000
"""Seconds for which a notice that was given to a person is nobody else's: as long as a claim."""
BACK_SOON = 60
"""Seconds after which a notice that was not for this person comes back."""


@dataclass(frozen=True, slots=True)
class Give:
    """It is this person's to look at."""

    case: Case


@dataclass(frozen=True, slots=True)
class Drop:
    """Its case is settled: nobody has to hear of it any more."""


@dataclass(frozen=True, slots=True)
class PutBack:
    """Not now, or not to this person: it comes back after so many seconds."""

    seconds: int


def becomes(
    case: Case | None,
    *,
    tenants: frozenset[str],
    groups: frozenset[str],
    person: str,
    now: Millis,
) -> Give | Drop | PutBack:
    """What to do with a notice about `case`; None where it names none, which ends among the dead letters."""
    if case is None:
        return PutBack(BACK_SOON)
    if case.state is CaseState.SETTLED:
        return Drop()
    if case.tenant not in tenants or case.group not in groups:
        return PutBack(BACK_SOON)
    if case.claimed_by not in {None, person} and now < case.claimed_until:
        return PutBack(min(HIDDEN, (case.claimed_until - now) // 1000 + 1))
    return Give(case)
