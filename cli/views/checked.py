"""What `catalogue check` and `catalogue new` have to say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cli.page import Page, Span


def checked_page(body: dict[str, Any]) -> Page:
    """Each broken rule with why it is there; or what the catalogue offers."""
    page = Page()
    if body["broken"]:
        count = len(body["broken"])
        page.line(Span(f"{body['reference']}: {count} broken", "bad"))
        for number, each in enumerate(body["broken"], start=1):
            page.blank()
            page.line(f"{number}. ", Span(each["subject"], "strong"), f" [{each['rule']}]")
            page.line(each["message"], indent=3)
            if each["why"]:
                page.line(Span(each["why"], "dim"), indent=3)
        return page
    page.line(Span(f"{body['name']}: nothing broken", "good"), f"  version {body['version'][:12]}")
    page.rows(
        (
            (Span(step["kind"], "dim"), Span(step["name"], "strong"), _undone(step))
            for step in body["steps"]
        ),
        indent=2,
    )
    return page


def _undone(step: dict[str, Any]) -> str:
    return f"undone by {step['undone_by']}" if step["undone_by"] else ""


def written_page(name: str, files: Sequence[str], entry: str) -> Page:
    """What was written, and the three things to do next."""
    page = Page()
    page.line(Span(f"{name}: {len(files)} files", "good"))
    page.rows(((Span(file, "dim"),) for file in files), indent=2)
    page.heading("next")
    page.line(f"sagaplane catalogue check {name}.catalogue:CATALOGUE", indent=2)
    page.line(f".venv/bin/pytest {name}", indent=2)
    page.line("add to the catalogues in cdk.json, then deploy:", indent=2)
    page.line(entry, indent=4)
    return page
