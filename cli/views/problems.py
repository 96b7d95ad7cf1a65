"""A refusal as a person reads it: what is wrong, where, what to change."""

from __future__ import annotations

from typing import Any

from cli.errors import ApiProblem
from cli.page import Page, Span


def problem_page(refusal: ApiProblem) -> Page:
    """The summary, then each problem with its code, its place, its hint and what would be accepted."""
    page = Page()
    details, problems = refusal.details, refusal.problems
    title = details.get("title") or f"HTTP {refusal.status}"
    if len(problems) == 1 and not problems[0].get("pointer"):
        _only(page, str(title), problems[0])
    else:
        page.line(Span(f"refused: {title}", "bad"), f" ({refusal.status})")
        for number, each in enumerate(problems, start=1):
            add_problem(page, each, f"{number}. ")
        if not problems and details.get("detail"):
            page.line(str(details["detail"]), indent=2)
    if details.get("saga_id"):
        page.line(f"saga: {details['saga_id']}")
    if details.get("attempts_left") is not None:
        page.line(f"attempts left for this request: {details['attempts_left']}")
    return page


def add_problem(page: Page, problem: dict[str, Any], number: str = "", indent: int = 0) -> None:
    """One problem, below what is there already."""
    place = f" at {problem['pointer']}" if problem.get("pointer") else ""
    step = f" (step {problem['step']})" if problem.get("step") else ""
    page.line(number, Span(problem.get("code", "?"), "strong"), f"{place}{step}", indent=indent)
    inner = indent + 3
    page.line(str(problem.get("message", "")), indent=inner)
    if problem.get("hint"):
        page.line(Span("change: ", "dim"), str(problem["hint"]), indent=inner)
    if problem.get("allowed"):
        names = ", ".join(str(name) for name in problem["allowed"])
        page.line(Span("allowed: ", "dim"), names, indent=inner)


def _only(page: Page, title: str, problem: dict[str, Any]) -> None:
    page.line(Span(f"refused: {title}", "bad"), f" ({problem.get('code', '?')})")
    page.line(f"{problem.get('message', '')} {problem.get('hint', '')}".strip())
    if problem.get("allowed"):
        page.line(f"allowed: {', '.join(str(name) for name in problem['allowed'])}")
