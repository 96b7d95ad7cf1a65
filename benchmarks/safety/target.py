"""The one target: it knows no idempotency keys, counts its effects, and kills whoever causes the first one.

The blow falls when the effect exists and before the caller has heard of it: exactly between the effect and its record.
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

HOST = "127.0.0.1"


@dataclass(slots=True)
class Books:
    """Effects by the reference that the caller wrote on them. A reference is a remark, not a key: nothing is refused."""

    effects: Counter[str] = field(default_factory=Counter)
    kills: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def enter(self, reference: str) -> int:
        """One more effect; answers how many there are of that reference by now."""
        with self._lock:
            self.effects[reference] += 1
            return self.effects[reference]

    def kill(self, pid: int) -> None:
        """End a process the way that leaves it no word: SIGKILL."""
        with self._lock:
            self.kills += 1
        os.kill(pid, signal.SIGKILL)


@contextmanager
def serving() -> Iterator[tuple[str, Books]]:
    """The target on 127.0.0.1 until the block ends: its address, which only our own workers know, and its books."""
    books, secret = Books(), secrets.token_urlsafe(16)
    server = ThreadingHTTPServer((HOST, 0), _handler(books, secret))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://{HOST}:{server.server_port}/{secret}", books
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _handler(books: Books, secret: str) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if self.path != f"/{secret}/effects":
                return self._say(HTTPStatus.NOT_FOUND, {})
            number = books.enter(asked["reference"])
            if number == 1:
                return books.kill(asked["pid"])
            return self._say(HTTPStatus.CREATED, {"id": f"{asked['reference']}-{number}"})

        def do_GET(self) -> None:
            asked = urlsplit(self.path)
            if asked.path != f"/{secret}/effects":
                return self._say(HTTPStatus.NOT_FOUND, {})
            reference = parse_qs(asked.query)["reference"][0]
            found = [f"{reference}-{n + 1}" for n in range(books.effects[reference])]
            return self._say(HTTPStatus.OK, {"ids": found})

        def _say(self, status: HTTPStatus, body: dict[str, Any]) -> None:
            text = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    return Handler
