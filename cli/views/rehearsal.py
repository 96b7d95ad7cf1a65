"""A rehearsal as a table: a row for each boundary of each step, a column for each fault, and a sign for the ending."""

from __future__ import annotations

from itertools import groupby
from string import ascii_lowercase
from typing import Any

from cli.page import Page, Piece, Span

_COLUMNS = {
    "none": "alone",
    "crash": "crash",
    "lost answer": "lost",
    "duplicate delivery": "twice",
    "zombie": "late",
    "denial": "denied",
}
_SAID = (
    ("alone", "nothing else goes wrong"),
    ("crash", "the process dies there"),
    ("lost", "what it is answered does not arrive"),
    ("twice", "it is delivered twice"),
    ("late", "it is given up, and comes back"),
    ("denied", "its authority is refused"),
)
_OUTCOMES = {
    "completed": Span("✔", "good"),
    "compensated": Span("↩", "warn"),
}
_NEVER = Span("·", "dim")
Cases = dict[tuple[tuple[str, str], ...], str]


def rehearsal_page(body: dict[str, Any]) -> Page:
    """Each step with its boundaries, then what the cases are that letters stand for."""
    page = Page()
    ends = body["endings"]
    page.line(Span(f"{body['runs']} runs of one plan of {body['catalogue']}", "strong"))
    page.rows(
        (
            (_OUTCOMES["completed"], f"{ends.get('completed', 0)} completed"),
            (_OUTCOMES["compensated"], f"{ends.get('compensated', 0)} compensated"),
            (Span("a", "person"), f"{ends.get('case', 0)} wait for a person: the case is below"),
            (_NEVER, "cannot happen"),
        ),
        indent=2,
    )
    page.rows(((Span(name, "strong"), words) for name, words in _SAID), indent=2)
    for step in body["steps"]:
        _step(page, step)
    for violation in body["violations"]:
        page.line(Span(violation, "bad"))
    return page


def _step(page: Page, step: dict[str, Any]) -> None:
    undone = f", undone by {step['undone_by']}" if step["undone_by"] else ""
    page.heading(f"{step['index']} {step['name']}: {step['kind']}{undone}")
    cases: Cases = {}
    rows: list[tuple[Piece, ...]] = [("", *(Span(c, "dim") for c in _COLUMNS.values()))]
    for group, boundaries in groupby(step["boundaries"], key=lambda each: each["group"]):
        rows.append((Span(group, "strong"), *("" for _ in _COLUMNS)))
        rows += [_row(each, cases) for each in boundaries]
    page.rows(rows, indent=1)
    page.rows(
        (
            (Span(letter, "person"), "; ".join(f"{cause}: {where}" for cause, where in found))
            for found, letter in cases.items()
        ),
        indent=2,
    )


def _row(boundary: dict[str, Any], cases: Cases) -> tuple[Piece, ...]:
    signs = (_sign(boundary["endings"].get(fault), cases) for fault in _COLUMNS)
    return (boundary["boundary"], *signs)


def _sign(ending: dict[str, Any] | None, cases: Cases) -> Span:
    if ending is None:
        return _NEVER
    if ending["outcome"] in _OUTCOMES:
        return _OUTCOMES[ending["outcome"]]
    found = tuple((case["cause"], _where(case)) for case in ending["cases"])
    number = len(cases)
    letter = cases.setdefault(found, ascii_lowercase[number % 26] * (number // 26 + 1))
    return Span(letter, "person")


def _where(case: dict[str, Any]) -> str:
    if case["step"] is None:
        return "the saga as a whole"
    return f"undo of {case['step']}" if case["direction"] == "undo" else str(case["step"])
