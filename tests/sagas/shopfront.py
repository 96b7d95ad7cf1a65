"""The sandbox's shop at the end of the adapters' HTTP calls, without sockets: silence costs no time here.

A call that takes longer than its caller waits is lost to the caller at once, on the test's clock. A slow one is parked
where it stands in the shop, and lands when the test says so, as a call does that was long on its way.
"""

from __future__ import annotations

import io
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

import urllib3
from urllib3 import exceptions as failures

from functions.memory.world import TestClock
from functions.sandbox import asks
from functions.sandbox.access import sha256_of
from functions.sandbox.api import Api
from functions.sandbox.faults import Fault, Trouble
from functions.sandbox.shop import Shop
from functions.sandbox.stage import Stage as Scene
from functions.sandbox.store import MemoryStore
from tests.sagas.lambdas import Killed

SERVICES = ("inventory", "payments", "shipping", "mail", "orders")
URL = "http://shop.test"
ADMIN = "admin-of-the-shop"
_OPERATIONS = {
    "reservations": "reserve",
    "authorizations": "authorize",
    "captures": "capture",
    "shipments": "ship",
    "messages": "send",
}


def token(service: str) -> str:
    """The bearer token of a service."""
    return f"token-of-{service}"


@dataclass(frozen=True, slots=True)
class Asked:
    """One HTTP call that an adapter made, and what became of it."""

    service: str
    operation: str
    key: str | None
    authorization: str


Look = Callable[[Asked], None]


class Shopfront:
    """A shop, its scene, and the transport in front of it."""

    def __init__(self, clock: TestClock) -> None:
        self.clock = clock
        self._now = lambda: datetime.fromtimestamp(clock.now() / 1000, tz=UTC)
        self._here = threading.local()
        self.shop = Shop(MemoryStore(), now=self._now, sleep=self._sleep)
        self.scene = Scene(self.shop.store)
        self._api = Api(self.shop, sha256_of(ADMIN))
        self.asked: list[Asked] = []
        self.before: list[Look] = []
        self.after: list[Look] = []
        self._parked: list[threading.Event] = []
        self._late: list[threading.Thread] = []
        for service in SERVICES:
            self.accept(token(service), service)

    def accept(self, bearer: str, *scopes: str) -> None:
        """Let a bearer token in."""
        self.scene.put_token(asks.Token(sha256=sha256_of(bearer), scopes=scopes))

    def refuse(self, bearer: str) -> None:
        """Let it in no longer."""
        self.scene.remove_token(sha256_of(bearer))

    def trouble(
        self, fault: Trouble, service: str = "*", operation: str = "*", **more: Any
    ) -> None:
        """Order trouble for the next calls that match."""
        self.scene.order_trouble(Fault(fault=fault, service=service, operation=operation, **more))

    def kill_caller(self, operation: str, *, times: int = 1, done: bool = True) -> None:
        """The next callers of an operation die: after it was done, or before it was even asked for."""
        left = [times]

        def look(asked: Asked) -> None:
            if asked.operation == operation and left[0] > 0:
                left[0] -= 1
                raise Killed

        (self.after if done else self.before).append(look)

    def forget_keys(self) -> None:
        """The target breaks its promise, and no longer knows any idempotency key."""
        store = self.shop.store
        store.remove([key.ref for key in store.every("key")])

    def books(self, order_id: str = "4471") -> list[str]:
        """Every effect on an order, in order."""
        return [entry["operation"] for entry in self.shop.books(order_id)]

    def keys(self, operation: str) -> list[str]:
        """The keys under which an operation was done."""
        return [e["key"] for e in self.shop.books() if e["operation"] == operation]

    def calls(self, operation: str) -> list[Asked]:
        """Every call of an operation, whatever came of it."""
        return [each for each in self.asked if each.operation == operation]

    def land_late_calls(self) -> None:
        """What was parked in the shop goes on now."""
        for event in self._parked:
            event.set()
        for thread in self._late:
            thread.join(timeout=5)
        self._parked.clear()
        self._late.clear()

    def request(self, method: str, url: str, **sent: Any) -> urllib3.HTTPResponse:
        """What urllib3's pool would do: an answer, or its error."""
        asked = _asked(method, urlsplit(url).path, sent["headers"])
        self.asked.append(asked)
        for look in [*self.before]:
            look(asked)
        answer = self._answered(method, urlsplit(url).path, sent)
        for look in [*self.after]:
            look(asked)
        return urllib3.HTTPResponse(
            body=io.BytesIO((answer.get("body") or "").encode()),
            status=answer["statusCode"],
            preload_content=False,
        )

    def _answered(self, method: str, path: str, sent: Mapping[str, Any]) -> dict[str, Any]:
        timeout = float(sent["timeout"].total)
        answers: list[dict[str, Any]] = []
        caller_left, over = threading.Event(), threading.Event()

        def handle() -> None:
            self._here.timeout, self._here.caller_left = timeout, caller_left
            try:
                answers.append(self._api(_event(method, path, sent), None))
            finally:
                over.set()
                caller_left.set()

        thread = threading.Thread(target=handle, daemon=True)
        thread.start()
        caller_left.wait()
        if over.is_set():
            return answers[0]
        self._late.append(thread)
        self.clock.pass_(timeout)
        raise failures.ReadTimeoutError(_NO_POOL, path, "read timed out")

    def _sleep(self, seconds: float) -> None:
        """How the shop waits: no longer than the caller does, on the clock; beyond that, until the test lets it go on."""
        if seconds < self._here.timeout:
            self.clock.pass_(seconds)
            return
        parked = threading.Event()
        self._parked.append(parked)
        self._here.caller_left.set()
        parked.wait()


_NO_POOL: Any = None


def _asked(method: str, path: str, headers: Mapping[str, str]) -> Asked:
    service, *rest = path.strip("/").split("/")
    operation = _OPERATIONS.get(rest[-1], rest[-1])
    key = headers.get("Idempotency-Key")
    if rest[0] == "keys":
        operation, key = ("status" if method == "GET" else "cancel"), rest[-1]
    elif method == "GET":
        operation = "read"
    return Asked(service, operation, key, headers["Authorization"])


def _event(method: str, path: str, sent: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": "",
        "headers": {name.lower(): value for name, value in sent["headers"].items()},
        "requestContext": {
            "stage": "$default",
            "http": {"method": method, "path": path, "sourceIp": "127.0.0.1"},
        },
        "body": (sent.get("body") or b"").decode(),
        "isBase64Encoded": False,
    }
