"""The shop's payments: an amount held, let go, or taken."""

from __future__ import annotations

from functions.catalogues.fulfilment.adapters.shop import (
    SHOP,
    address,
    cancel_at,
    given,
    receipt,
    status_at,
)
from functions.catalogues.fulfilment.arguments import AuthorizePayment, CapturePayment
from functions.catalogues.http import request
from functions.domain.calls import Call
from functions.domain.outcome import Finding, Outcome

_SERVICE = "payments"


def authorize(call: Call) -> Outcome:
    """Hold an amount on the customer's card. The receipt is the authorisation."""
    arguments = given(call, AuthorizePayment)
    return request(
        call,
        "POST",
        address(_SERVICE, "authorizations"),
        arguments.model_dump(mode="json"),
        target=SHOP,
        receipt=receipt,
    )


def void(call: Call) -> Outcome:
    """Let the amount go, if the authorisation is still the one that was made."""
    return request(
        call,
        "POST",
        address(_SERVICE, "authorizations", call.inputs["authorization_id"], "void"),
        {},
        target=SHOP,
        receipt=receipt,
    )


def capture(call: Call) -> Outcome:
    """Take the amount of this saga's own authorisation, and of no other."""
    arguments = given(call, CapturePayment)
    return request(
        call,
        "POST",
        address(_SERVICE, "captures"),
        {
            "authorization_id": call.results["authorize_payment"].resource,
            "amount": arguments.amount,
            "currency": arguments.currency,
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
