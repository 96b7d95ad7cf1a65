"""All that is known of one saga, gathered for whoever has to answer for it: its records, every approval, every case."""

from __future__ import annotations

from dataclasses import dataclass

from functions.domain.approvals import Approval, approval_id
from functions.domain.cases import Case, case_id
from functions.domain.ledger.records import Saga
from functions.ports import Store
from functions.usecases.records import read_approval, read_case, read_saga


@dataclass(frozen=True, slots=True)
class Gathered:
    """A saga with all rounds of asking and all cases it has ever had."""

    saga: Saga
    approvals: tuple[Approval, ...]
    cases: tuple[Case, ...]


def audit_saga(store: Store, saga_id: str, *, tenants: frozenset[str]) -> Gathered | None:
    """Gather what belongs to a saga of these tenants. Ids are made from the saga's, so that nothing is searched for."""
    saga = read_saga(store, saga_id)
    if saga is None or saga.head.tenant not in tenants:
        return None
    asked = [
        approval_id(saga_id, step.index, round_)
        for step in saga.steps
        for round_ in range(1, step.rounds + 1)
    ]
    opened = [
        case_id(saga_id, step.index, side, number)
        for step in saga.steps
        for number in range(1, step.cases + 1)
        for side in ("do", "undo")
    ]
    approvals = (read_approval(store, each) for each in asked)
    cases = (read_case(store, each) for each in (*opened, *saga.head.cases))
    return Gathered(
        saga,
        tuple(each for each in approvals if each is not None),
        tuple(each for each in cases if each is not None),
    )
