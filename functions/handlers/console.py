"""The people's page: a few files, and where to sign in. Anybody may read them; what they show comes from the API.

It needs no permission, no token and no library. Only what lies in the folder at start-up can be asked for, by its exact name.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

STATIC = Path(__file__).resolve().parent.parent / "console" / "static"
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
_PAGE = "index.html"
_CONFIG = "config.json"


@dataclass(frozen=True, slots=True)
class File:
    """What is sent, as what, and the digest by which a browser knows that it has it already."""

    text: str
    type: str

    @property
    def etag(self) -> str:
        """A strong validator (RFC 9110)."""
        return f'"{hashlib.sha256(self.text.encode()).hexdigest()[:32]}"'


def handler(event: Mapping[str, Any], _context: object) -> dict[str, Any]:
    """Entry of the page's function: 200, 304 or 404, all with the same strict headers."""
    name = (event.get("pathParameters") or {}).get("file") or _PAGE
    found = _files().get(name)
    if found is None:
        return _answer(404, File("There is no such file.\n", "text/plain; charset=utf-8"))
    if _has(event, found.etag):
        return _answer(304, File("", found.type), etag=found.etag)
    return _answer(200, found, etag=found.etag)


@cache
def _files() -> dict[str, File]:
    """Everything that can be asked for, by name."""
    files = {
        path.name: File(path.read_text(encoding="utf-8"), _TYPES[path.suffix])
        for path in STATIC.iterdir()
        if path.suffix in _TYPES
    }
    config = {"auth_url": os.environ["AUTH_URL"], "client_id": os.environ["CLIENT_ID"]}
    return {**files, _CONFIG: File(json.dumps(config), "application/json")}


@cache
def _headers() -> dict[str, str]:
    """The page runs its own scripts and styles, talks to the API and the sign-in, and nothing else."""
    auth = urlsplit(os.environ["AUTH_URL"])
    policy = {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "img-src": "'self'",
        "connect-src": f"'self' {auth.scheme}://{auth.netloc}",
        "form-action": "'none'",
        "base-uri": "'none'",
        "frame-ancestors": "'none'",
        # Text can become markup nowhere, also not by a slip in a later change.
        "require-trusted-types-for": "'script'",
        "trusted-types": "'none'",
    }
    return {
        "content-security-policy": "; ".join(f"{name} {value}" for name, value in policy.items()),
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
        "strict-transport-security": "max-age=63072000",
        # Asked for again each time, and answered with 304: a deployment is seen at once.
        "cache-control": "no-cache",
    }


def _answer(status: int, file: File, *, etag: str | None = None) -> dict[str, Any]:
    headers = {**_headers(), "content-type": file.type, **({"etag": etag} if etag else {})}
    return {"statusCode": status, "headers": headers, "body": file.text, "isBase64Encoded": False}


def _has(event: Mapping[str, Any], etag: str) -> bool:
    held = (event.get("headers") or {}).get("if-none-match", "")
    return any(tag.strip().removeprefix("W/") in {etag, "*"} for tag in held.split(","))
