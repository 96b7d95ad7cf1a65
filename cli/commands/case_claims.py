"""What one does with a claim beside taking it, and what one writes into a case."""

from __future__ import annotations

from typing import Annotated

import typer

from cli.errors import Stop
from cli.options import CaseId, Json, Profile
from cli.views.cases import case_page
from cli.work import Work

_Note = Annotated[
    str | None,
    typer.Option("--note", metavar="TEXT", help="What others should know.", show_default=False),
]


def renew(case_id: CaseId, *, as_json: Json = False, profile: Profile = "") -> None:
    """Keep your claim for another fifteen minutes.

    A claim that has ended is taken anew with `claim`: somebody else may have worked on the case.
    """
    work = Work(profile, as_json)
    work.answer(work.client.renew(case_id), case_page)


def release(
    case_id: CaseId, *, note: _Note = None, as_json: Json = False, profile: Profile = ""
) -> None:
    """Give your claim back before it ends."""
    work = Work(profile, as_json)
    work.answer(work.client.release(case_id, note), case_page)


def hand_over(
    case_id: CaseId,
    person: Annotated[
        str, typer.Argument(metavar="PERSON", help="The name that this person signs in with.")
    ],
    *,
    note: _Note = None,
    as_json: Json = False,
    profile: Profile = "",
) -> None:
    """Give your claim to another person of the group.

    It is theirs for an hour, and stands on their list as handed over by you.
    """
    work = Work(profile, as_json)
    work.answer(work.client.hand_over(case_id, person, note), case_page)


def observe(
    case_id: CaseId,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What you found, in words.")],
    *,
    fact: Annotated[
        list[str] | None,
        typer.Option(
            "--fact", metavar="NAME=VALUE", help="One fact; may be repeated.", show_default=False
        ),
    ] = None,
    attempt: Annotated[
        bool,
        typer.Option("--attempt", help="It is what you are about to do at the target by hand."),
    ] = False,
    as_json: Json = False,
    profile: Profile = "",
) -> None:
    """Add to a case what you found, or are about to do.

    Anybody who sees the case may observe. To attempt something you hold the claim: if nobody hears of you again, the next
    person reads what you were about to do, and with which key. Nothing that was added is ever changed.
    """
    work = Work(profile, as_json)
    facts = dict(_pair(each) for each in fact or [])
    kind = "attempted" if attempt else "observed"
    work.answer(work.client.observe(case_id, kind, text, facts), case_page)


def _pair(fact: str) -> tuple[str, str]:
    name, equals, value = fact.partition("=")
    if not name or not equals:
        raise Stop(f"“{fact}” is no fact: write it as NAME=VALUE.")
    return name, value
