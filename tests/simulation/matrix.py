"""`python -m tests.simulation.matrix`: every boundary of every step, times every fault, each in a run of its own.

Prints the table of boundary by fault with the number of runs in each cell, the reasons of the cells that cannot exist, and
what it all came to. `--deep` runs pairs of faults for plans of up to three steps. Exit status 1 if anything is violated.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import combinations, product
from multiprocessing import get_context
from typing import Any

from simulation.boundaries import BOUNDARIES, CANCELS
from simulation.boundary import Cell, arm
from simulation.faults import VARIANTS, Fault
from simulation.play import EVERYDAY, Habits
from simulation.ways import lands_late
from tests.simulation import catalogue
from tests.simulation.scenario import Scenario
from tests.simulation.world import World

SMALL = 1
"""Plans of up to so many steps run against targets of every kind, with every variant of a fault."""
PAIRED = 3
"""Plans of up to so many steps run in pairs of faults."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run of the matrix: a plan, and what goes wrong."""

    kinds: str
    target: str
    style: str
    cells: tuple[Cell, ...]

    def __str__(self) -> str:
        return f"{self.kinds}/{self.target}/{self.style}: {' and '.join(map(str, self.cells))}"


@dataclass(slots=True)
class Tally:
    """What a number of runs came to."""

    runs: int = 0
    lost: int = 0
    duplicates: int = 0
    illegal: int = 0
    table: Counter[tuple[str, Fault | None]] = field(default_factory=Counter)
    vacuous: Counter[tuple[str, Fault | None]] = field(default_factory=Counter)
    failed: list[tuple[int, str, list[str]]] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        """Both together."""
        self.runs += other.runs
        self.lost += other.lost
        self.duplicates += other.duplicates
        self.illegal += other.illegal
        self.table += other.table
        self.vacuous += other.vacuous
        self.failed += other.failed


def cells(kinds: str) -> Iterator[tuple[Cell, ...]]:
    """Every fault at every boundary of every step of a plan, each in all its variants."""
    for boundary in BOUNDARIES:
        for index in boundary.places(kinds):
            for fault in Fault:
                if fault not in boundary.impossible:
                    variants = ("",) if fault is boundary.is_itself else VARIANTS[fault]
                    yield tuple(Cell(boundary, fault, v, index) for v in variants)


def single_faults() -> Iterator[Run]:
    """The matrix. Small plans meet everything; for longer ones targets, styles and variants take turns."""
    turns: Counter[tuple[str, Fault | None]] = Counter()
    for kinds in catalogue.legal_shapes():
        for variants in cells(kinds):
            cell = variants[0]
            small = len(kinds) <= SMALL
            targets = cell.boundary.targets
            chosen = product(targets, variants) if small else ((None, None),)
            for target, variant in chosen:
                turn = turns[cell.boundary.title, cell.fault]
                turns[cell.boundary.title, cell.fault] += 1
                round_, place = divmod(turn, len(targets))
                one = variant or variants[round_ // len(catalogue.STYLES) % len(variants)]
                yield _in_turn(kinds, round_, (one,), target or targets[place])


def double_faults() -> Iterator[Run]:
    """Pairs of faults for small plans."""
    for kinds in catalogue.legal_shapes(PAIRED):
        for turn, (one, other) in enumerate(combinations(cells(kinds), 2)):
            pair = one[turn % len(one)], other[(turn + 1) % len(other)]
            targets = [
                target
                for target in one[0].boundary.targets
                if target in other[0].boundary.targets and _in_time(target, one[0], other[0])
            ]
            if targets:
                round_, place = divmod(turn, len(targets))
                yield _in_turn(kinds, round_, pair, targets[place])


def _in_time(target: str, *cells: Cell) -> bool:
    """Whether no call lands later than its target says it can.

    Where a key gets a tombstone, a single fault lets a call land ever so late. With a second fault there may be none.
    """
    return target not in CANCELS or all(cell.boundary.begin is not lands_late for cell in cells)


def _in_turn(kinds: str, round_: int, cells: tuple[Cell, ...], target: str) -> Run:
    """The styles take turns, each for one round of all targets: so each meets each."""
    return Run(kinds, target, catalogue.STYLES[round_ % len(catalogue.STYLES)], cells)


def world_of(run: Run, *, tracing: bool = False) -> tuple[World, list[bool]]:
    """The world of a run, ready to begin, and for each of its cells whether it was reached (once it has run)."""
    habits: dict[str, Any] = {}
    for cell in run.cells:
        habits |= _unusual(cell.boundary.habits)
    scenario = Scenario(run.kinds, (run.target,) * len(run.kinds), run.style, **habits)
    world = World(scenario, tracing=tracing)
    reached = [False] * len(run.cells)
    for number, cell in enumerate(run.cells):
        arm(world, cell, partial(reached.__setitem__, number, True))
    return world, reached


def _unusual(habits: Habits) -> dict[str, Any]:
    """What a boundary asks of people; the rest is left to the other boundary of a pair."""
    everyday = asdict(EVERYDAY)
    return {name: value for name, value in asdict(habits).items() if value != everyday[name]}


def walked(runs: Iterable[tuple[int, Run]]) -> Tally:
    """Run these."""
    tally = Tally()
    for number, run in runs:
        world, reached = world_of(run)
        world.begin()
        world.run()
        watch = world.watch
        tally.runs += 1
        tally.lost += watch.lost
        tally.duplicates += watch.duplicates
        tally.illegal += watch.illegal
        for cell, there in zip(run.cells, reached, strict=True):
            tally.table[cell.boundary.title, cell.fault] += 1
            if not there:
                tally.vacuous[cell.boundary.title, cell.fault] += 1
        if watch.violations:
            tally.failed.append((number, str(run), list(watch.violations)))
        world.close()
    return tally


def replay(run: Run) -> str:
    """The trace of one run."""
    world, reached = world_of(run, tracing=True)
    world.begin()
    world.run()
    lines = [str(run), *world.scheduler.trace]
    lines.append(f"ends {world.watch.head().get('outcome')}; reached: {reached}")
    lines += world.watch.violations or ["nothing is violated"]
    world.close()
    return "\n".join(lines)


def table(tally: Tally) -> str:
    """Boundary by fault, with counts; a dash and a number where there is a reason."""
    width = max(len(b.title) for b in BOUNDARIES) + 2
    lines = ["".ljust(width) + "".join(f.value.rjust(20) for f in Fault)]
    reasons: list[str] = []
    for boundary in BOUNDARIES:
        shown = []
        for fault in Fault:
            reason = boundary.impossible.get(fault)
            if reason is not None:
                if reason not in reasons:
                    reasons.append(reason)
                shown.append(f"– [{reasons.index(reason) + 1}]")
                continue
            mark = "*" if fault is boundary.is_itself else ""
            shown.append(f"{tally.table[boundary.title, fault]}{mark}")
        lines.append(boundary.title.ljust(width) + "".join(s.rjust(20) for s in shown))
    lines.append("* the boundary is this fault")
    lines += [f"[{number}] {reason}" for number, reason in enumerate(reasons, 1)]
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="matrix", description=__doc__)
    parser.add_argument("--deep", action="store_true", help="pairs of faults")
    parser.add_argument("--every", type=int, default=1, help="only each n-th run: a sample")
    parser.add_argument("--run", type=int, help="replay one run by its number, with its trace")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args(arguments)
    what = "double" if given.deep else "single"
    runs = list(double_faults() if given.deep else single_faults())
    if given.run is not None:
        sys.stdout.write(replay(runs[given.run]) + "\n")
        return 0
    begun = time.monotonic()
    tally = _side_by_side(runs, range(0, len(runs), given.every), given.workers)
    sys.stdout.write(table(tally) + "\n")
    for number, run, violations in tally.failed[:20]:
        sys.stdout.write(f"\nrun {number}: {run}\n  " + "\n  ".join(violations) + "\n")
    if tally.failed:
        command = f"python -m tests.simulation.matrix{' --deep' if given.deep else ''} --run"
        sys.stdout.write(f"\n{len(tally.failed)} runs failed; replay: {command} NUMBER\n")
    if tally.vacuous and not given.deep:
        for (name, fault), count in tally.vacuous.items():
            sys.stdout.write(f"never got there: {name}, {fault.value}: {count} runs\n")
    sys.stdout.write(
        f"{tally.runs} {what}-fault runs, {tally.lost} lost obligations, "
        f"{tally.duplicates} duplicate effects, {tally.illegal} illegal states "
        f"({time.monotonic() - begun:.0f} s)\n"
    )
    return 1 if tally.failed or (tally.vacuous and not given.deep) else 0


_SIZE = 200
_inherited: list[Run] = []
"""What the processes of a pool share: boundaries hold functions, which cannot be sent, but which a fork takes along."""


def _side_by_side(runs: list[Run], numbers: range, workers: int) -> Tally:
    _inherited[:] = runs
    tally = Tally()
    chunks = [numbers[at : at + _SIZE] for at in range(0, len(numbers), _SIZE)]
    with ProcessPoolExecutor(workers, mp_context=get_context("fork")) as pool:
        for done in pool.map(_walked_here, chunks):
            tally.add(done)
    return tally


def _walked_here(numbers: range) -> Tally:
    return walked((number, _inherited[number]) for number in numbers)


if __name__ == "__main__":
    sys.exit(main())
