"""What may be asked of the shop, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, Self

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints

from functions.domain.money import Money
from functions.sandbox.store import Transaction

Id = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.:-]{1,100}$", max_length=100)]
Word = Annotated[str, StringConstraints(min_length=1, max_length=100)]
Units = Annotated[int, Field(ge=1, le=1_000_000)]


class _Body(BaseModel):
    """A request's body: closed and strict, like everything that crosses a border here."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Nothing(_Body):
    """The address says it all."""


class Reservation(_Body):
    """Units to hold for an order."""

    order_id: Id
    warehouse: Word
    sku: Word
    quantity: Units


class Authorization(Money, _Body):
    """An amount to hold for an order."""

    order_id: Id


class Capture(Money, _Body):
    """An amount to take from an authorisation."""

    authorization_id: Id


class Shipment(_Body):
    """A reservation to send."""

    order_id: Id
    warehouse: Word
    reservation_id: Id


class Message(_Body):
    """A prepared text to send."""

    order_id: Id
    template: Word


class Line(_Body):
    """Units of one article on an order."""

    sku: Word
    quantity: Units


class Order(Money, _Body):
    """An order, as its owner enters it. `cutoff_at`: by when an approval must come to be of use."""

    status: Literal["open", "cancelled"] = "open"
    shipped: bool = False
    lines: Annotated[tuple[Line, ...], Field(min_length=1, max_length=100)]
    tier: Word = "standard"
    cutoff_at: AwareDatetime


class Stock(_Body):
    """What lies on a warehouse's shelf, held units included."""

    warehouse: Word
    sku: Word
    on_hand: Annotated[int, Field(ge=0, le=1_000_000)]


class Token(_Body):
    """A bearer token, known only by its SHA-256. A scope is a service, or `service:operation`."""

    sha256: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$", max_length=64)]
    scopes: Annotated[tuple[Word, ...], Field(min_length=1, max_length=50)]


class Change(_Body):
    """Someone else changes a resource: its version moves on, and nothing else."""

    kind: Literal["reservation", "authorization"]
    id: Id


@dataclass(frozen=True, slots=True)
class Ask:
    """One mutation that is asked for: by which service and operation, under which key, of what.

    `resource` is the id in the address, `condition` the version in If-Match, `new_id` names what may be created.
    """

    service: str
    operation: str
    key: str
    body: BaseModel
    new_id: str
    resource: str | None = None
    condition: str | None = None

    @property
    def parameters(self) -> dict[str, Any]:
        """All that the key stands for."""
        return {
            "operation": self.operation,
            "resource": self.resource,
            "condition": self.condition,
            "body": self.body.model_dump(mode="json"),
        }


@dataclass(frozen=True, slots=True)
class Answer:
    """A status and a body. `made` is the resource that a mutation was about, for the books."""

    status: int
    body: Mapping[str, Any]
    made: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def refused(cls, status: int, code: str, message: str) -> Self:
        """A decision against; nothing was changed."""
        return cls(status, {"code": code, "message": message})

    @classmethod
    def done(cls, status: int, body: Mapping[str, Any]) -> Self:
        """An effect: the resource as it is after it."""
        return cls(status, body, made=str(body["id"]))

    @property
    def is_effect(self) -> bool:
        """Whether something was changed."""
        return self.made is not None


Rule = Callable[[Transaction, Ask], Answer]
"""Decides one kind of mutation. Reads and writes through the transaction, and does nothing else."""
