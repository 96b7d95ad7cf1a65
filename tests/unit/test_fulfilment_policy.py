"""When a capture needs people: by amount, by the tier that the order has, and for how long."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pydantic import BaseModel

from functions.catalogues.fulfilment.arguments import CapturePayment, SendConfirmation
from functions.catalogues.fulfilment.facts import Line, Order
from functions.catalogues.fulfilment.policy import decide
from functions.domain.policy import Allowed, Forbidden, NeedsApproval, Question, Verdict

NOON = datetime(2026, 10, 18, 12, tzinfo=UTC)


def asked(
    amount: str,
    tier: str = "standard",
    *,
    left: timedelta = timedelta(days=7),
    arguments: BaseModel | None = None,
    facts: Any = None,
    currency: Any = "EUR",
) -> Verdict:
    order = Order(
        order_id="4471",
        status="open",
        shipped=False,
        lines=(Line(sku="LAMP-1", quantity=1),),
        amount=amount,
        currency=currency,
        tier=tier,
        cutoff_at=NOON + left,
    )
    capture = CapturePayment(order_id="4471", amount=amount, currency=currency)
    return decide(
        Question(
            step="capture_payment",
            arguments=arguments or capture,
            results={},
            facts={"order": order} if facts is None else facts,
            now=NOON,
        )
    )


@pytest.mark.parametrize(
    ("amount", "tier", "people"),
    [
        ("0.01", "standard", 0),
        ("150.00", "standard", 0),
        ("150.01", "standard", 1),
        ("180.00", "standard", 1),
        ("180.00", "nobody_knows", 1),
        ("150.01", "trusted", 0),
        ("500.00", "trusted", 0),
        ("500.01", "trusted", 1),
        ("1000.00", "standard", 1),
        ("1000.00", "trusted", 1),
        ("1000.01", "standard", 2),
        ("1000.01", "trusted", 2),
        ("1200.00", "nobody_knows", 2),
        ("10000.00", "standard", 2),
        ("10000.00", "trusted", 2),
    ],
)
def test_the_band_of_amount_and_tier_says_how_many_people_are_asked(
    amount: str, tier: str, people: int
) -> None:
    verdict = asked(amount, tier)
    if people:
        assert isinstance(verdict, NeedsApproval)
        assert (verdict.approvers, verdict.group) == (people, "fulfilment-approvers")
    else:
        assert verdict == Allowed()


@pytest.mark.parametrize("tier", ["standard", "trusted", "nobody_knows"])
@pytest.mark.parametrize("amount", ["10000.01", "99999999.99"])
def test_above_the_last_band_nobody_may_agree_however_trusted_the_customer(
    amount: str, tier: str
) -> None:
    assert asked(amount, tier) == Forbidden(
        f"capture of {amount} EUR is above 10000.00 EUR, and nobody may approve that"
    )


def test_the_reason_is_in_words_with_the_amount_and_the_threshold() -> None:
    verdict = asked("180.00")
    assert isinstance(verdict, NeedsApproval)
    assert verdict.reason == (
        "capture of 180.00 EUR is above 150.00 EUR for a customer of tier standard"
    )


@pytest.mark.parametrize(
    ("left", "within"),
    [
        (timedelta(days=7), timedelta(hours=24)),
        (timedelta(hours=24), timedelta(hours=24)),
        (timedelta(minutes=90), timedelta(minutes=90)),
        (timedelta(seconds=1), timedelta(seconds=1)),
    ],
)
def test_the_time_to_decide_ends_with_the_orders_cutoff_and_after_a_day(
    left: timedelta, within: timedelta
) -> None:
    verdict = asked("180.00", left=left)
    assert isinstance(verdict, NeedsApproval)
    assert verdict.within == within


@pytest.mark.parametrize("left", [timedelta(0), timedelta(seconds=-1)])
def test_nobody_is_asked_after_the_cutoff(left: timedelta) -> None:
    verdict = asked("180.00", left=left)
    assert isinstance(verdict, Forbidden)
    assert "cut-off" in verdict.reason


def test_what_needs_nobody_needs_no_time_either() -> None:
    assert asked("150.00", left=timedelta(hours=-1)) == Allowed()


def test_without_the_order_nothing_may_be_captured() -> None:
    assert isinstance(asked("1.00", facts={}), Forbidden)
    assert isinstance(asked("1.00", facts={"order": None}), Forbidden)


@pytest.mark.parametrize(
    ("amount", "people"),
    [("15000", 0), ("15001", 1), ("100000", 1), ("100001", 2), ("1000000", 2), ("1000001", None)],
)
def test_a_hundred_yen_count_as_one(amount: str, people: int | None) -> None:
    verdict = asked(amount, currency="JPY")
    match verdict:
        case Allowed():
            assert people == 0
        case NeedsApproval():
            assert verdict.approvers == people
        case Forbidden():
            assert people is None


def test_a_band_is_told_in_the_captures_own_currency() -> None:
    verdict = asked("15001", currency="JPY")
    assert isinstance(verdict, NeedsApproval)
    assert verdict.reason.startswith("capture of 15001 JPY is above 15000 JPY ")


def test_only_captures_are_asked_about() -> None:
    confirm = SendConfirmation(order_id="4471", template="order_shipped")
    assert asked("180.00", arguments=confirm) == Allowed()
