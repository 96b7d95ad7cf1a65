"""The ports of the use cases in the simulated world: the real in-memory ones behind points where things go wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from functions.memory.store import MemoryStore, T
from functions.ports import (
    Change,
    CredentialLost,
    Item,
    Key,
    MachineGone,
    Stale,
    Table,
)
from simulation.disturbances import AccessDenied, Unreachable
from simulation.interpreter import Execution

if TYPE_CHECKING:
    from simulation.world import World


class SharedStore(MemoryStore):
    """A MemoryStore that shows its records as they are: here nobody changes what they read, and copies cost most of a run."""

    def _shown(self, item: T) -> T:
        return item

    @property
    def records(self) -> dict[Key, dict[str, Any]]:
        """All of them, by key."""
        return self._items


@dataclass(slots=True)
class SimStore:
    """MemoryStore with points before and after. What a write is for is read from the write itself."""

    world: World
    inner: SharedStore = field(default_factory=SharedStore)

    def get(self, key: Key) -> Item | None:
        """One record."""
        self._reads()
        return self.inner.get(key)

    def collection(self, table: Table, pk: str) -> list[Item]:
        """An item collection."""
        self._reads()
        return self.inner.collection(table, pk)

    def index(
        self, table: Table, name: str, value: str, **how: Any
    ) -> tuple[list[Item], str | None]:
        """A page of an index."""
        self._reads()
        return self.inner.index(table, name, value, **how)

    def write(self, changes: Sequence[Change]) -> list[Item]:
        """The write, unless it is disturbed."""
        world = self.world
        if world.scheduler.current is None:
            return self._written(changes)
        what = purpose(changes, self.peek)
        verdict = world.scheduler.point(f"{what}:before")
        if verdict == "denied" or world.denies():
            raise AccessDenied(what)
        if verdict == "conflict":
            world.scheduler.note(f"{what}: conflicts")
            raise Stale({c.key: self.peek(c.key) for c in changes})
        try:
            written = self._written(changes)
        except Stale:
            world.scheduler.note(f"{what}: stale")
            world.scheduler.point(f"{what}:stale")
            raise
        if world.scheduler.tracing:
            world.scheduler.note(f"{what}: written")
        if verdict == "lost" and len(changes) == 1:
            # The client repeats an update whose answer was lost, and the repeat fails its own condition.
            raise Stale({c.key: self.peek(c.key) for c in changes})
        if verdict in {"lost", "unreachable"}:
            raise Unreachable(what)
        if world.scheduler.point(f"{what}:after") == "lost":
            raise Unreachable(what)
        return written

    def peek(self, key: Key) -> Any:
        """What is there now, for those who only look on: not to be changed."""
        return self.inner.records.get(key)

    @property
    def records(self) -> dict[Key, Any]:
        """All that is there now, for the same."""
        return self.inner.records

    def _reads(self) -> None:
        if self.world.scheduler.point("read") == "denied" or self.world.denies():
            raise AccessDenied("read")

    def _written(self, changes: Sequence[Change]) -> list[Item]:
        before = {c.key: self.peek(c.key) for c in changes}
        written = self.inner.write(changes)
        self.world.wrote(before)
        return written


def purpose(changes: Sequence[Change], peek: Callable[[Key], Any]) -> str:
    """What a write is for, in a word: of a transaction's parts, what comes first in this list."""
    found = {_purpose(change, peek(change.key)) for change in changes}
    return next((each for each in PURPOSES if each in found), "write")


PURPOSES = (
    "admit",
    "turn",
    "case",
    "resolution",
    "claim",
    "undo-claim",
    "ask",
    "undo-ask",
    "record",
    "undo-record",
    "question",
    "drive",
    "step-back",
    "end",
    "want",
    "look-again",
    "token",
    "decision",
    "answered",
    "expiry",
    "announce",
    "case-claim",
    "head",
    "step",
)


def _purpose(change: Change, before: Mapping[str, Any] | None) -> str:
    kind = change.key.sk
    if kind == "saga":
        return "admit" if before is None else _of_head(change.set)
    if kind.startswith("step#"):
        return "step" if before is None else _of_step(change.set, before)
    if kind == "approval":
        return "question" if before is None else _of_approval(change.set)
    if kind == "case":
        return "case" if before is None else _of_case(change.set)
    return "write"


def _of_head(fields: Mapping[str, Any]) -> str:
    if fields.get("direction") == "compensating":
        return "turn"
    if "epoch" in fields:
        return "drive"
    if fields.get("pivot") == "ahead":
        return "step-back"
    if fields.get("outcome"):
        return "end"
    if fields.get("wanted"):
        return "want"
    return "look-again" if set(fields) <= {"due_at", "due_shard"} else "head"


def _of_step(fields: Mapping[str, Any], before: Mapping[str, Any]) -> str:
    if "forward.state" in fields:
        return "claim"
    for side, prefix in (("forward", ""), ("undo", "undo-")):
        command = fields.get(side)
        if command is None:
            continue
        old = before[side]
        if command["attempts"] > old["attempts"]:
            return f"{prefix}claim"
        if command["fence"] > old["fence"]:
            return f"{prefix}ask"
        return f"{prefix}record"
    return "step"


def _of_approval(fields: Mapping[str, Any]) -> str:
    if "token" in fields or "execution" in fields:
        return "token"
    if fields.get("answered"):
        return "answered"
    if fields.get("state") in {"approved", "rejected"} or "decisions" in fields:
        return "decision"
    return "expiry"


def _of_case(fields: Mapping[str, Any]) -> str:
    if "resolution" in fields:
        return "resolution"
    return "announce" if "announced" in fields else "case-claim"


@dataclass(slots=True)
class SimCredentials:
    """Credentials by reference: cached, renewed, revoked and restored."""

    world: World
    gone: set[str] = field(default_factory=set)
    renewed: dict[str, int] = field(default_factory=dict)
    cached: dict[str, int] = field(default_factory=dict)

    def read(self, reference: str, *, fresh: bool) -> str:
        """The credential: as cached, or as it is now."""
        self.world.scheduler.point("credential")
        name = reference.partition("/")[2]
        if name in self.gone and fresh:
            raise CredentialLost(reference)
        now = self.renewed.get(name, 1)
        if fresh:
            self.cached[name] = now
        return f"{name}#{self.cached.get(name, 1)}"

    def accepted(self, credential: str) -> bool:
        """Whether a target still takes it."""
        name, _, number = credential.partition("#")
        return name not in self.gone and int(number) == self.renewed.get(name, 1)

    def revoke(self, name: str) -> None:
        """Taken away: only a person can give it back."""
        self.gone.add(name)

    def expire(self, name: str) -> None:
        """Renewed in its store: what was cached is no longer accepted."""
        self.renewed[name] = self.renewed.get(name, 1) + 1

    def restore(self) -> None:
        """An administrator gives back what was revoked."""
        self.gone.clear()


@dataclass(slots=True)
class SimMachines:
    """The engine: machines by name, executions by name, names remembered after the end."""

    world: World
    machines: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    executions: dict[str, Execution] = field(default_factory=dict)
    absent_until: int = 0

    def ensure(self, name: str, definition: Mapping[str, Any]) -> str:
        """Create a machine, or find it."""
        self.world.scheduler.point("ensure:before")
        self.machines.setdefault(name, definition)
        self.world.scheduler.point("ensure:after")
        return name

    def start(self, machine: str, execution: str, saga_id: str) -> None:
        """Start an execution, once."""
        scheduler = self.world.scheduler
        verdict = scheduler.point("start:before")
        if verdict == "denied" or self.world.denies():
            raise AccessDenied("start")
        if verdict == "request lost":
            raise Unreachable("start")
        if machine not in self.machines or scheduler.now < self.absent_until:
            raise MachineGone(machine)
        if execution not in self.executions:
            made = Execution(self.world, machine, execution, {"saga_id": saga_id})
            self.executions[execution] = made
            definition = self.machines[machine]
            scheduler.note(f"execution {execution} starts")
            scheduler.later(0, lambda: made.start(definition))
        if verdict == "lost" or scheduler.point("start:after") == "lost":
            raise Unreachable("start")

    def driver(self, machine: str, execution: str) -> Literal["running", "ended", "absent"]:
        """What has become of an execution."""
        self.world.scheduler.point("driver")
        found = self.executions.get(execution)
        if found is None or machine not in self.machines:
            return "absent"
        return "running" if found.status == "RUNNING" else "ended"

    def delete(self) -> None:
        """Somebody deletes every machine: executions end without an event, and are forgotten."""
        self.machines.clear()
        executions, self.executions = self.executions, {}
        for execution in executions.values():
            self.world.silently = True
            execution.end("ABORTED")
            self.world.silently = False


@dataclass(slots=True)
class SimCallbacks:
    """Answers to tokens."""

    world: World
    answers: list[tuple[str, str | None, bool]] = field(default_factory=list)

    def succeed(self, token: str) -> None:
        """Let a task go on."""
        self._answer(token, None)

    def fail(self, token: str, error: str, cause: str) -> None:  # noqa: ARG002 - for the console's reader
        """Let a task fail."""
        self._answer(token, error)

    def _answer(self, token: str, error: str | None) -> None:
        verdict = self.world.scheduler.point("answer:before")
        if verdict == "denied" or self.world.denies():
            raise AccessDenied("answer")
        if verdict == "request lost":
            raise Unreachable("answer")
        self.world.answer(token, error)
        if verdict == "lost" or self.world.scheduler.point("answer:after") == "lost":
            raise Unreachable("answer")


@dataclass(slots=True)
class SimNotices:
    """The two queues: what is announced may be lost, and may come twice."""

    world: World

    def approval(self, approval_id: str) -> None:
        """Announce an approval."""
        self._send("approval", approval_id)

    def case(self, case_id: str) -> None:
        """Announce a case."""
        self._send("case", case_id)

    def _send(self, what: str, name: str) -> None:
        verdict = self.world.scheduler.point("notice:before")
        if verdict == "denied" or self.world.denies():
            raise AccessDenied("notice")
        if verdict == "request lost":
            raise Unreachable("notice")
        if verdict != "dropped":
            self.world.people.noticed(what, name)
        if verdict == "lost" or self.world.scheduler.point("notice:after") == "lost":
            raise Unreachable("notice")


@dataclass(slots=True)
class SimAdapters:
    """Adapters by reference, all of them simulated."""

    world: World

    def resolve(self, reference: str) -> Callable[..., Any]:
        """The function behind a reference."""
        return self.world.adapter(reference)
