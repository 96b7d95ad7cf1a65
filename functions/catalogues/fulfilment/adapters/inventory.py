"""The shop's inventory: units held for an order, and given back."""

from __future__ import annotations

from functions.catalogues.fulfilment.adapters.shop import (
    SHOP,
    address,
    cancel_at,
    given,
    receipt,
    status_at,
)
from functions.catalogues.fulfilment.arguments import ReserveStock
from functions.catalogues.http import request
from functions.domain.calls import Call
from functions.domain.outcome import Finding, Outcome

_SERVICE = "inventory"


def reserve(call: Call) -> Outcome:
    """Hold units. The receipt is the reservation."""
    arguments = given(call, ReserveStock)
    return request(
        call,
        "POST",
        address(_SERVICE, "reservations"),
        arguments.model_dump(mode="json"),
        target=SHOP,
        receipt=receipt,
    )


def release(call: Call) -> Outcome:
    """Give the units back, if the reservation is still the one that was made."""
    return request(
        call,
        "POST",
        address(_SERVICE, "reservations", call.inputs["reservation_id"], "release"),
        {},
        target=SHOP,
        receipt=receipt,
    )


def status(call: Call) -> Finding:
    """What became of a key."""
    return status_at(_SERVICE, call)


def cancel(call: Call) -> Finding:
    """Make a key unusable."""
    return cancel_at(_SERVICE, call)
