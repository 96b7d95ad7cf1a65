"""Cases: what is owed in one sentence, why automation stopped, all of the evidence, and what a person may do."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from cli.moments import from_now, moment
from cli.page import Page, Piece, Span
from cli.views.words import add_agent_words

_RESOLUTIONS = {
    "retry": "automation tries again, with the same key",
    "retry_with_alternate": "the same, by another principal that the catalogue declares",
    "another_action": "another action that the catalogue declares is done instead, under a key of its own",
    "done": "you have done it by hand, with the same key",
    "accept": "what is left stays as it is",
    "did_not_happen": "you have found that there is no effect, and there will be none",
    "close": "somebody has taken the request up",
    "reopen": "the agent may propose again",
}


def cases_page(body: dict[str, Any]) -> Page:
    """The list of open cases."""
    page = Page()
    for each in body["cases"]:
        page.line(Span(each["case_id"], "strong"), "  ", Span(each["cause"], "warn"))
        page.line(each["obligation"], indent=4)
        if each["proposed"]:
            page.line(Span(f"{each['proposed']} is proposed: confirm or refuse", "warn"), indent=4)
        page.line(
            Span(f"{_about(each)}, opened {moment(each['created_at'])}{_held(each)}", "dim"),
            indent=4,
        )
    if not body["cases"]:
        page.line("no open case")
    else:
        page.line(Span("look at one: sagaplane cases show ID", "dim"))
    return page


def case_page(body: dict[str, Any]) -> Page:
    """One case, whole."""
    page = Page()
    state = body["resolution"] or body["state"]
    page.line(
        "case ", Span(body["case_id"], "strong"), "  ", Span(f"{state}{_held(body)}", "person")
    )
    page.line(Span(body["obligation"], "strong"))
    page.line(body["why"])
    page.fields(
        [
            ("cause", body["cause"]),
            ("about", _about(body)),
            ("owned by", f"group {body['group']}"),
            ("opened", moment(body["created_at"])),
            ("settled", moment(body["settled_at"]) if body.get("settled_at") else None),
        ]
    )
    page.heading("evidence, as it was when the case was opened")
    page.rows(_tree(body["evidence"]), indent=2)
    if body["events"]:
        page.heading("what has been done about it")
        page.rows(
            ((moment(e["at"]), f"{e['who']}: {e['what']}", _noted(e)) for e in body["events"]),
            indent=2,
        )
    _proposed(page, body)
    _ways(page, body)
    words = body.get("agent") or {}
    add_agent_words(page, words.get("rationale"), words.get("notes") or [])
    return page


def settled_page(body: dict[str, Any]) -> Page:
    """What has become of it after its resolution."""
    page = Page()
    page.line(Span(f"settled as {body['resolution']}", "good"), f": {body['obligation']}")
    if body.get("saga_id"):
        page.line(f"Follow its saga: sagaplane show {body['saga_id']} --follow")
    return page


def ways_page(body: dict[str, Any]) -> Page:
    """What may be done with a case that one holds."""
    page = Page()
    _ways(page, body)
    return page


def _ways(page: Page, body: dict[str, Any]) -> None:
    if body["state"] != "open":
        return
    page.heading("what you may do, once you have claimed it")
    page.rows(
        (
            (
                Span(way["resolution"], "live"),
                f"{_RESOLUTIONS.get(way['resolution'], '')}{_by(way)}",
            )
            for way in body["ways"]
        ),
        indent=2,
    )
    for each in body["alternates"]:
        where = f"role {each['role']}, scope {each['scope']}"
        page.line(f"alternate {each['alternate']}: {where}", indent=2)
    for each in body["other_actions"]:
        page.line(f"action {each['name']}: {each['sentence']}", indent=2)


def _by(way: dict[str, Any]) -> str:
    return "; propose it, another person has to confirm" if way["people"] > 1 else ""


def _noted(event: dict[str, Any]) -> str:
    facts = ", ".join(f"{name} {value}" for name, value in event["facts"].items())
    return "; ".join(part for part in (event["text"], facts) if part)


def _proposed(page: Page, body: dict[str, Any]) -> None:
    proposal = body["proposal"]
    if proposal is None:
        return
    page.heading("proposed, and not done until another person confirms")
    other, action = proposal["alternate"], proposal["action"]
    page.fields(
        [
            ("what", proposal["resolution"]),
            ("by", f"{proposal['by']}, {moment(proposal['at'])}"),
            ("why", proposal["reason"]),
            ("alternate", f"{other['alternate']}, role {other['role']}" if other else None),
            ("action", f"{action['name']}: {action['sentence']}" if action else None),
        ]
    )


def _about(case: dict[str, Any]) -> str:
    if case.get("saga_id"):
        where = "" if case.get("step") is None else f", step {case['step']} ({case['direction']})"
        return f"saga {case['saga_id']}{where}"
    return f"request {case.get('request_id') or '-'}"


def _held(case: dict[str, Any]) -> str:
    if case["state"] != "open" or not case.get("claimed_by"):
        return ""
    by = f", handed over by {case['handed_over_by']}" if case["handed_over_by"] else ""
    return f", claimed by {case['claimed_by']} (ends {from_now(case['claimed_until'])}){by}"


def _tree(value: Any, name: str = "", depth: int = 0) -> Iterator[tuple[Piece, Piece]]:
    """A bounded JSON object as names and values, nesting shown by indentation."""
    label = Span(f"{'  ' * depth}{name}", "dim")
    if isinstance(value, dict):
        if name:
            yield label, ""
        for key, inner in value.items():
            yield from _tree(inner, str(key), depth + bool(name))
    elif isinstance(value, list) and any(isinstance(each, dict | list) for each in value):
        yield label, ""
        for number, inner in enumerate(value, start=1):
            yield from _tree(_flat(inner), f"{number}.", depth + 1)
    elif isinstance(value, list):
        yield label, ", ".join(str(each) for each in value) or "-"
    else:
        yield label, _said(name, value)


def _flat(value: Any) -> Any:
    """An entry of a list in one line where it holds plain values only."""
    if isinstance(value, dict) and not any(isinstance(v, dict | list) for v in value.values()):
        return ", ".join(f"{k} {_said(k, v)}" for k, v in value.items() if v is not None)
    return value


def _said(name: str, value: Any) -> str:
    """One plain value; evidence keeps times as the ledger does, in milliseconds."""
    if name.endswith("_at") and isinstance(value, int):
        return moment(datetime.fromtimestamp(value / 1000, tz=UTC).isoformat())
    return "-" if value is None else str(value)
