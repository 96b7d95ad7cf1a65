"""How long what is known of a saga is kept: nothing expires before its end, and everything some time after it.

A record that has `forgotten_at` is deleted by its table after that moment, at some time within days. The catalogue says for
each step how long its records are relied on (`retain_for`); a saga's are kept together, as long as the longest.
"""

from __future__ import annotations

from typing import TypeVar

from functions.domain.approvals import Approval
from functions.domain.cases import Case
from functions.domain.ledger import head as heads
from functions.domain.ledger.records import Head, Saga, StepRecord
from functions.domain.requests import RequestRecord
from functions.ports import Change, Stale, Store
from functions.usecases.records import changed, read_approvals, read_cases, read_request, read_saga

R = TypeVar("R", StepRecord, Approval, Case, RequestRecord)


def retain(store: Store, saga: Saga, *, until: int) -> bool:
    """Mark everything of a saga that is over; False if somebody wrote meanwhile, and nothing of it may be forgotten.

    Head, steps and request are marked in one write, so that a saga which is taken up again in this very moment keeps
    all of them. What people have settled by then stays settled, and is marked before.
    """
    return _mark(store, saga, heads.retained(saga.head, until=until), heads.expiry(until))


def keep(store: Store, saga: Saga) -> Saga | None:
    """Take every mark of a saga back that is not over any more; the saga as it is then, None if somebody wrote meanwhile."""
    if saga.head.forgotten_at is None and all(s.forgotten_at is None for s in saga.steps):
        return saga
    head = saga.head.model_copy(update={"forgotten_at": None})
    return read_saga(store, saga.head.saga_id) if _mark(store, saga, head, None) else None


def _mark(store: Store, saga: Saga, head: Head, at: int | None) -> bool:
    """What people have settled, one by one; then all that is the saga's own, in one write."""
    peoples = [
        *(change for each in read_approvals(store, saga.steps) for change in _marked(each, at)),
        *(change for each in read_cases(store, saga.steps) for change in _marked(each, at)),
    ]
    own = [
        *([changed(saga.head, head)] if head != saga.head else []),
        *(change for step in saga.steps for change in _marked(step, at)),
        *_request(store, saga, at),
    ]
    try:
        for change in peoples:
            store.write([change])
        if own:
            store.write(own)
    except Stale:
        return False
    return True


def _marked(record: R, at: int | None) -> list[Change]:
    after = record.model_copy(update={"forgotten_at": at})
    return [changed(record, after)] if after != record else []


def _request(store: Store, saga: Saga, at: int | None) -> list[Change]:
    """The request, as long as this is its last saga: until it is forgotten it is not admitted anew."""
    request = read_request(store, saga.head.tenant, saga.head.request_id)
    if request is None or request.saga_id != saga.head.saga_id:
        return []
    return _marked(request, at)
