"""What must hold in every machine, proved on its graph before it is created.

The verifier knows the shape, the names of states and of errors, and nothing of the compiler: it would refuse a machine
that the compiler gets wrong, that somebody edits, or that a hostile hand exchanges. It reads defensively, and answers
all violations that it can still tell.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from functions.domain.shape import Shape
from statemachines.compiler import Machine
from statemachines.proofs import graph as graphs
from statemachines.proofs import limits, paths, states, texts, undos
from statemachines.proofs.parts import Cast
from statemachines.proofs.violation import Code, Violation

__all__ = ["Code", "UnsafeMachine", "Violation", "verified", "verify"]

_NOT_WHOLE: Final = {
    Code.MALFORMED,
    Code.MISSING_STATE,
    Code.DUPLICATE_STATE,
    Code.MISSING_TARGET,
    Code.ENDLESS,
}
_NOT_COUNTABLE: Final = _NOT_WHOLE | {Code.UNBOUNDED, Code.UNSOUND_RETRY}


class UnsafeMachine(Exception):
    """This machine must not be created. A fault of ours, never of an agent."""

    def __init__(self, name: str, violations: list[Violation]) -> None:
        super().__init__(
            f"{name}: "
            + "; ".join(f"{v.code} at {v.state or 'the machine'}: {v.message}" for v in violations)
        )
        self.violations = violations


def verify(definition: Mapping[str, Any], shape: Shape) -> list[Violation]:
    """All that is wrong with `definition` as the machine of `shape`; an empty list is the proof that nothing is."""
    cast = Cast(shape)
    graph, found = graphs.read(definition)
    found += states.prove(graph, cast)
    found += texts.prove(definition, graph, cast)
    found += paths.prove(graph, cast)
    # Paths can be followed to their ends only in a whole graph, attempts counted only where they are bounded.
    codes = {violation.code for violation in found}
    if not codes & _NOT_WHOLE:
        found += undos.prove(graph, cast)
    if not codes & _NOT_COUNTABLE:
        found += limits.prove(definition, graph, cast)
    return found


def verified(machine: Machine, shape: Shape) -> Machine:
    """The same machine, proved. Raises UnsafeMachine."""
    if violations := verify(machine.definition, shape):
        raise UnsafeMachine(machine.name, violations)
    return machine
