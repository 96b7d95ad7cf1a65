"""`cases`: what an operator does."""

from __future__ import annotations

from typing import Annotated

import typer

from cli.commands import case_claims, case_drain, case_proposals
from cli.commands.case_ways import Resolution
from cli.errors import Stop
from cli.options import CaseId, Json, Limit, Profile, Yes
from cli.views.cases import case_page, cases_page, settled_page
from cli.work import Work, collected

app = typer.Typer()


@app.callback(invoke_without_command=True)
def cases(
    context: typer.Context, *, limit: Limit = 50, as_json: Json = False, profile: Profile = ""
) -> None:
    """List the open cases; claim and settle one.

    A case is what automation could not settle: it stays open until a person has settled it.
    """
    if context.invoked_subcommand is None:
        work = Work(profile, as_json)
        work.answer(collected(work.client.cases, "cases", limit), cases_page)


@app.command()
def show(case_id: CaseId, *, as_json: Json = False, profile: Profile = "") -> None:
    """Show what is owed, and all of the evidence.

    Also why automation stopped, what exists already, and what you may do about it.
    """
    work = Work(profile, as_json)
    work.answer(work.client.case(case_id), case_page)


@app.command()
def claim(case_id: CaseId, *, as_json: Json = False, profile: Profile = "") -> None:
    """Take a case for fifteen minutes.

    Nobody else can settle it while you hold it. Renew it to keep it longer, release it if you cannot go on.
    """
    work = Work(profile, as_json)
    work.answer(work.client.claim(case_id), case_page)


@app.command()
def resolve(
    case_id: CaseId,
    resolution: Annotated[Resolution, typer.Argument(help="What you have done, or want done.")],
    *,
    evidence: Annotated[
        str | None,
        typer.Option(
            "--evidence",
            metavar="TEXT",
            help="What was done or found; only retry goes without.",
            show_default=False,
        ),
    ] = None,
    attempts: Annotated[
        int | None,
        typer.Option(
            "--attempts",
            min=1,
            max=10,
            help="For how many more plans a request is reopened.",
            show_default=False,
        ),
    ] = None,
    yes: Yes = False,
    as_json: Json = False,
    profile: Profile = "",
) -> None:
    """Settle a case that you have claimed.

    Its saga is then driven on. What takes two people is proposed instead.

    retry: automation tries again, with the same key. done: you have done it by hand, with the same key.
    did_not_happen: there is no effect, and there will be none. close: somebody has taken the request up.
    reopen: the agent may propose again.
    """
    if resolution is Resolution.REOPEN and attempts is None:
        raise Stop("Say with --attempts for how many more plans the request is reopened.")
    if resolution is not Resolution.RETRY and evidence is None:
        raise Stop("This resolution needs evidence: say with --evidence what was done or found.")
    work = Work(profile, as_json)
    client = work.client
    if work.asks(yes=yes):
        work.confirm(case_page(client.case(case_id)), f"Settle this case as {resolution.value}?")
    work.answer(client.resolve(case_id, resolution.value, evidence, attempts), settled_page)


app.command()(case_claims.renew)
app.command()(case_claims.release)
app.command("hand-over")(case_claims.hand_over)
app.command()(case_claims.observe)
app.command()(case_proposals.propose)
app.command()(case_proposals.confirm)
app.command()(case_proposals.refuse)
app.command()(case_proposals.withdraw)
app.command()(case_drain.drain)
