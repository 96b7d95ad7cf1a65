"""A list of sagas."""

from __future__ import annotations

from typing import Any

from cli.moments import moment
from cli.page import Page, Span
from cli.views import states


def sagas_page(body: dict[str, Any]) -> Page:
    """Newest first, two or three lines for each."""
    page = Page()
    for each in body["sagas"]:
        page.line(Span(each["saga_id"], "strong"), "  ", states.status(each["status"]))
        page.line(
            Span(
                f"{moment(each['created_at'])}  request {each['request_id']}, "
                f"document {each['source_document_id']}",
                "dim",
            ),
            indent=4,
        )
        if each.get("reason"):
            page.line(str(each["reason"]), indent=4)
    if not body["sagas"]:
        page.line("no saga found")
    if body.get("next"):
        page.line(Span("there are more: raise --limit, or narrow the search", "dim"))
    return page
