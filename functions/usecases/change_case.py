"""One change to an open case by one person: read, decided by the domain, written if nobody wrote in between."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from functions.domain.cases import Case
from functions.ports import Stale, Store
from functions.usecases.records import case_key, changed, current, parsed, read_case

TRIES = 20
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Operator:
    """Who acts: the person, from the token alone, with the groups and the tenants that these open."""

    person: str
    groups: frozenset[str]
    tenants: frozenset[str]

    def owns(self, case: Case) -> bool:
        """Whether the case is one of this person's groups' own."""
        return case.tenant in self.tenants and case.group in self.groups


def change_case(
    store: Store, case_id: str, who: Operator, decide: Callable[[Case], Case | R]
) -> Case | R | None:
    """The case as it was written, or why nothing was; None if these groups of these tenants own no case by that id."""
    case = read_case(store, case_id)
    for _ in range(TRIES):
        if case is None or not who.owns(case):
            return None
        decision = decide(case)
        if not isinstance(decision, Case):
            return decision
        try:
            [written] = store.write([changed(case, decision)])
        except Stale as stale:
            case = current(Case, stale.current, case_key(case_id))
            continue
        return parsed(Case, written)
    raise Stale({})
