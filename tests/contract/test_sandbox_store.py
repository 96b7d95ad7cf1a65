"""One body of tests for every store of the sandbox: what the shop relies on, in memory and on DynamoDB."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier
from typing import Any, cast

import boto3
import pytest
from moto import mock_aws

from functions.sandbox import asks
from functions.sandbox.asks import Ask
from functions.sandbox.dynamo import DynamoStore
from functions.sandbox.faults import Fault, Trouble, order_trouble, take
from functions.sandbox.rules import stock_ref
from functions.sandbox.shop import Shop
from functions.sandbox.stage import Stage
from functions.sandbox.store import MemoryStore, Ref, Store, Transaction, Write
from tests.contract.atomic import OneCallAtATime

HERE = Ref("shelf", "one")
THERE = Ref("shelf", "two")


@pytest.fixture(params=["memory", "dynamodb"])
def store(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    if request.param == "memory":
        yield MemoryStore()
        return
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    with mock_aws():
        client = boto3.client("dynamodb", region_name="eu-central-1")
        client.create_table(
            TableName="sandbox",
            BillingMode="PAY_PER_REQUEST",
            KeySchema=[
                {"AttributeName": "pk", "KeyType": "HASH"},
                {"AttributeName": "sk", "KeyType": "RANGE"},
            ],
            AttributeDefinitions=[
                {"AttributeName": "pk", "AttributeType": "S"},
                {"AttributeName": "sk", "AttributeType": "S"},
            ],
        )
        yield DynamoStore(cast("Any", OneCallAtATime(client)), "sandbox")


def test_what_was_committed_is_read_with_its_version(store: Store) -> None:
    assert store.read(HERE) is None
    assert store.commit([Write(HERE, 0, {"n": 1, "text": "é"})])
    assert store.commit([Write(HERE, 1, {"n": 2})])
    document = store.read(HERE)
    assert document is not None
    assert (document.version, document.body) == (2, {"n": 2})


def test_a_commit_that_expects_another_version_changes_nothing_at_all(store: Store) -> None:
    store.commit([Write(HERE, 0, {"n": 1})])
    assert not store.commit([Write(THERE, 0, {"n": 1}), Write(HERE, 0, {"n": 2})])
    assert not store.commit([Write(THERE, 0, {"n": 1}), Write(HERE, 2, {"n": 2})])
    assert store.read(THERE) is None
    assert store.read(HERE) == store.every("shelf")[0]
    assert len(store.every("shelf")) == 1


def test_a_check_holds_a_commit_to_what_was_only_read(store: Store) -> None:
    store.commit([Write(HERE, 0, {"n": 1})])
    assert not store.commit([Write(HERE, 0, None), Write(THERE, 0, {"n": 1})])
    assert store.commit([Write(HERE, 1, None), Write(THERE, 0, {"n": 1})])
    here = store.read(HERE)
    assert here is not None
    assert here.version == 1


def test_a_collection_comes_in_the_order_of_its_ids(store: Store) -> None:
    for name in ("b", "a", "c"):
        store.commit([Write(Ref("shelf", name), 0, {})])
    store.commit([Write(Ref("other", "a"), 0, {})])
    assert [document.ref.id for document in store.every("shelf")] == ["a", "b", "c"]


def test_any_number_of_documents_can_be_removed(store: Store) -> None:
    for number in range(60):
        store.commit([Write(Ref("shelf", f"{number:02}"), 0, {})])
    store.remove([document.ref for document in store.every("shelf")])
    assert store.every("shelf") == []


def test_a_transaction_that_read_something_stale_is_lost(store: Store) -> None:
    slow, fast = Transaction(store), Transaction(store)
    slow.get(HERE)
    fast.put(HERE, {"n": 1})
    assert fast.commit()
    slow.put(THERE, {"n": 1})
    assert not slow.commit()


# The shop over each store


def scene(store: Store, *, units: int) -> Shop:
    stage = Stage(store)
    lines = (asks.Line(sku="LAMP", quantity=1),)
    cutoff = datetime.now(UTC) + timedelta(days=1)
    stage.put_order("1", asks.Order(currency="EUR", amount="180.00", lines=lines, cutoff_at=cutoff))
    stage.put_stock(asks.Stock(warehouse="B", sku="LAMP", on_hand=units))
    return Shop(store)


def reservation(key: str, quantity: int = 1) -> Ask:
    body = asks.Reservation(order_id="1", warehouse="B", sku="LAMP", quantity=quantity)
    return Ask(
        service="inventory", operation="reserve", key=key, body=body, new_id=f"id-{key}-{id(body)}"
    )


def test_one_key_used_by_many_at_once_has_one_effect_and_one_answer(store: Store) -> None:
    shop = scene(store, units=10)
    start = Barrier(6)

    def ask(_: int) -> str:
        start.wait()
        return str(shop.do(reservation("k")).body)

    with ThreadPoolExecutor(6) as pool:
        answers = set(pool.map(ask, range(6)))
    assert len(answers) == 1
    assert len(shop.books()) == len(store.every("reservation")) == 1


def test_many_keys_at_once_never_hold_more_than_there_is(store: Store) -> None:
    shop = scene(store, units=3)
    start = Barrier(6)

    def ask(number: int) -> int:
        start.wait()
        return shop.do(reservation(f"k{number}")).status

    with ThreadPoolExecutor(6) as pool:
        statuses = list(pool.map(ask, range(6)))
    assert sorted(statuses) == [201, 201, 201, 409, 409, 409]
    shelf = store.read(stock_ref("B", "LAMP"))
    assert shelf is not None
    assert shelf.body == {"on_hand": 3, "reserved": 3}
    assert len(shop.books()) == 3


def test_the_key_and_the_mutation_are_stored_together_or_not_at_all(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = scene(store, units=1)
    monkeypatch.setattr(type(store), "commit", lambda _self, _writes: False)
    assert shop.do(reservation("k")).status == 503
    monkeypatch.undo()
    assert shop.status("inventory", "k").status == 404
    assert store.every("reservation") == []
    assert shop.books() == []


def test_a_fault_is_taken_exactly_as_often_as_was_ordered(store: Store) -> None:
    order_trouble(store, Fault(fault=Trouble.ERROR_503, times=4))
    start = Barrier(8)

    def ask(_: int) -> Fault | None:
        start.wait()
        return take(store, "mail", "send", "1")

    with ThreadPoolExecutor(8) as pool:
        taken = [fault for fault in pool.map(ask, range(8)) if fault]
    assert len(taken) == 4


def test_a_clean_table_keeps_the_tokens(store: Store) -> None:
    scene(store, units=1).do(reservation("k"))
    stage = Stage(store)
    stage.put_token(asks.Token(sha256="a" * 64, scopes=("mail",)))
    stage.clear()
    assert Shop(store).books() == []
    assert Shop(store).order("1").status == 404
    assert Shop(store).status("inventory", "k").status == 404
    assert store.read(Ref("token", "a" * 64)) is not None
