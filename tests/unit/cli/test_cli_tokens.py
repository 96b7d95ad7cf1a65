"""Signing in: PKCE, the state, the callback, and where tokens may travel."""

from __future__ import annotations

import base64
import contextlib
import threading
from collections.abc import Iterator
from http.client import HTTPConnection
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from cli import tokens
from cli.callback import Listener
from cli.errors import NotSignedIn, Stop, Unreachable
from cli.forms import sign_in_form
from cli.http import checked_url
from cli.tokens import SignIn, Tokens
from tests.unit.cli.conftest import AUTH, FakeApi, token

GRANTED = {"access_token": "a", "refresh_token": "r", "expires_in": 3600}
PAGE = """<form action="/search"><input type=text name=q></form>
<form method="POST" action="/login"><input type="hidden" name="state" value="{state}">
<input type="hidden" name="_csrf" value="a&amp;b"><input type="text" name="username">
<input type="password" name="password"></form>"""


def form(request: Any) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(request.content.decode()).items()}


def test_the_challenge_is_s256_of_the_verifier_as_in_rfc_7636_appendix_b() -> None:
    attempt = SignIn(AUTH, "people", verifier="dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
    assert attempt.challenge == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"


def test_the_sign_in_page_is_asked_for_a_code_with_a_challenge_and_a_state() -> None:
    attempt = SignIn(AUTH, "people")
    parts = urlsplit(attempt.url)
    assert parse_qs(parts.query) == {
        "response_type": ["code"],
        "client_id": ["people"],
        "redirect_uri": ["http://127.0.0.1:8912/callback"],
        "scope": ["openid profile"],
        "state": [attempt.state],
        "code_challenge": [attempt.challenge],
        "code_challenge_method": ["S256"],
        "prompt": ["login"],
    }
    assert f"{parts.scheme}://{parts.netloc}{parts.path}" == f"{AUTH}/oauth2/authorize"
    assert attempt.verifier not in attempt.url


def test_every_sign_in_has_a_state_and_a_verifier_of_its_own() -> None:
    first, second = SignIn(AUTH, "people"), SignIn(AUTH, "people")
    assert first.state != second.state
    assert first.verifier != second.verifier
    assert 43 <= len(first.verifier) <= 128


@pytest.mark.parametrize(
    "query",
    ["code=c&state=another", "code=c", "code=c&state=", "state={state}", "error=denied", ""],
)
def test_an_answer_with_another_state_or_without_a_code_is_refused(query: str) -> None:
    attempt = SignIn(AUTH, "people")
    with pytest.raises(NotSignedIn):
        attempt.code(query.format(state=attempt.state))


def test_the_code_is_exchanged_with_the_verifier(api: FakeApi) -> None:
    api.on("POST /oauth2/token", GRANTED)
    attempt = SignIn(AUTH, "people")
    granted = attempt.exchange(attempt.code(f"code=c&state={attempt.state}"))
    assert (granted.access, granted.refresh) == ("a", "r")
    assert form(api.asked[0]) == {
        "grant_type": "authorization_code",
        "client_id": "people",
        "redirect_uri": "http://127.0.0.1:8912/callback",
        "code": "c",
        "code_verifier": attempt.verifier,
    }


def test_an_agent_authenticates_with_its_secret_in_the_header_and_not_in_the_address(
    api: FakeApi,
) -> None:
    api.on("POST /oauth2/token", GRANTED)
    tokens.agent_tokens(AUTH, "client", "s/e+c:r")
    basic = base64.b64decode(api.asked[0].headers["authorization"].removeprefix("Basic "))
    assert basic == b"client:s%2Fe%2Bc%3Ar"
    assert form(api.asked[0]) == {"grant_type": "client_credentials"}


def test_a_refreshed_sign_in_keeps_its_refresh_token_where_no_new_one_comes(api: FakeApi) -> None:
    api.on("POST /oauth2/token", {"access_token": "b", "expires_in": 60})
    fresh = tokens.refreshed(AUTH, "people", Tokens("a", 0, "r"))
    assert (fresh.access, fresh.refresh) == ("b", "r")


@pytest.mark.parametrize(
    ("answer", "raised"),
    [
        ((400, {"error": "invalid_grant", "error_description": "\x1b[31mno"}), NotSignedIn),
        ((200, {"something": "else"}), NotSignedIn),
        ((200, "<html>"), Unreachable),
    ],
)
def test_a_sign_in_that_is_refused_is_said_without_a_traceback_or_an_escape(
    api: FakeApi, answer: Any, raised: type[Stop]
) -> None:
    api.on("POST /oauth2/token", answer)
    with pytest.raises(raised) as refused:
        tokens.agent_tokens(AUTH, "client", "secret")
    assert "\x1b" not in str(refused.value)
    assert "secret" not in str(refused.value)


def test_no_token_is_in_what_python_shows_of_it() -> None:
    held = Tokens("access-token", 1, "refresh-token")
    assert "token" not in repr(held).replace("Tokens", "")
    assert SignIn(AUTH, "people", verifier="v" * 43).verifier not in repr(SignIn(AUTH, "people"))


@pytest.mark.parametrize("url", ["http://api.example", "ftp://api.example", "api.example", ""])
def test_tokens_travel_over_tls_alone(url: str) -> None:
    with pytest.raises(Stop):
        checked_url(url, "the API")


@pytest.mark.parametrize(
    "url", ["https://api.example/", "http://127.0.0.1:4566/x", "http://a.localhost:4566"]
)
def test_this_machine_itself_may_be_asked_without(url: str) -> None:
    assert checked_url(url, "the API") == url.rstrip("/")


def test_claims_are_read_without_being_believed() -> None:
    assert tokens.claims(token(username="ann")) == {"username": "ann"}
    assert tokens.claims("no token") == {}
    assert tokens.claims("a.!!!.c") == {}


def test_a_script_signs_in_through_the_hosted_page_as_a_browser_would(api: FakeApi) -> None:
    attempts: list[str] = []

    def answer(request: Any) -> Any:
        import httpx  # noqa: PLC0415 - the answer's type

        api.asked.append(request)
        if request.url.path == "/oauth2/authorize":
            attempts.append(request.url.params["state"])
            return httpx.Response(200, text=PAGE.format(state=attempts[0]))
        if request.url.path == "/login":
            location = f"http://127.0.0.1:8912/callback?code=c&state={form(request)['state']}"
            return httpx.Response(302, headers={"location": location})
        return httpx.Response(200, json=GRANTED)

    api.handle = answer  # type: ignore[method-assign]
    granted = tokens.sign_in(AUTH, "people", "ann", "pass")
    assert granted.access == "a"
    assert [r.url.path for r in api.asked] == ["/oauth2/authorize", "/login", "/oauth2/token"]
    sent = form(api.asked[1])
    assert sent == {"state": attempts[0], "_csrf": "a&b", "username": "ann", "password": "pass"}


@pytest.mark.parametrize(
    "login", [(200, "wrong password"), (302, "elsewhere"), (500, {"message": "down"})]
)
def test_a_password_that_the_page_does_not_accept_signs_nobody_in(api: FakeApi, login: Any) -> None:
    api.on("GET /oauth2/authorize", PAGE.format(state="s"))
    api.on("POST /login", login)
    with pytest.raises(NotSignedIn, match="did not accept ann"):
        tokens.sign_in(AUTH, "people", "ann", "wrong")
    assert "POST /oauth2/token" not in api.calls()


def test_only_a_form_with_a_name_and_a_password_is_the_sign_in_form() -> None:
    found = sign_in_form(PAGE.format(state="s"))
    assert found is not None
    assert (found.action, found.username, found.password) == ("/login", "username", "password")
    assert sign_in_form("<form><input name=q></form>") is None


@contextlib.contextmanager
def listening() -> Iterator[tuple[SignIn, Listener, int]]:
    attempt = SignIn(AUTH, "people", "http://127.0.0.1:0/callback")
    with Listener(attempt) as listener:
        yield attempt, listener, listener._server.server_address[1]


def visit(port: int, *targets: str) -> tuple[threading.Thread, list[int]]:
    """A browser that follows these addresses, one after the other."""
    seen: list[int] = []

    def go() -> None:
        for target in targets:
            browser = HTTPConnection("127.0.0.1", port, timeout=5)
            browser.request("GET", target)
            answer = browser.getresponse()
            assert b"token" not in answer.read()
            seen.append(answer.status)
            browser.close()

    thread = threading.Thread(target=go)
    thread.start()
    return thread, seen


def test_the_browser_comes_back_with_the_code_and_other_addresses_do_not_count() -> None:
    with listening() as (attempt, listener, port):
        thread, seen = visit(port, "/favicon.ico", f"/callback?code=c&state={attempt.state}")
        assert listener.wait(5) == "c"
        thread.join()
    assert seen == [404, 200]


def test_a_callback_with_another_state_is_refused_and_nobody_is_signed_in() -> None:
    with listening() as (_, listener, port):
        thread, seen = visit(port, "/callback?code=c&state=forged")
        with pytest.raises(NotSignedIn, match="another sign-in"):
            listener.wait(5)
        thread.join()
    assert seen == [400]


def test_nobody_waits_for_a_browser_for_ever() -> None:
    with listening() as (_, listener, _), pytest.raises(NotSignedIn, match="within the time"):
        listener.wait(0.01)


def test_a_port_that_is_taken_is_said_in_two_lines() -> None:
    with listening() as (_, _, port):
        attempt = SignIn(AUTH, "people", f"http://127.0.0.1:{port}/callback")
        with pytest.raises(Stop, match=f"Port {port} of this machine is taken"):
            Listener(attempt)


def test_the_callback_is_open_to_this_machine_alone() -> None:
    with listening() as (_, listener, _):
        assert listener._server.server_address[0] == "127.0.0.1"
