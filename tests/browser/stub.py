"""The page over an API of the test's own: the real files with their real headers, every request answered or recorded."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import BrowserContext, ConsoleMessage, Page, Request, Route

from functions.handlers import console

AUTH = "https://auth.example.com"
ORIGIN = "http://127.0.0.1:9555"
BASE = f"{ORIGIN}/under/a/path/$default"
Body = dict[str, Any]
Answer = tuple[int, Body | str]


@dataclass
class Stub:
    """`answers` holds what the API says, by method and path; a function is asked anew each time.

    What is said elsewhere, by the sign-in, stands there by its whole address.
    """

    context: BrowserContext
    answers: dict[tuple[str, str], Answer | Callable[[Request], Answer | None]] = field(
        default_factory=dict
    )
    asked: list[tuple[str, str, str | None]] = field(default_factory=list)
    """Method, path and query, body of every call of the API."""
    strays: list[str] = field(default_factory=list)
    """Requests that nobody should have made."""
    troubles: list[str] = field(default_factory=list)
    """What the browser complained of: scripts that failed, policies that were broken."""
    page: Page = field(init=False)

    def __post_init__(self) -> None:
        self.context.route("**/*", self._answer)
        self.page = self.context.new_page()
        self.page.on("pageerror", lambda error: self.troubles.append(str(error)))
        self.page.on("dialog", lambda dialog: self.troubles.append(f"dialog {dialog.message}"))
        self.page.on("console", self._heard)

    def says(self, path: str, body: Body | str, status: int = 200, method: str = "GET") -> None:
        """Have the API answer this."""
        self.answers[method, path] = (status, body)

    def refuses(
        self, path: str, status: int, code: str, message: str, *, method: str = "GET", **more: Any
    ) -> None:
        """Have the API answer with a problem."""
        problem = {"code": code, "pointer": "", "step": None, "message": message}
        body = {"status": status, "detail": message, "problems": [{**problem, "hint": "A hint."}]}
        self.says(path, {**body, **more}, status, method)

    def sign_in(self, name: str = "ann", *groups: str, seconds: int = 3600) -> None:
        """Somebody is signed in at the next load of the page."""
        claims = {"username": name, "cognito:groups": list(groups or ("approvers", "operators"))}
        payload = base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")
        held = {"access": f"h.{payload}.s", "expires": int((time.time() + seconds) * 1000)}
        kept = json.dumps({"sagaplane.token": json.dumps(held)})
        self.context.add_init_script(
            f"for (const [k, v] of Object.entries({kept})) sessionStorage.setItem(k, v);"
        )

    def open(self, view: str = "#/") -> Page:
        """Load the page at a view."""
        self.page.goto(f"{BASE}/console{view}")
        return self.page

    def _answer(self, route: Route) -> None:
        request = route.request
        parts = urlsplit(request.url)
        elsewhere = self.answers.get((request.method, request.url.partition("?")[0]))
        if isinstance(elsewhere, tuple):
            self.asked.append((request.method, request.url, request.post_data))
            cors = {"access-control-allow-origin": ORIGIN}
            route.fulfill(status=elsewhere[0], json=elsewhere[1], headers=cors)
            return
        if not request.url.startswith(f"{BASE}/"):
            self.strays.append(request.url)
            route.abort()
            return
        path = parts.path.removeprefix(urlsplit(BASE).path)
        if path == "/console" or path.startswith("/console/"):
            self._file(route, path.removeprefix("/console").removeprefix("/"))
        else:
            self._api(route, path, parts.query)

    def _file(self, route: Route, name: str) -> None:
        event = {"pathParameters": {"file": name}, "headers": {}} if name else {"headers": {}}
        answer = console.handler(event, None)
        if answer["statusCode"] != 200:
            self.strays.append(route.request.url)
        route.fulfill(status=answer["statusCode"], headers=answer["headers"], body=answer["body"])

    def _api(self, route: Route, path: str, query: str) -> None:
        request = route.request
        self.asked.append((request.method, f"{path}?{query}" if query else path, request.post_data))
        known = self.answers.get((request.method, path))
        answer = known(request) if callable(known) else known
        if answer is None:
            if known is None:
                self.strays.append(request.url)
            route.abort()
            return
        status, body = answer
        text = body if isinstance(body, str) else json.dumps(body)
        route.fulfill(status=status, content_type="application/json", body=text)

    def _heard(self, message: ConsoleMessage) -> None:
        # A refused call is told to the console by the browser itself.
        if message.type == "error" and "Failed to load resource" not in message.text:
            self.troubles.append(message.text)

    def posted(self, path: str) -> list[Body]:
        """The bodies that were sent there."""
        return [
            json.loads(b or "{}") for method, p, b in self.asked if (method, p) == ("POST", path)
        ]

    def queries(self, path: str) -> list[dict[str, list[str]]]:
        """The queries with which it was asked for."""
        found = [urlsplit(p) for method, p, _ in self.asked if method == "GET"]
        return [parse_qs(parts.query) for parts in found if parts.path == path]
