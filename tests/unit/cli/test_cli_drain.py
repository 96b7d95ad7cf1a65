"""`cases drain`: what is asked of the API for each notice, and that a notice goes only once its case is settled."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cli.exits import ExitCode
from cli.work import Work
from tests.unit.cli import bodies
from tests.unit.cli.conftest import FakeApi, Run

pytestmark = pytest.mark.usefixtures("person")
CASE = "saga1-3-do-1"
TAKE, ACKNOWLEDGE = "POST /notices/take", "POST /notices/acknowledgement"
SHOW, CLAIM = f"GET /cases/{CASE}", f"POST /cases/{CASE}/claim"
RESOLVE, LIST = f"POST /cases/{CASE}/resolution", "GET /cases"
NONE: dict[str, Any] = {"cases": [], "next": None}
SCRIPT = ("cases", "drain", "--once", "--resolve", "retry", "--json")


@pytest.fixture
def queue(api: FakeApi) -> FakeApi:
    """One notice of an open case, and then none."""
    api.on(TAKE, bodies.notices("r1"), bodies.notices())
    api.on(SHOW, bodies.case())
    api.on(CLAIM, bodies.case())
    api.on(RESOLVE, bodies.case("settled"))
    api.on(ACKNOWLEDGE, bodies.cases()["cases"][0])
    api.on(LIST, NONE)
    return api


@pytest.fixture
def keyboard(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody is there."""
    monkeypatch.setattr(Work, "asks", lambda _self, *, yes: not yes)


def became(shown: Any) -> list[tuple[str, str | None]]:
    assert shown.exit_code == ExitCode.OK, shown.stderr
    return [(c["became"], c["resolution"]) for c in json.loads(shown.stdout)["cases"]]


def sent(api: FakeApi, call: str) -> list[Any]:
    return [
        json.loads(r.content or b"null") for r in api.asked if f"{r.method} {r.url.path}" == call
    ]


def test_a_script_claims_settles_and_then_takes_the_notice_off(queue: FakeApi, run: Run) -> None:
    assert became(run(*SCRIPT)) == [("settled", "retry")]
    assert queue.calls() == [TAKE, SHOW, CLAIM, RESOLVE, ACKNOWLEDGE, TAKE, LIST]
    assert sent(queue, RESOLVE) == [{"resolution": "retry"}]
    assert sent(queue, ACKNOWLEDGE) == [{"case_id": CASE, "receipt": "r1"}]


def test_a_case_that_is_found_settled_loses_its_notice_and_nothing_else_happens(
    queue: FakeApi, run: Run
) -> None:
    queue.on(SHOW, bodies.case("settled"))
    assert became(run(*SCRIPT)) == [("settled by somebody else", "retry")]
    assert queue.calls() == [TAKE, SHOW, ACKNOWLEDGE, TAKE, LIST]


def test_a_case_that_waits_for_another_person_keeps_its_notice(queue: FakeApi, run: Run) -> None:
    queue.on(RESOLVE, bodies.case("open"))
    assert became(run(*SCRIPT)) == [("waiting", "retry")]
    assert ACKNOWLEDGE not in queue.calls()


@pytest.mark.parametrize(
    ("call", "code", "status", "what"),
    [
        (CLAIM, "claim_conflict", 409, "held by somebody else"),
        (CLAIM, "case_closed", 409, "settled by somebody else"),
        (RESOLVE, "attempt_alive", 409, "left"),
        (SHOW, "not_found", 404, "left"),
    ],
)
def test_what_the_api_refuses_leaves_the_notice_and_ends_nothing(
    queue: FakeApi, run: Run, call: str, code: str, status: int, what: str
) -> None:
    queue.on(TAKE, bodies.notices("r1"), bodies.notices("r2"), bodies.notices())
    queue.on(call, bodies.problems(code), status=status)
    assert became(run(*SCRIPT)) == [(what, None)] * 2
    assert ACKNOWLEDGE not in queue.calls()


def test_a_notice_that_cannot_be_taken_off_does_not_undo_the_settling(
    queue: FakeApi, run: Run
) -> None:
    queue.on(ACKNOWLEDGE, bodies.problems("unavailable"), status=503)
    shown = run(*SCRIPT)
    assert became(shown) == [("settled", "retry")]
    assert "unavailable" in shown.stderr


def test_a_script_leaves_what_has_another_cause_or_does_not_allow_its_way(
    queue: FakeApi, run: Run
) -> None:
    assert became(run(*SCRIPT, "--cause", "undo_blocked")) == [("left", None)]
    queue.on(TAKE, bodies.notices("r1"), bodies.notices())
    words = ("cases", "drain", "--once", "--resolve", "close", "--evidence", "seen", "--json")
    assert became(run(*words)) == [("left", None)]
    assert CLAIM not in queue.calls()


def test_what_has_lost_its_notice_is_found_on_the_list_and_offered_once(
    queue: FakeApi, run: Run
) -> None:
    queue.on(TAKE, bodies.notices())
    held = {
        **bodies.cases()["cases"][0],
        "case_id": "held",
        "claimed_until": "2999-01-01T00:00:00Z",
    }
    queue.on(LIST, {"cases": [held, *bodies.cases()["cases"]], "next": None})
    assert became(run(*SCRIPT)) == [("settled", "retry")]
    assert queue.calls() == [TAKE, LIST, SHOW, CLAIM, RESOLVE, TAKE, LIST]


def test_no_more_than_the_given_number_is_looked_at(queue: FakeApi, run: Run) -> None:
    queue.on(TAKE, bodies.notices("r1"))
    assert became(run(*SCRIPT, "--max", "2")) == [("settled", "retry")] * 2
    assert queue.calls().count(TAKE) == 2


def test_without_once_it_waits_for_more(queue: FakeApi, run: Run) -> None:
    queue.on(TAKE, bodies.notices(), bodies.notices(), bodies.notices("r1"))
    words = [word for word in SCRIPT if word != "--once"]
    assert became(run(*words, "--max", "1")) == [("settled", "retry")]
    assert sent(queue, TAKE) == [{"most": 1, "wait": 10}] * 3


def test_a_script_has_to_say_how(queue: FakeApi, run: Run) -> None:
    assert run("cases", "drain", "--once").exit_code == ExitCode.USAGE
    assert run("cases", "drain", "--once", "--resolve", "done").exit_code == ExitCode.USAGE
    assert queue.calls() == []


@pytest.mark.usefixtures("keyboard")
def test_a_person_sees_the_case_claims_it_and_says_how_it_is_settled(
    queue: FakeApi, run: Run
) -> None:
    shown = run("cases", "drain", "--once", typed="y\nsomehow\ndone\nBooked by telephone.\n")
    assert shown.exit_code == ExitCode.OK, shown.stderr
    assert "has to be finished" in shown.stderr
    assert "One of: retry, done, leave." in shown.stderr
    assert sent(queue, RESOLVE) == [{"resolution": "done", "evidence": "Booked by telephone."}]
    assert queue.calls()[-3:] == [ACKNOWLEDGE, TAKE, LIST]
    assert shown.stdout.split()[-2:] == ["1", "settled"]


@pytest.mark.usefixtures("keyboard")
@pytest.mark.parametrize(("typed", "claimed"), [("n\n", 0), ("y\nleave\n", 1)])
def test_a_person_may_leave_a_case_and_it_comes_back(
    queue: FakeApi, run: Run, typed: str, claimed: int
) -> None:
    shown = run("cases", "drain", "--once", typed=typed)
    assert shown.stdout.split()[-2:] == ["1", "left"]
    assert queue.calls().count(CLAIM) == claimed
    assert not {RESOLVE, ACKNOWLEDGE} & {*queue.calls()}
