"""Setting the scene from outside: what tests on a deployed shop and the demonstration use."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode

import urllib3
from pydantic import BaseModel

from functions.sandbox import asks
from functions.sandbox.access import sha256_of
from functions.sandbox.faults import Fault

_OK = 200


class SceneFailed(Exception):
    """The shop did not do as told; says what it answered."""


class ShopAdmin:
    """The shop at `url`, as the holder of the admin token sees it. Every method raises SceneFailed."""

    def __init__(self, url: str, token: str, timeout: float = 10.0) -> None:
        self._url = url.rstrip("/")
        self._token = token
        self._pool = urllib3.PoolManager(timeout=timeout, retries=False)

    def put_order(self, order_id: str, order: asks.Order) -> None:
        """Enter an order, or replace it."""
        self._send("PUT", f"/_sandbox/orders/{quote(order_id)}", order)

    def put_stock(self, stock: asks.Stock) -> None:
        """Say what lies on a shelf."""
        self._send("PUT", "/_sandbox/stock", stock)

    def put_token(self, token: str, *scopes: str) -> None:
        """Accept a bearer token from now on. Only its hash is sent."""
        self._send("PUT", "/_sandbox/tokens", asks.Token(sha256=sha256_of(token), scopes=scopes))

    def remove_token(self, token: str) -> None:
        """Accept a bearer token no longer."""
        self._send("DELETE", f"/_sandbox/tokens/{sha256_of(token)}")

    def order_trouble(self, fault: Fault) -> None:
        """Make the next calls that match go wrong."""
        self._send("POST", "/_sandbox/faults", fault)

    def calm(self) -> None:
        """Forget all trouble that was ordered."""
        self._send("DELETE", "/_sandbox/faults")

    def change(self, change: asks.Change) -> None:
        """Move a resource's version on, as somebody else's change would."""
        self._send("POST", "/_sandbox/changes", change)

    def clear(self) -> None:
        """Forget everything but the tokens."""
        self._send("DELETE", "/_sandbox")

    def books(self, order_id: str | None = None) -> list[dict[str, Any]]:
        """Every effect there ever was, in order, or those of one order.

        An entry has `service`, `operation`, `key`, `order_id`, `resource`, `parameters` and `time` (ISO 8601, UTC).
        """
        query = f"?{urlencode({'order_id': order_id})}" if order_id else ""
        return list(self._send("GET", f"/books{query}")["entries"])

    def _send(self, method: str, path: str, body: BaseModel | None = None) -> Mapping[str, Any]:
        try:
            answer = self._pool.request(
                method,
                self._url + path,
                body=body.model_dump_json().encode() if body else None,
                headers={
                    "Authorization": f"Bearer {self._token}",
                    "Content-Type": "application/json",
                },
            )
        except urllib3.exceptions.HTTPError as error:
            raise SceneFailed(f"{method} {path}: no answer ({type(error).__name__})") from error
        if answer.status != _OK:
            raise SceneFailed(f"{method} {path}: HTTP {answer.status} {answer.data[:300]!r}")
        told: Mapping[str, Any] = json.loads(answer.data)
        return told
