"""Getting tokens from Cognito: people with an authorization code and PKCE, agents with their client's credentials.

Nothing here prints, stores or verifies a token: the API verifies, `profiles.py` stores.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import secrets
import time
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import parse_qs, quote, urlencode, urljoin, urlsplit

import httpx

from cli.errors import NotSignedIn, Unreachable
from cli.forms import Form, sign_in_form
from cli.http import checked_url, http_client, reaching
from cli.text import clean

REDIRECT_URI = "http://127.0.0.1:8912/callback"
_SCOPE = "openid profile"
_EARLY = 30
_OK = 200
_REDIRECTS = 5


@dataclass(frozen=True, slots=True)
class Tokens:
    """An access token, until when it holds (seconds since the epoch), and for people what renews it."""

    access: str = field(repr=False)
    expires_at: int
    refresh: str | None = field(default=None, repr=False)

    def stale(self, now: float | None = None) -> bool:
        """Whether it has expired, or is about to."""
        return (time.time() if now is None else now) > self.expires_at - _EARLY


@dataclass(frozen=True, slots=True)
class SignIn:
    """One attempt of a person to sign in: what only this process knows until the code comes back."""

    auth_url: str
    client_id: str
    redirect_uri: str = REDIRECT_URI
    state: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    verifier: str = field(default_factory=lambda: secrets.token_urlsafe(64), repr=False)

    @property
    def challenge(self) -> str:
        """S256 of the verifier (RFC 7636)."""
        return _unpadded(hashlib.sha256(self.verifier.encode("ascii")).digest())

    @property
    def url(self) -> str:
        """Where the person signs in. They are asked who they are even if somebody signed in here before."""
        query = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": self.redirect_uri,
            "scope": _SCOPE,
            "state": self.state,
            "code_challenge": self.challenge,
            "code_challenge_method": "S256",
            "prompt": "login",
        }
        return f"{checked_url(self.auth_url, 'the sign-in')}/oauth2/authorize?{urlencode(query)}"

    def code(self, query: str) -> str:
        """The code out of the callback's query. Raises NotSignedIn for an answer to another sign-in, or a refusal."""
        said = {name: values[0] for name, values in parse_qs(query).items()}
        if "error" in said:
            why = said.get("error_description") or said["error"]
            raise NotSignedIn(f"The sign-in was refused: {clean(why)[:200]}")
        if not secrets.compare_digest(said.get("state", "").encode(), self.state.encode()):
            raise NotSignedIn("The answer belongs to another sign-in; nothing was signed in.")
        if not said.get("code"):
            raise NotSignedIn("The sign-in gave no code; nothing was signed in.")
        return said["code"]

    def exchange(self, code: str) -> Tokens:
        """The tokens for the code."""
        return _token(
            self.auth_url,
            {
                "grant_type": "authorization_code",
                "client_id": self.client_id,
                "redirect_uri": self.redirect_uri,
                "code": code,
                "code_verifier": self.verifier,
            },
        )


def agent_tokens(auth_url: str, client_id: str, client_secret: str) -> Tokens:
    """An agent's token, with all the scopes that its client has."""
    basic = f"{quote(client_id, safe='')}:{quote(client_secret, safe='')}"
    return _token(
        auth_url,
        {"grant_type": "client_credentials"},
        {"authorization": f"Basic {base64.b64encode(basic.encode()).decode()}"},
    )


def refreshed(auth_url: str, client_id: str, tokens: Tokens) -> Tokens:
    """A person's next tokens. Raises NotSignedIn when the sign-in is over."""
    fields = {
        "grant_type": "refresh_token",
        "client_id": client_id,
        "refresh_token": tokens.refresh or "",
    }
    fresh = _token(auth_url, fields)
    return fresh if fresh.refresh else replace(fresh, refresh=tokens.refresh)


def revoke(auth_url: str, client_id: str, refresh_token: str) -> bool:
    """End a person's sign-in at Cognito too. False where that could not be done."""
    url = f"{checked_url(auth_url, 'the sign-in')}/oauth2/revoke"
    try:
        with reaching(url), http_client(url) as http:
            said = http.post(url, data={"token": refresh_token, "client_id": client_id})
    except Unreachable:
        return False
    return said.status_code == _OK


def sign_in(
    auth_url: str,
    client_id: str,
    username: str,
    password: str,
    redirect_uri: str = REDIRECT_URI,
) -> Tokens:
    """Sign in through the hosted page as a browser would: for scripts on the local stage, with its seeded users.

    Raises NotSignedIn when the page does not accept them.
    """
    attempt = SignIn(auth_url, client_id, redirect_uri)
    with reaching(auth_url), http_client(auth_url) as http:
        page = _followed(http, attempt.url, redirect_uri)
        form = sign_in_form(page.text)
        if form is None:
            raise NotSignedIn(f"{auth_url} shows no sign-in form for this client.")
        answer = http.post(
            urljoin(str(page.url), form.action), data=_filled(form, username, password)
        )
        location = answer.headers.get("location", "")
    if urlsplit(location)._replace(query="", fragment="").geturl() != redirect_uri:
        raise NotSignedIn(f"The sign-in page did not accept {clean(username)} and the password.")
    return attempt.exchange(attempt.code(urlsplit(location).query))


def claims(token: str) -> dict[str, Any]:
    """What a token says, decoded and not verified: for showing to the person who holds it."""
    try:
        payload = token.split(".")[1]
        found = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    except (IndexError, ValueError, binascii.Error):
        return {}
    return found if isinstance(found, dict) else {}


def _followed(http: httpx.Client, url: str, redirect_uri: str) -> httpx.Response:
    page = http.get(url)
    for _ in range(_REDIRECTS):
        location = page.headers.get("location")
        if location is None or location.startswith(redirect_uri):
            break
        page = http.get(urljoin(str(page.url), location))
    return page


def _filled(form: Form, username: str, password: str) -> dict[str, str]:
    return form.hidden | {form.username: username, form.password: password}


def _token(auth_url: str, data: dict[str, str], headers: dict[str, str] | None = None) -> Tokens:
    url = f"{checked_url(auth_url, 'the sign-in')}/oauth2/token"
    with reaching(url), http_client(url) as http:
        said = http.post(url, data=data, headers=headers)
    try:
        body = said.json()
    except ValueError:
        body = None
    if not isinstance(body, dict):
        raise Unreachable(f"{url} answered {said.status_code}, and not as a sign-in does.")
    if said.status_code != _OK or not isinstance(body.get("access_token"), str):
        why = body.get("error_description") or body.get("error") or f"status {said.status_code}"
        raise NotSignedIn(f"The sign-in was refused: {clean(why)[:200]}")
    return Tokens(
        access=body["access_token"],
        expires_at=int(time.time()) + int(body.get("expires_in", 0)),
        refresh=body.get("refresh_token"),
    )


def _unpadded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")
