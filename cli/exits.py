"""What the exit status of a command says, in one place: scripts decide by it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Any, Self


class ExitCode(IntEnum):
    """One member for each status; `meaning` is the line that `sagaplane --help` shows."""

    meaning: str

    def __new__(cls, value: int, meaning: str) -> Self:
        """Makes the member a plain number that carries its meaning."""
        member = int.__new__(cls, value)
        member._value_ = value
        member.meaning = meaning
        return member

    OK = 0, "done"
    REFUSED = 1, "the API refused; the problem says what to change"
    USAGE = 2, "the command was not understood"
    NOT_ALLOWED = 3, "not signed in, or not allowed to do this"
    UNREACHABLE = 4, "no usable answer from the API or the sign-in"
    NOT_COMPLETED = 5, "with --wait: the saga ended otherwise than completed"
    WAITING = 6, "with --wait: the saga awaits a person, or the time is up"
    FAULT = 70, "a fault of this command line"
    STOPPED = 130, "stopped by the person at the keyboard"


def listed() -> str:
    """All of them as lines, for the help."""
    return "\n".join(f"{code.value:>5}  {code.meaning}" for code in ExitCode)


def end_of_wait(saga: Mapping[str, Any]) -> ExitCode:
    """What a saga, as it was last seen, is as an exit status."""
    if not saga["final"]:
        return ExitCode.WAITING
    return ExitCode.OK if saga["status"] == "completed" else ExitCode.NOT_COMPLETED
