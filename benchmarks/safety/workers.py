"""Processes to be killed: real ones, forked from a process in which everything has been imported already."""

from __future__ import annotations

import multiprocessing
import signal
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

AT_ONCE = 4
_TIMEOUT = 60.0
_CONTEXT = multiprocessing.get_context("forkserver")
_slots = threading.Semaphore(AT_ONCE)
_one_at_a_time = threading.Lock()
"""Starting a process looks after every other one, and two threads that look after the same one lose its exit code."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended: its answer, the name of the error that left it, or neither, because it was killed."""

    answer: Any = None
    error: str | None = None
    killed: bool = False


def preload(modules: Sequence[str]) -> None:
    """Import these before any fork. The environment is what it is at the first `run`."""
    _CONTEXT.set_forkserver_preload(list(modules))


def run(function: Callable[..., Any], *arguments: Any) -> Ended:
    """Call a function in a process of its own and wait for its end."""
    with _slots:
        ours, theirs = _CONTEXT.Pipe(duplex=False)
        process = start(_call, theirs, function, arguments)
        theirs.close()
        try:
            return _ended(ours, process)
        finally:
            ours.close()


def start(function: Callable[..., Any], *arguments: Any) -> BaseProcess:
    """Start a process that goes on until it is killed or ended."""
    process = _CONTEXT.Process(target=function, args=arguments, daemon=True)
    with _one_at_a_time:
        process.start()
    return process


def exit_code(process: BaseProcess) -> int | None:
    """None while it lives; the negative number of the signal that ended it."""
    with _one_at_a_time:
        return process.exitcode


def end(process: BaseProcess) -> None:
    """Kill it if it still lives, and wait for its end."""
    process.kill()
    _wait(process)


def _wait(process: BaseProcess) -> int:
    while (code := exit_code(process)) is None:
        time.sleep(0.002)
    return code


def _call(out: Connection, function: Callable[..., Any], arguments: Sequence[Any]) -> None:
    try:
        out.send(Ended(answer=function(*arguments)))
    except Exception as error:  # noqa: BLE001 - whatever leaves the function is its answer
        out.send(Ended(error=type(error).__name__))


def _ended(ours: Connection, process: BaseProcess) -> Ended:
    if not ours.poll(_TIMEOUT):
        end(process)
        raise TimeoutError(f"process {process.pid} did not end")
    try:
        ended: Ended = ours.recv()
    except EOFError:
        code = _wait(process)
        if code != -signal.SIGKILL:
            raise RuntimeError(f"a worker ended with {code}") from None
        return Ended(killed=True)
    _wait(process)
    return ended
