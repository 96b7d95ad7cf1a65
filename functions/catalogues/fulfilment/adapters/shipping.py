"""The shop's shipping: what was reserved leaves the warehouse."""

from __future__ import annotations

from functions.catalogues.fulfilment.adapters.shop import (
    SHOP,
    address,
    cancel_at,
    given,
    receipt,
    status_at,
)
from functions.catalogues.fulfilment.arguments import CreateShipment
from functions.catalogues.http import request
from functions.domain.calls import Call
from functions.domain.outcome import Finding, Outcome

_SERVICE = "shipping"


def ship(call: Call) -> Outcome:
    """Send this saga's own reservation, and no other."""
    arguments = given(call, CreateShipment)
    return request(
        call,
        "POST",
        address(_SERVICE, "shipments"),
        {
            "order_id": arguments.order_id,
            "warehouse": arguments.warehouse,
            "reservation_id": call.results["reserve_stock"].resource,
        },
        target=SHOP,
        receipt=receipt,
    )


def status(call: Call) -> Finding:
    """What became of a key."""
    return status_at(_SERVICE, call)


def cancel(call: Call) -> Finding:
    """Make a key unusable."""
    return cancel_at(_SERVICE, call)
