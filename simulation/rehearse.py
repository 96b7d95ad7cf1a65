"""How a plan's saga would end, for each fault at each boundary of each of its steps.

Each cell is a run of its own, with the real use cases and the machine of the plan. No operator comes: where a person is
needed, that is the ending. Approvers say yes, where a row is about the gate.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from functions.domain.catalogue import Catalogue
from functions.domain.problems import Problem
from simulation.boundaries import DIRECTION, FORWARD, GATE, SAGA, SETTLING, UNDO
from simulation.boundary import Boundary, Cell, arm
from simulation.faults import VARIANTS, Fault
from simulation.play import Play, play_of
from simulation.resistance import RESISTANCE
from simulation.simulated import simulated
from simulation.world import World
from statemachines.plans import Accepted, accepted_plan

ROWS = (*RESISTANCE, *FORWARD, *UNDO, *SETTLING, *DIRECTION, *GATE, *SAGA)
Outcome = Literal["completed", "compensated", "case"]


@dataclass(frozen=True, slots=True)
class Owed:
    """A case that waits for a person: why, and which step's do or undo it is about."""

    cause: str
    step: str | None
    direction: str


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run ended. `violated` is empty, or something is wrong with this product."""

    outcome: Outcome
    cases: tuple[Owed, ...] = ()
    violated: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """One boundary of one step. A fault without an entry cannot happen there; None is the boundary with no fault."""

    index: int
    boundary: Boundary
    endings: Mapping[Fault | None, Ending]


def plays(body: bytes, catalogues: Mapping[str, Catalogue]) -> Play | Sequence[Problem]:
    """The plan as something to rehearse, or why it would be refused. Preconditions are simulated: they need facts."""
    accepted = accepted_plan(body, catalogues)
    if not isinstance(accepted, Accepted):
        return accepted
    played = simulated(accepted.catalogue)
    steps = tuple(step for each in accepted.steps if (step := played.step(each.name)) is not None)
    return play_of(played, steps, body)


def boundaries_of(play: Play) -> Iterator[tuple[int, Boundary]]:
    """Every boundary that a step of this plan may have, step by step."""
    for index, step in enumerate(play.steps):
        for boundary in ROWS:
            if index in boundary.places(play.kinds) and boundary.when(step):
                yield index, boundary


def rehearsed(play: Play, index: int, boundary: Boundary) -> Row | None:
    """The row of a boundary; None where no run ever comes there."""
    plain = ending(play, Cell(boundary, None, "", index))
    if plain is None:
        return None
    endings: dict[Fault | None, Ending] = {None: plain}
    for fault in Fault:
        if fault is boundary.is_itself:
            endings[fault] = plain
        elif fault not in boundary.impossible:
            struck = ending(play, Cell(boundary, fault, VARIANTS[fault][0], index))
            if struck is not None:
                endings[fault] = struck
    return Row(index, boundary, endings)


def ending(play: Play, cell: Cell) -> Ending | None:
    """One run with one fault; None if it never came to the boundary, and nothing was wrong with it."""
    world = World(play, replace(cell.boundary.habits, operator="silent"))
    reached: list[bool] = []
    arm(world, cell, partial(reached.append, True))
    world.begin()
    world.run()
    found = _ending(world) if reached or world.watch.violations else None
    world.close()
    return found


def _ending(world: World) -> Ending:
    watch = world.watch
    cases = tuple(
        Owed(
            str(case["cause"]),
            None if case.get("index") is None else world.play.steps[case["index"]].name,
            str(case["direction"]),
        )
        for case in watch.open_cases()
    )
    outcome: Outcome = (
        "compensated" if watch.head().get("outcome") == "compensated" else "completed"
    )
    return Ending("case" if cases else outcome, cases, tuple(watch.violations))
