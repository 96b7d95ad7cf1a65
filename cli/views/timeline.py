"""A saga as a timeline: forward on top, the point of no return as a line, undo below, last step first.

Works on what an agent may see and on what people may see: people's steps hold objects where an agent's hold words.
"""

from __future__ import annotations

from typing import Any

from cli.moments import moment
from cli.page import Page, Piece, Span, Style
from cli.views import states

Step = dict[str, Any]
_BOUNDARY: dict[str, tuple[str, Style]] = {
    "ahead": ("point of no return, not reached: all above it can be undone", "dim"),
    "never": ("point of no return, never reached", "dim"),
    "crossing": ("point of no return, being crossed: its outcome is not known yet", "warn"),
    "crossed": ("point of no return, crossed: nothing above it can be undone any more", "warn"),
}

_WHOSE_TURN = {
    "awaiting_approval": "an approver decides, see sagaplane approvals",
    "awaiting_manual_resolution": "an operator settles its case, see sagaplane cases",
    "compensation_blocked": "an operator settles its case, see sagaplane cases",
}


def timeline_page(body: dict[str, Any]) -> Page:
    """The head in a few lines, then every step."""
    page = Page()
    page.line("saga ", Span(body["saga_id"], "strong"), "  ", states.status(body["status"]))
    if body.get("reason"):
        page.line(Span("reason: ", "dim"), str(body["reason"]))
    ended = f", ended {moment(body['ended_at'])}" if body.get("ended_at") else ""
    page.line(
        Span(
            f"request {body['request_id']}, {body['catalogue']}, "
            f"admitted {moment(body['created_at'])}{ended}",
            "dim",
        )
    )
    if body["status"] in states.AWAITS_A_PERSON:
        page.line(Span("a person has to go on: ", "person"), _WHOSE_TURN[body["status"]])
    _forward(page, body)
    _backward(page, body)
    return page


def forward_state(step: Step) -> str:
    """The state of the step's effect."""
    inner = step.get("forward")
    return str(inner["state"] if isinstance(inner, dict) else step["state"])


def undo_state(step: Step) -> str | None:
    """The state of the step's compensation; None where it has none."""
    inner = step.get("undo")
    if inner is None:
        return None
    return str(inner["state"] if isinstance(inner, dict) else inner)


def changes(before: dict[str, Any] | None, after: dict[str, Any]) -> list[str]:
    """What has changed between two looks at a saga, each in one line."""
    told = []
    if before is None or before["status"] != after["status"]:
        told.append(f"saga {after['saga_id']}: {after['status']}")
    seen = {} if before is None else {step["index"]: step for step in before["steps"]}
    for step in after["steps"]:
        old = seen.get(step["index"])
        name = f"{step['index']} {step['name']}"
        going = forward_state(step)
        if going != "prepared" and (old is None or forward_state(old) != going):
            told.append(f"  {name}: {going}")
        undoing = undo_state(step)
        if undoing not in {None, "pending"} and (old is None or undo_state(old) != undoing):
            told.append(f"  undo {name}: {undoing}")
    return told


def _forward(page: Page, body: dict[str, Any]) -> None:
    page.heading("forward")
    steps = body["steps"]
    at = next((i for i, s in enumerate(steps) if s["kind"] != "compensable"), len(steps))
    turned = body["status"] in states.TURNED
    page.rows((_forward_row(s, turned=turned) for s in steps[:at]), indent=1)
    if at < len(steps):
        where = "never" if body["pivot"] == "ahead" and turned else body["pivot"]
        words, style = _BOUNDARY.get(where, (f"point of no return: {where}", ""))
        page.rule(words, style, heavy=body["pivot"] in {"crossing", "crossed"})
        page.rows((_forward_row(s, turned=turned) for s in steps[at:]), indent=1)
    else:
        page.line(Span("no point of no return: every step can be undone", "dim"), indent=1)


def _forward_row(step: Step, *, turned: bool) -> tuple[Piece, ...]:
    mark, word = states.forward(forward_state(step))
    if turned and word.text == "prepared":
        mark, word = Span("-", "dim"), Span("never started", "dim")
    said = f" (last answer: {step['reason']})" if step.get("reason") else ""
    return mark, f"{step['index']} {step['name']}", word, f"{step['sentence']}{said}"


def _backward(page: Page, body: dict[str, Any]) -> None:
    undoable = [step for step in reversed(body["steps"]) if undo_state(step) is not None]
    if not undoable:
        return
    page.heading("undo, last step first")
    if body["pivot"] == "crossed":
        page.line(Span("none: the point of no return has been crossed", "dim"), indent=1)
        return
    if all(undo_state(step) == "pending" for step in undoable):
        page.line(
            Span("prepared, and not needed as long as the saga goes forward", "dim"), indent=1
        )
    page.rows((_undo_row(step) for step in undoable), indent=1)


def _undo_row(step: Step) -> tuple[Piece, ...]:
    mark, word = states.undo(str(undo_state(step)))
    inner = step["undo"]
    operation = inner["operation"] if isinstance(inner, dict) else ""
    notice = inner.get("notice") if isinstance(inner, dict) else step.get("notice")
    return mark, f"{step['index']} {step['name']}", word, f"{operation} {notice or ''}".strip()
