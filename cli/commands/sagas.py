"""`show`, `sagas`, `cancel`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from cli.errors import Stop
from cli.moments import since_millis
from cli.options import Json, Limit, Profile, SagaId, Timeout, Yes
from cli.views.audit import audit_page
from cli.views.review import grouped, review_page
from cli.views.saga import saga_page
from cli.views.sagas import sagas_page
from cli.views.timeline import timeline_page
from cli.work import Body, Work, collected


class Status(StrEnum):
    """The statuses that a saga can have."""

    ADMITTED = "admitted"
    RUNNING = "running"
    AWAITING_APPROVAL = "awaiting_approval"
    FINISHING = "finishing"
    POST_PIVOT_RETRYING = "post_pivot_retrying"
    COMPLETED = "completed"
    COMPENSATING = "compensating"
    COMPENSATION_BLOCKED = "compensation_blocked"
    COMPENSATED = "compensated"
    AWAITING_MANUAL_RESOLUTION = "awaiting_manual_resolution"
    RESOLVED_MANUALLY = "resolved_manually"


def show(
    saga_id: SagaId,
    *,
    follow: Annotated[
        bool,
        typer.Option(
            "--follow", "-f", help="Keep looking until the saga is at rest; Ctrl-C ends it."
        ),
    ] = False,
    audit: Annotated[
        bool,
        typer.Option("--audit", help="For people: who did what when, in order and complete."),
    ] = False,
    timeout: Timeout = None,
    as_json: Json = False,
    profile: Profile = "",
) -> None:
    """Show a saga as a timeline.

    Forward on top, the point of no return as a line, undo below. People also see each attempt, the keys, the receipts, where the plan came from, and the agent's own words in a box.
    An agent sees its own sagas and how they ended. With --follow and --json, the last look is printed.
    """
    work = Work(profile, as_json)
    if follow and audit:
        raise Stop("--follow and --audit are two different looks: choose one.")
    if audit:
        work.answer(work.client.audit(saga_id), audit_page)
        return
    if follow:
        saga = work.follow(saga_id, until_asked=False, patience=timeout)
    else:
        saga = work.client.saga(saga_id)
    work.answer(saga, saga_page)


def sagas(
    *,
    status: Annotated[
        Status | None, typer.Option(help="Only those that stand like this.", show_default=False)
    ] = None,
    request: Annotated[
        str | None,
        typer.Option(metavar="REQUEST", help="Only those of this request.", show_default=False),
    ] = None,
    document: Annotated[
        str | None,
        typer.Option(
            metavar="ID", help="Only those from this source document.", show_default=False
        ),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Only those admitted since: 30m, 12h, 7d, 2w, or 2026-11-30.",
            show_default=False,
        ),
    ] = None,
    limit: Limit = 20,
    as_json: Json = False,
    profile: Profile = "",
) -> None:
    """List sagas, newest first.

    For people. Options narrow the list down, and may be combined.
    """
    work = Work(profile, as_json)
    found = collected(
        work.client.sagas,
        "sagas",
        limit,
        status=status.value if status else None,
        request_id=request,
        source_document_id=document,
        since=since_millis(since) if since else None,
    )
    work.answer(found, sagas_page)


def review(
    *,
    since: Annotated[
        str,
        typer.Option(
            metavar="TIME", help="What ended since: 30m, 12h, 7d, 2w, or a date as 2026-11-30."
        ),
    ] = "7d",
    limit: Annotated[
        int, typer.Option("--limit", min=1, max=1000, help="Look at this many at most.")
    ] = 500,
    as_json: Json = False,
    profile: Profile = "",
) -> None:
    """List what did not complete, grouped by its reason.

    For people, once a week: sagas that were compensated, and those that people ended by other means. A reason that comes
    often is a precondition, a limit or a description that is missing.
    """
    work = Work(profile, as_json)
    begin = since_millis(since)
    found: list[Body] = []
    cursor: str | None = None
    while len(found) < limit:
        page = work.client.review(since=begin, limit=min(100, limit - len(found)), cursor=cursor)
        found += page["sagas"]
        cursor = page.get("next")
        if not cursor:
            break
    body = {"since": since, "groups": grouped(found), "more": bool(cursor)}
    work.answer(body, review_page)


def cancel(
    saga_id: SagaId, *, yes: Yes = False, as_json: Json = False, profile: Profile = ""
) -> None:
    """Turn a saga back before its point of no return.

    For operators. What was done is undone; past the point of no return it is refused.
    """
    work = Work(profile, as_json)
    client = work.client
    if work.asks(yes=yes):
        work.confirm(timeline_page(client.saga(saga_id)), "Turn this saga back, and undo it?")
    work.answer(client.cancel(saga_id), timeline_page)
