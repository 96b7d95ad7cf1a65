"""The shape of a plan: all that its state machine is made from. No argument, no text and no policy is in it."""

from __future__ import annotations

from dataclasses import dataclass

from functions.domain.catalogue import Kind


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
