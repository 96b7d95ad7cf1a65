"""`python -m tests.simulation.explore --runs N --seed S`: random schedules, any number of them.

A run that violates anything prints its seed, the command that replays it, and its trace. Exit status 1 if one did.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field

from tests.simulation.chaos import world_of

CHUNK = 250


@dataclass(slots=True)
class Tally:
    """What a number of runs came to."""

    runs: int = 0
    steps: int = 0
    lost: int = 0
    duplicates: int = 0
    illegal: int = 0
    failed: list[int] = field(default_factory=list)
    ends: Counter[str] = field(default_factory=Counter)

    def add(self, other: Tally) -> None:
        """Both together."""
        self.runs += other.runs
        self.steps += other.steps
        self.lost += other.lost
        self.duplicates += other.duplicates
        self.illegal += other.illegal
        self.failed += other.failed
        self.ends += other.ends

    def __str__(self) -> str:
        return (
            f"{self.runs} random schedules, {self.lost} lost obligations, "
            f"{self.duplicates} duplicate effects, {self.illegal} illegal states"
        )


def explored(seeds: Iterable[int]) -> Tally:
    """Run the schedules of these seeds."""
    tally = Tally()
    for seed in seeds:
        world = world_of(seed)
        world.begin()
        world.run()
        watch = world.watch
        tally.runs += 1
        tally.steps += world.scheduler.steps
        tally.lost += watch.lost
        tally.duplicates += watch.duplicates
        tally.illegal += watch.illegal
        tally.ends[str(watch.head().get("outcome"))] += 1
        if watch.violations:
            tally.failed.append(seed)
        world.close()
    return tally


def replay(seed: int) -> str:
    """The trace of one seed's run, and what it violates."""
    world = world_of(seed, tracing=True)
    lines = [f"{world.scenario}"]
    world.begin()
    world.run()
    lines += world.scheduler.trace
    lines.append(f"ends {world.watch.head().get('outcome')} after {world.scheduler.steps} points")
    lines += world.watch.violations or ["nothing is violated"]
    lines.append(f"replay: make explore RUNS=1 SEED={seed}")
    world.close()
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="explore", description=__doc__)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args(arguments)
    if given.runs == 1:
        sys.stdout.write(replay(given.seed) + "\n")
        return 0
    begun = time.monotonic()
    seeds = range(given.seed, given.seed + given.runs)
    chunks = [seeds[i : i + CHUNK] for i in range(0, len(seeds), CHUNK)]
    tally = Tally()
    with ProcessPoolExecutor(given.workers) as pool:
        for done in pool.map(explored, chunks):
            tally.add(done)
    for seed in tally.failed[:1]:
        sys.stdout.write(replay(seed) + "\n\n")
    if len(tally.failed) > 1:
        sys.stdout.write(f"failing seeds: {' '.join(map(str, tally.failed[:50]))}\n")
    sys.stdout.write(f"ends: {dict(tally.ends)}, {tally.steps} points\n")
    sys.stdout.write(f"{tally} ({time.monotonic() - begun:.0f} s)\n")
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
