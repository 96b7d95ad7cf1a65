"""How the golden machines are made."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from functions.catalogues.fulfilment.catalogue import CATALOGUE
from statemachines.bindings import Bindings, Side, bindings_for
from statemachines.compiler import Machine, compile_machine
from statemachines.shapes import known_shapes
from statemachines.shapes.fulfilment import PLANS
from statemachines.verify import verified

DIRECTORY: Final = Path(__file__).parent
SHAPES: Final = known_shapes(CATALOGUE, PLANS)


def golden_machines() -> dict[str, Machine]:
    """File name to machine, each proved. Raises UnsafeMachine."""
    bindings = placeholder_bindings()
    return {
        f"{CATALOGUE.name}.{plan}.asl.json": verified(compile_machine(shape, bindings), shape)
        for plan, shape in SHAPES.items()
    }


def text(machine: Machine) -> str:
    """A definition as a person reviews it."""
    return json.dumps(machine.definition, indent=2) + "\n"


def placeholder_bindings() -> Bindings:
    """The fulfilment catalogue bound to functions that do not exist, so that the text depends on no deployment."""
    return bindings_for(
        CATALOGUE,
        _step_arn,
        begin=_arn("begin-compensation"),
        finish=_arn("finish-compensation"),
        gate=_arn("gate"),
        open_case=_arn("open-case"),
        control_timeout=30,
        gate_timeout=86_400,
        role="arn:aws:iam::111122223333:role/machines",
    )


def _step_arn(step: str, side: Side) -> str:
    return _arn(f"{step}-{side}")


def _arn(function: str) -> str:
    return f"arn:aws:lambda:eu-central-1:111122223333:function:sagaplane-{function}:1"
