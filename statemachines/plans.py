"""From a plan, as somebody wrote it, to the machine that would run it; without any target being asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from functions.domain.catalogue import Catalogue, Step
from functions.domain.plan import Plan, parse_plan
from functions.domain.problems import Code, Problem, problem, quoted
from functions.domain.shape import Shape, shape_of
from functions.domain.validation import check_static
from statemachines.compiler import Machine, compile_machine
from statemachines.placeholders import placeholder_bindings
from statemachines.verify import verified


def machine_of(body: bytes, catalogues: Mapping[str, Catalogue]) -> Machine | Sequence[Problem]:
    """The proved machine of a plan, or why there is none. Preconditions are not among the reasons: they need facts."""
    shape = shape_of_plan(body, catalogues)
    if not isinstance(shape, Shape):
        return shape
    return proved(shape, catalogues[shape.catalogue])


def shape_of_plan(body: bytes, catalogues: Mapping[str, Catalogue]) -> Shape | Sequence[Problem]:
    """The shape of a plan that its catalogue accepts, or why it does not."""
    accepted = accepted_plan(body, catalogues)
    if not isinstance(accepted, Accepted):
        return accepted
    return shape_of(accepted.catalogue, accepted.steps)


@dataclass(frozen=True, slots=True)
class Accepted:
    """The catalogue of a plan, and its entries for the plan's steps in their order."""

    catalogue: Catalogue
    steps: tuple[Step, ...]


def accepted_plan(body: bytes, catalogues: Mapping[str, Catalogue]) -> Accepted | Sequence[Problem]:
    """What a plan is made of whose catalogue accepts it, or why it does not."""
    plan = parse_plan(body)
    if not isinstance(plan, Plan):
        return plan
    catalogue = catalogues.get(plan.catalogue)
    if catalogue is None:
        message = f"There is no catalogue {quoted(plan.catalogue)} here."
        hint = "Name it in cdk.json, or give it with --catalogue."
        known = tuple(sorted(catalogues))
        return [problem(Code.UNKNOWN_CATALOGUE, message, hint, at=("catalogue",), allowed=known)]
    static = check_static(plan, catalogue)
    if static.problems:
        return static.problems
    return Accepted(catalogue, tuple(each.step for each in static.steps if each.step is not None))


def proved(shape: Shape, catalogue: Catalogue) -> Machine:
    """The machine of a shape, with placeholders for functions. Raises UnsafeMachine."""
    return verified(compile_machine(shape, placeholder_bindings(catalogue)), shape)
