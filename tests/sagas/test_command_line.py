"""The command line over the real handlers: what is typed reaches the ledger, and what the API answers can be shown."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
import typer.testing

from cli import profiles
from cli.exits import ExitCode
from cli.main import app
from functions.sandbox.faults import Trouble
from tests.sagas.orders import enter, plan, step
from tests.sagas.stage import APPROVER, OPERATOR, Caller, Stage, agent

API = "https://api.example"
WHO: dict[str, Caller] = {"bot": agent(), "approver": APPROVER, "operator": OPERATOR}
Type = Callable[..., typer.testing.Result]


@pytest.fixture
def type_(stage: Stage, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Type:
    """Type a command as somebody who is signed in; the stage's own API answers it."""

    def answer(request: httpx.Request) -> httpx.Response:
        who = WHO[request.headers["authorization"].removeprefix("Bearer ")]
        said = stage.call(
            who,
            request.method,
            request.url.raw_path.decode(),
            request.content.decode() or None,
        )
        return httpx.Response(said.status, headers=dict(said.headers), text=said.text)

    monkeypatch.setattr("cli.http.new_transport", lambda: httpx.MockTransport(answer))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "200")
    for name in WHO:
        expires = int(time.time()) + 3600
        profiles.save(
            profiles.Profile(name, "person", API, API, "client", access=name, expires_at=expires)
        )
    runner = typer.testing.CliRunner()

    def typing(profile: str, *words: str, piped: object = None) -> typer.testing.Result:
        shown = runner.invoke(
            app,
            ["--profile", profile, *words],
            input=None if piped is None else json.dumps(piped),
        )
        stage.deliver()
        stage.rest()
        return shown

    return typing


def test_an_order_goes_from_plan_to_completion_by_typing_alone(stage: Stage, type_: Type) -> None:
    enter(stage)
    assert type_("bot", "catalogue", "fulfilment").exit_code == ExitCode.OK
    bad = plan()
    bad["steps"].insert(2, step("apply_goodwill_credit", order_id="4471", amount="20.00"))
    refused = type_("bot", "submit", "-", piped=bad)
    assert refused.exit_code == ExitCode.REFUSED
    assert "unknown_step at /steps/2/name (step apply_goodwill_credit)" in refused.stderr
    assert "attempts left for this request: 2" in refused.stderr

    admitted = type_("bot", "submit", "-", "--json", piped=plan())
    saga = json.loads(admitted.stdout)["saga_id"]
    assert "apply_goodwill_credit" in type_("bot", "request", "req-4471").stdout
    listed = type_("approver", "approvals").stdout
    assert "Capture 180.00 EUR for order 4471" in listed
    approval = stage.approval(saga).id
    page = type_("approver", "approvals", "show", approval).stdout
    assert page.index("Capture 180.00 EUR") < page.index("written by the agent, not checked")
    assert plan()["rationale"] in page
    assert type_("operator", "approvals", "approve", approval).exit_code == ExitCode.NOT_ALLOWED
    assert type_("bot", "approvals", "approve", approval).exit_code == ExitCode.NOT_ALLOWED
    assert type_("approver", "approvals", "approve", approval).exit_code == ExitCode.OK
    assert stage.status(saga) == "completed"
    assert type_("bot", "show", saga).stdout.startswith(f"saga {saga}  completed")
    assert f"{saga}:0:do" in type_("approver", "show", saga).stdout
    assert f"{saga}:0:do" not in type_("bot", "show", saga).stdout
    assert saga in type_("operator", "sagas", "--status", "completed").stdout
    assert type_("operator", "cancel", saga).exit_code == ExitCode.REFUSED


def test_a_rejection_is_typed_with_its_reason_and_the_timeline_shows_the_undo(
    stage: Stage, type_: Type
) -> None:
    enter(stage)
    saga = json.loads(type_("bot", "submit", "-", "--json", piped=plan()).stdout)["saga_id"]
    approval = stage.approval(saga).id
    assert type_("approver", "approvals", "reject", approval).exit_code == ExitCode.USAGE
    said = type_("approver", "approvals", "reject", approval, "--reason", "The customer called.")
    assert said.exit_code == ExitCode.OK
    assert stage.status(saga) == "compensated"
    page = type_("bot", "show", saga).stdout
    assert "The customer called." in page
    below = page[page.index("undo, last step first") :]
    assert below.index("1 authorize_payment") < below.index("0 reserve_stock")
    assert below.count("undone") == 2


def test_an_operator_settles_a_case_by_typing_alone(stage: Stage, type_: Type) -> None:
    enter(stage, "4472", "99.00")
    stage.shop.trouble(Trouble.ERROR_503, operation="ship", times=4)
    stage.run(plan("4472", "99.00"))
    case = stage.open_case()
    assert case.id in type_("operator", "cases").stdout
    page = type_("operator", "cases", "show", case.id).stdout
    assert case.obligation in page
    assert f"{case.saga_id}:3:do" in page
    assert type_("operator", "cases", "resolve", case.id, "retry").exit_code == ExitCode.REFUSED
    assert "claimed by operator-1" in type_("operator", "cases", "claim", case.id).stdout
    wrong = type_("operator", "cases", "resolve", case.id, "close", "--evidence", "x")
    assert wrong.exit_code == ExitCode.REFUSED
    assert "allowed: retry, done" in wrong.stderr
    assert type_("operator", "cases", "resolve", case.id, "retry").exit_code == ExitCode.OK
    assert stage.status(str(case.saga_id)) == "completed"
