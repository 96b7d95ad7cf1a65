"""What became of the cases of a queue."""

from __future__ import annotations

from collections import Counter
from typing import Any

from cli.page import Page, Span, Style

_BECAME: dict[str, Style] = {"settled": "good", "left": "dim", "waiting": "person"}


def drained_page(body: dict[str, Any]) -> Page:
    """What became of the cases that were looked at."""
    page = Page()
    counted = Counter(each["became"] for each in body["cases"])
    page.rows(
        (str(count), Span(became, _BECAME.get(became, ""))) for became, count in counted.items()
    )
    if not body["cases"]:
        page.line("no open case")
    return page
