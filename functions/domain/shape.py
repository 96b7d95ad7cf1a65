"""The shape of a plan: all that its state machine is made from. No argument, no text and no policy is in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from functions.domain.catalogue import Catalogue, Kind, Step
from functions.domain.undo_order import undo_waits_for


@dataclass(frozen=True, slots=True)
class ShapeStep:
    """A step's place in the machine.

    `undo_waits_for` holds the indexes of the steps whose undo must be settled before this one's may start: all later
    compensable ones by default, which is strict reverse order.
    """

    name: str
    kind: Kind
    undo_waits_for: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Shape:
    """Ordered steps of one catalogue version. Two plans with equal shapes share one state machine."""

    catalogue: str
    catalogue_version: str
    steps: tuple[ShapeStep, ...]

    @property
    def boundary(self) -> int | None:
        """Index of the pivot, or in a plan without one of the first retriable step; None if all are compensable."""
        return next((i for i, s in enumerate(self.steps) if s.kind is not Kind.COMPENSABLE), None)


def shape_of(catalogue: Catalogue, steps: Sequence[Step]) -> Shape:
    """The shape of these steps of a catalogue, in this order."""
    return Shape(
        catalogue=catalogue.name,
        catalogue_version=catalogue.version,
        steps=tuple(
            ShapeStep(step.name, step.kind, waiting)
            for step, waiting in zip(steps, undo_waits_for(steps), strict=True)
        ),
    )
