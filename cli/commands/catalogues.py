"""`catalogue`: read one from the API; check or begin one of your own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from cli.beside import checked
from cli.exits import ExitCode
from cli.new_catalogue import cdk_entry, write_catalogue
from cli.options import CatalogueName, Json, Profile
from cli.views.catalogue import catalogue_page
from cli.views.checked import checked_page, written_page
from cli.work import Work, terminal


class ShowsByName(TyperGroup):
    """`catalogue fulfilment` is `catalogue show fulfilment`: it was there first, and most people want just that."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command; a name that is none is a catalogue's."""
        if args and args[0] not in self.commands:
            args = ["show", *args]
        return super().resolve_command(ctx, args)


app = typer.Typer(cls=ShowsByName, no_args_is_help=True)


@app.callback()
def catalogue() -> None:
    """Read a catalogue of steps; check or begin your own.

    `sagaplane catalogue NAME` is short for `sagaplane catalogue show NAME`.
    """


@app.command()
def show(name: CatalogueName, *, as_json: Json = False, profile: Profile = "") -> None:
    """Show the steps that a plan may choose from.

    By kind, each with its description, its arguments and their limits, and what undoes it.
    """
    work = Work(profile, as_json)
    work.answer(work.client.catalogue(name), catalogue_page)


@app.command()
def check(
    reference: Annotated[
        str,
        typer.Argument(
            metavar="PACKAGE.MODULE:NAME", help="The catalogue, as cdk.json would name it."
        ),
    ],
    *,
    as_json: Json = False,
) -> None:
    """Explain every rule that a catalogue of yours breaks.

    For teams. It imports the catalogue from this folder and tries its adapters' names, its policy and its permissions;
    nothing is called. Ends with 1 if anything is broken.
    """
    body = _told(reference)
    if as_json:
        terminal().json(body)
    else:
        terminal().show(checked_page(body))
    if body["broken"]:
        raise typer.Exit(ExitCode.REFUSED)


@app.command()
def new(
    name: Annotated[
        str,
        typer.Argument(metavar="NAME", help="The catalogue's name: 2 to 20 of a-z, 0-9 and _."),
    ],
    *,
    into: Annotated[
        Path, typer.Option("--into", metavar="FOLDER", help="Where its folder is made.")
    ] = Path(),
    as_json: Json = False,
) -> None:
    """Write a small catalogue of your own, with its tests.

    For teams. A package NAME with two steps, an undo, a fact, a policy, adapters that keep every promise on AWS, tests
    that pass at once, and a plan to try. Replace it piece by piece.
    """
    written = [str(path) for path in write_catalogue(name, into)]
    if as_json:
        terminal().json({"name": name, "files": written, "cdk_json": cdk_entry(name)})
    else:
        terminal().show(written_page(name, written, cdk_entry(name)))


def _told(reference: str) -> dict[str, Any]:
    found = checked(reference)
    from functions.catalogues.checking import why  # noqa: PLC0415 - see cli/beside.py

    broken = [
        {"subject": b.subject, "rule": b.rule, "message": b.message, "why": why(b)}
        for b in found.broken
    ]
    told: dict[str, Any] = {"reference": reference, "broken": broken}
    if found.catalogue is not None:
        told["name"], told["version"] = found.catalogue.name, found.catalogue.version
        told["steps"] = [
            {
                "name": step.name,
                "kind": step.kind.value,
                "undone_by": step.undo.name if step.undo else None,
            }
            for step in found.catalogue.steps
        ]
    return told
