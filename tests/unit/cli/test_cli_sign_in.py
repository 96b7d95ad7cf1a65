"""`login`, `logout`, `whoami`, and the profiles that they keep."""

from __future__ import annotations

import json
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self
from urllib.parse import parse_qs

import pytest

from cli import profiles, tokens
from cli.errors import NotSignedIn, Stop
from cli.exits import ExitCode
from cli.settings import deployment
from tests.unit.cli import bodies
from tests.unit.cli.conftest import API, AUTH, FakeApi, Run, signed_in, token

OUTPUTS = {
    "api_url": API,
    "auth_url": AUTH,
    "people_client_id": "people",
    "agents": {"support": "client-1"},
}
CDK = {
    "sagaplane-sandbox": {"SandboxUrl": "https://shop.example"},
    "sagaplane": {
        "ApiUrl": API,
        "AuthUrl": AUTH,
        "PeopleClientId": "people",
        "AgentClients": "support=client-1,nightly=client-2",
    },
}
TOKEN = "POST /oauth2/token"
ANN = token(username="ann", **{"cognito:groups": ["approvers", "tenant.default"]})


def grant(access: str = ANN, **more: Any) -> dict[str, Any]:
    return {"access_token": access, "expires_in": 3600, **more}


@pytest.fixture
def outputs(tmp_path: Path) -> Iterator[str]:
    path = tmp_path / "outputs.json"
    path.write_text(json.dumps(OUTPUTS))
    return str(path)


def kept() -> dict[str, int]:
    return {f.name: stat.S_IMODE(f.stat().st_mode) for f in profiles.folder().iterdir()}


def test_an_agent_signs_in_with_its_secret_from_the_environment(
    api: FakeApi, run: Run, outputs: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAGAPLANE_CLIENT_SECRET", "hush-hush")
    api.on(TOKEN, grant(token(scope="sagaplane/plans.submit")))
    shown = run("login", "--agent", "support", "--outputs", outputs, "--profile", "bot")
    assert shown.exit_code == ExitCode.OK
    assert shown.stderr.split()[:5] == ["signed", "in", "as", "agent", "support,"]
    assert api.asked[0].headers["authorization"].startswith("Basic ")
    assert kept() == {"bot.json": 0o600}


def test_no_token_and_no_secret_is_ever_printed(
    api: FakeApi, run: Run, outputs: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAGAPLANE_CLIENT_SECRET", "hush-hush")
    api.on(TOKEN, grant(refresh_token="refresh-me"))
    said = [
        run("login", "--agent", "support", "--outputs", outputs),
        run("whoami"),
        run("whoami", "--json"),
        run("logout"),
    ]
    for shown in said:
        for secret in (ANN, ANN.split(".")[1], "hush-hush", "refresh-me"):
            assert secret not in shown.output


def test_a_person_signs_in_through_the_browser(
    api: FakeApi, run: Run, outputs: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda url: opened.append(url) or True)
    monkeypatch.setattr("cli.callback.Listener", _Answered)
    api.on(TOKEN, grant(refresh_token="refresh-me"))
    shown = run("login", "--outputs", outputs, "--profile", "ann")
    assert shown.exit_code == ExitCode.OK
    assert opened[0] in shown.stderr.splitlines()
    assert parse_qs(api.asked[0].content.decode())["code"] == ["the-code"]
    assert profiles.load("ann").refresh == "refresh-me"


def test_without_a_browser_the_address_is_printed_in_one_line(
    api: FakeApi, run: Run, outputs: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webbrowser.open", lambda _: pytest.fail("opened a browser"))
    monkeypatch.setattr("cli.callback.Listener", _Answered)
    api.on(TOKEN, grant())
    shown = run("login", "--no-browser", "--outputs", outputs)
    assert any(line.startswith(f"{AUTH}/oauth2/authorize?") for line in shown.stderr.splitlines())


class _Answered:
    """A browser that is back at once."""

    def __init__(self, _: object) -> None:
        pass

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def wait(self) -> str:
        return "the-code"


@pytest.mark.parametrize(
    ("words", "missing"),
    [
        ([], "--api"),
        (["--api", API], "--auth"),
        (["--api", API, "--auth", AUTH], "--people-client-id"),
        (["--api", API, "--auth", AUTH, "--agent", "bot"], "--client-id"),
        (["--api", API, "--auth", AUTH, "--agent", "b", "--client-id", "x"], "CLIENT_SECRET"),
        (["--api", "http://api.example", "--auth", AUTH], "encrypted"),
        (["--outputs", "no-such-file"], "no-such-file"),
    ],
)
def test_what_login_lacks_is_said_in_one_line(
    api: FakeApi, run: Run, words: list[str], missing: str
) -> None:
    shown = run("login", *words)
    assert shown.exit_code == ExitCode.USAGE
    assert missing in shown.stderr
    assert api.asked == []


@pytest.mark.parametrize("content", [OUTPUTS, CDK], ids=["local stage", "cdk deploy"])
def test_a_deployment_is_read_from_either_outputs_file(tmp_path: Path, content: Any) -> None:
    path = tmp_path / "any.json"
    path.write_text(json.dumps(content))
    found = deployment(path)
    assert (found.api_url, found.auth_url, found.people_client_id) == (API, AUTH, "people")
    assert found.agents["support"] == "client-1"


@pytest.mark.parametrize("content", [{**CDK, "second": CDK["sagaplane"]}, {"a": {}}, [], "x"])
def test_an_outputs_file_that_names_no_one_deployment_is_refused(
    tmp_path: Path, content: Any
) -> None:
    path = tmp_path / "any.json"
    path.write_text(json.dumps(content))
    with pytest.raises(Stop):
        deployment(path)


def test_the_local_stages_outputs_are_found_by_themselves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAGAPLANE_LOCAL", str(tmp_path))
    assert deployment().api_url == ""
    (tmp_path / "outputs.json").write_text(json.dumps(OUTPUTS))
    assert deployment().api_url == API


def test_profiles_are_kept_apart_and_only_their_owner_can_read_them() -> None:
    signed_in("approver", access="a")
    signed_in("agent", access="b")
    signed_in("agent", access="c")
    assert kept() == {"approver.json": 0o600, "agent.json": 0o600}
    assert stat.S_IMODE(profiles.folder().stat().st_mode) == 0o700
    assert [profiles.load(name).access for name in ("approver", "agent")] == ["a", "c"]


@pytest.mark.parametrize("name", ["../x", "a/b", ".hidden", "", "x" * 65, "a\nb"])
def test_a_profile_name_that_is_a_path_is_refused(name: str) -> None:
    with pytest.raises(Stop):
        profiles.checked_name(name)


def test_a_profile_that_cannot_be_read_is_not_signed_in() -> None:
    signed_in("ann")
    (profiles.folder() / "ann.json").write_text('{"half": ')
    with pytest.raises(NotSignedIn):
        profiles.load("ann")


def test_the_profile_may_stand_before_or_behind_the_command_or_in_the_environment(
    api: FakeApi, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ann", "olga"):
        signed_in(name, access=token(username=name))
    api.on("GET /approvals/a1", bodies.approval())
    show = ("approvals", "show", "a1")
    run("--profile", "ann", *show)
    run(*show, "--profile", "ann")
    run("approvals", "--profile", "ann", "show", "a1")
    monkeypatch.setenv("SAGAPLANE_PROFILE", "ann")
    run(*show)
    run(*show, "--profile", "olga")
    used = [r.headers["authorization"].removeprefix("Bearer ") for r in api.asked]
    assert [tokens.claims(each)["username"] for each in used] == ["ann"] * 4 + ["olga"]


def test_whoami_shows_name_groups_and_until_when(run: Run) -> None:
    signed_in("ann", access=ANN)
    page = " ".join(run("whoami", "--profile", "ann").stdout.split())
    assert "person ann, profile “ann”" in page
    assert "groups approvers, tenant.default" in page
    assert "renewed by itself" in page
    assert json.loads(run("whoami", "--json", "--profile", "ann").stdout) == tokens.claims(ANN)


def test_logout_forgets_the_token_and_ends_the_sign_in(api: FakeApi, run: Run) -> None:
    signed_in("ann")
    api.on("POST /oauth2/revoke", {})
    assert run("logout", "--profile", "ann").exit_code == ExitCode.OK
    assert parse_qs(api.asked[0].content.decode())["token"] == ["refresh-token"]
    assert kept() == {}
    assert run("whoami", "--profile", "ann").exit_code == ExitCode.NOT_ALLOWED


def test_logout_forgets_the_token_even_where_the_sign_in_cannot_be_reached(
    api: FakeApi, run: Run
) -> None:
    signed_in("ann")
    api.on("POST /oauth2/revoke", (500, "down"))
    assert run("logout", "--profile", "ann").exit_code == ExitCode.OK
    assert kept() == {}


def test_an_expired_token_is_renewed_once_and_written_down(api: FakeApi, run: Run) -> None:
    signed_in("ann", access="old", expires_at=int(time.time()) - 5)
    api.on(TOKEN, grant(token(username="ann")))
    api.on("GET /approvals", bodies.approvals())
    assert run("approvals", "--profile", "ann").exit_code == ExitCode.OK
    assert run("approvals", "--profile", "ann").exit_code == ExitCode.OK
    assert api.calls() == [TOKEN, "GET /approvals", "GET /approvals"]
    assert profiles.load("ann").access == token(username="ann")


def test_a_refused_token_is_renewed_once_and_the_call_made_again_once(
    api: FakeApi, run: Run
) -> None:
    signed_in("bot", kind="agent", access="old", refresh=None, client_secret="hush", agent="bot")
    api.on(TOKEN, grant("new"))
    api.on("POST /plans", (401, {"message": "Unauthorized"}))
    shown = run("submit", "-", "--profile", "bot", typed="{}")
    assert shown.exit_code == ExitCode.NOT_ALLOWED
    assert api.calls() == ["POST /plans", TOKEN, "POST /plans"]
    assert [r.headers["authorization"] for r in api.asked[::2]] == ["Bearer old", "Bearer new"]
    assert api.asked[2].content == b"{}"


def test_a_sign_in_that_is_over_says_how_to_sign_in_again(api: FakeApi, run: Run) -> None:
    signed_in("ann", expires_at=0)
    api.on(TOKEN, (400, {"error": "invalid_grant"}))
    shown = run("approvals", "--profile", "ann")
    assert shown.exit_code == ExitCode.NOT_ALLOWED
    assert "sagaplane login --profile ann" in shown.stderr
    assert api.calls() == [TOKEN]


def test_a_renewed_token_that_has_lost_its_groups_does_not_count(api: FakeApi, run: Run) -> None:
    signed_in("ann", access=ANN, expires_at=0)
    api.on(TOKEN, grant(token(username="ann")))
    assert run("approvals", "--profile", "ann").exit_code == ExitCode.NOT_ALLOWED
    assert api.calls() == [TOKEN]


def test_a_token_is_sent_to_the_api_it_was_signed_in_for_and_to_no_other(
    api: FakeApi, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    signed_in("ann")
    monkeypatch.setenv("SAGAPLANE_API", "https://another.example")
    assert run("approvals", "--profile", "ann").exit_code == ExitCode.USAGE
    assert api.asked == []


def test_a_redirect_is_not_followed_with_the_token(api: FakeApi, run: Run) -> None:
    import httpx  # noqa: PLC0415 - the answer's type

    signed_in("ann")
    away = httpx.Response(302, headers={"location": "https://another.example/approvals"})
    api.on("GET /approvals", away)
    assert run("approvals", "--profile", "ann").exit_code == ExitCode.UNREACHABLE
    assert api.calls() == ["GET /approvals"]
