"""The Amazon States Language as Step Functions runs it: the part that our machines use, with its sharp edges.

An execution walks the compiled definition state by state. Invocations are made by the world; what comes back late, twice
or never is the world's doing. What AWS says and emulators often do not: `States.ALL` does not catch `States.Runtime`; the
first retrier that matches decides, spent or not; a Task's timeout ends the wait and not the worker; each attempt at a
`.waitForTaskToken` has a token of its own; a failed branch ends its siblings' states and not their workers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Any, Literal, Protocol

State = Mapping[str, Any]
UNCATCHABLE = frozenset({"States.Runtime", "States.DataLimitExceeded"})
MOST_EVENTS = 25_000
Done = Callable[[str | None], None]
"""What an invocation reports: None for success, or the name of its error."""


class Timer(Protocol):
    """Something that will happen, unless it is cancelled."""

    cancelled: bool


class Host(Protocol):
    """What an execution needs from the world."""

    random: Random

    def later(self, milliseconds: int, act: Callable[[], object]) -> Timer:
        """Let something happen in a while."""

    def invoke(self, function: str, payload: Mapping[str, Any], done: Done) -> None:
        """Invoke a function, some time, perhaps twice."""

    def waiting(self, token: str, task: Task) -> None:
        """A task waits for an answer to its token."""

    def ended(self, execution: Execution) -> None:
        """An execution has come to its end."""

    def note(self, what: str) -> None:
        """Write a line of the trace."""


Status = Literal["RUNNING", "SUCCEEDED", "FAILED", "ABORTED"]


@dataclass(slots=True)
class Execution:
    """One execution of a machine."""

    host: Host
    machine: str
    name: str
    input: Mapping[str, Any]
    status: Status = "RUNNING"
    events: int = 0
    at: str = ""
    """The state entered last."""
    visited: list[str] = field(default_factory=list)
    _branches: list[Branch] = field(default_factory=list)

    def start(self, definition: State) -> None:
        """Enter the first state."""
        self.branch(definition, self._whole)

    def branch(self, definition: State, done: Done) -> Branch:
        """A walk of its own through some states: the whole machine, or a branch of a Parallel."""
        made = Branch(self, definition["States"], done)
        self._branches.append(made)
        made.enter(definition["StartAt"])
        return made

    def counted(self, events: int) -> None:
        """Step Functions ends an execution at its 25,000th event, and nothing catches that."""
        self.events += events
        if self.events >= MOST_EVENTS:
            self.end("FAILED")

    def end(self, status: Status) -> None:
        """Stop walking. Workers that are still at it go on."""
        if self.status != "RUNNING":
            return
        self.status = status
        for branch in self._branches:
            branch.abort()
        self.host.note(f"execution {self.name} {status}")
        self.host.ended(self)

    def _whole(self, error: str | None) -> None:
        self.end("SUCCEEDED" if error is None else "FAILED")


@dataclass(slots=True)
class Branch:
    """A walk through some states."""

    execution: Execution
    states: Mapping[str, State]
    done: Done
    alive: bool = True
    task: Task | None = None
    inner: list[Branch] = field(default_factory=list)

    def enter(self, name: str) -> None:
        """Enter a state: retry counters begin anew."""
        if not self.alive or self.execution.status != "RUNNING":
            return
        state = self.states[name]
        self.execution.at = name
        self.execution.visited.append(name)
        self.execution.counted(2)
        match state["Type"]:
            case "Task":
                self.task = Task(self, name, state)
                self.task.attempt()
            case "Parallel":
                self._parallel(name, state)
            case "Succeed":
                self._finish(None)
            case "Fail":
                self._finish(state["Error"])
            case other:
                raise NotImplementedError(other)

    def abort(self) -> None:
        """End the walk from outside."""
        self.alive = False
        if self.task is not None:
            self.task.leave()
        for branch in self.inner:
            branch.abort()

    def went_well(self, state: State) -> None:
        """On to the next state, or to the end."""
        if state.get("End"):
            self._finish(None)
        else:
            self.enter(state["Next"])

    def failed(self, state: State, error: str) -> None:
        """What retriers could not mend: the first catcher that matches, or the end."""
        if error not in UNCATCHABLE:
            for catcher in state.get("Catch", ()):
                if matches(catcher["ErrorEquals"], error):
                    self.enter(catcher["Next"])
                    return
        self._finish(error)

    def _finish(self, error: str | None) -> None:
        if self.alive:
            self.alive = False
            self.done(error)

    def _parallel(self, name: str, state: State) -> None:
        left = len(state["Branches"])
        failed = False

        def one_done(error: str | None) -> None:
            nonlocal left, failed
            if failed or not self.alive:
                return
            left -= 1
            if error is not None:
                failed = True
                for branch in self.inner:
                    branch.abort()
                self.failed(state, error)
            elif left == 0:
                self.went_well(state)

        self.inner = []
        for definition in state["Branches"]:
            if failed or self.execution.status != "RUNNING":
                return
            branch = Branch(self.execution, definition["States"], one_done)
            self.inner.append(branch)
            branch.enter(definition["StartAt"])
        _ = name


@dataclass(slots=True)
class Task:
    """A Task while it is being attempted."""

    branch: Branch
    name: str
    state: State
    number: int = 0
    retries: dict[int, int] = field(default_factory=dict)
    timer: Timer | None = None

    @property
    def execution(self) -> Execution:
        """The execution it belongs to."""
        return self.branch.execution

    def attempt(self) -> None:
        """Invoke the function. What earlier attempts report from here on is ignored."""
        self.number += 1
        number, execution = self.number, self.execution
        execution.counted(3)
        if execution.status != "RUNNING" or not self.branch.alive:
            return
        token = f"{execution.name}/{self.name}/{number}"
        waits = self.state["Resource"].endswith(".waitForTaskToken")
        if waits:
            execution.host.waiting(token, self)
        self.timer = execution.host.later(
            self.state["TimeoutSeconds"] * 1000, partial(self.report, "States.Timeout", number)
        )
        parameters = self.state["Parameters"]
        try:
            payload = self._filled(parameters["Payload"], token)
        except LookupError:
            self.report("States.Runtime", number)
            return

        def done(error: str | None) -> None:
            if error is not None or not waits:
                self.report(error, number)

        execution.host.invoke(parameters["FunctionName"], payload, done)

    def report(self, error: str | None, number: int | None = None) -> bool:
        """The end of an attempt, by its function, its token or its timeout. False: nobody waits for it any more."""
        if number is not None and number != self.number:
            return False
        branch = self.branch
        if not branch.alive or branch.task is not self:
            return False
        self.leave()
        if error is None:
            branch.went_well(self.state)
            return True
        self.execution.host.note(f"  {self.name}: {error}")
        delay = None if error in UNCATCHABLE else self._delay(error)
        if delay is None:
            branch.failed(self.state, error)
        else:
            branch.task = self
            self.timer = self.execution.host.later(delay, self.attempt)
        return True

    def leave(self) -> None:
        """Wait for nothing any more."""
        self.number += 1
        if self.timer is not None:
            self.timer.cancelled = True
            self.timer = None
        if self.branch.task is self:
            self.branch.task = None

    def _delay(self, error: str) -> int | None:
        """Milliseconds until the next attempt, or None: the first retrier that matches is spent, or none does."""
        for place, retrier in enumerate(self.state.get("Retry", ())):
            if not matches(retrier["ErrorEquals"], error):
                continue
            used = self.retries.get(place, 0)
            if used >= retrier.get("MaxAttempts", 3):
                return None
            self.retries[place] = used + 1
            seconds = retrier.get("IntervalSeconds", 1) * retrier.get("BackoffRate", 2.0) ** used
            seconds = min(seconds, retrier.get("MaxDelaySeconds", seconds))
            if retrier.get("JitterStrategy") == "FULL":
                seconds = self.execution.host.random.uniform(0, seconds)
            return int(seconds * 1000)
        return None

    def _filled(self, payload: Mapping[str, Any], token: str) -> dict[str, Any]:
        """Parameters with their paths resolved: those that our machines use."""
        filled: dict[str, Any] = {}
        for name, value in payload.items():
            if not name.endswith(".$"):
                filled[name] = value
            elif value == "$$.Execution.Name":
                filled[name[:-2]] = self.execution.name
            elif value == "$$.Task.Token":
                filled[name[:-2]] = token
            else:
                filled[name[:-2]] = self.execution.input[value.removeprefix("$.")]
        return filled


def matches(patterns: list[str], error: str) -> bool:
    """Whether `ErrorEquals` names this error. `States.ALL` names all that may be caught."""
    return (
        error in patterns
        or ("States.ALL" in patterns and error not in UNCATCHABLE)
        or ("States.TaskFailed" in patterns and error != "States.Timeout")
    )
