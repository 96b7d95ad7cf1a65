"""The problems that a catalogue's own preconditions raise, found by provoking them on one order and its variants."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from pydantic import BaseModel

from functions.catalogues.fulfilment.arguments import CapturePayment, OfOrder, ReserveStock
from functions.catalogues.fulfilment.catalogue import CATALOGUE
from functions.catalogues.fulfilment.facts import Line, Order

_ORDER = Order(
    order_id="4471",
    amount="180.00",
    currency="EUR",
    status="open",
    shipped=False,
    lines=(Line(sku="LAMP-1", quantity=1),),
    tier="standard",
    cutoff_at=datetime(2026, 12, 1, tzinfo=UTC),
)
_ORDERS = (
    None,
    _ORDER,
    _ORDER.model_copy(update={"shipped": True}),
    _ORDER.model_copy(update={"status": "cancelled"}),
)
_ARGUMENTS: tuple[OfOrder, ...] = (
    ReserveStock(order_id="4471", warehouse="B", sku="LAMP-1", quantity=3),
    ReserveStock(order_id="4471", warehouse="B", sku="LAMP-2", quantity=1),
    CapturePayment(order_id="4471", amount="500.00", currency="EUR"),
    CapturePayment(order_id="4471", amount="180.00", currency="USD"),
)


@dataclass(frozen=True, slots=True)
class Provoked:
    """A code, the precondition behind it, the steps that have this precondition, and one message as an example."""

    code: str
    precondition: str
    steps: tuple[str, ...]
    example: str


def provoked() -> list[Provoked]:
    """Each code of the fulfilment catalogue once, in the order of its preconditions."""
    found: dict[str, Provoked] = {}
    for precondition in CATALOGUE.preconditions:
        steps = tuple(s.name for s in CATALOGUE.steps if precondition.name in s.preconditions)
        for arguments, order in _situations():
            for violation in precondition.check(arguments, order):
                found.setdefault(
                    violation.code,
                    Provoked(violation.code, precondition.name, steps, violation.message),
                )
    return list(found.values())


def _situations() -> Iterator[tuple[BaseModel, Order | None]]:
    return ((arguments, order) for arguments in _ARGUMENTS for order in _ORDERS)
