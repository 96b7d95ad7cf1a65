"""How this command line speaks HTTP: one place for time limits, proxies and what an unreachable address is called."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx

from cli.errors import Stop, Unreachable

TIMEOUT = 30.0
_LOOPBACK = {"localhost", "127.0.0.1", "::1"}


def is_loopback(url: str) -> bool:
    """Whether the address is this machine's own."""
    host = urlsplit(url).hostname or ""
    return host in _LOOPBACK or host.endswith(".localhost")


def checked_url(url: str, what: str) -> str:
    """The address without its last slash. Tokens travel over TLS, except to this machine itself."""
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise Stop(f"“{url}” is no address of {what}: it begins with https://")
    if parts.scheme == "http" and not is_loopback(url):
        raise Stop(f"{what} is at {url}, which is not encrypted: tokens are only sent over https.")
    return url.rstrip("/")


def new_transport() -> httpx.BaseTransport | None:
    """None is httpx's own; the tests put theirs here."""
    return None


def http_client(url: str, auth: httpx.Auth | None = None) -> httpx.Client:
    """A client for this address. It follows no redirect, so that no token goes elsewhere."""
    return httpx.Client(
        timeout=TIMEOUT,
        transport=new_transport(),
        auth=auth,
        trust_env=not is_loopback(url),
        headers={"user-agent": "sagaplane-cli"},
    )


@contextlib.contextmanager
def reaching(url: str) -> Iterator[None]:
    """Turns what can go wrong on the way into one clear line."""
    try:
        yield
    except httpx.TimeoutException:
        raise Unreachable(
            f"{url} did not answer in time. Asking again is safe: nothing is done twice."
        ) from None
    except httpx.HTTPError as error:
        reason = str(error) or type(error).__name__
        raise Unreachable(f"Cannot reach {url}: {reason}") from None
