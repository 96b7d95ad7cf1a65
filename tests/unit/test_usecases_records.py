"""Records as the store holds them: what is written down, where, and what a change says."""

from __future__ import annotations

import pytest

from functions.domain.ledger.records import Head, StepRecord
from functions.domain.requests import DocumentRecord, RequestRecord
from functions.memory.store import MemoryStore
from functions.ports import Key, Stale, Table
from functions.usecases.records import (
    HEAD,
    changed,
    created,
    current,
    item,
    key_of,
    read_approval,
    read_approvals,
    read_case,
    read_cases,
    read_document,
    read_request,
    read_saga,
    read_step,
    saga_pk,
    step_key,
    the_saga,
    written,
)
from tests.unit.kernel import Wire, WiredStore
from tests.unit.ledger import head, step


def two_steps() -> MemoryStore:
    store = MemoryStore()
    store.write([created(head()), created(step(0)), created(step(1))])
    return store


def test_what_is_absent_is_not_written_and_the_version_is_the_stores() -> None:
    plain = step().model_copy(update={"version": 7})
    stored = item(plain)
    assert None not in stored.values()
    assert "version" not in stored
    assert "case" not in stored
    assert stored["name"] == "step_0"


def test_a_change_says_what_differs_what_is_gone_and_which_version_it_is_of() -> None:
    before = step().model_copy(update={"case": "case-1", "late": "it came late", "version": 4})
    after = before.model_copy(update={"case": None, "late": "it came late; and another"})
    change = changed(before, after)
    assert change.key == step_key("saga-1", 0)
    assert change.set == {"case": None, "late": "it came late; and another"}
    assert change.expect == {"version": 4}


def test_a_record_that_may_be_new_is_created_or_changed() -> None:
    new = head()
    assert written(None, new) == created(new)
    after = new.model_copy(update={"wanted": "resume"})
    assert written(new, after) == changed(new, after)


def test_a_saga_is_read_whole_or_not_at_all() -> None:
    store = two_steps()
    saga = read_saga(store, "saga-1")
    assert saga is not None
    assert [each.index for each in saga.steps] == [0, 1]
    for gone in (Key(Table.LEDGER, saga_pk("saga-1"), HEAD), step_key("saga-1", 1)):
        kept = two_steps()
        del kept._items[gone]
        assert read_saga(kept, "saga-1") is None
        with pytest.raises(LookupError, match="no saga saga-1"):
            the_saga(kept, "saga-1")


def test_a_step_that_must_exist_is_an_error_where_it_does_not() -> None:
    store = two_steps()
    assert read_step(store, "saga-1", 1) == step(1)
    with pytest.raises(LookupError, match="no step 2 in saga saga-1"):
        read_step(store, "saga-1", 2)


def test_what_nobody_has_written_is_none() -> None:
    store = MemoryStore()
    assert read_approval(store, None) is None
    assert read_approval(store, "saga-1-0-1") is None
    assert read_case(store, "case-1") is None
    assert read_request(store, "acme", "request-1") is None
    assert read_document(store, "acme", "mail-88") is None
    asked = step().model_copy(update={"rounds": 2, "cases": 2})
    assert read_approvals(store, [asked]) == []
    assert read_cases(store, [asked]) == []


def test_where_nobody_was_asked_nothing_is_read() -> None:
    wire = Wire()
    assert read_approval(WiredStore(wire), None) is None
    assert wire.points == []


def test_what_a_lost_write_found_is_read_where_the_store_could_tell() -> None:
    store = two_steps()
    stale = step(0).model_copy(update={"version": 9})
    with pytest.raises(Stale) as lost:
        store.write([changed(stale, stale.model_copy(update={"late": "x"}))])
    assert current(StepRecord, lost.value.current, key_of(stale)) == step(0)
    assert current(Head, {}, key_of(head())) is None
    assert current(Head, {key_of(head()): None}, key_of(head())) is None


def test_a_document_of_one_tenant_is_not_anothers() -> None:
    store = MemoryStore()
    document = DocumentRecord(
        tenant="acme", source_document_id="mail-88", created_at=1, updated_at=1
    )
    store.write([created(document)])
    assert read_document(store, "acme", "mail-88") == document
    assert read_document(store, "globex", "mail-88") is None


def test_a_request_of_one_tenant_is_not_anothers() -> None:
    store = MemoryStore()
    request = RequestRecord(
        tenant="acme", request_id="request-1", created_at=1, updated_at=1, catalogue="shop"
    )
    store.write([created(request)])
    assert read_request(store, "acme", "request-1") == request
    assert read_request(store, "globex", "request-1") is None
