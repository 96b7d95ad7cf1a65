"""Takes away every check of the kernel in turn, and prints `M of N killed` and every survivor with its explanation.

Exit status 1 if fewer than 95 in a hundred are killed, or if a survivor has no explanation. `--only PART …` limits it to
files whose path holds a PART; `--list` only lists.
"""

from __future__ import annotations

import argparse
import sys
import time
import tomllib
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from tests.mutants.sites import KERNEL, Site, sites
from tests.mutants.trial import Fate, try_out

ROOT = Path(__file__).resolve().parents[2]
EXPLAINED = Path(__file__).with_name("survivors.toml")
TESTS = (
    "tests/unit/test_ledger_forward.py",
    "tests/unit/test_ledger_forward_edges.py",
    "tests/unit/test_ledger_undo.py",
    "tests/unit/test_ledger_undo_edges.py",
    "tests/unit/test_ledger_undo_otherwise.py",
    "tests/unit/test_undo_authority.py",
    "tests/unit/test_ledger_head.py",
    "tests/unit/test_ledger_keeping.py",
    "tests/unit/test_ledger_head_edges.py",
    "tests/unit/test_approvals.py",
    "tests/unit/test_cases.py",
    "tests/unit/test_case_claims.py",
    "tests/unit/test_case_edges.py",
    "tests/unit/test_case_proposals.py",
    "tests/unit/test_usecases_records.py",
    "tests/unit/test_usecases_run_step.py",
    "tests/unit/test_usecases_settling.py",
    "tests/unit/test_usecases_boundary.py",
    "tests/unit/test_usecases_boundary_asks.py",
    "tests/unit/test_usecases_compensation.py",
    "tests/unit/test_usecases_turning.py",
    "tests/unit/test_usecases_conclusion.py",
    "tests/unit/test_usecases_cases.py",
    "tests/unit/test_usecases_reopen.py",
    "tests/unit/test_usecases_two_people.py",
    "tests/unit/test_usecases_another_action.py",
    "tests/unit/test_usecases_driving.py",
    "tests/unit/test_usecases_retention.py",
    "tests/unit/test_usecases_crashes.py",
    "tests/contract/test_store.py",
    "tests/mutants/test_slice.py",
)
ENOUGH = 0.95


def main() -> int:
    """See the module."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--only", nargs="+", default=[""], metavar="PART")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--workers", type=int, default=2)
    asked = parser.parse_args()
    chosen = [path for path in KERNEL if any(part in path for part in asked.only)]
    found = [s for path in chosen for s in sites(ROOT, path)]
    if asked.list:
        for site in found:
            _say(f"{site.path}:{site.line}: {site.what}: {site.text}")
        return 0
    _warm()
    if try_out(None, ROOT, TESTS) is not Fate.SURVIVED:
        _say("the tests do not pass on the kernel as it is")
        return 1
    return _tried(found, asked.workers)


def _say(text: str = "", end: str = "\n") -> None:
    sys.stdout.write(text + end)
    sys.stdout.flush()


def _warm() -> None:
    """What every mutant needs is imported once; the kernel itself is not among it."""
    import boto3  # noqa: F401, PLC0415 - see above
    import greenlet  # noqa: F401, PLC0415
    import moto  # noqa: F401, PLC0415
    from aws_lambda_powertools.utilities import idempotency  # noqa: F401, PLC0415

    loaded = [m for m in sys.modules if m.startswith(("functions", "statemachines"))]
    if loaded:
        raise RuntimeError(f"already imported: {loaded}")


def _tried(found: list[Site], workers: int) -> int:
    began = time.monotonic()
    survivors: list[Site] = []
    explained = tomllib.loads(EXPLAINED.read_text()) if EXPLAINED.exists() else {}
    # Processes that fork, not threads: a fork takes only its own thread along.
    with get_context("fork").Pool(workers) as pool:
        fates = pool.imap(partial(try_out, root=ROOT, tests=TESTS), found)
        for number, (site, fate) in enumerate(zip(found, fates, strict=True), start=1):
            if fate is Fate.SURVIVED:
                survivors.append(site)
                why = explained.get(site.name, "NOT EXPLAINED")
                _say(f"\rsurvived {site.path}:{site.line} {site.what}: {site.text}\n    {why}")
            _say(f"\r{number} of {len(found)}, {len(survivors)} survived ", end="")
    _say()
    killed = len(found) - len(survivors)
    _say(f"{killed} of {len(found)} killed in {time.monotonic() - began:.0f} s")
    unexplained = [s for s in survivors if s.name not in explained]
    return 1 if unexplained or killed < ENOUGH * len(found) else 0


sys.exit(main())
