"""How the golden machines are made."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from functions.catalogues.fulfilment.catalogue import CATALOGUE
from statemachines.compiler import Machine, compile_machine
from statemachines.placeholders import placeholder_bindings
from statemachines.shapes import known_shapes
from statemachines.shapes.fulfilment import PLANS
from statemachines.verify import verified

DIRECTORY: Final = Path(__file__).parent
SHAPES: Final = known_shapes(CATALOGUE, PLANS)


def golden_machines() -> dict[str, Machine]:
    """File name to machine, each proved. Raises UnsafeMachine."""
    bindings = placeholder_bindings(CATALOGUE)
    return {
        f"{CATALOGUE.name}.{plan}.asl.json": verified(compile_machine(shape, bindings), shape)
        for plan, shape in SHAPES.items()
    }


def text(machine: Machine) -> str:
    """A definition as a person reviews it."""
    return json.dumps(machine.definition, indent=2) + "\n"
