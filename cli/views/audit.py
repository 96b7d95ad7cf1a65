"""The audit of a saga: a line for each thing that happened, the first one first."""

from __future__ import annotations

from typing import Any

from cli.moments import clock, moment
from cli.page import Page, Span, Style

_KINDS: dict[str, Style] = {
    "saga": "strong",
    "forward": "",
    "undo": "warn",
    "approval": "person",
    "case": "person",
}


def audit_page(body: dict[str, Any]) -> Page:
    """When, what and who in one line; below it what was seen, and the facts that go with it."""
    page = Page()
    page.line("saga ", Span(body["saga_id"], "strong"), f"  {len(body['entries'])} entries")
    for entry in body["entries"]:
        _entry(page, entry)
    return page


def _entry(page: Page, entry: dict[str, Any]) -> None:
    until = f" to {clock(entry['until'])}" if entry.get("until") else ""
    where = "" if entry.get("step") is None else f" {entry['step']} {entry['name']}"
    who = f", {entry['who']}" if entry.get("who") else ""
    page.line(
        Span(f"{moment(entry['at'])}{until}  ", "dim"),
        Span(f"{entry['kind']}{where}: ", _KINDS.get(entry["kind"], "")),
        f"{entry['what']}{who}",
    )
    if entry.get("text"):
        page.line(str(entry["text"]), indent=4)
    told = [("", entry["ref"])] if entry.get("ref") else []
    told += [(f"{name} ", value) for name, value in entry["facts"].items()]
    if told:
        page.line(Span(", ".join(f"{name}{value}" for name, value in told), "dim"), indent=4)
