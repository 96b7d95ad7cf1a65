"""Approvals: the facts that were validated come first, what follows on yes and on no, and the agent's words last."""

from __future__ import annotations

from typing import Any

from cli.moments import from_now, moment
from cli.page import Page, Span
from cli.views.words import add_agent_words


def approvals_page(body: dict[str, Any]) -> Page:
    """The list of what waits for this person's groups."""
    page = Page()
    for each in body["approvals"]:
        page.line(
            Span(each["approval_id"], "strong"),
            Span(f"  expires {from_now(each['expires_at'])}", "warn"),
            Span(f"  {_progress(each)}", "person"),
        )
        page.line(each["sentence"], indent=4)
        page.line(Span(f"{each['reason']}, saga {each['saga_id']}", "dim"), indent=4)
    if not body["approvals"]:
        page.line("nothing waits for your approval")
    else:
        page.line(Span("look at one: sagaplane approvals show ID", "dim"))
    return page


def approval_page(body: dict[str, Any]) -> Page:
    """One question, whole."""
    page = Page()
    page.line("approval ", Span(body["approval_id"], "strong"), "  ", Span(body["state"], "person"))
    page.line(Span(body["sentence"], "strong"))
    page.fields(
        [
            ("step", f"{body['step']} of {body['catalogue']}"),
            ("arguments", body["arguments"]),
            ("asked because", body["reason"]),
            ("asked again", body["again"]),
            ("agreed", f"{_progress(body)}, members of {body['group']}"),
            ("may not decide", ", ".join(body["excluded"])),
            ("expires", f"{moment(body['expires_at'])} ({from_now(body['expires_at'])})"),
            ("saga", body["saga_id"]),
            ("digest", body["binds"]),
        ]
    )
    if body["superseded_by"]:
        page.line(
            Span(f"It is asked anew: sagaplane approvals show {body['superseded_by']}", "warn")
        )
    _list(page, "done already", body["exists"], "nothing")
    _list(page, "if you approve, then", body["on_approve"], "nothing")
    _list(page, "if you reject, it is undone", body["on_reject"], "nothing has to be undone")
    if body["decisions"]:
        page.heading("decided so far")
        page.rows(
            (
                (moment(d["at"]), f"{d['person']}: {d['decision']}", d.get("reason") or "")
                for d in body["decisions"]
            ),
            indent=2,
        )
    add_agent_words(page, body["agent"].get("rationale"), body["agent"].get("notes") or [])
    return page


def decided_page(body: dict[str, Any]) -> Page:
    """What has become of it after a decision."""
    page = Page()
    page.line(Span(body["state"], "person"), f": {body['sentence']}")
    if body["state"] == "open":
        page.line(f"{_progress(body)} have agreed; it waits for somebody else.")
    page.line(f"Follow it: sagaplane show {body['saga_id']} --follow")
    return page


def _progress(body: dict[str, Any]) -> str:
    agreed = sum(d["decision"] == "approve" for d in body["decisions"])
    return f"{agreed} of {body['needed']}"


def _list(page: Page, title: str, sentences: list[str], none: str) -> None:
    page.heading(title)
    for sentence in sentences:
        page.line(f"- {sentence}", indent=2)
    if not sentences:
        page.line(Span(none, "dim"), indent=2)
