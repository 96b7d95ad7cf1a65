"""What people look through: open approvals, open cases, sagas by status, time, request and source document."""

from __future__ import annotations

from functions.domain.approvals import Approval
from functions.domain.cases import Case
from functions.domain.ledger.records import Saga
from functions.domain.ledger.status import Status
from functions.domain.ledger.status import status as status_of
from functions.ports import Item, Store, Table
from functions.usecases.records import parsed, read_document, read_request, read_saga

Page = tuple[list[Item], str | None]


def open_approvals(
    store: Store, tenants: frozenset[str], *, limit: int, start: str | None
) -> tuple[list[Approval], str | None]:
    """Open approvals of these tenants, newest first."""
    items, more = _pages(store, Table.PEOPLE, "open", tenants, limit, start, kind="approval#")
    return [parsed(Approval, i) for i in items], more


def open_cases(
    store: Store, tenants: frozenset[str], *, limit: int, start: str | None
) -> tuple[list[Case], str | None]:
    """Open cases of these tenants, newest first."""
    items, more = _pages(store, Table.PEOPLE, "open", tenants, limit, start, kind="case#")
    return [parsed(Case, i) for i in items], more


def sagas(
    store: Store,
    tenants: frozenset[str],
    *,
    status: Status | None,
    request_id: str | None,
    source_document_id: str | None,
    since: int | None,
    limit: int,
    start: str | None,
) -> tuple[list[Saga], str | None]:
    """Sagas of these tenants, newest first. A page may hold fewer than `limit`; `next` says whether more follow."""
    if request_id is not None:
        ids, more = _of_request(store, tenants, request_id), None
    elif source_document_id is not None:
        ids, more = _of_document(store, tenants, source_document_id), None
    else:
        items, more = _pages(store, Table.LEDGER, "listed", tenants, limit, start)
        recent = [i for i in items if since is None or i["created_at"] >= since]
        ids = [i["saga_id"] for i in recent]
        more = more if len(recent) == len(items) else None
    found = [saga for saga_id in ids if (saga := read_saga(store, saga_id)) is not None]
    return [s for s in found if status is None or status_of(s) is status], more


def ended_otherwise(
    store: Store, tenants: frozenset[str], *, since: int, limit: int, start: str | None
) -> tuple[list[Saga], str | None]:
    """Sagas of these tenants that ended otherwise than completed since then, the last one first, tenant by tenant.

    A page may hold fewer than `limit`; the cursor says whether more follow.
    """
    items, more = _pages(store, Table.LEDGER, "review", tenants, limit, start)
    recent = [i for i in items if i["ended_at"] >= since]
    if len(recent) < len(items):
        more = _after(tenants, items[0]["tenant"])
    found = [saga for i in recent if (saga := read_saga(store, i["saga_id"])) is not None]
    return found, more


def _after(tenants: frozenset[str], tenant: str) -> str | None:
    """Where to go on when nothing more of a tenant is wanted."""
    following = [name for name in sorted(tenants) if name > tenant]
    return f"{following[0]}|" if following else None


def _of_request(store: Store, tenants: frozenset[str], request_id: str) -> list[str]:
    requests = [read_request(store, tenant, request_id) for tenant in sorted(tenants)]
    return [a.saga_id for r in requests if r is not None for a in reversed(r.history) if a.saga_id]


def _of_document(store: Store, tenants: frozenset[str], document_id: str) -> list[str]:
    documents = [read_document(store, tenant, document_id) for tenant in sorted(tenants)]
    return [
        saga_id
        for document in documents
        if document is not None
        for request_id in reversed(document.requests)
        for saga_id in _of_request(store, frozenset({document.tenant}), request_id)
    ]


def _pages(
    store: Store,
    table: Table,
    index: str,
    tenants: frozenset[str],
    limit: int,
    start: str | None,
    kind: str = "",
) -> Page:
    """One page over the tenants in order; the cursor is `<tenant>|<where in it>`."""
    ordered = sorted(tenants)
    tenant, _, inner = (start or "").partition("|")
    if tenant in ordered:
        ordered = ordered[ordered.index(tenant) :]
    for position, name in enumerate(ordered):
        begin = inner if name == tenant and inner else None
        items, more = store.index(
            table, index, kind + name, newest_first=True, limit=limit, start=begin
        )
        if more is not None:
            return items, f"{name}|{more}"
        if items:
            rest = ordered[position + 1 : position + 2]
            return items, f"{rest[0]}|" if rest else None
    return [], None
