"""What an agent may fill in, for each step. Amounts are bounded here, and again by what the order says."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from functions.domain.money import Money

_CLOSED = ConfigDict(frozen=True, extra="forbid", strict=True)

OrderId = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9-]{1,32}$", max_length=32),
    Field(description="The order's number, as text.", examples=["4471"]),
]
Sku = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Z0-9][A-Z0-9-]{0,31}$", max_length=32),
    Field(description="The article number of an order line.", examples=["LAMP-1"]),
]
Warehouse = Literal["A", "B", "C"]


class OfOrder(BaseModel):
    """Every step is about one order."""

    model_config = _CLOSED

    order_id: OrderId


class ReserveStock(OfOrder):
    """Which article, how many of it, in which warehouse."""

    warehouse: Warehouse
    sku: Sku
    quantity: Annotated[int, Field(ge=1, le=1000, description="How many units, at least 1.")]


class Payment(OfOrder, Money):
    """How much: exactly what the order says."""


class AuthorizePayment(Payment):
    """The amount to hold on the customer's card."""


class CapturePayment(Payment):
    """The amount to take: the one that was authorised."""


class CreateShipment(OfOrder):
    """From where the order is sent: the warehouse of the reservation."""

    warehouse: Warehouse


class SendConfirmation(OfOrder):
    """Which of the prepared texts the customer gets. Free text cannot be sent."""

    template: Annotated[
        Literal["order_shipped", "warehouse_changed", "order_delayed"],
        Field(description="Which prepared text is sent."),
    ]
