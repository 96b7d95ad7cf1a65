"""The shop's mail: prepared texts to customers."""

from __future__ import annotations

from functions.catalogues.fulfilment.adapters.shop import (
    SHOP,
    address,
    cancel_at,
    given,
    receipt,
    status_at,
)
from functions.catalogues.fulfilment.arguments import SendConfirmation
from functions.catalogues.http import request
from functions.domain.calls import Call
from functions.domain.outcome import Finding, Outcome

_SERVICE = "mail"


def send(call: Call) -> Outcome:
    """Send one message. The receipt is the message."""
    arguments = given(call, SendConfirmation)
    return request(
        call,
        "POST",
        address(_SERVICE, "messages"),
        arguments.model_dump(mode="json"),
        target=SHOP,
        receipt=receipt,
    )


def status(call: Call) -> Finding:
    """What became of a key."""
    return status_at(_SERVICE, call)


def cancel(call: Call) -> Finding:
    """Make a key unusable."""
    return cancel_at(_SERVICE, call)
