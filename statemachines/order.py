"""In which order a shape's steps are undone, and which shapes are legal at all."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

from functions.domain.catalogue import Kind
from functions.domain.shape import Shape

_ORDER = tuple(Kind)


class IllegalShape(ValueError):
    """No plan may have this shape: its kinds are out of order, or its undo order is no order."""


def check_shape(shape: Shape) -> None:
    """Raises IllegalShape. A validated plan never has one; the compiler does not rely on that."""
    if not shape.steps:
        raise IllegalShape("a shape has at least one step")
    places = [_ORDER.index(step.kind) for step in shape.steps]
    if places != sorted(places):
        raise IllegalShape("compensable steps come before the pivot, retriable ones after it")
    if places.count(_ORDER.index(Kind.PIVOT)) > 1:
        raise IllegalShape("a shape has at most one pivot")
    compensable = {i for i, step in enumerate(shape.steps) if step.kind is Kind.COMPENSABLE}
    for index, step in enumerate(shape.steps):
        if step.undo_waits_for and not {index, *step.undo_waits_for} <= compensable:
            raise IllegalShape(f"step {index}: only undos wait, and only for undos of this shape")
    undo_waves(shape)


def undo_waves(shape: Shape) -> list[tuple[int, ...]]:
    """The compensable steps in layers, the first one first: each step comes after all that its undo waits for.

    Raises IllegalShape where undos wait for each other.
    """
    sorter = TopologicalSorter(
        {i: s.undo_waits_for for i, s in enumerate(shape.steps) if s.kind is Kind.COMPENSABLE}
    )
    try:
        sorter.prepare()
    except CycleError as cycle:
        raise IllegalShape(f"undos wait for each other: {cycle.args[1]}") from cycle
    waves = []
    while sorter.is_active():
        ready = sorter.get_ready()
        waves.append(tuple(sorted(ready)))
        sorter.done(*ready)
    return waves
