"""What the five services of the shop have in common: their address, their words for keys, their resources."""

from __future__ import annotations

import os
from typing import TypeVar
from urllib.parse import quote

from pydantic import BaseModel

from functions.catalogues.http import JSONObject, Target, inquire
from functions.domain.calls import Call
from functions.domain.outcome import Finding, Receipt

SETTING = "FULFILMENT_SHOP_URL"
SHOP = Target(turned_away="unavailable")
_ID = "id"
_VERSION = "version"
_NO_DETAIL = frozenset({_ID, _VERSION, "notice"})

Arguments = TypeVar("Arguments", bound=BaseModel)


def address(*path: str) -> str:
    """The address of a resource. Read at call time; without the setting it is no address, and nothing is sent."""
    return "/".join([os.environ.get(SETTING, "").rstrip("/"), *(quote(p, safe=":") for p in path)])


def given(call: Call, model: type[Arguments]) -> Arguments:
    """The call's arguments as what the step declares. Raises TypeError where they are another step's."""
    if not isinstance(call.arguments, model):
        raise TypeError(f"{model.__name__} expected, not {type(call.arguments).__name__}")
    return call.arguments


def receipt(resource: JSONObject) -> Receipt:
    """A resource of the shop as a receipt: its id, its version, and what it says of itself."""
    details = {
        name: str(value)
        for name, value in resource.items()
        if name not in _NO_DETAIL and isinstance(value, str | int)
    }
    return Receipt(resource=resource[_ID], version=str(resource[_VERSION]), details=details)


def status_at(service: str, call: Call) -> Finding:
    """What became of the call's key at a service."""
    return inquire(call, "GET", address(service, "keys", call.key), target=SHOP, receipt=receipt)


def cancel_at(service: str, call: Call) -> Finding:
    """Make the call's key unusable at a service, or learn what it did."""
    return inquire(call, "DELETE", address(service, "keys", call.key), target=SHOP, receipt=receipt)
