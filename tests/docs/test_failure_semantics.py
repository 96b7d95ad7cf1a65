"""The page on failures and the list of reports name every boundary, every word and only tests that exist."""

from __future__ import annotations

import ast
import inspect
import re
from enum import StrEnum
from functools import cache
from pathlib import Path

import pytest

from functions.domain.cases import CaseCause
from functions.domain.ledger.forward import Stop
from functions.usecases import errors
from simulation.boundaries import BOUNDARIES
from statemachines.errors import PEOPLE_SAID_NO
from tests.docs.conftest import ROOT

PAGE = ROOT / "docs" / "failure-semantics.md"
CASES = ROOT / "tests" / "CASES.md"
TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")
ROW = re.compile(r"^\| ([^|]+) \|", re.MULTILINE)
SHOWN = re.compile(r"^- ([^:\n]+): `tests/", re.MULTILINE)
CASE = re.compile(r"^\| ([A-D]\d+) \| ([^|]+) \| ([^|]+) \| (.+) \|$", re.MULTILINE)
REPORT = re.compile(r"[\w.-]+/[\w.-]+ #\d+")
HEADINGS = {
    "Forward": "forward",
    "Undo": "undo",
    "Settling": "settling",
    "Direction and boundary": "direction",
    "Gate": "gate",
    "People": "people",
    "Saga": "saga",
}


@pytest.fixture(scope="module")
def semantics() -> str:
    return PAGE.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def cases() -> str:
    return CASES.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", [PAGE, CASES], ids=lambda p: p.name)
def test_every_test_that_is_named_exists(path: Path) -> None:
    named = TEST.findall(path.read_text(encoding="utf-8"))
    assert len(named) > 50
    assert [f"{file}::{name}" for file, name in named if name not in named_in(file)] == []


@pytest.mark.parametrize("path", [PAGE, CASES], ids=lambda p: p.name)
def test_nothing_is_named_that_would_escape_these_tests(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count("::") == len(TEST.findall(text))


@pytest.mark.parametrize("heading", HEADINGS)
def test_every_boundary_of_the_crash_matrix_is_explained_and_no_other(
    semantics: str, heading: str
) -> None:
    named = {b.name for b in BOUNDARIES if b.group == HEADINGS[heading]}
    assert set(ROW.findall(section(semantics, heading))) - {"boundary"} == named


@pytest.mark.parametrize("heading", HEADINGS)
def test_every_boundary_is_shown_by_a_test(semantics: str, heading: str) -> None:
    named = [name for name in ROW.findall(section(semantics, heading)) if name != "boundary"]
    assert SHOWN.findall(section(semantics, heading)) == named


def test_every_group_of_boundaries_has_its_section() -> None:
    assert {b.group for b in BOUNDARIES} == set(HEADINGS.values())


def test_every_error_that_a_step_is_told_is_explained(semantics: str) -> None:
    raised = {
        name
        for name, each in inspect.getmembers(errors, inspect.isclass)
        if issubclass(each, errors.StepError) and each is not errors.StepError
    }
    assert explained(semantics, "What a step is told") == raised | set(PEOPLE_SAID_NO)


@pytest.mark.parametrize(
    ("heading", "words"),
    [("Why a claim is not given", Stop), ("Why a person is asked", CaseCause)],
)
def test_every_stop_and_every_cause_is_explained(
    semantics: str, heading: str, words: type[StrEnum]
) -> None:
    assert explained(semantics, heading) == {word.value for word in words}


def test_every_case_names_its_reports_and_its_tests_or_says_why_it_cannot_arise(cases: str) -> None:
    rows = CASE.findall(cases)
    assert len(rows) == len(re.findall(r"^\| [A-D]\d+ ", cases, re.MULTILINE))
    for case, reported, held, shown in rows:
        assert REPORT.search(reported), case
        assert held.strip(), case
        assert TEST.search(shown) or "cannot arise" in shown, case


def section(page: str, heading: str) -> str:
    start = page.index(f"\n## {heading}\n")
    end = page.find("\n## ", start + 1)
    return page[start : end if end > 0 else None]


def explained(page: str, heading: str) -> set[str]:
    cells = ROW.findall(section(page, heading))
    return {cell.strip("`") for cell in cells if cell.startswith("`")}


@cache
def named_in(file: str) -> frozenset[str]:
    """The names of the tests in a file, without importing it."""
    path = ROOT / file
    if not path.exists():
        return frozenset()
    parsed = ast.parse(path.read_text(encoding="utf-8"))
    return frozenset(n.name for n in parsed.body if isinstance(n, ast.FunctionDef))
