"""Running TLC, the model checker of TLA+, and reading what it found."""

# ruff: noqa: INP001 - a folder of scripts

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
MEMORY = "1g"
_STATES = re.compile(r"(\d+) states generated, (\d+) distinct states found")
_FAILED = (
    re.compile(r"Error: Invariant (\w+) is violated"),
    re.compile(r"Error: Action property (\w+) is violated"),
    re.compile(r"Error: (Temporal properties) were violated"),
    re.compile(r"Error: (Deadlock) reached"),
)
_STATE = re.compile(r"^State \d+: ", re.MULTILINE)
_CLOSING = {"<<": ">>", "{": "}"}
_TOKEN = re.compile(r'<<|>>|\|->|:>|@@|[\[\](),{}]|"[^"]*"|[A-Za-z_0-9]+')


@dataclass(frozen=True, slots=True)
class Verdict:
    """What TLC said of one model.

    `violated` is the property that does not hold, None where all do; `error` what kept TLC from checking at all. `states`
    counts distinct ones, `steps` those of the run that TLC found, `output` is all that it printed.
    """

    violated: str | None
    error: str | None
    states: int
    steps: int
    output: str


def check(java: str, jar: Path, module: str, config: str, *, deadlock: bool = True) -> Verdict:
    """Check `module` of this folder under `config`, the text of a TLC configuration.

    `deadlock` says whether a state that nothing follows counts as a failure; the modules let a saga at rest stay there.
    """
    with tempfile.TemporaryDirectory(prefix="tlc-") as folder:
        # TLC looks for modules beside the one that it checks, and litters where it runs.
        for source in HERE.glob("*.tla"):
            shutil.copy(source, folder)
        Path(folder, "model.cfg").write_text(config)
        ran = subprocess.run(
            [
                java,
                "-XX:+UseParallelGC",
                "-XX:ParallelGCThreads=1",
                f"-Xmx{MEMORY}",
                "-cp",
                str(jar),
                "tlc2.TLC",
                *(["-deadlock"] if not deadlock else []),
                "-config",
                "model.cfg",
                f"{module}.tla",
            ],
            capture_output=True,
            text=True,
            check=False,
            cwd=folder,
        )
    return _verdict(ran.stdout + ran.stderr, ran.returncode)


def _verdict(output: str, status: int) -> Verdict:
    counts = _STATES.findall(output)
    states = int(counts[-1][1]) if counts else 0
    steps = len(_STATE.findall(output))
    for pattern in _FAILED:
        if found := pattern.search(output):
            return Verdict(found[1], None, states, steps, output)
    if "No error has been found" in output:
        return Verdict(None, None, states, steps, output)
    errors = [line for line in output.splitlines() if "rror" in line or "xception" in line]
    silent = f"TLC ended with status {status} and no verdict"
    return Verdict(None, (errors or [silent])[0], states, steps, output)


def trace(output: str) -> Iterator[str]:
    """The counterexample in `output`: each step's action, and under it only what it changed."""
    before: dict[str, str] = {}
    parts = _STATE.split(output)[1:]
    for number, part in enumerate(parts, start=1):
        name = re.match(r"<(\w+)", part)
        yield f"{number:3} {name[1] if name else part.splitlines()[0]}"
        after = _flat(part.split("\n\n", 1)[0])
        if number > 1:
            yield from (
                f"      {key}: {before.get(key)} -> {value}"
                for key, value in after.items()
                if before.get(key) != value
            )
        before = after


def _flat(state: str) -> dict[str, str]:
    flat: dict[str, str] = {}
    for found in re.finditer(r"^/\\ (\w+) = (.*?)(?=^/\\ |\Z)", state, re.MULTILINE | re.DOTALL):
        value, _ = _parsed(_TOKEN.findall(found[2]), 0)
        flat |= dict(_leaves(found[1], value))
    return flat


def _leaves(path: str, value: object) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from _leaves(f"{path}.{key}", part)
    else:
        yield path, str(value)


def _parsed(tokens: list[str], at: int) -> tuple[object, int]:
    """The value that starts at token `at`, and the token after it. Records and functions become dicts."""
    token = tokens[at]
    if token in _CLOSING:
        return _several(tokens, at + 1, _CLOSING[token])
    if token in {"[", "("}:
        found: dict[str, object] = {}
        at += 1
        while tokens[at] not in {"]", ")"}:
            key, at = _parsed(tokens, at)
            value, at = _parsed(tokens, at + 1)
            found[str(key)] = value
            at += tokens[at] in {",", "@@"}
        return found, at + 1
    return token.strip('"'), at + 1


def _several(tokens: list[str], at: int, end: str) -> tuple[object, int]:
    """A sequence or a set: of plain values in one word, otherwise by number."""
    parts: list[object] = []
    while tokens[at] != end:
        part, at = _parsed(tokens, at)
        parts.append(part)
        at += tokens[at] == ","
    if all(isinstance(part, str) for part in parts):
        return "/".join(str(part) for part in parts) or "-", at + 1
    return {str(n): part for n, part in enumerate(parts, start=1)}, at + 1
