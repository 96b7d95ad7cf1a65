"""Machines of shapes that are known beforehand: made by the code that makes all others, so that a start finds them."""

from __future__ import annotations

from collections.abc import Iterable

from functions.domain.shape import Shape
from functions.ports import Machines
from functions.usecases.start_saga import Compile


def make_machines(machines: Machines, compiled: Compile, shapes: Iterable[Shape]) -> list[str]:
    """Make what is not there yet; answers the ARNs of all. Raises NoMachine."""
    return [machines.ensure(*compiled(shape)) for shape in shapes]
