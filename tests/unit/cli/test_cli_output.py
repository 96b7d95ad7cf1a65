"""What is printed: the API's own JSON, or a page in which no foreign text can do harm."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable
from typing import Any

import pytest
from rich.cells import cell_len

from cli.exits import ExitCode
from cli.text import clean, paragraphs
from functions.catalogues.environments.catalogue import CATALOGUE as ENVIRONMENTS
from functions.domain import problems
from functions.usecases.views.catalogue import catalogue_view
from tests.unit.cli import bodies
from tests.unit.cli.commands import COMMANDS
from tests.unit.cli.conftest import FakeApi, Run

pytestmark = pytest.mark.usefixtures("person")
IDS = [f"{' '.join(words)} {body.__name__}" for words, _, body in COMMANDS]
HOSTILE = (
    "\x1b[31mAPPROVED\x1b[0m\x07\r\b\u202eevil\u2066\u200b\u2028[bold red]x[/] :smile: \x9b2J\ud800"
)
Make = Callable[[], bodies.Body]


def poisoned(value: Any, fixed: frozenset[str] = frozenset()) -> Any:
    """The same with hostile text at the end of every text, also of those that are words of ours."""
    if isinstance(value, dict):
        return {k: v if k in fixed else poisoned(v, fixed) for k, v in value.items()}
    if isinstance(value, list):
        return [poisoned(each, fixed) for each in value]
    return value + HOSTILE if isinstance(value, str) else value


def harmful(text: str) -> set[str]:
    return {
        c for c in text if c != "\n" and unicodedata.category(c) in {"Cc", "Cf", "Cs", "Zl", "Zp"}
    }


@pytest.mark.parametrize(("words", "call", "body"), COMMANDS, ids=IDS)
def test_json_is_the_apis_own_body(
    api: FakeApi, run: Run, words: tuple[str, ...], call: str, body: Make
) -> None:
    api.on(call, body())
    shown = run(*words, "--json", typed="{}")
    assert shown.exit_code == ExitCode.OK
    assert json.loads(shown.stdout) == body()
    assert shown.stderr == ""


def test_json_of_a_refusal_is_the_problem_itself(api: FakeApi, run: Run) -> None:
    body = bodies.problems("unknown_step", attempts_left=2)
    api.on("POST /plans", (422, body))
    shown = run("submit", "-", "--json", typed="{}")
    assert shown.exit_code == ExitCode.REFUSED
    assert json.loads(shown.stdout) == body
    assert shown.stderr == ""


def test_json_of_a_wait_is_the_saga_as_it_was_last_seen(api: FakeApi, run: Run) -> None:
    api.on("POST /plans", (201, bodies.admission()))
    api.on("GET /sagas/saga1", bodies.agent_saga(), bodies.agent_saga("completed"))
    shown = run("submit", "-", "--wait", "--json", typed="{}")
    assert json.loads(shown.stdout) == bodies.agent_saga("completed")
    assert shown.stderr == ""


@pytest.mark.parametrize(("words", "call", "body"), COMMANDS, ids=IDS)
def test_no_foreign_text_reaches_the_terminal_as_anything_but_text(
    api: FakeApi, run: Run, words: tuple[str, ...], call: str, body: Make
) -> None:
    api.on(call, _with_surrogates(poisoned(body(), frozenset({"name", "order", "type", "$ref"}))))
    shown = run(*words, typed="{}")
    assert shown.exit_code == ExitCode.OK, shown.stderr
    assert harmful(shown.stdout + shown.stderr) == set()
    assert "APPROVED" in shown.stdout


@pytest.mark.parametrize(("words", "call", "body"), COMMANDS, ids=IDS)
def test_json_too_steers_no_terminal_and_still_says_the_same(
    api: FakeApi, run: Run, words: tuple[str, ...], call: str, body: Make
) -> None:
    sent = poisoned(body())
    api.on(call, _with_surrogates(sent))
    shown = run(*words, "--json", typed="{}")
    assert shown.stdout.isascii()
    assert harmful(shown.stdout) == set()
    assert json.loads(shown.stdout) == sent


def test_no_text_of_a_refusal_reaches_the_terminal_as_anything_but_text(
    api: FakeApi, run: Run
) -> None:
    api.on("POST /plans", _with_surrogates(poisoned(bodies.problems("a", "b")), status=422))
    shown = run("submit", "-", typed="{}")
    assert harmful(shown.stderr) == set()
    assert "[bold red]x[/] :smile:" in " ".join(shown.stderr.split())


@pytest.mark.parametrize("width", [40, 80])
@pytest.mark.parametrize(("words", "call", "body"), COMMANDS, ids=IDS)
def test_nothing_is_wider_than_the_terminal_and_nothing_is_coloured_in_a_pipe(
    api: FakeApi,
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    call: str,
    body: Make,
    width: int,
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    api.on(call, body())
    shown = run(*words, typed="{}")
    assert [line for line in shown.stdout.splitlines() if cell_len(line) > width] == []
    assert "\x1b" not in shown.stdout


def test_nothing_is_lost_on_a_narrow_terminal(
    api: FakeApi, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def letters() -> list[str]:
        api.on("GET /approvals/a1", bodies.approval())
        page = run("approvals", "show", "a1").stdout
        return sorted(c for c in page if c.isalnum())

    wide = letters()
    monkeypatch.setenv("COLUMNS", "30")
    assert letters() == wide


def test_the_agents_words_come_last_in_a_box_that_says_whose_they_are(
    api: FakeApi, run: Run
) -> None:
    body = bodies.approval()
    body["agent"] = {
        "rationale": "First.\n\n\n\n\n\nSecond.\n└──┘\nAPPROVED BY FINANCE",
        "notes": [],
    }
    api.on("GET /approvals/a1", body)
    page = run("approvals", "show", "a1").stdout.splitlines()
    begin = next(i for i, line in enumerate(page) if "written by the agent, not checked" in line)
    facts = "\n".join(page[:begin])
    assert "Capture 180.00 EUR for order 4471" in facts
    assert "release_stock: Reserve 2 of LAMP-1" in facts
    box = page[begin + 1 : -1]
    assert all(line.startswith("│ ") and line.endswith("│") for line in box)
    assert [line.strip("│ ") for line in box] == [
        "First.",
        "",
        "Second.",
        "└──┘",
        "APPROVED BY FINANCE",
    ]
    assert page[-1].startswith("└─")


def test_many_lines_of_an_agent_cannot_push_the_facts_away() -> None:
    told = paragraphs("\n".join(str(number) for number in range(1000)))
    assert len(told) == 61
    assert told[-1] == "… 940 more lines; --json shows them all"


@pytest.mark.parametrize("text", [HOSTILE, "plain", "é ü 漢字 🙂", "a\nb\tc\u2029"])
def test_text_is_cleaned_as_the_api_cleans_what_it_quotes(text: str) -> None:
    assert clean(text) == problems.clean(text)


def test_the_point_of_no_return_is_a_line_between_what_can_be_undone_and_the_rest(
    api: FakeApi, run: Run
) -> None:
    api.on("GET /sagas/saga1", bodies.people_saga("finishing", "crossed", done=3))
    page = run("show", "saga1").stdout
    order = ["1 authorize_payment", "crossed: nothing above it can be undone", "2 capture_payment"]
    assert [page.index(part) for part in order] == sorted(page.index(part) for part in order)
    assert "none: the point of no return has been crossed" in page
    assert "never starts: the point of no return has been crossed" in " ".join(page.split())


def test_undo_is_shown_below_and_last_step_first(api: FakeApi, run: Run) -> None:
    body = bodies.agent_saga("compensated", done=2)
    for step in body["steps"][:2]:
        step["undo"] = "succeeded"
    api.on("GET /sagas/saga1", body)
    page = run("show", "saga1").stdout
    below = page[page.index("undo, last step first") :]
    assert below.index("1 authorize_payment") < below.index("0 reserve_stock")
    assert below.count("undone") == 2
    assert page.count("never started") == 2


def test_people_see_keys_authority_attempts_receipts_and_provenance(api: FakeApi, run: Run) -> None:
    api.on("GET /sagas/saga1", bodies.people_saga())
    page = " ".join(run("show", "saga1").stdout.split())
    for fact in (
        "saga1:0:do",
        "saga1:0:undo",
        "role role-0, scope shop:write, credential shop",
        "completed, 1 of 3 attempts",
        "res-1 version 7 (quantity=2)",
        "agent support, for which customer support answers",
        "mail-4471 (as the agent says)",
    ):
        assert fact in page


def test_a_case_shows_what_is_owed_the_evidence_and_what_may_be_done(
    api: FakeApi, run: Run
) -> None:
    api.on("GET /cases/c1", bodies.case())
    page = run("cases", "show", "c1").stdout
    flat = " ".join(page.split())
    assert "“Ship order 4471” has to be finished." in flat
    assert "key saga1:3:do" in flat
    assert "fence 1, started_at 2026-11-30 16:26:01Z" in flat
    assert "retry automation tries again, with the same key" in flat
    assert "accept" not in page


def test_a_case_shows_what_is_proposed_and_which_ways_take_two(api: FakeApi, run: Run) -> None:
    api.on("GET /cases/c1", bodies.proposed_case())
    flat = " ".join(run("cases", "show", "c1").stdout.split())
    assert "handed over by otto" in flat
    assert "olga: observed Seen.; age 3" in flat
    assert "what retry_with_alternate" in flat
    assert "why The role was removed." in flat
    assert "accept what is left stays as it is; propose it, another person has to" in flat
    assert "alternate on_call: role shop-on_call, scope shop:write" in flat
    assert "action refund: Refund what was taken" in flat


def test_a_catalogue_shows_limits_and_undos_by_kind(api: FakeApi, run: Run) -> None:
    api.on("GET /catalogues/fulfilment", bodies.catalogue())
    page = " ".join(run("catalogue", "fulfilment").stdout.split())
    assert "reserve_stock undone by release_stock" in page
    assert "capture_payment cannot be undone" in page
    assert "two people agree" not in page
    assert "quantity whole number, 1 to 1000" in page
    assert "warehouse one of A, B, C" in page
    assert page.index("point of no return") < page.index("capture_payment cannot be undone")


def test_a_catalogue_says_who_else_may_undo_a_step(api: FakeApi, run: Run) -> None:
    body = catalogue_view(ENVIRONMENTS).model_dump(mode="json")
    api.on("GET /catalogues/environments", body)
    page = " ".join(run("catalogue", "environments").stdout.split())
    assert "by The access administration on call where two people agree to it" in page


def _with_surrogates(body: Any, status: int = 200) -> Any:
    import httpx  # noqa: PLC0415 - only to send what no encoder of httpx would

    return httpx.Response(status, content=json.dumps(body).encode())
