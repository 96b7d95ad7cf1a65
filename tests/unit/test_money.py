"""Money is an exact decimal string with its currency; everything else is refused with a hint."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ConfigDict, ValidationError

from functions.domain.money import Money, as_decimal


class Price(Money):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


@pytest.mark.parametrize(
    ("amount", "currency"),
    [("180.00", "EUR"), ("0.01", "USD"), ("99999999.99", "GBP"), ("180", "JPY"), ("0.00", "EUR")],
)
def test_an_exact_amount_is_kept_as_it_was_written(amount: str, currency: str) -> None:
    assert Price.model_validate({"amount": amount, "currency": currency}).amount == amount


@pytest.mark.parametrize(
    "amount",
    [
        180, 180.0, True, None, float("nan"), 9007199254740993, ["180.00"],
        "180.0", "180.", ".50", "1.8e2", "-180.00", "+180.00", "0180.00", "00.00", " 180.00", "180.00 ",
        "180.00\n", "180,00", "1_000.00", "NaN", "Infinity", "1e400", "", "１８０.００", "100000000.00", "180.000",
    ],
)  # fmt: skip
def test_any_other_spelling_is_refused_with_a_hint_that_shows_the_right_one(amount: Any) -> None:
    with pytest.raises(ValidationError) as refused:
        Price.model_validate({"amount": amount, "currency": "EUR"})
    (problem,) = refused.value.errors()
    assert (problem["type"], problem["loc"]) == ("amount_not_exact", ("amount",))
    assert '"180.00"' in problem["ctx"]["hint"]


@pytest.mark.parametrize(
    ("amount", "currency", "example"),
    [("180", "EUR", '"180.00"'), ("180.00", "JPY", '"180"')],
)
def test_the_decimals_are_the_currencys_own(amount: str, currency: str, example: str) -> None:
    with pytest.raises(ValidationError) as refused:
        Price.model_validate({"amount": amount, "currency": currency})
    (problem,) = refused.value.errors()
    assert (problem["type"], problem["loc"]) == ("amount_decimals", ("amount",))
    assert example in problem["ctx"]["hint"]


def test_a_wrong_currency_and_a_wrong_amount_are_reported_together() -> None:
    with pytest.raises(ValidationError) as refused:
        Price.model_validate({"amount": 180, "currency": "XXX"})
    assert {problem["loc"] for problem in refused.value.errors()} == {("currency",), ("amount",)}


def test_amounts_compare_as_numbers_and_exactly() -> None:
    assert as_decimal("99999999.99") - as_decimal("99999999.98") == as_decimal("0.01")
    assert as_decimal("9.00") < as_decimal("10.00")


def test_what_an_agent_is_shown_bounds_the_amount() -> None:
    schema = Price.model_json_schema()["properties"]["amount"]
    assert schema["maxLength"] == 11
    assert schema["pattern"]
    assert schema["examples"] == ["180.00"]
