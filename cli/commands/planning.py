"""`plan`: what a plan comes to, before anybody submits it."""

from __future__ import annotations

import json
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from cli.beside import checked, deployed_references
from cli.commands.plans import read_plan
from cli.errors import ApiProblem, Stop
from cli.exits import ExitCode

app = typer.Typer(no_args_is_help=True)
_UNPROCESSABLE = 422


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
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="The plan as JSON; - reads standard input.")
    ],
    *,
    form: Annotated[
        Form, typer.Option("--as", help="Amazon States Language, or a picture.")
    ] = Form.ASL,
    catalogue: Annotated[
        list[str] | None,
        typer.Option(
            "--catalogue",
            metavar="PACKAGE.MODULE:NAME",
            help="A catalogue that the plan may name; cdk.json's own without it.",
            show_default=False,
        ),
    ] = None,
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


def _drawn(body: bytes, references: list[str], form: Form) -> str:
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
    from statemachines.compiler import Machine  # noqa: PLC0415 - see cli/beside.py
    from statemachines.plans import machine_of  # noqa: PLC0415 - the same

    machine = machine_of(body, catalogues)
    if not isinstance(machine, Machine):
        problems = [each.model_dump(mode="json") for each in machine]
        raise ApiProblem(
            _UNPROCESSABLE, {"title": "This plan has no machine", "problems": problems}
        )
    if form is Form.ASL:
        return json.dumps(machine.definition, indent=2) + "\n"
    from statemachines.pictures.mermaid import mermaid  # noqa: PLC0415 - the same
    from statemachines.pictures.sketch import sketch  # noqa: PLC0415 - the same
    from statemachines.pictures.svg import svg  # noqa: PLC0415 - the same

    draw = mermaid if form is Form.MERMAID else svg
    return draw(sketch(machine.definition))
