"""A Lambda handler behind a real HTTP server in this process: what adapters speak to in tests, and anyone on a laptop.

Each request becomes the event that an HTTP API (payload 2.0) would send.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import unquote, urlsplit

Handler = Callable[[dict[str, Any], Any], dict[str, Any]]
_LONGEST_BODY = 1024 * 1024


@contextmanager
def serving(handler: Handler) -> Iterator[str]:
    """Serve on a free port of 127.0.0.1 until the block ends; yields the address. Each request has its own thread."""

    class Requests(BaseHTTPRequestHandler):
        def respond(self) -> None:
            length = min(int(self.headers.get("Content-Length", 0)), _LONGEST_BODY)
            answer = handler(_event(self, self.rfile.read(length)), None)
            body = (answer.get("body") or "").encode()
            with suppress(ConnectionError):  # the caller did not wait
                self.send_response(answer["statusCode"])
                for name, value in (answer.get("headers") or {}).items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        do_GET = do_POST = do_PUT = do_DELETE = respond  # noqa: N815 the names that http.server looks for

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Requests)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _event(request: BaseHTTPRequestHandler, body: bytes) -> dict[str, Any]:
    address = urlsplit(request.path)
    query = dict(part.partition("=")[::2] for part in address.query.split("&") if part)
    return {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": address.path,
        "rawQueryString": address.query,
        "queryStringParameters": {name: unquote(value) for name, value in query.items()},
        "headers": {name.lower(): value for name, value in request.headers.items()},
        "requestContext": {
            "stage": "$default",
            "http": {"method": request.command, "path": address.path, "sourceIp": "127.0.0.1"},
        },
        "body": body.decode("utf-8", errors="replace"),
        "isBase64Encoded": False,
    }
