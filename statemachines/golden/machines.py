"""How the golden machines are made."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from functions.catalogues.environments.catalogue import CATALOGUE as ENVIRONMENTS
from functions.catalogues.fulfilment.catalogue import CATALOGUE as FULFILMENT
from statemachines.compiler import Machine
from statemachines.plans import proved
from statemachines.shapes import known_shapes

DIRECTORY: Final = Path(__file__).parent
CATALOGUES: Final = (FULFILMENT, ENVIRONMENTS)
SHAPES: Final = {
    catalogue.name: known_shapes(
        catalogue, f"functions.catalogues.{catalogue.name}.catalogue:CATALOGUE"
    )
    for catalogue in CATALOGUES
}


def golden_machines() -> dict[str, Machine]:
    """File name to machine, each proved. Raises UnsafeMachine."""
    return {
        f"{catalogue.name}.{plan}.asl.json": proved(shape, catalogue)
        for catalogue in CATALOGUES
        for plan, shape in SHAPES[catalogue.name].items()
    }


def text(machine: Machine) -> str:
    """A definition as a person reviews it."""
    return json.dumps(machine.definition, indent=2) + "\n"
