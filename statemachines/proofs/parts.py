"""Which states a machine of a shape has, and what each is there for, told by its name."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from functions.domain.catalogue import Kind
from functions.domain.shape import Shape
from statemachines import names


class Part(StrEnum):
    """What a state is there for."""

    FORWARD = "forward"
    SETTLE = "settle"
    GATE = "gate"
    CASE = "case"
    BEGIN = "begin"
    UNDO = "undo"
    UNDO_CASE = "undo case"
    UNDO_LEFT = "undo left"
    FINISH = "finish"
    STOPPED = "stopped"


BACKWARD = frozenset({Part.BEGIN, Part.UNDO, Part.UNDO_CASE, Part.UNDO_LEFT, Part.FINISH})
FORWARD = frozenset({Part.FORWARD, Part.SETTLE, Part.GATE, Part.CASE})


@dataclass(frozen=True, slots=True)
class Role:
    """A part, for one step; `index` is -1 where it is the whole saga's."""

    part: Part
    index: int = -1


class Cast:
    """The roles of a shape's machine, by state name and back."""

    def __init__(self, shape: Shape) -> None:
        """Give every state that the machine of `shape` may have its role."""
        self.shape = shape
        self.last = len(shape.steps) - 1
        found = shape.boundary
        self.boundary = len(shape.steps) if found is None else found
        self.compensable = frozenset(
            i for i, step in enumerate(shape.steps) if step.kind is Kind.COMPENSABLE
        )
        self.roles: dict[str, Role] = {
            names.FINISH: Role(Part.FINISH),
            names.STOPPED: Role(Part.STOPPED),
        }
        for index, step in enumerate(shape.steps):
            self._cast(index, step.name, step.kind)
        self.turns = frozenset(
            (names.approve(i, step.name), names.forward(i, step.name))
            for i, step in enumerate(shape.steps)
            if step.kind is Kind.PIVOT
        )
        """The one way back that is allowed, from the gate to its pivot: the ledger bounds it."""
        self.names = {role: name for name, role in self.roles.items()}

    def name(self, part: Part, index: int = -1) -> str:
        """The name of the state that plays this role."""
        return self.names[Role(part, index)]

    def role(self, name: str) -> Role | None:
        """The role of a state; None for a Parallel, and for what has no place here."""
        return self.roles.get(name)

    def _cast(self, index: int, step: str, kind: Kind) -> None:
        makers = {Part.FORWARD: names.forward}
        if index <= self.boundary:
            makers[Part.BEGIN] = names.begin
        if index < self.boundary:
            makers |= {
                Part.UNDO: names.undo,
                Part.UNDO_CASE: names.undo_case,
                Part.UNDO_LEFT: names.undo_left,
            }
        else:
            makers[Part.CASE] = names.case
        if index == self.boundary:
            makers[Part.SETTLE] = names.settle
        if kind is Kind.PIVOT:
            makers[Part.GATE] = names.approve
        for part, maker in makers.items():
            self.roles[maker(index, step)] = Role(part, index)
