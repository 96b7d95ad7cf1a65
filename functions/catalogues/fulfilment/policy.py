"""When a capture needs people: by amount, and by the customer's tier as the order has it.

The bands are one number for every currency. In yen that asks a person for nearly everything, which is the safe side.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

from functions.catalogues.fulfilment.arguments import CapturePayment
from functions.catalogues.fulfilment.facts import Order
from functions.domain.money import as_decimal
from functions.domain.policy import Allowed, Forbidden, NeedsApproval, Question, Verdict

VERSION = "2026-10-1"
GROUP = "fulfilment-approvers"
LONGEST_WAIT = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class Band:
    """Amounts above `above` need so many different approvers."""

    above: Decimal
    approvers: int


_STANDARD = (Band(Decimal("150.00"), approvers=1),)
BANDS: Mapping[str, tuple[Band, ...]] = {"trusted": (Band(Decimal("500.00"), approvers=1),)}
"""Bands by tier, the highest first; every other tier has the standard ones."""


def decide(question: Question) -> Verdict:
    """People are asked for a capture above the first band; with time until the order's cut-off, at most 24 hours."""
    capture, order = question.arguments, question.facts.get("order")
    if not isinstance(capture, CapturePayment):
        return Allowed()
    if not isinstance(order, Order):
        return Forbidden(
            f"order {capture.order_id} is not known: nobody can say what may be captured"
        )
    amount = as_decimal(capture.amount)
    band = next((b for b in BANDS.get(order.tier, _STANDARD) if amount > b.above), None)
    if band is None:
        return Allowed()
    within = min(LONGEST_WAIT, timedelta(seconds=order.left(question.now)))
    what = (
        f"capture of {capture.amount} {capture.currency} is above {band.above} {capture.currency}"
    )
    if within <= timedelta(0):
        return Forbidden(
            f"{what}, and order {order.order_id} had its cut-off at {order.cutoff_at:%Y-%m-%d %H:%M} UTC"
        )
    return NeedsApproval(
        approvers=band.approvers,
        group=GROUP,
        within=within,
        reason=f"{what} for a customer of tier {order.tier}",
    )
