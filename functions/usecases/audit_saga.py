"""All that is known of one saga, gathered for whoever has to answer for it: its records, every approval, every case."""

from __future__ import annotations

from dataclasses import dataclass

from functions.domain.approvals import Approval
from functions.domain.cases import Case
from functions.domain.ledger.records import Saga
from functions.ports import Store
from functions.usecases.records import read_approvals, read_case, read_cases, read_saga


@dataclass(frozen=True, slots=True)
class Gathered:
    """A saga with all rounds of asking and all cases it has ever had."""

    saga: Saga
    approvals: tuple[Approval, ...]
    cases: tuple[Case, ...]


def audit_saga(store: Store, saga_id: str, *, tenants: frozenset[str]) -> Gathered | None:
    """Gather what belongs to a saga of these tenants."""
    saga = read_saga(store, saga_id)
    if saga is None or saga.head.tenant not in tenants:
        return None
    whole = (read_case(store, each) for each in saga.head.cases)
    return Gathered(
        saga,
        tuple(read_approvals(store, saga.steps)),
        (*read_cases(store, saga.steps), *(case for case in whole if case is not None)),
    )
