"""Taking a case: a lease, so that two people do not act on one obligation."""

from __future__ import annotations

from functions.domain import cases
from functions.domain.cases import AlreadySettled, Case, Claimed, HeldBy
from functions.ports import Clock, Stale, Store
from functions.usecases.records import case_key, changed, current, parsed, read_case

TRIES = 20


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
    case = read_case(store, case_id)
    for _ in range(TRIES):
        if case is None or case.tenant not in tenants or case.group not in groups:
            return None
        decision = cases.claim(case, person=person, now=clock.now())
        if not isinstance(decision, Claimed):
            return decision
        try:
            [written] = store.write([changed(case, decision.case)])
        except Stale as stale:
            case = current(Case, stale.current, case_key(case_id))
            continue
        return Claimed(parsed(Case, written))
    raise Stale({})
