"""A virtual clock, a heap of events, and workers that hand control back at every call they make.

A worker is a greenlet. It gives control away inside `point`, which every port calls before and after each store
operation, target call and credential read; so any two workers can be interleaved there, and nowhere else. A worker that
crashes is simply never resumed: no `except` and no `finally` of ours gets a chance.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from greenlet import GreenletExit, getcurrent, greenlet

Place = tuple[str, int | None, str]
"""Where a worker is: its role, the step it is about, and the phase of its work."""
Verdict = str | None
"""What a port makes of a point: go on (None), or one of the disturbances it knows."""
START = 1_800_000_000_000


@dataclass(slots=True)
class Event:
    """Something that will happen, unless it is cancelled."""

    act: Callable[[], object]
    cancelled: bool = False


@dataclass(slots=True, eq=False)
class Worker:
    """One process at work: an invocation, a person at a screen."""

    number: int
    role: str
    index: int | None
    work: Callable[[], object]
    report: Callable[[str | None], None] | None
    timeout: int | None
    born: int = 0
    thread: greenlet | None = None
    dead: bool = False
    unkilled: bool = False
    error: str | None = None
    killer: Event | None = None
    copies: int = 0
    execution: str = ""

    def __str__(self) -> str:
        place = "" if self.index is None else f" {self.index}"
        return f"{self.role}{place} #{self.number}"


@dataclass(slots=True)
class Arm:
    """A disturbance that waits for the n-th time that a worker comes to a place."""

    act: Callable[[Worker], Verdict]
    nth: int = 1
    fired: bool = False


@dataclass(slots=True)
class Scheduler:
    """Time and turns. Deterministic: the same seed and the same arms give the same run."""

    random: Random
    now: int = START
    tracing: bool = False
    trace: list[str] = field(default_factory=list)
    arms: dict[Place, list[Arm]] = field(default_factory=dict)
    chaos: Callable[[Worker, str], Verdict] | None = None
    steps: int = 0
    alive: int = 0
    unplanned: list[str] = field(default_factory=list)
    current: Worker | None = None
    over: bool = False
    shuffled: bool = False
    _heap: list[tuple[int, float, int, Event]] = field(default_factory=list)
    _sequence: int = 0
    workers: list[Worker] = field(default_factory=list)
    _hub: greenlet | None = None

    def clock(self) -> int:
        """The time, in milliseconds since the epoch."""
        return self.now

    def note(self, what: str) -> None:
        """Write a line of the trace."""
        if self.tracing:
            who = f"[{self.current}] " if self.current is not None else ""
            self.trace.append(f"{(self.now - START) / 1000:>10.3f}  {who}{what}")

    def later(self, milliseconds: int, act: Callable[[], object]) -> Event:
        """Let something happen in a while."""
        event = Event(act)
        self._sequence += 1
        tie = self.random.random() if self.shuffled else 0.0
        heapq.heappush(self._heap, (self.now + milliseconds, tie, self._sequence, event))
        return event

    def spawn(
        self,
        role: str,
        index: int | None,
        work: Callable[[], object],
        *,
        report: Callable[[str | None], None] | None = None,
        timeout: int | None = None,
        delay: int = 0,
        execution: str = "",
    ) -> Worker:
        """Start a worker. `report` is told how it ended: None, or the name of its error."""
        worker = Worker(len(self.workers), role, index, work, report, timeout)
        worker.execution = execution
        self.workers.append(worker)
        self.later(delay, lambda: self._begin(worker))
        return worker

    def duplicate(self, worker: Worker, delay: int = 0) -> None:
        """The same invocation, delivered once more."""
        worker.copies += 1
        self.note("delivered twice")
        self.spawn(
            worker.role,
            worker.index,
            worker.work,
            report=worker.report,
            timeout=worker.timeout,
            delay=delay,
            execution=worker.execution,
        )

    def kill(self, worker: Worker, error: str) -> None:
        """The process is gone. Whoever waits for it is told."""
        if worker.dead or worker.unkilled:
            return
        worker.dead = True
        self.alive -= 1
        self.note(f"{worker} is gone: {error}")
        self.let_go(worker, error)

    def let_go(self, worker: Worker, error: str) -> None:
        """Whoever waits for it is told that it ended, whether it did or not."""
        report, worker.report = worker.report, None
        if report is not None:
            self.later(0, lambda: report(error))

    def crash(self, worker: Worker, error: str = "Runtime.ExitError") -> None:
        """Die here and now: does not return."""
        self.kill(worker, error)
        self._leave(worker)

    def pause(self, milliseconds: int) -> None:
        """The current worker gets nothing done for a while; others do."""
        worker = self.current
        if worker is None:
            return
        if worker.killer is None and worker.timeout is not None and not worker.unkilled:
            left = worker.born + worker.timeout - self.now
            worker.killer = self.later(left, lambda: self.kill(worker, "Sandbox.Timedout"))
        self.later(milliseconds, lambda: self._resume(worker))
        self._leave(worker)

    def point(self, phase: str) -> Verdict:
        """A worker is about to make a call, or has made one. Says how the call is disturbed, if it is."""
        worker = self.current
        if worker is None:
            if self.over:
                raise GreenletExit
            return None
        if worker.dead or self.over:
            raise GreenletExit
        self.steps += 1
        verdict: Verdict = None
        if self.arms:
            for arm in self.arms.get((worker.role, worker.index, phase), ()):
                if arm.fired:
                    continue
                arm.nth -= 1
                if arm.nth == 0:
                    arm.fired = True
                    verdict = arm.act(worker) or verdict
        if self.chaos is not None:
            verdict = self.chaos(worker, phase) or verdict
        return verdict

    def arm(self, place: Place, act: Callable[[Worker], Verdict], nth: int = 1) -> Arm:
        """Let something happen when a worker comes to a place for the n-th time."""
        made = Arm(act, nth)
        self.arms.setdefault(place, []).append(made)
        return made

    def run(self, until: int) -> bool:
        """Let everything happen in order; False if something was still to happen at `until`."""
        self._hub = getcurrent()
        heap = self._heap
        while heap:
            at, _, _, event = heapq.heappop(heap)
            if event.cancelled:
                continue
            if at > until:
                return False
            self.now = max(self.now, at)
            event.act()
        return True

    def close(self) -> None:
        """End all that is left, without letting it do anything."""
        self.over = True
        for worker in self.workers:
            if worker.thread is not None and not worker.thread.dead:
                worker.thread.throw()
        self.workers.clear()
        self._heap.clear()

    def _begin(self, worker: Worker) -> None:
        worker.born = self.now
        worker.thread = greenlet(self._main)
        self.alive += 1
        self._resume(worker)

    def _resume(self, worker: Worker) -> None:
        if worker.dead or worker.thread is None:
            return
        self.current = worker
        worker.thread.switch(worker)
        self.current = None
        if worker.thread.dead and not worker.dead:
            worker.dead = True
            self.alive -= 1
            if worker.killer is not None:
                worker.killer.cancelled = True
            report, worker.report = worker.report, None
            if report is not None:
                report(worker.error)

    def _main(self, worker: Worker) -> None:
        try:
            worker.work()
        except GreenletExit:
            return
        except Exception as error:  # noqa: BLE001 - as the runtime does: its name is what the machine sees
            worker.error = type(error).__name__
            self.note(f"{worker.error}: {error}")
            if worker.error not in EXPECTED:
                self.unplanned.append(f"{worker}: {worker.error}: {error}")
        else:
            self.note("ended well")
        if self.point("report") == "lost":
            self.note("nobody hears of it")
            worker.error = "Lambda.SdkClientException"

    def _leave(self, worker: Worker) -> None:
        if self._hub is None:
            raise RuntimeError("no worker runs outside of a run")
        self._hub.switch()
        if worker.dead or self.over:
            raise GreenletExit


EXPECTED = {
    "StepRefused",
    "AuthorityLost",
    "StepBarred",
    "BudgetSpent",
    "CaseOpen",
    "KeyConflict",
    "PersonNeeded",
    "ApprovalRequired",
    "DidNotHappen",
    "Superseded",
    "UndoBlocked",
    "StillRunning",
    "NotSettledYet",
    "NotAppliedYet",
    "OutcomeUnknown",
    "AccessDenied",
    "Unreachable",
    "Stale",
}
"""Errors by which a function may end. Anything else is a bug, and counted as an illegal state."""
