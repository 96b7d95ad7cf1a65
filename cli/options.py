"""The arguments and options that several commands share."""

from __future__ import annotations

import re
from typing import Annotated, Any

import typer

from cli.profiles import DEFAULT

_ID = re.compile(r"[A-Za-z0-9._-]{1,100}")


def _profile(context: typer.Context, value: str) -> str:
    """The last one that was given counts, wherever it stands in the command."""
    if value:
        context.meta["profile"] = value
    profile: str = context.meta.get("profile", DEFAULT)
    return profile


def _json(context: typer.Context, value: bool) -> bool:  # noqa: FBT001 - Typer's signature
    context.meta["json"] = value or context.meta.get("json", False)
    return bool(context.meta["json"])


def _id(value: str | None) -> str | None:
    if value is not None and (not _ID.fullmatch(value) or not value.strip(".")):
        raise typer.BadParameter("letters, digits, dots, dashes and underscores, at most 100")
    return value


def remembered(context: typer.Context) -> dict[str, Any]:
    """What the options have said so far: `profile` and `json`."""
    return {"profile": DEFAULT, "json": False} | dict(context.meta)


RootProfile = Annotated[
    str,
    typer.Option(
        "--profile",
        envvar="SAGAPLANE_PROFILE",
        callback=_profile,
        metavar="NAME",
        help="Act as this sign-in. May also stand behind the command.",
        show_default=False,
    ),
]
Profile = Annotated[
    str,
    typer.Option(
        "--profile",
        callback=_profile,
        metavar="NAME",
        help="Act as this sign-in.",
        show_default=False,
    ),
]
Json = Annotated[
    bool, typer.Option("--json", callback=_json, help="Print the API's own JSON, and nothing else.")
]
Limit = Annotated[int, typer.Option("--limit", min=1, max=100, help="List at most this many.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask whether you are sure.")]
Timeout = Annotated[
    float | None,
    typer.Option(
        "--timeout",
        min=0,
        metavar="SECONDS",
        help="Stop following after this long.",
        show_default=False,
    ),
]
SagaId = Annotated[str, typer.Argument(metavar="SAGA", callback=_id, help="The saga's id.")]
RequestId = Annotated[
    str, typer.Argument(metavar="REQUEST", callback=_id, help="The request's id.")
]
ApprovalId = Annotated[str, typer.Argument(metavar="ID", callback=_id, help="The approval's id.")]
CaseId = Annotated[str, typer.Argument(metavar="ID", callback=_id, help="The case's id.")]
CatalogueName = Annotated[
    str, typer.Argument(metavar="NAME", callback=_id, help="The catalogue's name, e.g. fulfilment.")
]
