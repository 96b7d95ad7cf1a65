"""What every contestant's step does, word for word: one call of the target, or a look at its list first."""

from __future__ import annotations

import json
import os
import urllib.request
from collections.abc import Callable
from urllib.parse import quote

Act = Callable[[str], str]
"""From a reference to the effect's id."""

URL = "TARGET_URL"
_TIMEOUT = 10.0
_NO_PROXY = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def charge(reference: str) -> str:
    """Cause the effect, whatever has been caused before; answers its id."""
    body = json.dumps({"reference": reference, "pid": os.getpid()}).encode()
    request = urllib.request.Request(_url(), data=body, method="POST")  # noqa: S310 - our own address
    with _NO_PROXY.open(request, timeout=_TIMEOUT) as answer:
        return str(json.load(answer)["id"])


def look_up(reference: str) -> str | None:
    """The id of an effect that carries this reference, if the target's list has one."""
    with _NO_PROXY.open(f"{_url()}?reference={quote(reference)}", timeout=_TIMEOUT) as answer:
        found = json.load(answer)["ids"]
    return str(found[0]) if found else None


def charge_unless_there(reference: str) -> str:
    """What an author can write by hand where the target has a list: look first, then act."""
    return look_up(reference) or charge(reference)


ACTS: dict[str, Act] = {act.__name__: act for act in (charge, charge_unless_there)}


def _url() -> str:
    return f"{os.environ[URL]}/effects"
