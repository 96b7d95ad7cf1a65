"""`cases drain`: the operator's loop."""

from __future__ import annotations

from typing import Annotated

import typer

from cli.commands.case_ways import Resolution
from cli.errors import Stop
from cli.options import Json, Profile
from cli.views.drained import drained_page
from cli.work import Work


def drain(
    *,
    once: Annotated[
        bool, typer.Option("--once", help="End when nothing is left; without it, wait for more.")
    ] = False,
    most: Annotated[
        int | None,
        typer.Option(
            "--max", min=1, metavar="N", help="End after this many cases.", show_default=False
        ),
    ] = None,
    resolve_as: Annotated[
        Resolution | None,
        typer.Option(
            "--resolve",
            help="For scripts: settle each case that allows it like this, and ask nobody.",
            show_default=False,
        ),
    ] = None,
    evidence: Annotated[
        str | None,
        typer.Option(
            "--evidence",
            metavar="TEXT",
            help="With --resolve: what was done or found.",
            show_default=False,
        ),
    ] = None,
    cause: Annotated[
        list[str] | None,
        typer.Option(
            "--cause",
            metavar="CAUSE",
            help="Only cases with this cause; may be repeated. All others are left.",
            show_default=False,
        ),
    ] = None,
    as_json: Json = False,
    profile: Profile = "",
) -> None:
    """Take case after case from the manual-resolution queue.

    Shows each case, and lets you claim and settle it. Its notice is taken off the queue once the case is settled; a case
    that you leave comes back after fifteen minutes. What has lost its notice is found on the list. Ctrl-C ends it.
    """
    work = Work(profile, as_json)
    if resolve_as is None and not work.asks(yes=False):
        raise Stop("Nobody is at the keyboard: say with --resolve how cases are to be settled.")
    if resolve_as not in {None, Resolution.RETRY} and evidence is None:
        raise Stop("This resolution needs evidence: say with --evidence what was done or found.")
    from cli.drainers import at_the_keyboard, by_script  # noqa: PLC0415 - see cli/work.py
    from cli.draining import Choice, Drain  # noqa: PLC0415 - the same

    causes = frozenset(cause or ())
    if resolve_as is None:
        ways = at_the_keyboard(causes)
    else:
        ways = by_script(Choice(resolve_as.value, evidence), causes)
    done = list(Drain(work.client, ways).dealt(once=once, most=most))
    body = {
        "cases": [
            {"case_id": d.case_id, "became": d.became, "resolution": d.resolution} for d in done
        ]
    }
    work.answer(body, drained_page)
