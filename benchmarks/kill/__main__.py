"""`make kill-test RUNS=300`: real sagas while the processes of our functions are killed, and an account at the end.

Exit status 0 only if nothing was done twice, nothing was lost, and every saga came to rest.
"""

from __future__ import annotations

import argparse
import random
import secrets
import signal
import sys
import threading
import time

from benchmarks.kill.account import Account
from benchmarks.kill.sagas import Batch
from benchmarks.kill.victims import Hunter
from infra.local import emulator
from infra.local.__main__ import down, up
from infra.local.demo.casting import cast_stage
from infra.local.demo.stage import Stage
from infra.local.place import LocalProblem, Place

_BATCH, _KILLS_A_BATCH = 45, 60
"""Many more kills a saga spend every budget, and then show little but cases: `--sagas 15` does that."""
_WITHIN = 900.0
"""Seconds for a batch to come to rest: a claim whose process was killed lapses after some twenty, and there are several."""


def main() -> int:
    """Play on the stage that is up, or on one that is started for it and ended after it."""
    asked = _asked()
    # Ended from outside, it still ends what it started.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        place = Place.here()
        ours = emulator.running(place) is None
        try:
            up(place)
            return _run(place, asked.runs, asked.seed, asked.sagas)
        finally:
            if ours:
                down(place)
    except LocalProblem as problem:
        print(f"sagaplane: {problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kill", description=__doc__)
    parser.add_argument("--runs", type=int, default=60, help="how many processes to kill")
    parser.add_argument("--seed", type=int, default=secrets.randbits(31))
    parser.add_argument("--sagas", type=int, default=_BATCH, help="sagas in each batch")
    return parser.parse_args()


def _run(place: Place, runs: int, seed: int, sagas: int) -> int:
    pid = emulator.running(place)
    if pid is None:
        raise LocalProblem("the emulator has ended")
    chance = random.Random(seed)  # noqa: S311 - moments to kill at, not secrets
    hunter = Hunter(pid, place.emulator_log, place.port, chance)
    began = time.monotonic()
    print(f"seed {seed}; the moments also depend on this machine's speed")
    account, settled = Account(), 0
    thread = threading.Thread(target=hunter.hunt, daemon=True)
    thread.start()
    try:
        number = 0
        while hunter.total < runs and thread.is_alive():
            number += 1
            hunter.wanted = min(runs, hunter.total + _KILLS_A_BATCH)
            # Tokens last an hour: everybody signs in anew for each batch.
            settled += _batch(Batch(cast_stage(place), number, sagas, chance), account, hunter)
    finally:
        hunter.stop()
        thread.join()
    _report(account, hunter, settled, time.monotonic() - began)
    return 0 if account.clean and hunter.total >= runs else 1


def _batch(batch: Batch, account: Account, hunter: Hunter) -> int:
    killed, undos, began = hunter.total, hunter.undos, time.monotonic()
    batch.play(_WITHIN)
    for telling in batch.told:
        account.add(batch.saga(telling), _books(batch.stage, telling.order_id))
    print(
        f"batch {batch.number}: {len(batch.told)} sagas, {hunter.total - killed} kills "
        f"({hunter.undos - undos} during undos), {batch.settled} cases settled, "
        f"{time.monotonic() - began:.0f} s",
        flush=True,
    )
    for line in [*account.duplicates, *account.lost, *account.illegal]:
        print(f"  {line}", flush=True)
    return batch.settled


def _books(stage: Stage, order_id: str) -> list[dict[str, object]]:
    return stage.shop.books(order_id)


def _report(account: Account, hunter: Hunter, settled: int, seconds: float) -> None:
    by_function = ", ".join(f"{name} {n}" for name, n in hunter.killed.most_common())
    ends = ", ".join(f"{n} {end}" for end, n in account.ends.most_common())
    print(f"\nkilled: {by_function}; {hunter.blows - hunter.total} more blows hit idle processes")
    print(f"{account.unreported} claims died before they were reported on")
    print(f"{account.sagas} sagas in {seconds:.0f} s: {ends}; {settled} cases settled by retry")
    print(
        f"{hunter.total} kills in mid-invocation ({hunter.undos} during undos), {account.effects} effects, "
        f"{len(account.duplicates)} duplicates, {len(account.lost)} lost obligations, "
        f"{len(account.illegal)} illegal states"
    )


if __name__ == "__main__":
    sys.exit(main())
