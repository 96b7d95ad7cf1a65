"""Who is killed: processes in which the emulator runs our own functions, while they work.

Found as children of the emulator that we know, and told apart by the function's name in their environment. Never
touched: the sandbox, which is the target and not ours, and the two APIs, which hold no saga in their hands. A blow
counts only if it broke off an invocation, which the emulator says in its log; one that came a moment too late hit a
process that waited for its next call, and shows nothing.
"""

from __future__ import annotations

import contextlib
import os
import random
import re
import signal
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from functions.catalogues.fulfilment.catalogue import CATALOGUE

_PREFIX = "sagaplane-local-"
_CONTROLS = ("begin-compensation", "finish-compensation", "gate", "open-case")
_DRIVING = ("starter", "sweeper", "rescue")
_LOOK = 0.002
_LOOK_FOR_NEW = 0.1
_WORKED = 100_000
"""Nanoseconds on the processor between two looks: a function that waits for its next call has none."""
_LONGEST_DELAY = 0.06
"""Seconds from the first sign of work to the blow: about as long as a step takes, so that it falls anywhere in it."""
_BROKEN = re.compile(rf"Lambda {_PREFIX}(\S+): Runtime exited before returning a response")
_PAUSE = 0.25
_CHANCE_UNDO, _CHANCE_CONTROL, _CHANCE_RUN, _CHANCE_DRIVING = 1.0, 0.8, 0.4, 0.1
_AHEAD = 4
"""A third of all kills fall on undos: of the others, no more than two for each of these, and so many in advance."""


def _undos() -> frozenset[str]:
    steps = (f"{CATALOGUE.name}-{s.name}-undo" for s in CATALOGUE.steps if s.undo is not None)
    return frozenset(steps)


UNDOS = _undos()
OURS = UNDOS.union((f"{CATALOGUE.name}-{s.name}-run" for s in CATALOGUE.steps), _CONTROLS, _DRIVING)


@dataclass(slots=True)
class Hunter:
    """Kills until `wanted` invocations were broken off, in a thread of its own. `killed` counts them by function.

    `emulator` is its process id, `log` what it prints, `port` where it serves.
    """

    emulator: int
    log: Path
    port: int
    chance: random.Random
    wanted: int = 0
    blows: int = 0
    killed: Counter[str] = field(default_factory=Counter)
    _read_to: int = 0
    _stop: threading.Event = field(default_factory=threading.Event)
    _functions: dict[int, str | None] = field(default_factory=dict)
    _ran: dict[int, int] = field(default_factory=dict)
    _looked: float = 0.0

    @property
    def total(self) -> int:
        """How many were killed in the middle of an invocation."""
        return sum(self.killed.values())

    @property
    def undos(self) -> int:
        """How many of them ran an undo."""
        return sum(n for name, n in self.killed.items() if name in UNDOS)

    def hunt(self) -> None:
        """Until `wanted` is reached or `stop` is called; it may be raised meanwhile."""
        self._read_to = self.log.stat().st_size
        while not self._stop.is_set():
            self._count()
            if self.total < self.wanted:
                self._look()
            time.sleep(_LOOK)

    def stop(self) -> None:
        """Let everybody live."""
        self._stop.set()

    def _count(self) -> None:
        with self.log.open("rb") as log:
            log.seek(self._read_to)
            said = log.read().rpartition(b"\n")[0]
        if said:
            self._read_to += len(said) + 1
            self.killed.update(_BROKEN.findall(said.decode(errors="replace")))

    def _look(self) -> None:
        if time.monotonic() - self._looked > _LOOK_FOR_NEW:
            self._look_for_new()
        working = [pid for pid in self._ran if self._worked(pid)]
        self.chance.shuffle(working)
        for pid in working:
            name = self._functions.get(pid)
            if name is not None and self.chance.random() < self._chance_of(name):
                time.sleep(self.chance.uniform(0, _LONGEST_DELAY))
                self._kill(pid, name)
                time.sleep(self.chance.uniform(0, _PAUSE))
                return

    def _chance_of(self, name: str) -> float:
        if name in UNDOS:
            return _CHANCE_UNDO
        if self.total - self.undos >= 2 * self.undos + _AHEAD:
            return 0.0
        if name in _CONTROLS:
            return _CHANCE_CONTROL
        return _CHANCE_DRIVING if name in _DRIVING else _CHANCE_RUN

    def _look_for_new(self) -> None:
        alive = _children(self.emulator)
        for gone in self._functions.keys() - alive:
            self._functions.pop(gone)
            self._ran.pop(gone, None)
        for pid in alive - self._functions.keys():
            name = _function(pid)
            self._functions[pid] = name
            if name is not None:
                self._ran[pid] = _on_processor(pid)
        self._looked = time.monotonic()

    def _worked(self, pid: int) -> bool:
        before, now = self._ran[pid], _on_processor(pid)
        self._ran[pid] = now
        return now - before > _WORKED

    def _kill(self, pid: int, name: str) -> None:
        # Looked at once more, since process ids are used again; and one that has not come as far as its first call
        # of AWS is still loading: killing it would show nothing.
        if _parent(pid) != self.emulator or _function(pid) != name:
            return
        if not _has_called(pid, self.port):
            return
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            return
        self.blows += 1


def _children(parent: int) -> set[int]:
    """The process ids of a process's children."""
    every = (int(entry.name) for entry in os.scandir("/proc") if entry.name.isdigit())
    return {pid for pid in every if _parent(pid) == parent}


def _parent(pid: int) -> int | None:
    # The name in brackets may hold anything, so the fields are counted from the last bracket on: state, parent, …
    fields = _read(Path(f"/proc/{pid}/stat")).rpartition(")")[2].split()
    return int(fields[1]) if fields else None


def _function(pid: int) -> str | None:
    """The name of the function that a process runs, if it is one of those that may be killed."""
    for pair in _read(Path(f"/proc/{pid}/environ")).split("\0"):
        variable, _, value = pair.partition("=")
        if variable == "AWS_LAMBDA_FUNCTION_NAME":
            name = value.removeprefix(_PREFIX)
            return name if name in OURS else None
    return None


def _on_processor(pid: int) -> int:
    """Nanoseconds that a process's first thread, which is the handler's, has run; 0 once it is gone."""
    run = _read(Path(f"/proc/{pid}/schedstat")).split()
    return int(run[0]) if run else 0


def _has_called(pid: int, port: int) -> bool:
    """Whether the process holds a connection to AWS."""
    there = f":{port:04X}"
    lines = (line.split() for line in _read(Path(f"/proc/{pid}/net/tcp")).splitlines()[1:])
    sockets = {f"socket:[{line[9]}]" for line in lines if line[2].endswith(there)}
    return not sockets.isdisjoint(_open_files(pid))


def _open_files(pid: int) -> set[str]:
    found: set[str] = set()
    with contextlib.suppress(OSError):
        for file in Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(OSError):
                found.add(str(file.readlink()))
    return found


def _read(file: Path) -> str:
    try:
        return file.read_text(errors="replace")
    except OSError:
        return ""
