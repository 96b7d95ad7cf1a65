"""`submit`, `request`: what somebody who proposes plans needs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from cli.errors import Stop
from cli.exits import ExitCode, end_of_wait
from cli.options import Json, Profile, RequestId, Timeout
from cli.views.requests import admission_page, request_page
from cli.views.timeline import timeline_page
from cli.work import Work, terminal

_MOST_BYTES = 1 << 20


def submit(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="The plan as JSON; - reads standard input.")
    ],
    *,
    wait: Annotated[
        bool,
        typer.Option(
            "--wait",
            help="Follow the saga until it is at rest or awaits a person. Ends with 0 if it completed, 5 if it "
            "ended otherwise, 6 if it is not at rest.",
        ),
    ] = False,
    timeout: Timeout = None,
    as_json: Json = False,
    profile: Profile = "",
) -> None:
    """Submit a plan, and see what it meets.

    For agents. The file is sent byte for byte as it is. Admitted, the plan answers with the saga that runs it; the same plan again answers with the same saga. Refused, it lists
    every problem with its place in the plan and what to change. With --wait and --json, the saga as it was last seen is
    printed.
    """
    work = Work(profile, as_json)
    admitted = work.client.submit(read_plan(file))
    if not wait:
        work.answer(admitted, admission_page)
        return
    if not as_json:
        terminal().tell(admission_page(admitted))
    saga = work.follow(admitted["saga_id"], until_asked=True, patience=timeout)
    work.answer(saga, timeline_page)
    if (code := end_of_wait(saga)) is not ExitCode.OK:
        raise typer.Exit(code)


def request(request_id: RequestId, *, as_json: Json = False, profile: Profile = "") -> None:
    """Show how far a request has come.

    For agents. Every plan that was looked at for it, its problems, and how many more are accepted.
    """
    work = Work(profile, as_json)
    work.answer(work.client.request(request_id), request_page)


def read_plan(file: str) -> bytes:
    """A plan's bytes, as they are. Raises Stop for what cannot be read, and for what is no plan by its size."""
    try:
        if file == "-":
            plan = sys.stdin.buffer.read(_MOST_BYTES + 1)
        else:
            with Path(file).open("rb") as opened:
                plan = opened.read(_MOST_BYTES + 1)
    except OSError as error:
        raise Stop(f"Cannot read {file}: {error.strerror}") from None
    if len(plan) > _MOST_BYTES:
        raise Stop(f"{file} is over 1 MiB: no plan is that large.")
    return plan
