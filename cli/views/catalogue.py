"""A catalogue as somebody who writes a plan reads it."""

from __future__ import annotations

from typing import Any

from cli.page import Page, Span, Style
from cli.views.schemas import arguments

_KINDS: dict[str, tuple[str, Style]] = {
    "compensable": ("compensable: come first, each can be undone", "good"),
    "pivot": ("pivot: at most one, the point of no return", "warn"),
    "retriable": ("retriable: come last, repeated until they are done", "live"),
}


def catalogue_page(body: dict[str, Any]) -> Page:
    """Its steps by kind, in the order in which a plan may use them."""
    page = Page()
    page.line(
        Span(body["name"], "strong"),
        f"  version {body['version'][:12]}  "
        f"{body['attempts_per_request']} attempts for each request",
    )
    others = {step["kind"] for step in body["steps"]} - {*body["order"]}
    for kind in [*body["order"], *sorted(others)]:
        words, style = _KINDS.get(kind, (kind, ""))
        page.blank()
        page.rule(words, style, heavy=kind == "pivot")
        for step in body["steps"]:
            if step["kind"] == kind:
                _step(page, step)
    return page


def _step(page: Page, step: dict[str, Any]) -> None:
    page.blank()
    undo = f"undone by {step['undone_by']}" if step.get("undone_by") else "cannot be undone"
    if others := step.get("undone_otherwise_by"):
        undo += f"; by {', '.join(others)} where two people agree to it"
    if instead := step.get("undone_instead_by"):
        undo += f"; instead, where two people agree to it: {', '.join(instead)}"
    page.line(Span(step["name"], "strong"), "  ", Span(undo, "dim"))
    page.line(step["description"], indent=2)
    if step["requires"]:
        page.line(Span("needs the result of: ", "dim"), ", ".join(step["requires"]), indent=2)
    if step["preconditions"]:
        page.line(Span("must hold: ", "dim"), ", ".join(step["preconditions"]), indent=2)
    page.rows(
        (
            (Span(name, "live"), what, Span(text, "dim"))
            for name, what, text in arguments(step["arguments"])
        ),
        indent=2,
    )
