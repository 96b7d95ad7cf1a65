"""`plan`: what a plan comes to, before anybody submits it."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.beside import checked, deployed_references
from cli.commands.plans import read_plan
from cli.errors import ApiProblem, Stop
from cli.exits import ExitCode
from cli.options import Json
from cli.page import Page, Span
from cli.work import terminal

if TYPE_CHECKING:
    from functions.domain.catalogue import Catalogue
    from functions.domain.problems import Problem

app = typer.Typer(no_args_is_help=True)
_UNPROCESSABLE = 422
Plan = Annotated[
    str, typer.Argument(metavar="FILE", help="The plan as JSON; - reads standard input.")
]
Catalogues = Annotated[
    list[str] | None,
    typer.Option(
        "--catalogue",
        metavar="PACKAGE.MODULE:NAME",
        help="A catalogue that the plan may name; cdk.json's own without it.",
        show_default=False,
    ),
]


class Form(StrEnum):
    """How a machine is printed."""

    ASL = "asl"
    MERMAID = "mermaid"
    SVG = "svg"


@app.callback()
def plan() -> None:
    """See what a plan comes to before it is submitted."""


@app.command(name="compile")
def compile_(
    file: Plan,
    *,
    form: Annotated[
        Form, typer.Option("--as", help="Amazon States Language, or a picture.")
    ] = Form.ASL,
    catalogue: Catalogues = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write it there.", show_default=False),
    ] = None,
) -> None:
    """Print the state machine that a plan would run on.

    For teams. The plan is held against its catalogue, and the machine is proved as in a deployment; functions have
    placeholder names, and no target is asked. Ends with 1 if the plan would be refused.
    """
    text = _drawn(read_plan(file), catalogue or deployed_references(), form)
    if output is None:
        sys.stdout.write(text)
        return
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Stop(f"Cannot write {output}: {error.strerror}") from None


@app.command()
def rehearse(
    file: Plan,
    *,
    catalogue: Catalogues = None,
    step: Annotated[
        int | None,
        typer.Option(
            "--step",
            min=0,
            metavar="INDEX",
            help="Only this step, counted from 0.",
            show_default=False,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Say how a plan's saga would end, whatever goes wrong.

    For teams. A table of every boundary of each step, times every fault that can happen there. The saga runs on its own machine in a simulated world, once for every cell of the table; targets keep what
    the catalogue declares, and none is called. No operator comes: what waits for one says which case it is. Ends with 1
    if the plan would be refused.
    """
    body = _rehearsed(read_plan(file), catalogue or deployed_references(), step, quiet=as_json)
    if as_json:
        terminal().json(body)
    else:
        from cli.views.rehearsal import rehearsal_page  # noqa: PLC0415 - it is a long one

        terminal().show(rehearsal_page(body))
    if body["violations"]:
        raise Stop(
            "sagaplane broke a promise of its own in this rehearsal: please report it.",
            code=ExitCode.FAULT,
        )


def _rehearsed(
    body: bytes, references: list[str], step: int | None, *, quiet: bool
) -> dict[str, Any]:
    catalogues = _usable(references)
    from simulation.play import Play  # noqa: PLC0415 - see cli/beside.py
    from simulation.rehearse import boundaries_of, plays, rehearsed  # noqa: PLC0415 - the same
    from simulation.told import told  # noqa: PLC0415 - the same

    play = plays(body, catalogues)
    if not isinstance(play, Play):
        raise _refused("This plan would be refused", play)
    if step is not None and step >= len(play.steps):
        raise Stop(f"This plan has {len(play.steps)} steps, counted from 0.")
    rows = []
    wanted = [each for each in boundaries_of(play) if step in {None, each[0]}]
    with terminal().progress(quiet=quiet) as draw:
        for number, (index, boundary) in enumerate(wanted, start=1):
            row = rehearsed(play, index, boundary)
            if row is not None:
                rows.append(row)
            page = Page()
            page.line(Span(f"rehearsed {number} of {len(wanted)} boundaries", "dim"))
            draw(page, [])
    return told(play, rows)


def _usable(references: list[str]) -> dict[str, Catalogue]:
    """The catalogues by their names. Raises Stop for one that cannot be used."""
    catalogues = {}
    for reference in references:
        found = checked(reference)
        if found.catalogue is None:
            raise Stop(
                f"{reference} cannot be used: {found.broken[0].message}",
                f"sagaplane catalogue check {reference} says why.",
                code=ExitCode.REFUSED,
            )
        catalogues[found.catalogue.name] = found.catalogue
    return catalogues


def _refused(title: str, problems: Sequence[Problem]) -> ApiProblem:
    dumped = [each.model_dump(mode="json") for each in problems]
    return ApiProblem(_UNPROCESSABLE, {"title": title, "problems": dumped})


def _drawn(body: bytes, references: list[str], form: Form) -> str:
    catalogues = _usable(references)
    from statemachines.compiler import Machine  # noqa: PLC0415 - see cli/beside.py
    from statemachines.plans import machine_of  # noqa: PLC0415 - the same

    machine = machine_of(body, catalogues)
    if not isinstance(machine, Machine):
        raise _refused("This plan has no machine", machine)
    if form is Form.ASL:
        return json.dumps(machine.definition, indent=2) + "\n"
    from statemachines.pictures.mermaid import mermaid  # noqa: PLC0415 - the same
    from statemachines.pictures.sketch import sketch  # noqa: PLC0415 - the same
    from statemachines.pictures.svg import svg  # noqa: PLC0415 - the same

    draw = mermaid if form is Form.MERMAID else svg
    return draw(sketch(machine.definition))
