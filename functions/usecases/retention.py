"""How long what is known of a saga is kept: nothing expires before its end, and everything some time after it.

A record that has `forgotten_at` is deleted by its table after that moment, at some time within days. The catalogue says for
each step how long its records are relied on (`retain_for`); a saga's are kept together, as long as the longest.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from functions.domain.approvals import Approval, approval_id
from functions.domain.cases import Case, case_id
from functions.domain.ledger import head as heads
from functions.domain.ledger.records import Saga, StepRecord
from functions.domain.requests import RequestRecord
from functions.ports import Change, Stale, Store
from functions.usecases.records import changed, read_approval, read_case, read_request, read_saga

R = TypeVar("R", StepRecord, Approval, Case, RequestRecord)


def retain(store: Store, saga: Saga, *, until: int) -> bool:
    """Mark everything of a saga that is over; False if somebody wrote meanwhile, and nothing of it may be forgotten.

    Head, steps and request are marked in one write, so that a saga which is taken up again in this very moment keeps
    all of them. What people have settled by then stays settled, and is marked before.
    """
    at = heads.expiry(until)
    head = heads.retained(saga.head, until=until)
    return _write(
        store,
        [*_peoples(store, saga, at)],
        [
            changed(saga.head, head),
            *(change for step in saga.steps for change in _marked(step, at)),
            *_request(store, saga, at),
        ],
    )


def keep(store: Store, saga: Saga) -> Saga | None:
    """Take every mark of a saga back that is not over any more; the saga as it is then, None if somebody wrote meanwhile."""
    if saga.head.forgotten_at is None and all(s.forgotten_at is None for s in saga.steps):
        return saga
    head = saga.head.model_copy(update={"forgotten_at": None})
    kept = _write(
        store,
        [*_peoples(store, saga, None)],
        [
            *([changed(saga.head, head)] if head != saga.head else []),
            *(change for step in saga.steps for change in _marked(step, None)),
            *_request(store, saga, None),
        ],
    )
    return read_saga(store, saga.head.saga_id) if kept else None


def _write(store: Store, one_by_one: list[Change], together: list[Change]) -> bool:
    try:
        for change in one_by_one:
            store.write([change])
        if together:
            store.write(together)
    except Stale:
        return False
    return True


def _marked(record: R, at: int | None) -> list[Change]:
    after = record.model_copy(update={"forgotten_at": at})
    return [changed(record, after)] if after != record else []


def _peoples(store: Store, saga: Saga, at: int | None) -> Iterator[Change]:
    """The saga's approvals, and the cases of its steps. A case of a whole saga is kept for good: it is rare."""
    for step in saga.steps:
        for number in range(1, step.rounds + 1):
            approval = read_approval(store, approval_id(step.saga_id, step.index, number))
            if approval is not None:
                yield from _marked(approval, at)
        for number in range(1, step.cases + 1):
            for direction in ("do", "undo"):
                case = read_case(store, case_id(step.saga_id, step.index, direction, number))
                if case is not None:
                    yield from _marked(case, at)


def _request(store: Store, saga: Saga, at: int | None) -> list[Change]:
    """The request, as long as this is its last saga: until it is forgotten it is not admitted anew."""
    request = read_request(store, saga.head.tenant, saga.head.request_id)
    if request is None or request.saga_id != saga.head.saga_id:
        return []
    return _marked(request, at)
