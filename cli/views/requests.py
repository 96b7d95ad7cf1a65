"""A request: every plan that was looked at for it, and what each met."""

from __future__ import annotations

from typing import Any

from cli.moments import moment
from cli.page import Page, Span
from cli.views.problems import add_problem


def request_page(body: dict[str, Any]) -> Page:
    """Its state, what is left, and each attempt."""
    page = Page()
    page.line("request ", Span(body["request_id"], "strong"), f"  {body['state']}")
    page.line(f"attempts left: {body['attempts_left']}")
    if body.get("saga_id"):
        page.line(f"saga: {body['saga_id']}")
    for number, attempt in enumerate(body["attempts"], start=1):
        page.heading(f"attempt {number}, {moment(attempt['at'])}")
        page.line(Span(f"plan {attempt['plan_digest'][:16]}…", "dim"), indent=2)
        if attempt.get("saga_id"):
            page.line(f"admitted as saga {attempt['saga_id']}", indent=2)
        for each in attempt["problems"]:
            add_problem(page, each, indent=2)
    return page


def admission_page(body: dict[str, Any]) -> Page:
    """A plan was admitted."""
    page = Page()
    page.line(Span("admitted", "good"), " as saga ", Span(body["saga_id"], "strong"))
    page.line(
        f"request {body['request_id']}, {body['attempts_left']} attempts left. "
        f"Follow it: sagaplane show {body['saga_id']} --follow"
    )
    return page
