"""Records as the store holds them: keys, items, and the change from one record to the next."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from functions.domain.approvals import Approval, approval_id
from functions.domain.cases import Case, case_id
from functions.domain.ledger.records import Head, Saga, StepRecord
from functions.domain.requests import DocumentRecord, RequestRecord
from functions.ports import Change, Item, Key, Store, Table

HEAD = "saga"
STEP = "step#"
_STORED = {"version"}
Record = Head | StepRecord | Approval | Case | RequestRecord | DocumentRecord
R = TypeVar("R", Head, StepRecord, Approval, Case, RequestRecord, DocumentRecord)


def saga_pk(saga_id: str) -> str:
    """The partition of a saga's item collection."""
    return f"saga#{saga_id}"


def key_of(record: Record) -> Key:
    """Where a record lives."""
    match record:
        case Head():
            return Key(Table.LEDGER, saga_pk(record.saga_id), HEAD)
        case StepRecord():
            return step_key(record.saga_id, record.index)
        case Approval():
            return approval_key(record.id)
        case Case():
            return case_key(record.id)
        case RequestRecord():
            return request_key(record.tenant, record.request_id)
        case DocumentRecord():
            return document_key(record.tenant, record.source_document_id)


def step_key(saga_id: str, index: int) -> Key:
    """A step's place in its saga's collection."""
    return Key(Table.LEDGER, saga_pk(saga_id), f"{STEP}{index:03d}")


def approval_key(approval_id: str) -> Key:
    """An approval's place in the people table."""
    return Key(Table.PEOPLE, f"approval#{approval_id}", "approval")


def case_key(case_id: str) -> Key:
    """A case's place in the people table."""
    return Key(Table.PEOPLE, f"case#{case_id}", "case")


def request_key(tenant: str, request_id: str) -> Key:
    """A request's place: each tenant has its own."""
    return Key(Table.LEDGER, f"request#{tenant}#{request_id}", "request")


def document_key(tenant: str, source_document_id: str) -> Key:
    """A source document's place: each tenant has its own."""
    return Key(Table.LEDGER, f"document#{tenant}#{source_document_id}", "document")


def item(record: Record) -> dict[str, Any]:
    """The record as plain JSON values; absent and null are the same, `version` belongs to the store."""
    return {
        name: value
        for name, value in record.model_dump(mode="json").items()
        if value is not None and name not in _STORED
    }


def created(record: Record) -> Change:
    """The write that makes a new record; it must not exist."""
    return Change(key=key_of(record), set=item(record), expect=None)


def changed(before: R, after: R) -> Change:
    """The write from one record to the next: only what differs, if nobody wrote in between."""
    old, new = item(before), item(after)
    fields = {n: new.get(n) for n in {**old, **new} if old.get(n) != new.get(n)}
    return Change(key=key_of(before), set=fields, expect={"version": before.version})


def parsed(model: type[R], stored: Item) -> R:
    """The record behind a stored item. Strict types, JSON spellings of enums and tuples."""
    return model.model_validate(stored, strict=False)


def read_saga(store: Store, saga_id: str) -> Saga | None:
    """The whole saga in one consistent read. One of which the table has begun to forget the records is none any more."""
    items = store.collection(Table.LEDGER, saga_pk(saga_id))
    heads = [parsed(Head, i) for i in items if "index" not in i]
    steps = tuple(parsed(StepRecord, i) for i in items if "index" in i)
    if not heads or len(steps) < heads[0].step_count:
        return None
    return Saga(head=heads[0], steps=steps)


def the_saga(store: Store, saga_id: str) -> Saga:
    """The saga, which must exist: machines are only made for sagas that do."""
    saga = read_saga(store, saga_id)
    if saga is None:
        raise LookupError(f"no saga {saga_id}")
    return saga


def read_step(store: Store, saga_id: str, index: int) -> StepRecord:
    """One step, which must exist."""
    found = store.get(step_key(saga_id, index))
    if found is None:
        raise LookupError(f"no step {index} in saga {saga_id}")
    return parsed(StepRecord, found)


def read_approval(store: Store, approval_id: str | None) -> Approval | None:
    """One approval; None too where nobody was asked."""
    if approval_id is None:
        return None
    found = store.get(approval_key(approval_id))
    return parsed(Approval, found) if found is not None else None


def read_case(store: Store, case_id: str) -> Case | None:
    """One case."""
    found = store.get(case_key(case_id))
    return parsed(Case, found) if found is not None else None


def read_approvals(store: Store, steps: Iterable[StepRecord]) -> list[Approval]:
    """Every round of asking about these steps. Ids are made from the saga's, so that nothing is searched for."""
    ids = [approval_id(s.saga_id, s.index, n) for s in steps for n in range(1, s.rounds + 1)]
    return [found for each in ids if (found := read_approval(store, each)) is not None]


def read_cases(store: Store, steps: Iterable[StepRecord]) -> list[Case]:
    """Every case of these steps. A number was used in one direction, and nobody needs to know in which."""
    ids = [
        case_id(s.saga_id, s.index, direction, n)
        for s in steps
        for n in range(1, s.cases + 1)
        for direction in ("do", "undo")
    ]
    return [found for each in ids if (found := read_case(store, each)) is not None]


def read_request(store: Store, tenant: str, request_id: str) -> RequestRecord | None:
    """One request."""
    found = store.get(request_key(tenant, request_id))
    return parsed(RequestRecord, found) if found is not None else None


def read_document(store: Store, tenant: str, document_id: str) -> DocumentRecord | None:
    """The attempts of one source document."""
    found = store.get(document_key(tenant, document_id))
    return parsed(DocumentRecord, found) if found is not None else None


def written(before: R | None, after: R) -> Change:
    """The write of a record that may be new."""
    return created(after) if before is None else changed(before, after)


def current(model: type[R], stale: Mapping[Key, Item | None], key: Key) -> R | None:
    """What a lost write found at `key`, if the store could tell."""
    found = stale.get(key)
    return parsed(model, found) if found is not None else None
