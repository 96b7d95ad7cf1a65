"""What did not complete, grouped by why: for the weekly look."""

from __future__ import annotations

import re
from typing import Any

from cli.moments import moment
from cli.page import Page, Span
from cli.views import states

_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_NO_REASON = "no reason recorded"
_SHOWN = 5


def grouped(sagas: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Sagas by status, catalogue and reason, the largest group first. Numbers in a reason tell no groups apart."""
    groups: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for saga in sagas:
        reason = _NUMBER.sub("#", saga["reason"] or _NO_REASON)
        groups.setdefault((saga["status"], saga["catalogue"], reason), []).append(saga)
    found = [
        {
            "status": status,
            "catalogue": catalogue,
            "reason": reason,
            "count": len(members),
            "sagas": members,
        }
        for (status, catalogue, reason), members in groups.items()
    ]
    return sorted(found, key=lambda group: (-int(str(group["count"])), str(group["reason"])))


def review_page(body: dict[str, Any]) -> Page:
    """Each group with how many, and the last few of them."""
    page = Page()
    for group in body["groups"]:
        page.line(
            Span(f"{group['count']:>4}  ", "strong"),
            states.status(group["status"]),
            Span(f"  {group['catalogue']}", "dim"),
        )
        page.line(group["reason"], indent=6)
        page.rows(
            (
                (Span(saga["saga_id"], "dim"), Span(f"ended {moment(saga['ended_at'])}", "dim"))
                for saga in group["sagas"][:_SHOWN]
            ),
            indent=6,
        )
    if not body["groups"]:
        page.line(f"everything that ended since {body['since']} was completed")
    if body["more"]:
        page.line(Span("there are more: raise --limit, or shorten --since", "dim"))
    return page
