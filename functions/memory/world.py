"""The rest of the world in memory: time, credentials, queues, callbacks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from functions.ports import CredentialLost


class TestClock:
    """A clock that is told the time, in milliseconds since the epoch."""

    __test__ = False

    def __init__(self, at: int = 1_800_000_000_000) -> None:
        self.at = at

    def now(self) -> int:
        """The time it was told."""
        return self.at

    def pass_(self, seconds: float) -> None:
        """Let time pass."""
        self.at += int(seconds * 1000)


class MemoryCredentials:
    """Credentials by reference; what was revoked is gone at the next fresh read."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self.values = dict(values)
        self.fresh_reads: list[str] = []

    def read(self, reference: str, *, fresh: bool) -> str:
        """The credential, or CredentialLost."""
        if fresh:
            self.fresh_reads.append(reference)
        if reference not in self.values:
            raise CredentialLost(reference)
        return self.values[reference]


class MemoryNotices:
    """The two queues as lists."""

    def __init__(self) -> None:
        self.approvals: list[str] = []
        self.cases: list[str] = []

    def approval(self, approval_id: str) -> None:
        """Announce an approval."""
        self.approvals.append(approval_id)

    def case(self, case_id: str) -> None:
        """Announce a case."""
        self.cases.append(case_id)


class MemoryCallbacks:
    """Answers to tokens, kept in order."""

    def __init__(self) -> None:
        self.answers: list[tuple[str, str]] = []

    def succeed(self, token: str) -> None:
        """The machine goes on."""
        self.answers.append((token, "succeed"))

    def fail(self, token: str, error: str, cause: str) -> None:  # noqa: ARG002 - the cause is for the console's reader
        """The machine takes its failure branch."""
        self.answers.append((token, error))


class MemoryAdapters:
    """Adapters by reference, given instead of imported."""

    def __init__(self, adapters: Mapping[str, Callable[..., Any]]) -> None:
        self.adapters = dict(adapters)

    def resolve(self, reference: str) -> Callable[..., Any]:
        """The function behind the reference."""
        return self.adapters[reference]
