"""Fulfilment's adapters against the shop over real HTTP: each trouble of the target ends as the right outcome."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from functions.catalogues.fulfilment.adapters import inventory, mail, orders, payments, shipping
from functions.catalogues.fulfilment.arguments import (
    AuthorizePayment,
    CapturePayment,
    CreateShipment,
    ReserveStock,
    SendConfirmation,
)
from functions.catalogues.fulfilment.catalogue import AUTHORIZE_PAYMENT, RESERVE_STOCK
from functions.catalogues.fulfilment.facts import Order
from functions.domain.calls import Act, Call, FactCall, FactUnavailable
from functions.domain.catalogue import Step
from functions.domain.outcome import (
    Applied,
    NotApplied,
    NotFound,
    Receipt,
    RefusalCause,
    Refused,
    Tombstoned,
    Unknown,
    UnknownCause,
)
from functions.sandbox import asks
from functions.sandbox.faults import Fault, Trouble
from functions.sandbox.local import LocalShop, local_shop

ORDER = asks.Order(
    currency="EUR",
    amount="180.00",
    lines=(asks.Line(sku="LAMP-1", quantity=1),),
    tier="trusted",
    cutoff_at=datetime.now(UTC) + timedelta(days=1),
)
RESERVE = ReserveStock(order_id="4471", warehouse="B", sku="LAMP-1", quantity=1)
AUTHORIZE = AuthorizePayment(order_id="4471", amount="180.00", currency="EUR")
CAPTURE = CapturePayment(order_id="4471", amount="180.00", currency="EUR")


@pytest.fixture(scope="module")
def running() -> Iterator[LocalShop]:
    with local_shop() as shop:
        yield shop


@pytest.fixture
def shop(running: LocalShop, monkeypatch: pytest.MonkeyPatch) -> LocalShop:
    monkeypatch.setenv("FULFILMENT_SHOP_URL", running.url)
    running.stage.clear()
    running.stage.put_order("4471", ORDER)
    running.stage.put_stock(asks.Stock(warehouse="B", sku="LAMP-1", on_hand=1))
    return running


def call(shop: LocalShop, service: str, key: str, **given: Any) -> Call:
    return Call(**{"key": key, "credential": shop.tokens[service], "timeout": 2.0, **given})


def trouble(shop: LocalShop, fault: Trouble, **more: Any) -> None:
    shop.stage.order_trouble(Fault(fault=fault, **more))


def effects(shop: LocalShop) -> list[str]:
    return [entry["operation"] for entry in shop.shop.books()]


def reserving(shop: LocalShop, **given: Any) -> Call:
    return call(shop, "inventory", "s-1:0:do", arguments=RESERVE, **given)


def authorizing(shop: LocalShop, **given: Any) -> Call:
    return call(shop, "payments", "s-1:1:do", arguments=AUTHORIZE, **given)


def receipt_of(outcome: Any) -> Receipt:
    assert isinstance(outcome, Applied), outcome
    return outcome.receipt


def undoing(shop: LocalShop, step: Step, key: str, receipt: Receipt, **given: Any) -> Call:
    """An undo call as it is made from the catalogue: fixed inputs, and the version that the receipt names."""
    assert step.undo is not None
    inputs = step.undo.fixed_inputs({"reserve_stock": RESERVE, "authorize_payment": AUTHORIZE}[step.name], receipt)  # fmt: skip
    service = str(step.undo.run.authority.credential)
    return call(
        shop, service, key, inputs=inputs, receipt=receipt, condition=receipt.version, **given
    )


def test_order_4471_goes_all_the_way(shop: LocalShop) -> None:
    reservation = receipt_of(inventory.reserve(reserving(shop)))
    authorization = receipt_of(payments.authorize(authorizing(shop)))
    captured = receipt_of(
        payments.capture(
            call(
                shop, "payments", "s-1:2:do",
                arguments=CAPTURE, results={"authorize_payment": authorization},
            )
        )
    )  # fmt: skip
    ship = CreateShipment(order_id="4471", warehouse="B")
    results = {"reserve_stock": reservation}
    receipt_of(shipping.ship(call(shop, "shipping", "s-1:3:do", arguments=ship, results=results)))
    confirm = SendConfirmation(order_id="4471", template="order_shipped")
    receipt_of(mail.send(call(shop, "mail", "s-1:4:do", arguments=confirm)))
    assert effects(shop) == ["reserve", "authorize", "capture", "ship", "send"]
    assert [entry["key"] for entry in shop.shop.books()] == [f"s-1:{i}:do" for i in range(5)]
    assert captured.details["order_id"] == "4471"
    assert captured.details["amount"] == "180.00"


def test_a_receipt_holds_the_targets_id_and_version(shop: LocalShop) -> None:
    receipt = receipt_of(inventory.reserve(reserving(shop)))
    assert receipt.resource == shop.shop.books()[0]["resource"]
    assert receipt.version == "1"


def test_the_undos_free_exactly_what_the_receipts_name(shop: LocalShop) -> None:
    reservation = receipt_of(inventory.reserve(reserving(shop)))
    authorization = receipt_of(payments.authorize(authorizing(shop)))
    void = undoing(shop, AUTHORIZE_PAYMENT, "s-1:1:undo", authorization)
    release = undoing(shop, RESERVE_STOCK, "s-1:0:undo", reservation)
    assert receipt_of(payments.void(void)).resource == authorization.resource
    assert receipt_of(inventory.release(release)).resource == reservation.resource
    assert effects(shop) == ["reserve", "authorize", "void", "release"]


def test_a_timed_out_release_is_repeated_with_its_key_and_done_once(shop: LocalShop) -> None:
    reservation = receipt_of(inventory.reserve(reserving(shop)))
    trouble(shop, Trouble.LOST_ANSWER, operation="release", order_id="4471", seconds=0.3)
    hurried = undoing(shop, RESERVE_STOCK, "s-1:0:undo", reservation, timeout=0.1)
    first = inventory.release(hurried)
    assert isinstance(first, Unknown)
    assert first.cause is UnknownCause.SILENCE
    assert receipt_of(inventory.release(replace(hurried, timeout=2.0))).version == "2"
    assert effects(shop) == ["reserve", "release"]


def test_a_release_of_a_unit_that_was_taken_is_applied_with_a_notice(shop: LocalShop) -> None:
    reservation = receipt_of(inventory.reserve(reserving(shop)))
    shop.stage.put_stock(asks.Stock(warehouse="B", sku="LAMP-1", on_hand=0))
    outcome = inventory.release(undoing(shop, RESERVE_STOCK, "s-1:0:undo", reservation))
    assert isinstance(outcome, Applied)
    assert outcome.notice is not None
    assert "do not go back on sale" in outcome.notice


@pytest.mark.parametrize(
    ("step", "act", "undo", "kind"),
    [
        (RESERVE_STOCK, inventory.reserve, inventory.release, "reservation"),
        (AUTHORIZE_PAYMENT, payments.authorize, payments.void, "authorization"),
    ],
)
def test_an_undo_of_what_somebody_changed_fails_its_precondition(
    shop: LocalShop, step: Step, act: Act, undo: Act, kind: Any
) -> None:
    forward = reserving(shop) if step is RESERVE_STOCK else authorizing(shop)
    receipt = receipt_of(act(forward))
    shop.stage.change(asks.Change(kind=kind, id=receipt.resource))
    outcome = undo(undoing(shop, step, "s-1:0:undo", receipt))
    assert isinstance(outcome, Refused)
    assert outcome.cause is RefusalCause.PRECONDITION


def test_an_undo_under_another_key_of_what_is_gone_already_is_no_success(shop: LocalShop) -> None:
    reservation = receipt_of(inventory.reserve(reserving(shop)))
    somebody = replace(undoing(shop, RESERVE_STOCK, "other:0:undo", reservation), condition=None)
    receipt_of(inventory.release(somebody))
    ours = replace(somebody, key="s-1:0:undo")
    outcome = inventory.release(ours)
    assert isinstance(outcome, Refused)
    assert "already_released" in outcome.reason


def test_a_declined_card_is_a_business_refusal_in_words(shop: LocalShop) -> None:
    trouble(shop, Trouble.DECLINE, operation="authorize")
    outcome = payments.authorize(authorizing(shop))
    assert outcome == Refused(
        reason="card_declined: the bank declined the card for good (HTTP 402)"
    )


@pytest.mark.parametrize(
    ("fault", "expected", "done"),
    [
        (Trouble.ERROR_503, NotApplied, []),
        (Trouble.THROTTLED_429, NotApplied, []),
        (Trouble.ERROR_500, Unknown, []),
        (Trouble.ERROR_AFTER, Unknown, ["authorize"]),
        (Trouble.UNAUTHORIZED_401, Refused, []),
    ],
)
def test_each_trouble_is_the_outcome_that_it_is_and_the_next_call_settles_it(
    shop: LocalShop, fault: Trouble, expected: type, done: list[str]
) -> None:
    trouble(shop, fault, service="payments")
    assert isinstance(payments.authorize(authorizing(shop)), expected)
    assert effects(shop) == done
    receipt_of(payments.authorize(authorizing(shop)))
    assert effects(shop) == ["authorize"]


def test_a_lost_answer_and_a_401_are_settled_by_asking(shop: LocalShop) -> None:
    trouble(shop, Trouble.LOST_ANSWER, operation="authorize", seconds=0.3)
    trouble(shop, Trouble.UNAUTHORIZED_401, operation="authorize")
    assert isinstance(payments.authorize(authorizing(shop, timeout=0.1)), Unknown)
    refused = payments.authorize(authorizing(shop))
    assert isinstance(refused, Refused)
    assert refused.cause is RefusalCause.AUTHORITY
    finding = payments.status(call(shop, "payments", "s-1:1:do"))
    assert receipt_of(finding).details["state"] == "open"
    assert effects(shop) == ["authorize"]


def test_a_slow_call_is_stopped_by_a_tombstone(shop: LocalShop) -> None:
    trouble(shop, Trouble.SLOW, operation="reserve", seconds=0.3)
    assert isinstance(inventory.reserve(reserving(shop, timeout=0.1)), Unknown)
    in_use = inventory.status(reserving(shop))
    assert isinstance(in_use, Unknown)
    assert in_use.cause is UnknownCause.KEY_IN_USE
    assert inventory.cancel(reserving(shop)) == Tombstoned()
    late = inventory.reserve(reserving(shop))
    assert isinstance(late, Refused)
    assert "key_cancelled" in late.reason
    assert inventory.status(reserving(shop)) == Tombstoned()
    assert effects(shop) == []


def test_a_key_with_other_arguments_is_for_a_person(shop: LocalShop) -> None:
    inventory.reserve(reserving(shop))
    changed = RESERVE.model_copy(update={"quantity": 2})
    outcome = inventory.reserve(call(shop, "inventory", "s-1:0:do", arguments=changed))
    assert isinstance(outcome, Unknown)
    assert outcome.cause is UnknownCause.KEY_CONFLICT


@pytest.mark.parametrize("service", [inventory, payments, shipping, mail])
def test_every_service_answers_by_key_and_cancels_by_key(shop: LocalShop, service: Any) -> None:
    name = service.__name__.rpartition(".")[2]
    assert service.status(call(shop, name, "s-9:0:do")) == NotFound()
    assert service.cancel(call(shop, name, "s-9:0:do")) == Tombstoned()


def test_cancelling_what_was_done_finds_its_receipt(shop: LocalShop) -> None:
    done = receipt_of(inventory.reserve(reserving(shop)))
    assert receipt_of(inventory.cancel(reserving(shop))) == done


def test_a_revoked_credential_is_refused_and_never_told(shop: LocalShop) -> None:
    outcome = inventory.reserve(reserving(shop, credential="revoked-token"))
    assert isinstance(outcome, Refused)
    assert outcome.cause is RefusalCause.AUTHORITY
    assert "revoked-token" not in repr(outcome) + repr(reserving(shop, credential="revoked-token"))


@pytest.mark.parametrize("url", ["", "http://127.0.0.1:9", "http://127.0.0.1:9/"])
def test_without_a_shop_nothing_is_done(
    shop: LocalShop, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    monkeypatch.setenv("FULFILMENT_SHOP_URL", url)
    assert isinstance(inventory.reserve(reserving(shop)), NotApplied)
    with pytest.raises(FactUnavailable):
        orders.read(FactCall("4471", shop.tokens["orders"], 1.0))


def test_another_steps_arguments_are_not_sent(shop: LocalShop) -> None:
    with pytest.raises(TypeError):
        payments.capture(call(shop, "payments", "k", arguments=AUTHORIZE))
    assert effects(shop) == []


def test_an_order_is_read_as_a_fact(shop: LocalShop) -> None:
    order = orders.read(FactCall("4471", shop.tokens["orders"], 2.0))
    assert order == Order(
        order_id="4471",
        status="open",
        shipped=False,
        lines=({"sku": "LAMP-1", "quantity": 1},),
        amount="180.00",
        currency="EUR",
        tier="trusted",
        cutoff_at=ORDER.cutoff_at,
    )


def test_an_order_that_does_not_exist_is_none(shop: LocalShop) -> None:
    assert orders.read(FactCall("9999", shop.tokens["orders"], 2.0)) is None


def test_an_order_that_cannot_be_read_is_not_taken_for_a_missing_one(shop: LocalShop) -> None:
    with pytest.raises(FactUnavailable, match="401"):
        orders.read(FactCall("4471", "revoked", 2.0))
    trouble(shop, Trouble.ERROR_503, service="orders")
    with pytest.raises(FactUnavailable, match="503"):
        orders.read(FactCall("4471", shop.tokens["orders"], 2.0))
