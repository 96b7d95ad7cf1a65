"""A terminal, and an API that answers what a test puts in and remembers what it was asked."""

from __future__ import annotations

import base64
import json
import os
import time
from collections.abc import Callable
from typing import Any

import httpx
import pytest
import typer.testing

from cli import profiles
from cli.main import app

API = "https://api.example"
AUTH = "https://auth.example"
Run = Callable[..., typer.testing.Result]


class FakeApi:
    """Answers in turn, the last one again and again; an exception is raised instead."""

    def __init__(self) -> None:
        self.asked: list[httpx.Request] = []
        self._answers: dict[str, list[httpx.Response | Exception]] = {}

    def on(self, call: str, *answers: object, status: int = 200) -> None:
        """What `GET /path` or `POST /path` is answered: bodies, or (status, body), or what is raised."""
        self._answers[call] = [_response(answer, status) for answer in answers]

    def handle(self, request: httpx.Request) -> httpx.Response:
        """One call."""
        # A copy: httpx sends the same request again with another token.
        self.asked.append(
            httpx.Request(
                request.method, request.url, headers=request.headers, content=request.content
            )
        )
        answers = self._answers.get(f"{request.method} {request.url.path}")
        if answers is None:
            return httpx.Response(404, json={"message": "Not Found"})
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if isinstance(answer, Exception):
            raise answer
        return httpx.Response(answer.status_code, headers=answer.headers, content=answer.content)

    def calls(self) -> list[str]:
        """What was asked, in order."""
        return [f"{r.method} {r.url.path}" for r in self.asked]


def _response(answer: object, status: int) -> httpx.Response | Exception:
    if isinstance(answer, Exception | httpx.Response):
        return answer
    if isinstance(answer, tuple):
        status, answer = answer
    if isinstance(answer, str):
        return httpx.Response(status, text=answer)
    return httpx.Response(status, json=answer)


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """Nothing of the caller's own settings, and a home of its own."""
    for name in list(os.environ):
        if name.startswith(("SAGAPLANE_", "FORCE_COLOR", "TTY_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("SAGAPLANE_LOCAL", str(tmp_path / "local"))
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> FakeApi:
    fake = FakeApi()
    monkeypatch.setattr("cli.http.new_transport", lambda: httpx.MockTransport(fake.handle))
    return fake


@pytest.fixture
def run() -> Run:
    """Run `sagaplane` with these words."""
    runner = typer.testing.CliRunner()

    def running(*words: str, typed: str | bytes | None = None) -> typer.testing.Result:
        return runner.invoke(app, list(words), input=typed)

    return running


def token(**claims: Any) -> str:
    """Something that looks like a token."""
    body = base64.urlsafe_b64encode(json.dumps(claims).encode()).rstrip(b"=").decode()
    return f"e30.{body}.c2lnbmVk"


def signed_in(name: str = "default", **changes: Any) -> profiles.Profile:
    """A person's profile whose token holds for an hour."""
    known: dict[str, Any] = {
        "name": name,
        "kind": "person",
        "api_url": API,
        "auth_url": AUTH,
        "client_id": "people",
        "access": token(username="ann", **{"cognito:groups": ["approvers"]}),
        "expires_at": int(time.time()) + 3600,
        "refresh": "refresh-token",
    }
    profile = profiles.Profile(**{**known, **changes})
    profiles.save(profile)
    return profile


@pytest.fixture
def person() -> profiles.Profile:
    return signed_in()
