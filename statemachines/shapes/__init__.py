"""Plans known before any agent proposes them, each as a sample: `cdk deploy` makes their machines with the same compiler.

A sample is a whole plan, in a file of its own under the name of the plan. Those of the examples are here, in a folder
for each catalogue; any other catalogue brings its own in a folder `shapes` beside the module that declares it.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from functions.domain.catalogue import Catalogue
from functions.domain.problems import Problem
from functions.domain.shape import Shape
from statemachines.plans import proved, shape_of_plan

HERE: Final = Path(__file__).parent


class RefusedSample(ValueError):
    """A sample is no plan that its catalogue accepts: says which file, and every problem."""

    def __init__(self, sample: Path, problems: Iterable[Problem]) -> None:
        lines = [f"{p.code} at {p.pointer or '/'}: {p.message} {p.hint}" for p in problems]
        super().__init__("\n  ".join([f"{sample} would be refused:", *lines]))


def known_shapes(catalogue: Catalogue, reference: str) -> dict[str, Shape]:
    """The shape of each known plan of the catalogue behind `package.module:NAME`, by the plan's name.

    Each passes the validator as a submitted plan would, and its machine is proved. Raises RefusedSample, UnsafeMachine.
    """
    return {
        sample.stem: _shape(sample, catalogue)
        for folder in _folders(catalogue, reference)
        for sample in sorted(folder.glob("*.json"))
    }


def _folders(catalogue: Catalogue, reference: str) -> tuple[Path, ...]:
    if reference.startswith("functions.catalogues."):
        return (HERE / catalogue.name,)
    declared = importlib.util.find_spec(reference.partition(":")[0])
    return (Path(declared.origin).parent / "shapes",) if declared and declared.origin else ()


def _shape(sample: Path, catalogue: Catalogue) -> Shape:
    shape = shape_of_plan(sample.read_bytes(), {catalogue.name: catalogue})
    if not isinstance(shape, Shape):
        raise RefusedSample(sample, shape)
    proved(shape, catalogue)
    return shape
