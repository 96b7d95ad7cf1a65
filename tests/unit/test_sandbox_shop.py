"""The shop's business and its keys: what is done, once; what is refused; what is said about a key."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import pytest
from pydantic import BaseModel

from functions.sandbox import asks
from functions.sandbox.asks import Answer, Ask
from functions.sandbox.faults import LONGEST, Fault, Trouble
from functions.sandbox.rules import stock_ref
from functions.sandbox.shop import Shop
from functions.sandbox.stage import Stage
from functions.sandbox.store import MemoryStore

NOON = datetime(2026, 10, 18, 12, tzinfo=UTC)
IDS = count()


class Clock:
    """Time that passes only by sleeping, and what is to happen meanwhile."""

    def __init__(self) -> None:
        self.time = NOON
        self.meanwhile: list[Any] = []

    def now(self) -> datetime:
        self.time += timedelta(microseconds=1)
        return self.time

    def sleep(self, seconds: float) -> None:
        for happens in self.meanwhile:
            happens()
        self.meanwhile = []
        self.time += timedelta(seconds=seconds)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def shop(clock: Clock) -> Shop:
    shop = Shop(MemoryStore(), now=clock.now, sleep=clock.sleep)
    put_order(shop)
    put_stock(shop, 2)
    return shop


def put_order(shop: Shop, order_id: str = "4471", **changes: Any) -> None:
    order = asks.Order(
        **{
            "currency": "EUR",
            "amount": "180.00",
            "lines": (asks.Line(sku="LAMP", quantity=1),),
            "cutoff_at": NOON + timedelta(days=1),
            **changes,
        }
    )
    Stage(shop.store).put_order(order_id, order)


def put_stock(shop: Shop, on_hand: int, sku: str = "LAMP") -> None:
    Stage(shop.store).put_stock(asks.Stock(warehouse="B", sku=sku, on_hand=on_hand))


def shelf(shop: Shop, sku: str = "LAMP") -> Any:
    document = shop.store.read(stock_ref("B", sku))
    assert document is not None
    return document.body


def do(
    shop: Shop, what: str, body: BaseModel, key: str, resource: str | None = None, condition: str | None = None
) -> Answer:  # fmt: skip
    service, operation = what.split(":")
    return shop.do(
        Ask(service, operation, key, body, f"{next(IDS)}", resource=resource, condition=condition)
    )


def reserve(shop: Shop, key: str = "r", **changes: Any) -> Answer:
    body = {"order_id": "4471", "warehouse": "B", "sku": "LAMP", "quantity": 1, **changes}
    return do(shop, "inventory:reserve", asks.Reservation(**body), key)


def release(shop: Shop, made: Answer, key: str = "u", condition: str | None = None) -> Answer:
    return do(shop, "inventory:release", asks.Nothing(), key, str(made.body["id"]), condition)


def authorize(shop: Shop, key: str = "a", **changes: Any) -> Answer:
    body = {"order_id": "4471", "amount": "180.00", "currency": "EUR", **changes}
    return do(shop, "payments:authorize", asks.Authorization(**body), key)


def void(shop: Shop, made: Answer, key: str = "v", condition: str | None = None) -> Answer:
    return do(shop, "payments:void", asks.Nothing(), key, str(made.body["id"]), condition)


def capture(shop: Shop, made: Answer, key: str = "c", **changes: Any) -> Answer:
    body = {"authorization_id": made.body["id"], "amount": "180.00", "currency": "EUR", **changes}
    return do(shop, "payments:capture", asks.Capture(**body), key)


def ship(shop: Shop, made: Answer, key: str = "s", **changes: Any) -> Answer:
    body = {"order_id": "4471", "warehouse": "B", "reservation_id": made.body["id"], **changes}
    return do(shop, "shipping:ship", asks.Shipment(**body), key)


def send(shop: Shop, key: str = "m", order_id: str = "4471") -> Answer:
    return do(shop, "mail:send", asks.Message(order_id=order_id, template="order_shipped"), key)


def trouble(shop: Shop, fault: Trouble, **more: Any) -> None:
    Stage(shop.store).order_trouble(Fault(fault=fault, **more))


def code(answer: Answer) -> tuple[int, str]:
    return answer.status, answer.body["code"]


# The business


def test_a_reservation_holds_units_and_a_release_gives_them_back(shop: Shop) -> None:
    made = reserve(shop, quantity=2)
    assert (made.status, made.body["state"], made.body["version"]) == (201, "held", "1")
    assert shelf(shop) == {"on_hand": 2, "reserved": 2}
    freed = release(shop, made)
    assert (freed.status, freed.body["state"], freed.body["version"]) == (200, "released", "2")
    assert "notice" not in freed.body
    assert shelf(shop) == {"on_hand": 2, "reserved": 0}


def test_what_others_hold_cannot_be_reserved(shop: Shop) -> None:
    reserve(shop, "one", quantity=2)
    assert code(reserve(shop, "two")) == (409, "out_of_stock")
    assert code(reserve(shop, "three", sku="NOTHING")) == (409, "out_of_stock")


def test_a_release_says_so_if_someone_took_the_last_unit_meanwhile(shop: Shop) -> None:
    made = reserve(shop)
    put_stock(shop, 0)
    freed = release(shop, made)
    assert freed.status == 200
    assert "1 of the 1 units of LAMP were taken" in freed.body["notice"]
    assert shelf(shop) == {"on_hand": 0, "reserved": 0}


def test_a_release_of_a_reservation_that_moved_on_is_refused(shop: Shop) -> None:
    made = reserve(shop)
    Stage(shop.store).change(asks.Change(kind="reservation", id=made.body["id"]))
    assert code(release(shop, made, condition="1")) == (412, "moved_on")
    assert release(shop, made, condition="2").status == 200


def test_what_was_released_is_not_released_again_under_another_key(shop: Shop) -> None:
    made = reserve(shop)
    release(shop, made, "u1")
    assert code(release(shop, made, "u2")) == (409, "already_released")
    assert shelf(shop)["reserved"] == 0


def test_an_authorization_is_voided_or_captured_and_never_both(shop: Shop) -> None:
    first, second = authorize(shop, "a1"), authorize(shop, "a2")
    assert void(shop, first, condition="1").body["state"] == "voided"
    assert code(capture(shop, first)) == (409, "already_voided")
    assert capture(shop, second).body["order_id"] == "4471"
    assert code(void(shop, second, "v2")) == (409, "already_captured")
    assert code(capture(shop, second, "c2")) == (409, "already_captured")


def test_no_more_is_authorised_than_the_order_says_nor_captured_than_was_authorised(
    shop: Shop,
) -> None:
    assert code(authorize(shop, amount="180.01")) == (422, "not_the_orders_amount")
    assert code(authorize(shop, currency="USD")) == (422, "not_the_orders_amount")
    made = authorize(shop, amount="100.00")
    assert code(capture(shop, made, amount="100.01")) == (422, "more_than_authorized")
    assert code(capture(shop, made, amount="100.00", currency="USD")) == (
        422,
        "more_than_authorized",
    )


def test_a_shipment_takes_the_reserved_units_from_the_shelf(shop: Shop) -> None:
    made = reserve(shop)
    assert ship(shop, made).status == 201
    assert shelf(shop) == {"on_hand": 1, "reserved": 0}
    assert shop.order("4471").body["shipped"] is True
    assert code(release(shop, made)) == (409, "already_shipped")


def test_an_order_has_shipped_when_all_of_its_lines_have(shop: Shop) -> None:
    put_order(shop, lines=(asks.Line(sku="LAMP", quantity=1), asks.Line(sku="DESK", quantity=1)))
    put_stock(shop, 1, "DESK")
    lamp, desk = reserve(shop, "r1"), reserve(shop, "r2", sku="DESK")
    ship(shop, lamp, "s1")
    assert shop.order("4471").body["shipped"] is False
    ship(shop, desk, "s2")
    assert shop.order("4471").body["shipped"] is True


def test_an_order_that_shipped_or_was_cancelled_is_closed(shop: Shop) -> None:
    made = reserve(shop)
    put_order(shop, shipped=True)
    assert code(ship(shop, made)) == code(reserve(shop, "r2")) == (409, "already_shipped")
    put_order(shop, status="cancelled")
    assert code(ship(shop, made)) == (409, "order_closed")


def test_a_shipment_is_of_its_own_orders_reservation_and_warehouse(shop: Shop) -> None:
    put_order(shop, "4472")
    made = reserve(shop)
    assert code(ship(shop, made, order_id="4472")) == (409, "other_reservation")
    assert code(ship(shop, made, warehouse="A")) == (409, "other_reservation")


def test_what_does_not_exist_is_not_found(shop: Shop) -> None:
    nothing = Answer(200, {"id": "none"})
    assert code(reserve(shop, order_id="1")) == (404, "order_not_found")
    assert code(authorize(shop, order_id="1")) == (404, "order_not_found")
    assert code(send(shop, order_id="1")) == (404, "order_not_found")
    assert (
        code(release(shop, nothing)) == code(ship(shop, nothing)) == (404, "reservation_not_found")
    )
    assert (
        code(void(shop, nothing))
        == code(capture(shop, nothing))
        == (404, "authorization_not_found")
    )
    assert code(shop.order("1")) == (404, "order_not_found")


# Keys


def test_a_repeated_key_answers_with_the_first_result(shop: Shop) -> None:
    first = reserve(shop)
    again = reserve(shop)
    assert (again.status, again.body) == (first.status, first.body)
    assert shelf(shop)["reserved"] == 1
    assert len(shop.books()) == 1


def test_the_first_result_is_repeated_even_when_the_world_has_changed(shop: Shop) -> None:
    first = reserve(shop)
    release(shop, first)
    put_order(shop, shipped=True)
    assert reserve(shop).body == first.body


def test_a_key_with_other_parameters_is_a_conflict(shop: Shop) -> None:
    made = reserve(shop)
    assert code(reserve(shop, quantity=2)) == (422, "key_conflict")
    assert code(release(shop, made, key="r")) == (422, "key_conflict")
    release(shop, made, "u", condition="1")
    assert code(release(shop, made, "u", condition="2")) == (422, "key_conflict")


def test_services_do_not_share_their_keys(shop: Shop) -> None:
    assert reserve(shop, "k").status == authorize(shop, "k").status == send(shop, "k").status == 201
    assert shop.status("shipping", "k").status == 404


def test_a_refusal_leaves_no_key_behind(shop: Shop) -> None:
    put_stock(shop, 0)
    assert reserve(shop, "r").status == 409
    assert code(shop.status("inventory", "r")) == (404, "key_not_found")
    put_stock(shop, 1)
    assert reserve(shop, "r").status == 201


def test_the_status_of_a_key_is_its_first_result(shop: Shop) -> None:
    first = reserve(shop)
    told = shop.status("inventory", "r")
    assert (told.status, told.body) == (first.status, first.body)


def test_a_cancelled_key_makes_a_late_call_fail(shop: Shop) -> None:
    assert code(shop.cancel("inventory", "r")) == (410, "key_cancelled")
    assert code(reserve(shop)) == (410, "key_cancelled")
    assert code(shop.status("inventory", "r")) == (410, "key_cancelled")
    assert code(shop.cancel("inventory", "r")) == (410, "key_cancelled")
    assert shop.books() == []


def test_cancelling_a_key_whose_effect_exists_answers_with_the_effect(shop: Shop) -> None:
    first = reserve(shop)
    assert shop.cancel("inventory", "r").body == first.body
    assert shelf(shop)["reserved"] == 1


def test_the_books_hold_every_effect_in_order_with_its_key(shop: Shop) -> None:
    made = reserve(shop, "k:0:do")
    authorize(shop, "k:1:do")
    release(shop, made, "k:0:undo")
    authorize(shop, "declined", amount="999.00")
    assert [(e["operation"], e["key"], e["order_id"]) for e in shop.books()] == [
        ("reserve", "k:0:do", "4471"),
        ("authorize", "k:1:do", "4471"),
        ("release", "k:0:undo", "4471"),
    ]
    assert shop.books("4471") == shop.books()
    assert shop.books("1") == []
    assert shop.books()[0]["resource"] == made.body["id"]


# Trouble on order


def test_a_declined_call_does_nothing(shop: Shop) -> None:
    trouble(shop, Trouble.DECLINE, operation="authorize")
    assert code(authorize(shop)) == (402, "card_declined")
    trouble(shop, Trouble.DECLINE, service="shipping")
    assert code(ship(shop, reserve(shop))) == (409, "declined")
    assert [entry["operation"] for entry in shop.books()] == ["reserve"]


@pytest.mark.parametrize(
    ("fault", "status"),
    [
        (Trouble.ERROR_500, 500),
        (Trouble.ERROR_503, 503),
        (Trouble.THROTTLED_429, 429),
        (Trouble.UNAUTHORIZED_401, 401),
    ],
)
def test_a_call_that_is_turned_away_does_nothing_as_often_as_ordered(
    shop: Shop, fault: Trouble, status: int
) -> None:
    trouble(shop, fault, times=2)
    assert [reserve(shop).status for _ in range(3)] == [status, status, 201]
    assert len(shop.books()) == 1


def test_a_lost_answer_comes_after_the_effect(shop: Shop, clock: Clock) -> None:
    trouble(shop, Trouble.LOST_ANSWER, seconds=4)
    seen: list[int] = []
    clock.meanwhile.append(lambda: seen.append(len(shop.books())))
    reserve(shop)
    assert seen == [1]
    assert clock.time - NOON > timedelta(seconds=4)


def test_an_error_after_the_effect_hides_it_and_the_key_still_knows(shop: Shop) -> None:
    trouble(shop, Trouble.ERROR_AFTER)
    assert reserve(shop).status == 500
    assert shop.status("inventory", "r").body["state"] == "held"
    assert reserve(shop).status == 201
    assert len(shop.books()) == 1


def test_a_slow_call_has_its_key_in_use_until_it_is_decided(shop: Shop, clock: Clock) -> None:
    trouble(shop, Trouble.SLOW, seconds=4)
    seen: list[tuple[int, str]] = []
    clock.meanwhile += [
        lambda: seen.append(code(reserve(shop))),
        lambda: seen.append(code(shop.status("inventory", "r"))),
        lambda: seen.append(code(reserve(shop, quantity=2))),
    ]
    assert reserve(shop).status == 201
    assert seen == [(409, "key_in_use"), (409, "key_in_use"), (422, "key_conflict")]
    assert len(shop.books()) == 1


def test_a_slow_call_that_is_cancelled_meanwhile_never_lands(shop: Shop, clock: Clock) -> None:
    trouble(shop, Trouble.SLOW, seconds=4)
    clock.meanwhile.append(lambda: shop.cancel("inventory", "r"))
    assert code(reserve(shop)) == (410, "key_cancelled")
    assert shop.books() == []
    assert shelf(shop)["reserved"] == 0


def test_a_slow_call_that_dies_does_not_hold_its_key_for_ever(shop: Shop, clock: Clock) -> None:
    trouble(shop, Trouble.SLOW, seconds=4)

    def die() -> None:
        raise KeyboardInterrupt

    clock.meanwhile.append(die)
    with pytest.raises(KeyboardInterrupt):
        reserve(shop)
    assert code(reserve(shop)) == (409, "key_in_use")
    clock.time += timedelta(seconds=6)
    assert code(shop.status("inventory", "r")) == (404, "key_not_found")
    assert reserve(shop).status == 201


def test_a_slow_call_that_is_refused_gives_its_key_back(shop: Shop, clock: Clock) -> None:
    trouble(shop, Trouble.SLOW, seconds=1)
    clock.meanwhile.append(lambda: put_stock(shop, 0))
    assert code(reserve(shop)) == (409, "out_of_stock")
    assert code(shop.status("inventory", "r")) == (404, "key_not_found")


def test_trouble_is_aimed_at_one_service_operation_and_order(shop: Shop) -> None:
    put_order(shop, "4472")
    trouble(shop, Trouble.ERROR_503, service="payments", operation="void", order_id="4472")
    ours, theirs = authorize(shop, "a1"), authorize(shop, "a2", order_id="4472")
    assert void(shop, ours, "v1").status == 200
    assert void(shop, theirs, "v2").status == 503


def test_trouble_with_a_capture_is_aimed_by_its_authorizations_order(shop: Shop) -> None:
    made = authorize(shop)
    trouble(shop, Trouble.ERROR_503, operation="capture", order_id="1")
    trouble(shop, Trouble.ERROR_500, operation="capture", order_id="4471")
    assert capture(shop, made).status == 500


def test_trouble_strikes_questions_by_key_too(shop: Shop) -> None:
    reserve(shop)
    trouble(shop, Trouble.ERROR_503, operation="status", order_id="4471")
    trouble(shop, Trouble.UNAUTHORIZED_401, operation="cancel", order_id="4471")
    trouble(shop, Trouble.ERROR_500, service="orders")
    assert shop.status("inventory", "other").status == 404
    assert [shop.status("inventory", "r").status for _ in range(2)] == [503, 201]
    assert [shop.cancel("inventory", "r").status for _ in range(2)] == [401, 201]
    assert [shop.order("4471").status for _ in range(2)] == [500, 200]


def test_several_troubles_come_in_the_order_in_which_they_were_ordered(shop: Shop) -> None:
    trouble(shop, Trouble.ERROR_500)
    trouble(shop, Trouble.UNAUTHORIZED_401, times=2)
    assert [reserve(shop).status for _ in range(4)] == [500, 401, 401, 201]


def test_no_trouble_lasts_longer_than_an_unknown_takes_to_settle() -> None:
    with pytest.raises(ValueError, match="less than or equal to 6"):
        Fault(fault=Trouble.SLOW, seconds=LONGEST + 0.1)
