"""Taking a case: a lease, so that two people do not act on one obligation."""

from __future__ import annotations

from functions.domain import cases
from functions.domain.cases import AlreadySettled, Case, Claimed, HeldBy
from functions.ports import Clock, Store
from functions.usecases.change_case import Operator, change_case


def claim_case(
    store: Store,
    clock: Clock,
    case_id: str,
    *,
    tenants: frozenset[str],
    person: str,
    groups: frozenset[str],
) -> Claimed | HeldBy | AlreadySettled | None:
    """Claim a case or renew one's claim; None if these groups of these tenants own no case by that id."""

    def decide(case: Case) -> Case | HeldBy | AlreadySettled:
        said = cases.claim(case, person=person, now=clock.now())
        return said.case if isinstance(said, Claimed) else said

    who = Operator(person, groups, tenants)
    said: Case | HeldBy | AlreadySettled | None = change_case(store, case_id, who, decide)
    return Claimed(said) if isinstance(said, Case) else said
