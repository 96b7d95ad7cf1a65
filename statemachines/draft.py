"""A machine in the making: what both directions of it need to know."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from functions.domain.catalogue import Retry
from functions.domain.shape import Shape
from statemachines.bindings import Bindings, StepBinding
from statemachines.states import Asking

_CONTROL_RETRY: Final = Retry(attempts=6)
"""For begin, finish, gate and open case: they touch nothing but our own tables."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A legal shape and what it is bound to."""

    shape: Shape
    bindings: Bindings

    @property
    def boundary(self) -> int:
        """Index of the boundary; the number of steps where all are compensable."""
        found = self.shape.boundary
        return len(self.shape.steps) if found is None else found

    @property
    def control(self) -> Asking:
        """How the four control functions are asked."""
        timeout = self.bindings.control_timeout
        return Asking(timeout, timeout, _CONTROL_RETRY)

    def name(self, maker: Callable[[int, str], str], index: int) -> str:
        """The name that `maker` gives to a state of step `index`."""
        return maker(index, self.shape.steps[index].name)

    def binding(self, index: int) -> StepBinding:
        """The functions of step `index`."""
        return self.bindings.steps[self.shape.steps[index].name]
