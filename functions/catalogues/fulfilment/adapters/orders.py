"""The shop's orders, which are only read."""

from __future__ import annotations

from functions.catalogues.fulfilment.adapters.shop import address
from functions.catalogues.fulfilment.facts import Order
from functions.catalogues.http import read_fact
from functions.domain.calls import FactCall


def read(call: FactCall) -> Order | None:
    """An order as it is now."""
    return read_fact(call, address("orders", call.query), Order, absent="order_not_found")
