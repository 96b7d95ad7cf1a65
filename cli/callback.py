"""Waits on this machine for the browser to come back from the sign-in with its code."""

from __future__ import annotations

import http.server
import time
from http import HTTPStatus
from typing import Self
from urllib.parse import urlsplit

from cli.errors import NotSignedIn, Stop
from cli.tokens import SignIn

_PATIENCE = 300.0
_DONE = b"<!doctype html><title>sagaplane</title><p>Signed in. You may close this page and go back to the terminal."
_FAILED = b"<!doctype html><title>sagaplane</title><p>Not signed in. The terminal says why."


class Listener:
    """Listens at the redirect address, from before the browser is sent away until the answer is there."""

    def __init__(self, attempt: SignIn) -> None:
        self._attempt = attempt
        where = urlsplit(attempt.redirect_uri)
        self._path = where.path
        self._answer: str | NotSignedIn | None = None
        try:
            self._server = http.server.HTTPServer(
                (where.hostname or "127.0.0.1", where.port or 0), self._handler()
            )
        except OSError as error:
            raise Stop(
                f"Port {where.port} of this machine is taken ({error.strerror}); the sign-in comes back there.",
                "Is another sign-in still open? End it, then try again.",
            ) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.server_close()

    def wait(self, patience: float = _PATIENCE) -> str:
        """The code. Raises NotSignedIn when it is refused, or `patience` seconds have passed."""
        until = time.monotonic() + patience
        while self._answer is None:
            left = until - time.monotonic()
            if left <= 0:
                raise NotSignedIn("Nobody signed in within the time; nothing was signed in.")
            self._server.timeout = min(left, 1.0)
            self._server.handle_request()
        if isinstance(self._answer, NotSignedIn):
            raise self._answer
        return self._answer

    def _came(self, target: str) -> HTTPStatus:
        parts = urlsplit(target)
        if parts.path != self._path:
            return HTTPStatus.NOT_FOUND
        try:
            self._answer = self._attempt.code(parts.query)
        except NotSignedIn as refused:
            self._answer = refused
            return HTTPStatus.BAD_REQUEST
        return HTTPStatus.OK

    def _handler(self) -> type[http.server.BaseHTTPRequestHandler]:
        came = self._came

        class Handler(http.server.BaseHTTPRequestHandler):
            timeout = 5

            def do_GET(self) -> None:
                status = came(self.path)
                body = _DONE if status is HTTPStatus.OK else _FAILED
                self.send_response(status)
                self.send_header("content-type", "text/html; charset=utf-8")
                self.send_header("content-length", str(len(body)))
                self.send_header("cache-control", "no-store")
                self.send_header("content-security-policy", "default-src 'none'")
                self.send_header("referrer-policy", "no-referrer")
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
                """Say nothing: the address holds the code."""

        return Handler
