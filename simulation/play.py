"""What is played: one plan, its catalogue with simulated targets, its steps in order, and its proved machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Literal

from functions.domain.catalogue import Catalogue, Kind, Step
from functions.domain.shape import Shape, shape_of
from functions.ports import Key
from functions.usecases.world import millis
from simulation.target import Command
from statemachines.bindings import bindings_for
from statemachines.compiler import Machine, compile_machine
from statemachines.verify import verified

CONTROL_TIMEOUT = 30
_BACKSTOP = timedelta(minutes=10)
_FUNCTION = "arn:aws:lambda:eu-central-1:111122223333:function:"
_LETTERS = {Kind.COMPENSABLE: "c", Kind.PIVOT: "p", Kind.RETRIABLE: "r"}

Approver = Literal["approve", "reject", "silent", "late", "twice", "race"]
Operator = Literal[
    "settle", "retry", "done", "first", "careless", "accept", "alternate", "another", "silent"
]


@dataclass(frozen=True, slots=True)
class Habits:
    """How people behave. `ask`: policy asks them before the pivot.

    The operator *settles* (tries again once, then does it by hand), always tries again, always does it by hand, does it
    by hand *first* on record and then in fact, says without looking that it did not happen, has what is left accepted, has
    an alternate take over a lost authority, has another action done in place of the undo (these with a second person), or
    never comes.
    """

    ask: bool = False
    approver: Approver = "approve"
    operator: Operator = "settle"


EVERYDAY = Habits()


@dataclass(frozen=True, slots=True, eq=False)
class Play:
    """One plan. `prepared` is what the tables hold after its admission, once that has been played."""

    catalogue: Catalogue
    steps: tuple[Step, ...]
    body: bytes
    shape: Shape
    machine: Machine
    prepared: dict[Key, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def kinds(self) -> str:
        """The kinds of its steps as letters: `ccprr`."""
        return "".join(_LETTERS[step.kind] for step in self.steps)

    @property
    def boundary(self) -> int | None:
        """The index of the first step that is not compensable."""
        return self.shape.boundary

    def credential(self, index: int) -> str:
        """The name of the credential that a step is made with."""
        return self.steps[index].run.authority.credential or ""

    def settles_after(self, index: int) -> int:
        """For how many milliseconds past its deadline a late effect of a step, or of its undo, is possible."""
        step = self.steps[index]
        undo = step.undo.settlement if step.undo is not None else step.settlement
        return max(millis(step.settlement.settles_after), millis(undo.settles_after))

    def latest(self, command: Command) -> int:
        """The last moment, in milliseconds after it was sent, at which a call that was given up may land."""
        index, side = command
        step = self.steps[index]
        if side == "undo" and step.undo is not None:
            return millis(step.undo.call_timeout + step.undo.settlement.settles_after) - 100
        return millis(step.call_timeout + step.settlement.settles_after) - 100


def play_of(
    catalogue: Catalogue, steps: tuple[Step, ...], body: bytes, machine: Machine | None = None
) -> Play:
    """The play of these steps of a simulated catalogue; `body` is the plan as an agent sends it."""
    shape = shape_of(catalogue, steps)
    return Play(catalogue, steps, body, shape, machine or machine_of(catalogue, shape))


def machine_of(catalogue: Catalogue, shape: Shape) -> Machine:
    """The proved machine of a shape, bound to functions whose names say what they do."""
    bindings = bindings_for(
        catalogue,
        lambda step, side: f"{_FUNCTION}{side}-{step}:1",
        begin=f"{_FUNCTION}begin:1",
        finish=f"{_FUNCTION}finish:1",
        gate=f"{_FUNCTION}gate:1",
        open_case=f"{_FUNCTION}case:1",
        control_timeout=CONTROL_TIMEOUT,
        gate_timeout=int((catalogue.longest_wait + _BACKSTOP).total_seconds()),
        role="arn:aws:iam::111122223333:role/machines",
    )
    return verified(compile_machine(shape, bindings), shape)
