"""The shop over HTTP: who may ask, what a request must look like, and the routes that set the scene."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import urllib3

from functions.sandbox import asks
from functions.sandbox.api import MUTATIONS
from functions.sandbox.client import SceneFailed, ShopAdmin
from functions.sandbox.faults import Fault, Trouble
from functions.sandbox.local import SERVICES, LocalShop, local_shop

RESERVATION = {"order_id": "4471", "warehouse": "B", "sku": "LAMP", "quantity": 1}
ORDER = asks.Order(
    currency="EUR",
    amount="180.00",
    lines=(asks.Line(sku="LAMP", quantity=1),),
    cutoff_at=datetime.now(UTC) + timedelta(days=1),
)


@pytest.fixture(scope="module")
def running() -> Iterator[LocalShop]:
    with local_shop() as shop:
        yield shop


@pytest.fixture
def shop(running: LocalShop) -> LocalShop:
    running.stage.clear()
    running.stage.put_order("4471", ORDER)
    running.stage.put_stock(asks.Stock(warehouse="B", sku="LAMP", on_hand=9))
    return running


@pytest.fixture
def admin(shop: LocalShop) -> ShopAdmin:
    return ShopAdmin(shop.url, shop.admin_token)


def ask(shop: LocalShop, method: str, path: str, body: Any = None, **headers: str) -> Any:
    sent = (
        body if isinstance(body, bytes) else json.dumps(body).encode() if body is not None else None
    )
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return urllib3.request(
        method, shop.url + path, body=sent, headers=named, retries=False, timeout=5
    )


def bearer(shop: LocalShop, service: str) -> str:
    return f"Bearer {shop.tokens[service]}"


def reserve(shop: LocalShop, key: str = "saga-1:0:do", **headers: str) -> Any:
    given = {"Authorization": bearer(shop, "inventory"), "Idempotency_Key": key, **headers}
    return ask(shop, "POST", "/inventory/reservations", RESERVATION, **given)


def test_a_reservation_over_http_is_released_under_its_version(shop: LocalShop) -> None:
    made = reserve(shop)
    assert made.status == 201
    assert made.json() | {"id": ""} == RESERVATION | {"id": "", "version": "1", "state": "held"}
    path = f"/inventory/reservations/{made.json()['id']}/release"
    given = {"Authorization": bearer(shop, "inventory")}
    late = ask(shop, "POST", path, {}, Idempotency_Key="saga-1:0:undo", If_Match='"7"', **given)
    assert (late.status, late.json()["code"]) == (412, "moved_on")
    freed = ask(shop, "POST", path, {}, Idempotency_Key="saga-1:0:undo", If_Match='"1"', **given)
    assert (freed.status, freed.json()["state"]) == (200, "released")


def test_a_repeated_key_is_answered_with_the_same_bytes_and_a_mark(shop: LocalShop) -> None:
    first, again = reserve(shop), reserve(shop)
    assert again.data == first.data
    assert "Idempotency-Replayed" not in first.headers
    assert again.headers["Idempotency-Replayed"] == "true"


def test_a_key_is_asked_about_and_cancelled_by_its_own_name(shop: LocalShop) -> None:
    given = {"Authorization": bearer(shop, "inventory")}
    assert (
        ask(shop, "GET", "/inventory/keys/saga-1:0:do", **given).json()["code"] == "key_not_found"
    )
    made = reserve(shop)
    assert ask(shop, "GET", "/inventory/keys/saga-1:0:do", **given).data == made.data
    assert ask(shop, "GET", "/inventory/keys/saga-1%3A0%3Ado", **given).data == made.data
    assert ask(shop, "DELETE", "/inventory/keys/other", **given).json()["code"] == "key_cancelled"
    assert reserve(shop, "other").status == 410


@pytest.mark.parametrize("token", ["", "Bearer", "Bearer ", "Bearer wrong", "Basic abc", "wrong"])
def test_without_an_accepted_token_nothing_is_done_or_said(shop: LocalShop, token: str) -> None:
    assert reserve(shop, Authorization=token).status == 401
    for path in ("/inventory/keys/k", "/orders/4471", "/books"):
        assert ask(shop, "GET", path, Authorization=token).status == 401
    assert shop.shop.books() == []


def test_a_token_is_good_for_its_own_service_only(shop: LocalShop) -> None:
    for service in SERVICES:
        if service != "inventory":
            assert reserve(shop, Authorization=bearer(shop, service)).status == 403


def test_a_token_can_be_good_for_a_single_operation(shop: LocalShop, admin: ShopAdmin) -> None:
    admin.put_token("only-reads-keys", "inventory:status")
    given = {"Authorization": "Bearer only-reads-keys"}
    assert ask(shop, "GET", "/inventory/keys/k", **given).status == 404
    assert ask(shop, "DELETE", "/inventory/keys/k", **given).status == 403
    assert reserve(shop, **given).status == 403


def test_a_rotated_token_is_felt_by_the_very_next_call(shop: LocalShop, admin: ShopAdmin) -> None:
    admin.put_token("new", "inventory")
    assert reserve(shop, "k1", Authorization="Bearer new").status == 201
    admin.remove_token("new")
    assert reserve(shop, "k2", Authorization="Bearer new").status == 401
    admin.put_token("new", "inventory")
    assert reserve(shop, "k2", Authorization="Bearer new").status == 201


def test_a_mutation_needs_a_key(shop: LocalShop) -> None:
    for mutation in MUTATIONS:
        path = mutation.path.replace("<resource>", "r")
        answer = ask(shop, "POST", path, {}, Authorization=bearer(shop, mutation.service))
        assert (answer.status, answer.json()["code"]) == (400, "no_key")


@pytest.mark.parametrize(
    "body",
    [
        b"", b"{", b"[]", b"\xff", {}, RESERVATION | {"quantity": "1"}, RESERVATION | {"quantity": 0},
        RESERVATION | {"note": "credit me 500"}, RESERVATION | {"order_id": "../4471"},
    ],
)  # fmt: skip
def test_a_body_that_is_not_what_was_declared_is_refused(shop: LocalShop, body: Any) -> None:
    given = {"Authorization": bearer(shop, "inventory"), "Idempotency_Key": "k"}
    answer = ask(shop, "POST", "/inventory/reservations", body, **given)
    assert (answer.status, answer.json()["code"]) == (422, "invalid")
    assert shop.shop.books() == []


@pytest.mark.parametrize("amount", [180, 180.0, "180", "1.8e2", "-180.00", "180.000"])
def test_an_amount_is_an_exact_decimal_string_here_too(shop: LocalShop, amount: Any) -> None:
    given = {"Authorization": bearer(shop, "payments"), "Idempotency_Key": "k"}
    body = {"order_id": "4471", "amount": amount, "currency": "EUR"}
    assert ask(shop, "POST", "/payments/authorizations", body, **given).status == 422


def test_an_order_is_told_as_it_is(shop: LocalShop) -> None:
    told = ask(shop, "GET", "/orders/4471", Authorization=bearer(shop, "orders")).json()
    assert told["order_id"] == "4471"
    assert (told["amount"], told["currency"], told["tier"]) == ("180.00", "EUR", "standard")
    assert (told["status"], told["shipped"], told["lines"]) == ("open", False, [{"sku": "LAMP", "quantity": 1}])  # fmt: skip
    assert datetime.fromisoformat(told["cutoff_at"]) == ORDER.cutoff_at


def test_only_the_admin_token_sets_the_scene(shop: LocalShop) -> None:
    intruder = ShopAdmin(shop.url, shop.tokens["inventory"])
    for attempt in (
        lambda: intruder.put_order("4471", ORDER),
        lambda: intruder.put_stock(asks.Stock(warehouse="B", sku="LAMP", on_hand=0)),
        lambda: intruder.put_token("mine", "payments"),
        lambda: intruder.remove_token(shop.tokens["payments"]),
        lambda: intruder.order_trouble(Fault(fault=Trouble.DECLINE)),
        lambda: intruder.change(asks.Change(kind="reservation", id="r")),
        intruder.calm,
        intruder.clear,
        intruder.books,
    ):
        with pytest.raises(SceneFailed, match="HTTP 401"):
            attempt()
    given = {"Authorization": f"Bearer {shop.admin_token}"}
    assert ask(shop, "GET", "/orders/4471", **given).status == 401


def test_the_admin_sets_the_scene_and_reads_the_books(shop: LocalShop, admin: ShopAdmin) -> None:
    admin.put_order("4472", ORDER)
    admin.put_stock(asks.Stock(warehouse="B", sku="LAMP", on_hand=0))
    assert reserve(shop).json()["code"] == "out_of_stock"
    admin.put_stock(asks.Stock(warehouse="B", sku="LAMP", on_hand=1))
    admin.order_trouble(Fault(fault=Trouble.ERROR_503, times=3))
    assert reserve(shop).status == 503
    admin.calm()
    made = reserve(shop)
    admin.change(asks.Change(kind="reservation", id=made.json()["id"]))
    (entry,) = admin.books("4471")
    assert (entry["key"], entry["resource"]) == ("saga-1:0:do", made.json()["id"])
    assert admin.books("4472") == []
    with pytest.raises(SceneFailed, match="HTTP 404"):
        admin.change(asks.Change(kind="reservation", id="none"))
    admin.clear()
    assert admin.books() == []


def test_a_shop_that_is_not_there_is_said_in_one_line() -> None:
    with pytest.raises(SceneFailed, match="DELETE /_sandbox: no answer"):
        ShopAdmin("http://127.0.0.1:9", "t").clear()


def test_requests_at_the_same_time_do_not_see_each_other(shop: LocalShop) -> None:
    shop.stage.order_trouble(Fault(fault=Trouble.LOST_ANSWER, times=8, seconds=0.05))

    def told(number: int) -> tuple[str, str]:
        key = f"k{number}"
        given = {"Authorization": bearer(shop, "inventory")}
        made = reserve(shop, key).json()["id"]
        return made, ask(shop, "GET", f"/inventory/keys/{key}", **given).json()["id"]

    with ThreadPoolExecutor(8) as pool:
        pairs = list(pool.map(told, range(8)))
    assert all(made == found for made, found in pairs)
    assert len({made for made, _ in pairs}) == 8


def test_an_unknown_address_is_not_found(shop: LocalShop) -> None:
    assert ask(shop, "GET", "/refunds/1").status == 404
