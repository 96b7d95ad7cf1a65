"""Plans known before any agent proposes them: `cdk deploy` makes their machines with the same compiler."""

from __future__ import annotations

from collections.abc import Mapping

from functions.domain.catalogue import Catalogue, Step
from functions.domain.shape import Shape, shape_of

KnownPlans = Mapping[str, tuple[str, ...]]
"""Names of a catalogue's usual plans, each with its steps in order."""


def known_shapes(catalogue: Catalogue, plans: KnownPlans) -> dict[str, Shape]:
    """The shape of each known plan. Raises ValueError where a plan names a step that the catalogue has not."""
    return {
        plan: shape_of(catalogue, [_step(catalogue, name) for name in steps])
        for plan, steps in plans.items()
    }


def _step(catalogue: Catalogue, name: str) -> Step:
    step = catalogue.step(name)
    if step is None:
        raise ValueError(f"{catalogue.name} has no step {name!r}")
    return step
