"""What the shop says about an order: the authority on its amount, its currency and its customer's tier."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints

from functions.catalogues.fulfilment.arguments import OrderId, Sku
from functions.domain.money import Money


class _Told(BaseModel):
    """What a target tells. Closed in what we rely on, open to fields that we do not know."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


class Line(_Told):
    """So many units of one article."""

    sku: Sku
    quantity: Annotated[int, Field(ge=1, le=1_000_000)]


class Order(Money, _Told):
    """An order as it is now: `amount` and `currency` are its total, `cutoff_at` is when packing must begin."""

    order_id: OrderId
    status: Literal["open", "cancelled"]
    shipped: bool
    lines: Annotated[tuple[Line, ...], Field(max_length=1000)]
    tier: Annotated[str, StringConstraints(pattern=r"^[a-z_]{1,30}$", max_length=30)]
    cutoff_at: AwareDatetime

    def units_of(self, sku: str) -> int:
        """How many units of an article were ordered."""
        return sum(line.quantity for line in self.lines if line.sku == sku)

    def left(self, now: datetime) -> float:
        """Seconds until packing must begin; negative when it is too late."""
        return (self.cutoff_at - now).total_seconds()
