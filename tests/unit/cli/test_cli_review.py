"""`review` and `show --audit`: what is asked of the API, and how it is told."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cli.exits import ExitCode
from tests.unit.cli import bodies
from tests.unit.cli.conftest import FakeApi, Run

pytestmark = pytest.mark.usefixtures("person")


def saga(number: int, reason: str | None, status: str = "compensated") -> dict[str, Any]:
    [one] = bodies.sagas()["sagas"]
    return {**one, "saga_id": f"saga{number}", "reason": reason, "status": status}


def test_what_did_not_complete_is_grouped_by_its_reason_the_largest_group_first(
    api: FakeApi, run: Run
) -> None:
    first = [
        saga(1, "capture_payment: capture of 180.00 EUR was rejected"),
        saga(2, None, "resolved_manually"),
    ]
    second = [saga(3, "capture_payment: capture of 1,200.00 EUR was rejected")]
    api.on("GET /review", {"sagas": first, "next": "acme|x"}, {"sagas": second, "next": None})
    shown = run("review", "--since", "7d", "--json")
    body = json.loads(shown.stdout)
    assert [(g["count"], g["status"], g["reason"]) for g in body["groups"]] == [
        (2, "compensated", "capture_payment: capture of # EUR was rejected"),
        (1, "resolved_manually", "no reason recorded"),
    ]
    assert [s["saga_id"] for s in body["groups"][0]["sagas"]] == ["saga1", "saga3"]
    assert body["more"] is False
    asked = [dict(r.url.params) for r in api.asked]
    assert asked[0]["since"].isdecimal()
    assert asked[1]["cursor"] == "acme|x"


def test_a_review_shows_each_group_with_its_sagas_and_says_if_there_are_more(
    api: FakeApi, run: Run
) -> None:
    api.on("GET /review", {"sagas": [saga(1, "it was rejected")], "next": "acme|x"})
    shown = run("review", "--limit", "1")
    assert shown.exit_code == ExitCode.OK
    assert "1  compensated" in shown.stdout
    assert "it was rejected" in shown.stdout
    assert "saga1" in shown.stdout
    assert "there are more" in shown.stdout


def test_a_week_in_which_all_completed_says_so(api: FakeApi, run: Run) -> None:
    api.on("GET /review", {"sagas": [], "next": None})
    assert "since 7d was completed" in run("review").stdout


def test_the_audit_tells_each_thing_with_when_who_and_what_was_seen(api: FakeApi, run: Run) -> None:
    api.on("GET /sagas/saga1/audit", bodies.audit())
    shown = run("show", "saga1", "--audit")
    assert shown.exit_code == ExitCode.OK
    assert api.calls() == ["GET /sagas/saga1/audit"]
    text = " ".join(shown.stdout.split())
    assert "saga: admitted, agent support-agent" in text
    assert "undo 0 release_stock: call: applied, saga1-2" in text
    assert "saga1:0:undo, result r-1" in text
    assert json.loads(run("show", "saga1", "--audit", "--json").stdout) == bodies.audit()


def test_following_and_auditing_at_once_is_not_understood(api: FakeApi, run: Run) -> None:
    assert run("show", "saga1", "--audit", "--follow").exit_code == ExitCode.USAGE
    assert api.calls() == []
