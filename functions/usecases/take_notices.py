"""An operator takes notices of open cases from the queue, and takes one off it once its case is settled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from functions.domain.cases import Case, CaseState
from functions.domain.notices import HIDDEN, Drop, Give, PutBack, becomes
from functions.ports import CaseQueue, Clock, Store
from functions.usecases.records import read_case


@dataclass(frozen=True, slots=True)
class Taken:
    """A notice of an open case. Nobody else gets it until it comes back; `receipt` takes it off the queue."""

    case: Case
    receipt: str


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """The notice is off the queue."""

    case: Case


@dataclass(frozen=True, slots=True)
class StillOpen:
    """The case is not settled: its notice stays."""

    case: Case


def take_notices(
    store: Store,
    clock: Clock,
    queue: CaseQueue,
    *,
    tenants: frozenset[str],
    groups: frozenset[str],
    person: str,
    most: int,
    wait: int,
) -> list[Taken]:
    """Up to `most` notices of cases that this person may settle now, waited for up to `wait` seconds.

    Those of settled cases are taken off on the way; all others come back by themselves.
    """
    taken = []
    for notice in queue.take(most, wait=wait, hidden=HIDDEN):
        case = read_case(store, notice.case_id) if notice.case_id is not None else None
        decision = becomes(case, tenants=tenants, groups=groups, person=person, now=clock.now())
        match decision:
            case Give(case=open_case):
                taken.append(Taken(open_case, notice.receipt))
            case Drop():
                queue.delete(notice.receipt)
            case PutBack(seconds=seconds):
                queue.hide(notice.receipt, seconds)
            case _:
                assert_never(decision)
    return taken


def acknowledge_notice(
    store: Store,
    queue: CaseQueue,
    case_id: str,
    receipt: str,
    *,
    tenants: frozenset[str],
    groups: frozenset[str],
) -> Acknowledged | StillOpen | None:
    """Take a notice off the queue if its case is settled; None if these groups own no case by that id.

    Raises BadReceipt.
    """
    case = read_case(store, case_id)
    if case is None or case.tenant not in tenants or case.group not in groups:
        return None
    if case.state is not CaseState.SETTLED:
        return StillOpen(case)
    queue.delete(receipt)
    return Acknowledged(case)
