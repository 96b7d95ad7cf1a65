"""The plans that most fulfilment requests come down to."""

from __future__ import annotations

from typing import Final

from statemachines.shapes import KnownPlans

PLANS: Final[KnownPlans] = {
    "capture_and_ship": (
        "reserve_stock",
        "authorize_payment",
        "capture_payment",
        "create_shipment",
        "send_confirmation",
    ),
    "capture_and_ship_from_two_warehouses": (
        "reserve_stock",
        "reserve_stock",
        "authorize_payment",
        "capture_payment",
        "create_shipment",
        "create_shipment",
        "send_confirmation",
    ),
    "hold": ("reserve_stock", "authorize_payment"),
    "replace": ("reserve_stock", "create_shipment", "send_confirmation"),
    "confirm": ("send_confirmation",),
}
