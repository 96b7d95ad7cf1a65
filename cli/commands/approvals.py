"""`approvals`: what an approver does."""

from __future__ import annotations

from typing import Annotated

import typer

from cli.options import ApprovalId, Json, Limit, Profile, Yes
from cli.views.approvals import approval_page, approvals_page, decided_page
from cli.work import Work, collected

app = typer.Typer()
_Reason = Annotated[
    str, typer.Option("--reason", metavar="TEXT", help="Why: the agent and the operators read it.")
]

_Binds = Annotated[
    str | None,
    typer.Option(
        "--binds",
        metavar="DIGEST",
        help="The digest that you were shown: if it is another by now, nothing is decided.",
        show_default=False,
    ),
]


@app.callback(invoke_without_command=True)
def approvals(
    context: typer.Context, *, limit: Limit = 50, as_json: Json = False, profile: Profile = ""
) -> None:
    """List what waits for approval; decide one.

    Nothing that cannot be taken back runs before the people whom the policy names have agreed.
    """
    if context.invoked_subcommand is None:
        work = Work(profile, as_json)
        work.answer(collected(work.client.approvals, "approvals", limit), approvals_page)


@app.command()
def show(approval_id: ApprovalId, *, as_json: Json = False, profile: Profile = "") -> None:
    """Show what would run and why you are asked.

    Facts that were validated come first: what exists already, what follows if you approve, what follows if you reject.
    The agent's own words come last, in a box: they prove nothing.
    """
    work = Work(profile, as_json)
    work.answer(work.client.approval(approval_id), approval_page)


@app.command()
def approve(
    approval_id: ApprovalId,
    *,
    reason: Annotated[
        str | None,
        typer.Option("--reason", metavar="TEXT", help="Why, for the record.", show_default=False),
    ] = None,
    binds: _Binds = None,
    yes: Yes = False,
    as_json: Json = False,
    profile: Profile = "",
) -> None:
    """Agree that exactly what is shown may run.

    Your answer counts once and cannot be taken back. At a terminal you are shown it first, and asked.
    """
    work = Work(profile, as_json)
    client = work.client
    if work.asks(yes=yes):
        shown = client.approval(approval_id)
        work.confirm(approval_page(shown), "Approve exactly this?")
        binds = binds or shown["binds"]
    work.answer(client.approve(approval_id, reason, binds=binds), decided_page)


@app.command()
def reject(
    approval_id: ApprovalId,
    *,
    reason: _Reason,
    binds: _Binds = None,
    as_json: Json = False,
    profile: Profile = "",
) -> None:
    """Say no, and why.

    It does not run, and what was done before it is undone. The reason is read by the agent and the operators.
    """
    work = Work(profile, as_json)
    work.answer(work.client.reject(approval_id, reason, binds=binds), decided_page)
