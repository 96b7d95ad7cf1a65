"""Settling a case: one transaction over case, step and head; then the saga is driven again from the ledger."""

from __future__ import annotations

from dataclasses import dataclass

from functions.domain import cases
from functions.domain.cases import (
    AlreadySettled,
    Case,
    NeedsTwo,
    NotAllowed,
    NotHeld,
    Resolution,
)
from functions.ports import Change, Clock, Stale, Store
from functions.usecases.case_effects import Agreement, AttemptAlive, saga_changes
from functions.usecases.records import changed, read_case, read_saga
from functions.usecases.reopen_request import NotReopened, Reopening, reopening

TRIES = 20


@dataclass(frozen=True, slots=True)
class Settled:
    """The case as it was settled."""

    case: Case


Answer = Settled | AlreadySettled | NotHeld | NotAllowed | NeedsTwo | AttemptAlive | NotReopened


def resolve_case(
    store: Store,
    clock: Clock,
    case_id: str,
    *,
    tenants: frozenset[str],
    person: str,
    groups: frozenset[str],
    resolution: Resolution,
    evidence: str | None,
    settles_after: int,
    attempts: int | None = None,
) -> Answer | None:
    """Settle a case that this person holds; None if these groups of these tenants own no case by that id.

    `retry` gives the step one more attempt under its own key. `done` records that a person has done it by hand, and
    `did_not_happen` that a person found no effect of an unknown call, both with `evidence` in words. `settles_after` is
    the step's, in milliseconds: before a late effect has become impossible nobody can say that they did it instead. An
    escalated request is closed, or reopened for `attempts` more plans. What takes two people is proposed instead.
    """
    for _ in range(TRIES):
        case = read_case(store, case_id)
        if case is None or case.tenant not in tenants or case.group not in groups:
            return None
        now = clock.now()
        settled = cases.settle(
            case,
            person=person,
            resolution=resolution,
            text=evidence,
            now=now,
            facts={"attempts": str(attempts)} if attempts is not None else None,
        )
        if not isinstance(settled, Case):
            return settled
        more = _more(store, case, Agreement(resolution, evidence), attempts, now, settles_after)
        if not isinstance(more, list):
            return more
        try:
            store.write([changed(case, settled), *more])
        except Stale:
            continue
        return Settled(settled.model_copy(update={"version": case.version + 1}))
    raise Stale({})


def _more(
    store: Store,
    case: Case,
    agreed: Agreement,
    attempts: int | None,
    now: int,
    settles_after: int,
) -> list[Change] | AttemptAlive | NotAllowed | NotReopened | None:
    if agreed.resolution is Resolution.REOPEN:
        return reopening(store, case, Reopening(attempts or 1), now)
    if case.saga_id is None:
        return []
    saga = read_saga(store, case.saga_id)
    return saga_changes(saga, case, agreed, now, settles_after) if saga is not None else None
