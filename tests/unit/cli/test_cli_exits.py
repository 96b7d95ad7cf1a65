"""How commands end: the exit status, and one or two clear lines."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from cli.exits import ExitCode
from tests.unit.cli import bodies
from tests.unit.cli.conftest import API, FakeApi, Run, signed_in

pytestmark = pytest.mark.usefixtures("person")
SHOW = "GET /sagas/saga1"


def test_what_the_api_answers_ends_with_0(api: FakeApi, run: Run) -> None:
    api.on(SHOW, bodies.people_saga())
    assert run("show", "saga1").exit_code == ExitCode.OK


def test_a_refused_plan_ends_with_1_and_shows_every_problem_with_what_to_change(
    api: FakeApi, run: Run
) -> None:
    api.on("POST /plans", (422, bodies.problems("unknown_step", "kind_order", attempts_left=1)))
    shown = run("submit", "-", typed="{}")
    assert shown.exit_code == ExitCode.REFUSED
    assert shown.stdout == ""
    for index, code in enumerate(("unknown_step", "kind_order")):
        assert f"{index + 1}. {code} at /steps/{index}/name (step s{index})" in shown.stderr
        assert f"Message of {code}." in shown.stderr
        assert f"change: Hint of {code}." in shown.stderr
    assert "allowed: reserve_stock, authorize_payment" in shown.stderr
    assert "attempts left for this request: 1" in shown.stderr


def test_a_single_refusal_is_two_lines(api: FakeApi, run: Run) -> None:
    body = bodies.problems("already_decided")
    body["title"] = "Already decided"
    body["problems"][0] |= {"pointer": "", "allowed": None}
    api.on("POST /approvals/a1/decision", (409, body))
    shown = run("approvals", "approve", "a1")
    assert shown.exit_code == ExitCode.REFUSED
    assert shown.stderr.splitlines() == [
        "refused: Already decided (already_decided)",
        "Message of already_decided. Hint of already_decided.",
    ]


@pytest.mark.parametrize("body", [bodies.problems("forbidden"), {"message": "Forbidden"}])
def test_what_one_may_not_do_ends_with_3(api: FakeApi, run: Run, body: Any) -> None:
    api.on(SHOW, (403, body))
    shown = run("show", "saga1")
    assert shown.exit_code == ExitCode.NOT_ALLOWED
    assert "refused: " in shown.stderr


def test_a_token_that_is_refused_ends_with_3_and_says_how_to_sign_in(
    api: FakeApi, run: Run
) -> None:
    signed_in("ann", refresh=None)
    api.on(SHOW, (401, {"message": "Unauthorized"}))
    shown = run("show", "saga1", "--profile", "ann")
    assert shown.exit_code == ExitCode.NOT_ALLOWED
    assert "sagaplane login --profile ann" in shown.stderr


def test_without_a_sign_in_nothing_is_asked_and_it_ends_with_3(api: FakeApi, run: Run) -> None:
    shown = run("approvals", "--profile", "nobody")
    assert shown.exit_code == ExitCode.NOT_ALLOWED
    assert shown.stderr.splitlines() == [
        "Profile “nobody” is not signed in.",
        "Sign in with: sagaplane login --profile nobody",
    ]
    assert api.asked == []


@pytest.mark.parametrize(
    "trouble",
    [
        httpx.ConnectError("Connection refused"),
        httpx.ReadTimeout("timed out"),
        (502, "<html>Bad Gateway</html>"),
        (200, "<html>a captive portal</html>"),
        (404, {"message": "Not Found"}),
        (200, ["a", "list"]),
    ],
    ids=["refused", "silent", "gateway", "portal", "another API", "no object"],
)
def test_no_usable_answer_ends_with_4_and_names_the_address(
    api: FakeApi, run: Run, trouble: Any
) -> None:
    api.on(SHOW, trouble)
    shown = run("show", "saga1")
    assert shown.exit_code == ExitCode.UNREACHABLE
    assert API in shown.stderr
    assert len(shown.stderr.splitlines()) <= 3


@pytest.mark.parametrize(
    ("status", "code"),
    [
        ("completed", ExitCode.OK),
        ("compensated", ExitCode.NOT_COMPLETED),
        ("resolved_manually", ExitCode.NOT_COMPLETED),
        ("awaiting_approval", ExitCode.WAITING),
        ("compensation_blocked", ExitCode.WAITING),
        ("awaiting_manual_resolution", ExitCode.WAITING),
    ],
)
def test_a_wait_ends_by_how_the_saga_stands(
    api: FakeApi, run: Run, status: str, code: ExitCode
) -> None:
    api.on("POST /plans", (201, bodies.admission()))
    api.on(SHOW, bodies.agent_saga(status))
    shown = run("submit", "-", "--wait", typed="{}")
    assert shown.exit_code == code
    assert status in shown.stdout


def test_a_wait_that_runs_out_of_time_ends_with_6(api: FakeApi, run: Run) -> None:
    api.on("POST /plans", (201, bodies.admission()))
    api.on(SHOW, bodies.agent_saga("running"))
    assert run("submit", "-", "--wait", "--timeout", "0", typed="{}").exit_code == ExitCode.WAITING


def test_a_wait_tells_each_change_once_on_standard_error(api: FakeApi, run: Run) -> None:
    api.on("POST /plans", (201, bodies.admission()))
    looks = [bodies.agent_saga("running", done=1), bodies.agent_saga("running", done=1)]
    api.on(SHOW, *looks, bodies.agent_saga("completed", "crossed", done=4))
    told = run("submit", "-", "--wait", typed="{}").stderr.splitlines()
    assert told[-5:] == [
        "  0 reserve_stock: completed",
        "saga saga1: completed",
        "  1 authorize_payment: completed",
        "  2 capture_payment: completed",
        "  3 create_shipment: completed",
    ]


def test_following_goes_on_while_a_person_is_awaited(api: FakeApi, run: Run) -> None:
    api.on(SHOW, bodies.agent_saga("awaiting_approval"), bodies.agent_saga("compensated"))
    assert run("show", "saga1", "--follow").exit_code == ExitCode.OK
    assert len(api.asked) == 2


def test_an_answer_that_it_does_not_understand_is_a_fault_in_one_line_and_no_traceback(
    api: FakeApi, run: Run
) -> None:
    api.on("GET /approvals/a1", {"something": "else"})
    shown = run("approvals", "show", "a1")
    assert shown.exit_code == ExitCode.FAULT
    assert "Traceback" not in shown.stderr
    assert len(shown.stderr.splitlines()) == 2


@pytest.mark.parametrize("words", [("submit", "no-such-file"), ("sagas", "--since", "yesterday")])
def test_what_cannot_be_used_is_said_before_anything_is_asked(
    api: FakeApi, run: Run, words: tuple[str, ...]
) -> None:
    shown = run(*words)
    assert shown.exit_code == ExitCode.USAGE
    assert len(shown.stderr.splitlines()) <= 2
    assert api.asked == []


def test_a_resolution_other_than_retry_needs_evidence(api: FakeApi, run: Run) -> None:
    assert run("cases", "resolve", "c1", "done").exit_code == ExitCode.USAGE
    assert api.asked == []
