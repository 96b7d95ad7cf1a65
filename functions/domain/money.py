"""Money: an exact decimal string beside its currency, and never a float.

`180`, `180.0`, `1.8e2` and `"180"` are four spellings that different machines change in different ways; the only one
taken here is `"180.00"`. The text is what gets hashed, stored, sent and shown, so it must be the same text everywhere.
Comparing goes through `Decimal`.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    Field,
    StringConstraints,
    ValidationInfo,
    field_validator,
)
from pydantic_core import PydanticCustomError

Currency = Literal["EUR", "USD", "GBP", "JPY"]

DECIMALS: dict[str, int] = {"EUR": 2, "USD": 2, "GBP": 2, "JPY": 0}
"""How many decimals an amount of each currency is written with (ISO 4217)."""

_PATTERN = r"^(0|[1-9][0-9]{0,7})(\.[0-9]{2})?$"
_LONGEST = 11
_EXACT = re.compile(_PATTERN.strip("^$"))
_HINT = (
    'Write a JSON string with all the decimals of the currency: "180.00" for EUR, USD and GBP, "180" for JPY. '
    "No sign, no exponent, no leading zeros, at most 99999999.99."
)


def _amount(value: Any) -> str:
    if isinstance(value, str) and _EXACT.fullmatch(value):
        return value
    raise PydanticCustomError(
        "amount_not_exact",
        "an amount is an exact decimal string such as {example}",
        {"example": '"180.00"', "hint": _HINT},
    )


Amount = Annotated[
    str,
    StringConstraints(pattern=_PATTERN, max_length=_LONGEST),
    BeforeValidator(_amount),
    Field(description=_HINT, examples=["180.00"]),
]
"""From "0" to "99999999.99". Refusals are errors of type `amount_not_exact`, with a `hint` in their context."""


def as_decimal(amount: str) -> Decimal:
    """An amount as a number to compare and to add; exact."""
    return Decimal(amount)


def fits(amount: str, currency: str) -> bool:
    """Whether an amount is written with exactly its currency's decimals."""
    _, _, decimals = amount.partition(".")
    return len(decimals) == DECIMALS[currency]


class Money(BaseModel):
    """A base for models that hold one amount. A mismatch of decimals is an error at `amount`."""

    currency: Currency
    amount: Amount

    @field_validator("amount")
    @classmethod
    def _has_the_currencys_decimals(cls, amount: str, info: ValidationInfo) -> str:
        currency = info.data.get("currency")  # missing where the currency is itself a problem
        if currency is None or fits(amount, currency):
            return amount
        raise PydanticCustomError(
            "amount_decimals",
            "an amount of {currency} is written with {decimals} decimals",
            {
                "currency": currency,
                "decimals": DECIMALS[currency],
                "hint": f'For {currency} write for example "{"180.00" if DECIMALS[currency] else "180"}".',
            },
        )
