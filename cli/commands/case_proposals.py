"""What takes two people: one proposes, another one confirms or refuses."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

from cli.errors import Stop
from cli.options import CaseId, Json, Profile, Yes
from cli.views.cases import case_page, settled_page
from cli.work import Work

_Reason = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why, for the record.")]


class ByTwo(StrEnum):
    """What two people have to agree to."""

    ACCEPT = "accept"
    RETRY_WITH_ALTERNATE = "retry_with_alternate"
    ANOTHER_ACTION = "another_action"


def propose(
    case_id: CaseId,
    resolution: Annotated[ByTwo, typer.Argument(help="What you want another person to agree to.")],
    *,
    reason: _Reason,
    alternate: Annotated[
        str | None,
        typer.Option(
            "--alternate",
            metavar="NAME",
            help="The other principal, as the case names it.",
            show_default=False,
        ),
    ] = None,
    action: Annotated[
        str | None,
        typer.Option(
            "--action",
            metavar="NAME",
            help="The other action, as the case names it.",
            show_default=False,
        ),
    ] = None,
    as_json: Json = False,
    profile: Profile = "",
) -> None:
    """Propose what takes two people, for a case of yours.

    Nothing happens until another person of the group confirms. If what is owed changes before that, the proposal is void.

    accept: the effect stays, and the saga ends as resolved_manually. retry_with_alternate: the same undo, with the same
    key, by another principal that the catalogue declares. another_action: what the catalogue declares in place of the
    undo, under a key of its own.
    """
    work = Work(profile, as_json)
    body = work.client.propose(case_id, resolution.value, reason, alternate, action)
    work.answer(body, case_page)


def confirm(
    case_id: CaseId, *, yes: Yes = False, as_json: Json = False, profile: Profile = ""
) -> None:
    """Agree to what another person has proposed.

    It is done with your answer. At a terminal you are shown the case first, and asked.
    """
    work = Work(profile, as_json)
    client = work.client
    case = client.case(case_id)
    proposal = _proposal(case)
    if work.asks(yes=yes):
        work.confirm(case_page(case), f"Confirm {proposal['resolution']}?")
    work.answer(client.answer_proposal(case_id, proposal["proposal_id"], "confirm"), settled_page)


def refuse(
    case_id: CaseId, *, reason: _Reason, as_json: Json = False, profile: Profile = ""
) -> None:
    """Say no to what another person has proposed."""
    work = Work(profile, as_json)
    client = work.client
    proposal = _proposal(client.case(case_id))
    body = client.answer_proposal(case_id, proposal["proposal_id"], "refuse", reason)
    work.answer(body, case_page)


def withdraw(case_id: CaseId, *, as_json: Json = False, profile: Profile = "") -> None:
    """Take your own proposal back."""
    work = Work(profile, as_json)
    client = work.client
    proposal = _proposal(client.case(case_id))
    work.answer(client.answer_proposal(case_id, proposal["proposal_id"], "withdraw"), case_page)


def _proposal(case: dict[str, Any]) -> dict[str, Any]:
    proposal: dict[str, Any] | None = case["proposal"]
    if proposal is None:
        raise Stop("Nothing is proposed for this case.")
    return proposal
