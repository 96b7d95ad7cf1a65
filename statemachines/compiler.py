"""From a plan's shape to its state machine.

Pure: the same shape and bindings give the same machine, byte for byte, under the same name. Nothing an agent wrote
is in a shape, so nothing an agent wrote can be in a machine.

The ledger is the truth and the machine only the driver, which is why a resumed saga simply starts this machine again at
its first state: completed steps answer at once, and a compensating saga is refused forward and led to its undo.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final

from functions.domain import keys
from functions.domain.shape import Shape
from statemachines import names
from statemachines.backward import backward_states
from statemachines.bindings import Bindings
from statemachines.draft import Draft
from statemachines.forward import forward_states
from statemachines.order import check_shape
from statemachines.states import State

COMPILER_VERSION: Final = "1"
"""Raised with every change to what is generated, so that open sagas keep the machine they began with."""


@dataclass(frozen=True, slots=True)
class Machine:
    """A state machine, ready to be created: its content-addressed name, its definition, the digest in the name."""

    name: str
    definition: State
    digest: str

    @property
    def text(self) -> str:
        """The definition as AWS takes it."""
        return serialized(self.definition)


def serialized(definition: State) -> str:
    """A definition's JSON text, states in the order of the plan."""
    return json.dumps(definition, separators=(",", ":"))


def compile_machine(shape: Shape, bindings: Bindings) -> Machine:
    """The machine of a shape.

    Raises IllegalShape for a shape that no plan may have, KeyError for a step without a binding, ValueError for a name
    that AWS would refuse. What comes out is still to be proved: see `verify.verified`.
    """
    check_shape(shape)
    draft = Draft(shape, bindings)
    definition: State = {
        "Comment": f"A saga of {shape.catalogue}, made by compiler {COMPILER_VERSION}. The ledger holds its data.",
        "StartAt": draft.name(names.forward, 0),
        "States": forward_states(draft) | backward_states(draft),
    }
    digest = _digest(shape, bindings, definition)
    return Machine(
        names.machine_name(bindings.deployment, shape.catalogue, digest), definition, digest
    )


def _digest(shape: Shape, bindings: Bindings, definition: State) -> str:
    """Over all that makes a machine, its role too: a repeated create with another role would keep the old one."""
    used = [bindings.steps[step.name] for step in shape.steps]
    return keys.digest(
        {
            "compiler": COMPILER_VERSION,
            "catalogue": shape.catalogue,
            "catalogue_version": shape.catalogue_version,
            "steps": [[s.name, s.kind.value, sorted(s.undo_waits_for)] for s in shape.steps],
            "functions": [
                *([each.run, each.undo] for each in used),
                [bindings.begin, bindings.finish, bindings.gate, bindings.open_case],
            ],
            "role": bindings.role,
            "definition": definition,
        }
    )
