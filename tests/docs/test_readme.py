"""The README's commands exist, its examples are accepted by the real code, and its tables are complete."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer.main

from cli.exits import ExitCode
from cli.main import app
from functions.catalogues.fulfilment import policy
from functions.catalogues.fulfilment.catalogue import CATALOGUE
from functions.catalogues.fulfilment.facts import Line, Order
from functions.domain.cases import CaseCause, Resolution
from functions.domain.ledger.status import FINAL, Status
from functions.domain.plan import Plan, parse_plan
from functions.domain.problems import ProblemDetails
from functions.domain.requests import ATTEMPTS
from functions.domain.validation import FactKey, Validated, validate
from infra.documents.operations import OPERATIONS
from infra.documents.preconditions import _ORDER as ORDER

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CALL = re.compile(r"`(GET|POST)\s+(/[^`\s]*)`")
INLINE = re.compile(r"`(make [a-z-]+|sagaplane [^`]+)`")
ROW = re.compile(r"^\| `([a-z_]+)` \|", re.MULTILINE)
SIX_STEPS = {
    "id": "credit",
    "name": "apply_goodwill_credit",
    "arguments": {"order_id": "4471", "amount": "20.00", "currency": "EUR"},
}


@pytest.fixture
def plan(readme: str) -> dict[str, Any]:
    return next(block for block in json_blocks(readme) if "steps" in block)


def test_every_make_target_that_a_page_names_exists(page: Path, root: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (root / "Makefile").read_text(), re.MULTILINE))
    named = {words[1] for words in commands(page.read_text(encoding="utf-8"), "make")}
    assert named <= targets


def test_every_sagaplane_command_that_a_page_shows_is_understood(page: Path) -> None:
    for words in commands(page.read_text(encoding="utf-8"), "sagaplane"):
        understood(words[1:])


@pytest.mark.parametrize(
    "words", ["refund X", "show", "cases resolve ID", "approvals approve ID --force"]
)
def test_a_command_that_does_not_exist_would_be_noticed(words: str) -> None:
    with pytest.raises(Exception, match=r"(?i)no such|missing|required") as raised:
        understood(words.split())
    assert getattr(raised.value, "exit_code", None) == ExitCode.USAGE


def test_the_example_plan_is_the_file_that_the_commands_send(
    plan: dict[str, Any], readme: str, root: Path
) -> None:
    file = root / "docs" / "examples" / "order-4471.json"
    assert json.loads(file.read_text(encoding="utf-8")) == plan
    assert readme.count("docs/examples/order-4471.json") >= 2


def test_the_example_plan_is_admitted_by_the_real_validator(plan: dict[str, Any]) -> None:
    verdict = validate(well_formed(plan), CATALOGUE, facts())
    assert isinstance(verdict, Validated)
    assert [each.step.kind.value for each in verdict.steps] == [
        "compensable",
        "compensable",
        "pivot",
        "retriable",
        "retriable",
    ]


def test_the_example_problem_is_what_the_validator_says_of_the_plan_with_the_credit(
    plan: dict[str, Any], readme: str
) -> None:
    plan["steps"].insert(2, SIX_STEPS)
    problems = validate(well_formed(plan), CATALOGUE, facts())
    assert isinstance(problems, list)
    answer = ProblemDetails.of(problems, attempts_left=ATTEMPTS - 1).body()
    assert answer in json_blocks(readme)


def test_every_json_example_is_explained_by_these_tests(readme: str) -> None:
    assert len(json_blocks(readme)) == 2


def test_every_route_is_named_and_no_other(readme: str) -> None:
    assert set(CALL.findall(readme)) == {(o.method.upper(), o.path) for o in OPERATIONS}


def test_every_status_is_explained(readme: str) -> None:
    assert rows(readme, "| status |") == [status.value for status in Status]
    assert "`final` is true for the three that end" in readme
    assert len(FINAL) == 3


def test_every_cause_of_a_case_is_explained(readme: str) -> None:
    assert set(rows(readme, "| cause |")) == {cause.value for cause in CaseCause}


def test_every_resolution_that_a_case_can_allow_is_explained(readme: str) -> None:
    assert set(rows(readme, "| you may |")) == {r.value for r in Resolution}


def test_every_setting_of_a_deployment_is_explained(readme: str) -> None:
    from infra.settings import Settings  # noqa: PLC0415 - the CDK's constructs take their time

    assert set(rows(readme, "| context in `cdk.json` |")) == set(Settings.model_fields)


def test_the_amounts_that_need_people_are_the_policys(readme: str) -> None:
    table = readme[readme.index("| above | `trusted`: above |") :].partition("\n\n")[0]
    told = [tuple(cell.strip() for cell in line.split("|")[1:-1]) for line in table.splitlines()]
    who = {1: "one approver", 2: "two approvers", None: "nobody may"}
    bands = zip(policy._STANDARD, policy.BANDS["trusted"], strict=True)
    for (standard, trusted), row in zip(bands, reversed(told[2:]), strict=True):
        assert row[:2] == (f"{standard.above:,}", f"{trusted.above:,}")
        assert standard.approvers == trusted.approvers
        assert row[2].startswith(who[standard.approvers])


def test_the_numbers_of_scenes_and_attempts_are_the_codes(readme: str) -> None:
    from infra.local.demo.scenes import SCENES  # noqa: PLC0415 - its callers load httpx

    assert f"{len(SCENES)} scenes, 0 failed" in readme
    assert len(SCENES) == 15 + 6
    assert ATTEMPTS == CATALOGUE.attempts_per_request == 3
    for title in re.findall(r"^ ?\d+  (.+)$", readme, re.MULTILINE):
        assert title in {told for told, _ in SCENES}


def test_the_cost_of_a_saga_is_the_sum_of_its_parts(readme: str) -> None:
    table = section(readme, "| for each 1,000 sagas |")
    parts = [float(n) for n in re.findall(r"\| (\d+\.\d\d) \|$", table, re.MULTILINE)]
    [together] = re.findall(r"\*\*about (\d+\.\d\d)\*\*", table)
    assert len(parts) == 6
    assert sum(parts) == pytest.approx(float(together), abs=0.03)


def json_blocks(text: str) -> list[dict[str, Any]]:
    return [json.loads(body) for kind, body in BLOCK.findall(text) if kind == "json"]


def commands(text: str, program: str) -> list[list[str]]:
    """Every call of a program in blocks of shell and in the text, as words."""
    lines = [
        line
        for kind, body in BLOCK.findall(text)
        if kind == "sh"
        for line in body.replace("\\\n", " ").splitlines()
    ]
    found = [*lines, *INLINE.findall(BLOCK.sub("", text))]
    return [words for line in found if (words := _words(line)) and words[0] == program]


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line, comments=True)
    except ValueError:  # a quotation that goes on in the next line: no command of ours does
        return []


def understood(words: list[str]) -> None:
    """Have the command line parse the words, without running anything. Raises the parser's own errors."""
    command: Any = typer.main.get_command(app)
    context = None
    while True:
        name = command.name if context is None else words[0]
        rest = words if context is None else words[1:]
        context = command.make_context(name, list(rest), parent=context)
        words = [*context._protected_args, *context.args]
        if not words or not hasattr(command, "get_command"):
            return
        command = command.resolve_command(context, words)[1]


def rows(text: str, head: str) -> list[str]:
    """The first cells of a table, where they are code."""
    return ROW.findall(section(text, head))


def section(text: str, head: str) -> str:
    """A table, from its head to the empty line after it."""
    start = text.index(f"\n{head}")
    return text[start : text.index("\n\n", start)]


def well_formed(plan: dict[str, Any]) -> Plan:
    parsed = parse_plan(json.dumps(plan).encode())
    assert isinstance(parsed, Plan), parsed
    return parsed


def facts() -> dict[FactKey, Order | None]:
    assert ORDER.lines == (Line(sku="LAMP-1", quantity=1),)
    return {("order", "4471"): ORDER}
