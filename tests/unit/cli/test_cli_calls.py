"""What is asked of the API: exactly what was typed, and nothing before the person is sure."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from cli.client import ApiProblem, Client, Unreachable
from cli.errors import Stop
from cli.exits import ExitCode
from cli.following import Follower
from cli.moments import clock, from_now, moment, since_millis
from cli.views.schemas import arguments
from cli.work import Work
from functions.domain.cases import BY_TWO, Resolution
from functions.domain.ledger.status import FINAL, Status
from tests.unit.cli import bodies
from tests.unit.cli.conftest import API, FakeApi, Run

ODD = b' {\n\t"request_id":"r1" , "rationale": "\xc3\xa9 \\u00e9", "steps":[ ] }\r\n'
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.mark.usefixtures("person")
def test_a_plan_is_sent_byte_for_byte(api: FakeApi, run: Run, tmp_path: Path) -> None:
    api.on("POST /plans", (201, bodies.admission()))
    plan = tmp_path / "plan.json"
    plan.write_bytes(ODD)
    run("submit", str(plan))
    run("submit", "-", typed=ODD)
    assert [r.content for r in api.asked] == [ODD, ODD]
    assert api.asked[0].headers["content-type"] == "application/json"


@pytest.mark.usefixtures("person")
def test_what_can_be_no_plan_is_not_read_to_its_end(api: FakeApi, run: Run) -> None:
    assert run("submit", "/dev/zero").exit_code == ExitCode.USAGE
    assert api.asked == []


@pytest.mark.usefixtures("person")
@pytest.mark.parametrize(
    ("words", "call", "sent"),
    [
        (("approvals", "approve", "a1"), "POST /approvals/a1/decision", {"decision": "approve"}),
        (
            ("approvals", "reject", "a1", "--reason", "no"),
            "POST /approvals/a1/decision",
            {"decision": "reject", "reason": "no"},
        ),
        (
            ("approvals", "approve", "a1", "--binds", "b0"),
            "POST /approvals/a1/decision",
            {"decision": "approve", "binds": "b0"},
        ),
        (
            ("approvals", "reject", "a1", "--reason", "no", "--binds", "b0"),
            "POST /approvals/a1/decision",
            {"decision": "reject", "reason": "no", "binds": "b0"},
        ),
        (("cases", "resolve", "c1", "retry"), "POST /cases/c1/resolution", {"resolution": "retry"}),
        (
            ("cases", "resolve", "c1", "done", "--evidence", "é"),
            "POST /cases/c1/resolution",
            {"resolution": "done", "evidence": "é"},
        ),
        (
            ("cases", "resolve", "c1", "reopen", "--evidence", "é", "--attempts", "2"),
            "POST /cases/c1/resolution",
            {"resolution": "reopen", "evidence": "é", "attempts": 2},
        ),
        (("cases", "release", "c1", "--note", "é"), "POST /cases/c1/release", {"note": "é"}),
        (
            ("cases", "hand-over", "c1", "olga", "--note", "é"),
            "POST /cases/c1/handover",
            {"to": "olga", "note": "é"},
        ),
        (
            ("cases", "observe", "c1", "é", "--fact", "a=1=2", "--fact", "b="),
            "POST /cases/c1/observations",
            {"kind": "observed", "text": "é", "facts": {"a": "1=2", "b": ""}},
        ),
        (
            ("cases", "observe", "c1", "é", "--attempt"),
            "POST /cases/c1/observations",
            {"kind": "attempted", "text": "é", "facts": {}},
        ),
        (
            ("cases", "propose", "c1", "retry_with_alternate", "--reason", "é", "--alternate", "x"),
            "POST /cases/c1/proposal",
            {"resolution": "retry_with_alternate", "reason": "é", "alternate": "x"},
        ),
        (
            ("cases", "propose", "c1", "another_action", "--reason", "é", "--action", "x"),
            "POST /cases/c1/proposal",
            {"resolution": "another_action", "reason": "é", "action": "x"},
        ),
    ],
)
def test_a_decision_says_what_was_typed(
    api: FakeApi, run: Run, words: tuple[str, ...], call: str, sent: Any
) -> None:
    api.on(call, bodies.approval() if "approvals" in call else bodies.case("settled"))
    assert run(*words).exit_code == ExitCode.OK
    assert api.calls() == [call]
    assert json.loads(api.asked[0].content) == sent


@pytest.mark.usefixtures("person")
@pytest.mark.parametrize(
    ("words", "sent"),
    [
        (("confirm", "c1"), {"answer": "confirm"}),
        (("refuse", "c1", "--reason", "é"), {"answer": "refuse", "reason": "é"}),
        (("withdraw", "c1"), {"answer": "withdraw"}),
    ],
)
def test_an_answer_names_the_proposal_that_was_shown(
    api: FakeApi, run: Run, words: tuple[str, ...], sent: Any
) -> None:
    api.on("GET /cases/c1", bodies.proposed_case())
    api.on("POST /cases/c1/proposal/answer", bodies.case("settled"))
    assert run("cases", *words).exit_code == ExitCode.OK
    proposal = bodies.proposed_case()["proposal"]["proposal_id"]
    assert json.loads(api.asked[1].content) == {"proposal_id": proposal, **sent}


@pytest.mark.usefixtures("person")
def test_at_a_terminal_a_proposal_is_shown_before_it_is_confirmed(
    api: FakeApi, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    api.on("GET /cases/c1", bodies.proposed_case())
    api.on("POST /cases/c1/proposal/answer", bodies.case("settled"))
    monkeypatch.setattr(Work, "asks", lambda _, *, yes: not yes)
    shown = run("cases", "confirm", "c1", typed="n\n")
    assert shown.exit_code == ExitCode.STOPPED
    assert "The role was removed." in shown.stderr
    assert api.calls() == ["GET /cases/c1"]
    assert run("cases", "confirm", "c1", typed="y\n").exit_code == ExitCode.OK
    assert api.calls()[-1] == "POST /cases/c1/proposal/answer"


@pytest.mark.usefixtures("person")
@pytest.mark.parametrize("words", [("confirm", "c1"), ("withdraw", "c1")])
def test_where_nothing_is_proposed_nothing_is_answered(
    api: FakeApi, run: Run, words: tuple[str, ...]
) -> None:
    api.on("GET /cases/c1", bodies.case())
    assert run("cases", *words).exit_code != ExitCode.OK
    assert api.calls() == ["GET /cases/c1"]


@pytest.mark.usefixtures("person")
def test_a_list_is_narrowed_down_by_every_option(api: FakeApi, run: Run) -> None:
    api.on("GET /sagas", bodies.sagas())
    run("sagas", "--status", "completed", "--request", "r 1", "--document", "d&1", "--since", "2026-11-30", "--limit", "7")  # fmt: skip
    assert dict(api.asked[0].url.params) == {
        "status": "completed",
        "request_id": "r 1",
        "source_document_id": "d&1",
        "since": str(int(NOW.replace(hour=0).timestamp() * 1000)),
        "limit": "7",
    }


@pytest.mark.usefixtures("person")
def test_a_list_goes_on_over_pages_that_hold_fewer_than_asked_even_none(
    api: FakeApi, run: Run
) -> None:
    pages = [bodies.sagas(2, "c1"), bodies.sagas(0, "c2"), bodies.sagas(1, "c3"), bodies.sagas(9)]
    api.on("GET /sagas", *pages)
    shown = run("sagas", "--limit", "3", "--json")
    assert json.loads(shown.stdout) == bodies.sagas(3, "c3")
    asked = [(r.url.params["limit"], r.url.params.get("cursor")) for r in api.asked]
    assert asked == [("3", None), ("1", "c1"), ("1", "c2")]


CONFIRMED = [
    (("approvals", "approve", "a1"), "GET /approvals/a1", "POST /approvals/a1/decision"),
    (("cases", "resolve", "c1", "retry"), "GET /cases/c1", "POST /cases/c1/resolution"),
    (("cancel", "saga1"), "GET /sagas/saga1", "POST /sagas/saga1/cancel"),
]


def _answering(api: FakeApi) -> None:
    for about, decides in (c[1:] for c in CONFIRMED):
        kind = about.split("/")[1]
        made = {"approvals": bodies.approval, "cases": bodies.case, "sagas": bodies.people_saga}
        api.on(about, made[kind]())
        api.on(decides, made[kind]())


@pytest.mark.usefixtures("person")
def test_what_is_approved_at_a_terminal_is_what_was_shown_there(
    api: FakeApi, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    _answering(api)
    monkeypatch.setattr(Work, "asks", lambda _, *, yes: not yes)
    run("approvals", "approve", "a1", typed="y\n")
    assert json.loads(api.asked[-1].content) == {
        "decision": "approve",
        "binds": bodies.approval()["binds"],
    }


@pytest.mark.usefixtures("person")
@pytest.mark.parametrize(("words", "about", "decides"), CONFIRMED)
def test_at_a_terminal_it_is_shown_first_and_a_no_does_nothing(
    api: FakeApi,
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    about: str,
    decides: str,
) -> None:
    _answering(api)
    monkeypatch.setattr(Work, "asks", lambda _, *, yes: not yes)
    for answer in ("n\n", "\n", ""):
        shown = run(*words, typed=answer)
        assert shown.exit_code == ExitCode.STOPPED
    assert set(api.calls()) == {about}
    assert run(*words, typed="y\n").exit_code == ExitCode.OK
    assert api.calls()[-2:] == [about, decides]
    assert run(*words, "--yes").exit_code == ExitCode.OK
    assert api.calls()[-2:] == [decides, decides]


@pytest.mark.usefixtures("person")
@pytest.mark.parametrize(("words", "about", "decides"), CONFIRMED)
def test_where_nobody_is_at_a_terminal_nobody_is_asked(
    api: FakeApi, run: Run, words: tuple[str, ...], about: str, decides: str
) -> None:
    _answering(api)
    assert run(*words).exit_code == ExitCode.OK
    assert about not in api.calls()
    assert api.calls() == [decides]


@pytest.fixture
def client(api: FakeApi) -> Client:
    assert api is not None
    return Client(API, "the-token")


def test_a_client_gives_the_parsed_answer_and_carries_the_token(
    api: FakeApi, client: Client
) -> None:
    api.on("GET /sagas/saga1", bodies.people_saga())
    assert client.saga("saga1") == bodies.people_saga()
    assert api.asked[0].headers["authorization"] == "Bearer the-token"


def test_a_client_raises_the_problem_with_its_codes(api: FakeApi, client: Client) -> None:
    body = bodies.problems("unknown_step", "kind_order")
    api.on("POST /plans", (422, body))
    with pytest.raises(ApiProblem) as refused:
        client.submit({"request_id": "r1"})
    assert (refused.value.status, refused.value.details) == (422, body)
    assert refused.value.codes == ["unknown_step", "kind_order"]
    assert str(refused.value) == "422 unknown_step, kind_order"


@pytest.mark.parametrize("id_", ["a/b", "a?b=c", "a#b", "é", "%2e"])
def test_an_id_stays_one_part_of_the_address(api: FakeApi, client: Client, id_: str) -> None:
    with pytest.raises(Unreachable):
        client.saga(id_)
    assert api.asked[0].url.raw_path.count(b"/") == 2
    assert api.asked[0].url.query == b""


@pytest.mark.parametrize("id_", ["", ".", ".."])
def test_an_id_that_would_change_the_address_is_refused(
    api: FakeApi, client: Client, id_: str
) -> None:
    with pytest.raises(Stop):
        client.saga(id_)
    assert api.asked == []


class Time:
    """A clock that moves while somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def follower(client: Client, time: Time) -> Follower:
    return Follower(client, clock=lambda: time.now, sleep=time.sleep)


def test_following_looks_ever_more_seldom_while_nothing_changes_and_ends_in_time(
    api: FakeApi, client: Client
) -> None:
    time = Time()
    api.on("GET /sagas/saga1", bodies.agent_saga())
    seen: list[Any] = []
    follower(client, time).follow("saga1", seen.append, until_asked=True, patience=60)
    assert time.slept == sorted(time.slept[:-1]) + time.slept[-1:]
    assert max(time.slept) == 3.0
    assert time.now == pytest.approx(60)
    assert len(seen) == len(time.slept) + 1


def test_following_survives_a_moments_trouble_and_not_a_lasting_one(
    api: FakeApi, client: Client
) -> None:
    down, busy = httpx.ConnectError("down"), (503, bodies.problems("unavailable"))
    api.on("GET /sagas/saga1", down, busy, down, bodies.agent_saga("completed"))
    body = follower(client, Time()).follow("saga1", lambda _: None, until_asked=True)
    assert body["status"] == "completed"
    api.on("GET /sagas/saga1", down)
    with pytest.raises(Unreachable):
        follower(client, Time()).follow("saga1", lambda _: None, until_asked=True)
    api.on("GET /sagas/saga1", (403, bodies.problems("forbidden")))
    with pytest.raises(ApiProblem):
        follower(client, Time()).follow("saga1", lambda _: None, until_asked=True)


def test_the_words_of_the_command_line_are_the_apis() -> None:
    from cli.commands import case_proposals, cases, sagas  # noqa: PLC0415 - beside what they are compared with
    from cli.views import states  # noqa: PLC0415 - the same

    assert [s.value for s in sagas.Status] == [s.value for s in Status]
    assert {r.value for r in cases.Resolution} == {r.value for r in {*Resolution} - BY_TWO}
    assert {r.value for r in case_proposals.ByTwo} == {r.value for r in BY_TWO}
    assert {s.value for s in Status} >= states.AWAITS_A_PERSON
    assert not {s.value for s in FINAL} & states.AWAITS_A_PERSON


@pytest.mark.parametrize(
    ("text", "back"), [("30m", 30), ("12h", 720), ("7d", 10080), ("2w", 20160), ("2026-11-30", 720)]
)
def test_a_time_is_written_as_how_long_ago_or_as_a_date(text: str, back: int) -> None:
    assert since_millis(text, NOW) == int(NOW.timestamp() - back * 60) * 1000


@pytest.mark.parametrize("text", ["", "7", "7y", "d7", "-1d", "tomorrow"])
def test_any_other_time_is_refused(text: str) -> None:
    with pytest.raises(Stop):
        since_millis(text, NOW)


def test_times_are_shown_in_utc_and_what_is_no_time_as_it_is() -> None:
    assert moment("2026-11-30T16:12:00.123Z") == "2026-11-30 16:12:00Z"
    assert clock("2026-11-30T16:12:00.123Z") == "16:12:00.123"
    assert (moment(None), moment("soon")) == ("-", "soon")
    assert from_now("2026-11-30T12:59:00Z", NOW) == "in 59 min"
    assert from_now("2026-11-30T09:00:00Z", NOW) == "3 h ago"
    assert from_now("2026-12-10T12:00:00Z", NOW) == "in 10 days"
    assert from_now("2026-11-30T12:00:30Z", NOW) == "in 30 s"


def test_limits_of_arguments_are_said_in_words() -> None:
    schema = {
        "required": ["text", "number", "list"],
        "$defs": {"Line": {"type": "object", "properties": {"sku": {"type": "string"}}}},
        "properties": {
            "text": {"type": "string", "minLength": 1, "maxLength": 32, "pattern": "^a$"},
            "number": {"type": "integer", "minimum": 1, "maximum": 1000},
            "list": {"type": "array", "maxItems": 3, "items": {"$ref": "#/$defs/Line"}},
            "choice": {"enum": ["A", "B"]},
            "either": {"anyOf": [{"type": "boolean"}, {"type": "null"}]},
            "fixed": {"const": "x"},
            "exact": {"type": "string", "minLength": 3, "maxLength": 3, "examples": ["EUR"]},
        },
    }
    told = {name: limit for name, limit, _ in arguments(schema)}
    assert told == {
        "text": "text, 1 to 32 characters, like ^a$",
        "number": "whole number, 1 to 1000",
        "list": "list of (object (sku?: text)), at most 3 entries",
        "choice?": "one of A, B",
        "either?": "true or false or nothing",
        "fixed?": "always x",
        "exact?": "text, exactly 3 characters",
    }
    assert [text for *_, text in arguments(schema)][-1] == "E.g. EUR."
