"""The rest of the world in memory: time, credentials, queues, callbacks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from functions.ports import JSON, CredentialLost, DirectoryUnavailable, MachineGone


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


class MemoryDirectory:
    """Who belongs to what; `strangers` are the groups of whoever is not listed. `down`: it can not be read."""

    def __init__(
        self,
        members: Mapping[str, frozenset[str]] | None = None,
        *,
        strangers: frozenset[str] = frozenset(),
    ) -> None:
        self.members = dict(members or {})
        self.strangers = strangers
        self.down = False
        self.asked: list[str] = []

    def groups(self, person: str) -> frozenset[str]:
        """The person's groups, or DirectoryUnavailable."""
        if self.down:
            raise DirectoryUnavailable(person)
        self.asked.append(person)
        return self.members.get(person, self.strangers)


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


class MemoryMachines:
    """The engine as two dictionaries: machines by ARN, executions by name with the machine that each runs on."""

    def __init__(self) -> None:
        self.machines: dict[str, Mapping[str, JSON]] = {}
        self.executions: dict[tuple[str, str], Literal["running", "ended"]] = {}
        self.started: list[str] = []

    def ensure(self, name: str, definition: Mapping[str, JSON]) -> str:
        """The machine's ARN; whoever was first has made it."""
        arn = f"arn:aws:states:local:000000000000:stateMachine:{name}"
        self.machines.setdefault(arn, definition)
        return arn

    def start(self, machine: str, execution: str, saga_id: str) -> None:  # noqa: ARG002 - the name says which saga
        """Start it, or find it started. Raises MachineGone."""
        if machine not in self.machines:
            raise MachineGone(machine)
        if (machine, execution) not in self.executions:
            self.executions[machine, execution] = "running"
            self.started.append(execution)

    def driver(self, machine: str, execution: str) -> Literal["running", "ended", "absent"]:
        """What has become of that execution."""
        return self.executions.get((machine, execution), "absent")

    def end(self, execution: str) -> None:
        """The execution is over, however it ended."""
        for machine, name in self.executions:
            if name == execution:
                self.executions[machine, name] = "ended"

    def vanish(self) -> None:
        """Every machine is deleted from outside; executions that were running are gone with them."""
        self.machines.clear()
        self.executions = dict.fromkeys(self.executions, "ended")


class MemoryAdapters:
    """Adapters by reference, given instead of imported."""

    def __init__(self, adapters: Mapping[str, Callable[..., Any]]) -> None:
        self.adapters = dict(adapters)

    def resolve(self, reference: str) -> Callable[..., Any]:
        """The function behind the reference."""
        return self.adapters[reference]
