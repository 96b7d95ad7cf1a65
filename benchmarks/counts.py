"""`make bench-counts`: what a saga costs, counted and not timed, and what each function loads at its start.

The first table is read from the real handlers on moto: transitions from the execution's history, invocations from what
the machine called, reads and writes from the functions' calls of the two tables. Nothing is asserted here; the tests do.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from moto.stepfunctions.parser.asl.parse.asl_parser import AmazonStateLanguageParser

from functions.catalogues.fulfilment.catalogue import CATALOGUE
from tests.sagas import lambdas
from tests.sagas.conftest import deployed
from tests.sagas.lambdas import AWS
from tests.sagas.orders import enter, plan
from tests.sagas.stage import Stage

_ROOT = Path(__file__).resolve().parent.parent
_READS = {"GetItem", "Query", "Scan", "BatchGetItem", "TransactGetItems"}
_WRITES = {"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem"}
_TRIES = 5
_HANDLERS = "functions.handlers."
_TOTAL = re.compile(r"import time:\s+\d+ \|\s+(\d+) \|\s+(\S+)$")
_SEEN_BY_MACHINE = ("-run", "-undo", "gate")


def main() -> int:
    """Print both tables."""
    os.environ["POWERTOOLS_LOG_LEVEL"] = "CRITICAL"
    print("Calls of one saga of five steps, by function\n")
    for title, amount in (("nobody is asked", "99.00"), ("one person approves", "180.00")):
        print("\n".join(_saga(title, amount)), end="\n\n")
    print("\n".join(_imports()))
    return 0


def _saga(title: str, amount: str) -> Iterator[str]:
    functions = lambdas.functions(CATALOGUE)
    with (
        pytest.MonkeyPatch.context() as patch,
        deployed(functions, AmazonStateLanguageParser.parse, patch) as stage,
    ):
        # A busy machine is no failure here.
        patch.setattr("tests.sagas.stage.PATIENCE", 120.0)
        enter(stage, amount=amount)
        saga_id = stage.run(plan(amount=amount))
        if amount == "180.00":
            stage.approve(saga_id)
        transitions = len(stage.states(f"{saga_id}-1"))
        yield f"{title}: {transitions} transitions, {len(stage.invoked())} invocations"
        yield f"  {'function':<34}{'invoked':>8}{'reads':>7}{'writes':>8}{'transactions':>14}"
        yield from _by_function(stage)


def _by_function(stage: Stage) -> Iterator[str]:
    invoked = Counter(made.function for made in stage.machines.invocations)
    called: dict[str, Counter[str]] = {}
    for call in AWS.calls:
        service, _, operation = call.operation.partition(":")
        if service == "dynamodb" and call.function in stage.functions:
            called.setdefault(call.function, Counter())[_kind(operation)] += 1
    for name, counts in called.items():
        times = str(invoked[name]) if name.endswith(_SEEN_BY_MACHINE) else "-"
        yield (
            f"  {name:<34}{times:>8}{counts['reads']:>7}{counts['writes']:>8}"
            f"{counts['transactions']:>14}"
        )


def _kind(operation: str) -> str:
    if operation in _READS:
        return "reads"
    return "writes" if operation in _WRITES else "transactions"


def _imports() -> Iterator[str]:
    yield "What importing each handler takes, as a multiple of `import boto3` alone (the best of five)\n"
    yield f"  {'module':<34}{'-X importtime':>14}{'processor':>11}"
    base = _best("boto3")
    handlers = sorted((_ROOT / "functions" / "handlers").glob("*.py"))
    found = [f for f in handlers if re.search(r"^def handler\(", f.read_text(), re.MULTILINE)]
    for name, module in [("boto3", "boto3"), *((f.stem, f"{_HANDLERS}{f.stem}") for f in found)]:
        took = base if module == "boto3" else _best(module)
        yield f"  {name:<34}{took[0] / base[0]:>14.2f}{took[1] / base[1]:>11.2f}"


def _best(module: str) -> tuple[float, float]:
    """What else runs on this machine only ever makes it longer."""
    wall, processor = zip(*(_import_time(module) for _ in range(_TRIES)), strict=True)
    return min(wall), min(processor)


def _import_time(module: str) -> tuple[float, float]:
    """A module and all that it needs, in a fresh interpreter: the total of -X importtime, and processor time; seconds."""
    program = (
        f"import time; t = time.process_time(); import {module}; print(time.process_time() - t)"
    )
    ran = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", program],
        cwd=_ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    # Packages on the way to a module are imported before it and not within it, so they are added.
    parts = module.split(".")
    on_the_way = {".".join(parts[: n + 1]) for n in range(len(parts))}
    totals = map(_TOTAL.match, ran.stderr.splitlines())
    return sum(int(t[1]) / 1e6 for t in totals if t and t[2] in on_the_way), float(ran.stdout)


if __name__ == "__main__":
    sys.exit(main())
