"""Agents and people as they really call: over HTTP, with their own tokens, or from a terminal."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import httpx

from infra.local.place import ROOT

_TIMEOUT = 30.0


@dataclass(frozen=True, slots=True)
class Answer:
    """What the API said."""

    status: int
    body: dict[str, Any]

    @property
    def codes(self) -> set[str]:
        """The codes of the problems, if that is what was said."""
        return {p["code"] for p in self.body.get("problems", [])}


@dataclass(frozen=True, slots=True)
class Caller:
    """One token at one API."""

    name: str
    api: str
    token: str

    def get(self, path: str, **query: str) -> Answer:
        """Read something."""
        return self._call("GET", path, params=query)

    def post(self, path: str, body: Any = None) -> Answer:
        """Ask for something."""
        return self._call("POST", path, json=body if body is not None else {})

    def _call(self, method: str, path: str, **more: Any) -> Answer:
        headers = {"Authorization": f"Bearer {self.token}"}
        answer = httpx.request(method, self.api + path, headers=headers, timeout=_TIMEOUT, **more)
        return Answer(answer.status_code, answer.json())


@dataclass(frozen=True, slots=True)
class Terminal:
    """The `sagaplane` command as one signed-in person uses it."""

    profile: str
    environment: dict[str, str]

    def run(self, *words: str) -> Any:
        """Run a command with --json; answers what it printed. Raises CalledProcessError."""
        ran = subprocess.run(
            [sys.executable, "-m", "cli.main", *words, "--json"],
            cwd=ROOT,
            env={**os.environ, **self.environment, "SAGAPLANE_PROFILE": self.profile},
            check=True,
            capture_output=True,
            text=True,
        )
        return json.loads(ran.stdout)
