"""When a capture needs people: by amount, and by the customer's tier as the order has it.

The bands are written once, for currencies of about the same worth; a yen counts as a hundredth of one.
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

VERSION = "2026-11-1"
GROUP = "fulfilment-approvers"
LONGEST_WAIT = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class Band:
    """Amounts above `above` need so many different approvers; None: nobody may agree to them."""

    above: Decimal
    approvers: int | None


_UPPER = (Band(Decimal("10000.00"), approvers=None), Band(Decimal("1000.00"), approvers=2))
"""For everybody: trust in a customer lifts the first band alone."""
_STANDARD = (*_UPPER, Band(Decimal("150.00"), approvers=1))
BANDS: Mapping[str, tuple[Band, ...]] = {
    "trusted": (*_UPPER, Band(Decimal("500.00"), approvers=1)),
}
"""Bands by tier, the highest first; every other tier has the standard ones."""
_WORTH: Mapping[str, Decimal] = {"JPY": Decimal(100)}
"""How many units of a currency count as one of the bands'; one where it is not named."""


def decide(question: Question) -> Verdict:
    """People are asked for a capture above the first band; with time until the order's cut-off, at most 24 hours."""
    capture, order = question.arguments, question.facts.get("order")
    if not isinstance(capture, CapturePayment):
        return Allowed()
    if not isinstance(order, Order):
        return Forbidden(
            f"order {capture.order_id} is not known: nobody can say what may be captured"
        )
    band = _band(capture, order.tier)
    if band is None:
        return Allowed()
    what = f"capture of {capture.amount} {capture.currency} is above {_limit(band, capture)}"
    if band.approvers is None:
        return Forbidden(f"{what}, and nobody may approve that")
    within = min(LONGEST_WAIT, timedelta(seconds=order.left(question.now)))
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


def _band(capture: CapturePayment, tier: str) -> Band | None:
    counted = as_decimal(capture.amount) / _worth(capture)
    return next((b for b in BANDS.get(tier, _STANDARD) if counted > b.above), None)


def _limit(band: Band, capture: CapturePayment) -> str:
    """The band's limit in the capture's own currency, written as amounts of it are."""
    limit = (band.above * _worth(capture)).quantize(as_decimal(capture.amount))
    return f"{limit} {capture.currency}"


def _worth(capture: CapturePayment) -> Decimal:
    return _WORTH.get(capture.currency, Decimal(1))
