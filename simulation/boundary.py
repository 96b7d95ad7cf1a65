"""A moment at which a process may be struck, for which steps of a plan it exists, and the striking.

A boundary names one moment of one command, how a run is brought there, and, where the boundary is itself a misfortune, what
has gone wrong already. A cell that cannot exist has a reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from functions.domain.catalogue import Step
from simulation.faults import Fault, strike
from simulation.play import EVERYDAY, Habits
from simulation.scheduler import Place, Verdict, Worker
from simulation.ways import Act, Begin
from simulation.world import World

TARGETS = ("full", "keys", "status", "tombstone", "nothing")
"""What a target offers: keys, status and tombstone; one of them; or nothing, so that a person reconciles."""


def _always(_: Step) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Boundary:
    """One row.

    `places` says for which steps of a plan it exists, `here` where a worker then is (and for the how manieth time).
    `begin` makes the run lead there, `already` is what has gone wrong by then, `habits` are the people's. `impossible` has a reason for each cell
    that cannot exist; `is_itself` names the fault that the boundary already is. `targets` are the kinds of target for
    which it exists, `when` the steps.
    """

    group: str
    name: str
    places: Callable[[str], Iterator[int]]
    here: Callable[[int], Place]
    nth: int | Callable[[World, int], int] = 1
    begin: Begin | None = None
    already: Act | None = None
    habits: Habits = EVERYDAY
    is_itself: Fault | None = None
    impossible: dict[Fault, str] = field(default_factory=dict)
    targets: tuple[str, ...] = TARGETS
    when: Callable[[Step], bool] = _always

    @property
    def title(self) -> str:
        """Its name in the table."""
        return f"{self.group}: {self.name}"


# Which steps


def every(kinds: str) -> Iterator[int]:
    """All steps."""
    yield from range(len(kinds))


def compensable(kinds: str) -> Iterator[int]:
    """Steps that can be undone."""
    yield from (i for i, kind in enumerate(kinds) if kind == "c")


def turning(kinds: str) -> Iterator[int]:
    """Steps whose failure turns the saga: up to the boundary."""
    edge = _edge(kinds)
    yield from range(len(kinds) if edge is None else edge + 1)


def boundary(kinds: str) -> Iterator[int]:
    """The boundary."""
    edge = _edge(kinds)
    if edge is not None:
        yield edge


def pivot(kinds: str) -> Iterator[int]:
    """The pivot."""
    if "p" in kinds:
        yield kinds.index("p")


def beyond(kinds: str) -> Iterator[int]:
    """Steps beyond the boundary."""
    edge = _edge(kinds)
    yield from range(len(kinds) if edge is None else edge + 1, len(kinds))


def first(_: str) -> Iterator[int]:
    """The saga as a whole."""
    yield 0


def _edge(kinds: str) -> int | None:
    return next((i for i, kind in enumerate(kinds) if kind != "c"), None)


# Striking there


@dataclass(frozen=True, slots=True)
class Cell:
    """One fault at one boundary of one step. Without a fault the boundary is only passed."""

    boundary: Boundary
    fault: Fault | None
    variant: str
    index: int

    def __str__(self) -> str:
        variant = f" ({self.variant})" if self.variant else ""
        fault = self.fault.value if self.fault is not None else "nothing"
        return f"{fault}{variant} at {self.boundary.title}, step {self.index}"


def arm(world: World, cell: Cell, reached: Callable[[], None]) -> None:
    """Let the cell's fault happen once a worker comes to its boundary, and tell when it has."""
    boundary = cell.boundary
    if boundary.begin is not None:
        boundary.begin(world, cell.index)

    def act(worker: Worker) -> Verdict:
        reached()
        world.note(f"*** {worker}: {cell}")
        verdict = boundary.already(world, worker) if boundary.already is not None else None
        if cell.fault is None or cell.fault is boundary.is_itself:
            return verdict
        return strike(world, worker, cell.fault, cell.variant) or verdict

    nth = boundary.nth if isinstance(boundary.nth, int) else boundary.nth(world, cell.index)
    world.scheduler.arm(boundary.here(cell.index), act, nth)
