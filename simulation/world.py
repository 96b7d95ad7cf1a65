"""One saga in a simulated world: our use cases, our machines, AWS's habits, and people.

Everything that the product is made of is real: `functions/usecases`, Powertools idempotency over the ledger, the compiled
machine. Everything around it is told what to do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from random import Random
from typing import Any

from functions.aws.idempotency import once
from functions.domain.calls import Call, FactCall, FactUnavailable
from functions.domain.ledger.records import Saga
from functions.domain.membership import tenant_group
from functions.domain.outcome import Outcome, Unknown, UnknownCause
from functions.domain.shape import Shape
from functions.handlers.tasks import parsed as parsed_task
from functions.memory.world import MemoryDirectory
from functions.ports import Key, Table
from functions.usecases.admission import Actor
from functions.usecases.begin_compensation import begin_compensation
from functions.usecases.finish_compensation import finish_compensation
from functions.usecases.open_case import open_case
from functions.usecases.records import case_key, saga_pk
from functions.usecases.request_approval import request_approval
from functions.usecases.rescue import rescue
from functions.usecases.run_step import run_step
from functions.usecases.settle_step import settle_boundary
from functions.usecases.start_saga import attend_to, drive
from functions.usecases.submit_plan import Intake, submit_plan
from functions.usecases.sweep import sweep
from functions.usecases.targets import Targets
from functions.usecases.undo_step import undo_step
from functions.usecases.world import StepWorld, millis
from simulation.interpreter import Execution, Task
from simulation.invariants import Watch
from simulation.people import People
from simulation.play import CONTROL_TIMEOUT, EVERYDAY, Habits, Play
from simulation.ports import (
    SimAdapters,
    SimCallbacks,
    SimCredentials,
    SimMachines,
    SimNotices,
    SimStore,
)
from simulation.scheduler import START, Event, Scheduler
from simulation.simulated import FACT, POLICY, Circumstances, policy
from simulation.target import SAGA, Behaviour, Command, Effect, Target, command_of, denied

TENANT = "tenant-1"
HEAD = Key(Table.LEDGER, saga_pk(SAGA), "saga")
MINUTE = 60_000
HORIZON = 2 * 24 * 60 * MINUTE
CONTROL = CONTROL_TIMEOUT * 1000
ACTOR = Actor(tenant=TENANT, name="agent-1", kind="agent", owner="owner-1")
SILENCE = Unknown(reason="no answer", cause=UnknownCause.SILENCE)


class World:
    """The world of one run. It begins with the plan admitted, unless it is told otherwise."""

    def __init__(
        self,
        play: Play,
        habits: Habits = EVERYDAY,
        *,
        seed: int = 0,
        tracing: bool = False,
        admitted: bool = True,
    ) -> None:
        self.play = play
        self.habits = habits
        self.random = Random(seed)  # noqa: S311 - a schedule, not a secret
        self.scheduler = Scheduler(self.random, tracing=tracing)
        self.store = SimStore(self)
        self.credentials = SimCredentials(self)
        self.machines = SimMachines(self)
        self.callbacks = SimCallbacks(self)
        self.notices = SimNotices(self)
        self.target = self._target()
        self.open = True
        self.silently = False
        self.stream: list[int] = [0]
        """Delays of the stream's deliveries of the next records, in milliseconds; empty: it delivers nothing."""
        self.denied: dict[str, int] = {}
        """Roles that may do nothing, and until when."""
        self.latency: Callable[[], int] | None = None
        self._tokens: dict[str, tuple[Task, int]] = {}
        self._sweeps: set[int] = set()
        targets = Targets(play.catalogue.name, SimAdapters(self), self.credentials)
        everybody = frozenset({play.catalogue.approvers, tenant_group(TENANT)})
        self.directory = MemoryDirectory(strangers=everybody)
        self.steps = tuple(
            StepWorld(play.catalogue, step, self.store, targets, self.directory, self, once)
            for step in play.steps
        )
        self.people = People(self)
        self.watch = Watch(self)
        if admitted:
            self.store.records.update(_admitted(play))

    # The clock port, and what executions need

    def now(self) -> int:
        """The time."""
        return self.scheduler.now

    def later(self, milliseconds: int, act: Callable[[], object]) -> Event:
        """Let something happen in a while."""
        return self.scheduler.later(milliseconds, act)

    def note(self, what: str) -> None:
        """Write a line of the trace."""
        self.scheduler.note(what)

    def invoke(
        self, function: str, payload: Mapping[str, Any], done: Callable[[str | None], None]
    ) -> None:
        """Invoke a function as Step Functions does."""
        role = function.split(":")[6].partition("-")[0]
        index = payload.get("index")
        timeout = CONTROL
        if role == "run":
            timeout = millis(self.steps[payload["index"]].step.function_timeout)
            role = "settle" if payload["operation"] == "settle" else "run"
        elif role == "undo":
            limit = self.steps[payload["index"]].step.undo_function_timeout
            timeout = millis(limit) if limit is not None else CONTROL
        self.scheduler.spawn(
            role,
            index,
            lambda: self._function(role, payload),
            report=done,
            timeout=timeout,
            execution=payload["execution"],
        )

    def _function(self, role: str, payload: Mapping[str, Any]) -> None:
        """What the handlers do: parse, call one use case."""
        task = parsed_task(payload)
        match role:
            case "run":
                run_step(self.steps[task.index], task.ref)
            case "settle":
                settle_boundary(self.steps[task.index], task.ref)
            case "undo":
                undo_step(self.steps[task.index], task.ref)
            case "begin":
                begin_compensation(self.store, self, task.ref)
            case "finish":
                finish_compensation(self.store, self, task.saga_id)
            case "case":
                open_case(self.store, self, self.notices, task.ref, task.direction)
            case "gate":
                request_approval(
                    self.store, self.callbacks, self.notices, task.ref, task.token or ""
                )
            case other:
                raise NotImplementedError(other)

    def waiting(self, token: str, task: Task) -> None:
        """A task waits for an answer."""
        self._tokens[token] = (task, task.number)

    def answer(self, token: str, error: str | None) -> None:
        """An answer to a token: the first one counts, if it is in time."""
        task, number = self._tokens[token]
        self.scheduler.later(0, partial(task.report, error, number))

    def ended(self, execution: Execution) -> None:
        """EventBridge tells the rescue of executions that did not end well."""
        if execution.status in {"FAILED", "ABORTED"} and not self.silently:
            self._delivered("rescue", lambda: rescue(self.store, self.drive, execution.name), 60)

    @staticmethod
    def case_key(case_id: str) -> Key:
        """Where a case lives."""
        return case_key(case_id)

    def denies(self) -> bool:
        """Whether the role of whoever is at work has lost its permissions for now."""
        worker = self.scheduler.current
        return (
            bool(self.denied)
            and worker is not None
            and self.denied.get(worker.role, 0) > self.now()
        )

    # What drives sagas

    def compiled(self, shape: Shape) -> tuple[str, Mapping[str, Any]]:
        """The verified machine of the shape, which must be the shape that was admitted."""
        if shape != self.play.shape:
            raise LookupError(f"another shape than was admitted: {shape}")
        return self.play.machine.name, self.play.machine.definition

    def attend(self, saga_id: str) -> str:
        """What starter and sweeper do for a saga."""
        return attend_to(self.store, self, self.machines, self.notices, self.compiled, saga_id)

    def drive(self, saga: Saga) -> str:
        """What the rescue does."""
        return drive(self.store, self, self.machines, self.notices, self.compiled, saga)

    def submit(self) -> None:
        """The agent sends its plan."""
        intake = Intake(
            self.store,
            self,
            {self.play.catalogue.name: self.play.catalogue},
            lambda _: self.steps[0].targets,
            lambda: SAGA,
        )
        self.scheduler.spawn("submit", None, lambda: submit_plan(intake, ACTOR, self.play.body))

    def begin(self) -> None:
        """The plan has been admitted: the stream tells the starter, and the sweeper will look."""
        self._streamed(self.store.peek(HEAD))
        self._due(self.store.peek(HEAD))

    def wrote(self, before: Mapping[Key, Any]) -> None:
        """A write has happened: what was there before, by key. Checks it, and lets the stream and the index see it."""
        for key, old in before.items():
            new = self.store.peek(key)
            self.watch.changed(key, old, new)
            self._due(new)
            if key.sk == "saga":
                self._streamed(new)
        self.watch.settled_step()

    def _streamed(self, item: Mapping[str, Any]) -> None:
        if not item.get("wanted"):
            return
        for delay in self.stream:
            self._delivered("starter", lambda: self.attend(SAGA), 1, delay)

    def _delivered(self, role: str, work: Callable[[], object], again: int, delay: int = 0) -> None:
        """Deliver an event until it is taken: three times at most, `again` seconds apart."""

        def deliver(left: int, wait: int) -> None:
            def report(error: str | None) -> None:
                if error is not None and left > 1:
                    deliver(left - 1, again * 1000)

            self.scheduler.spawn(role, None, work, report=report, timeout=CONTROL, delay=wait)

        deliver(3, delay)

    def _due(self, item: Mapping[str, Any]) -> None:
        due = item.get("due_at")
        if due is not None:
            self._sweep_at(max(due, self.now()))

    def _sweep_at(self, moment: int) -> None:
        """The sweeper runs each minute; minutes in which nothing is due are skipped."""
        minute = -(-(moment - START) // MINUTE) * MINUTE + START
        if minute == self.now():
            minute += MINUTE
        if minute in self._sweeps or minute > START + HORIZON:
            return
        self._sweeps.add(minute)
        self.later(minute - self.now(), self._sweep)

    def _sweep(self) -> None:
        self._sweeps.discard(self.now())
        dues = [
            item["due_at"]
            for item in self.store.records.values()
            if item.get("due_at") is not None and item.get("due_shard") is not None
        ]
        if not dues:
            return
        if min(dues) > self.now():
            self._sweep_at(min(dues))
            return
        self.scheduler.spawn("sweeper", None, self._swept, timeout=CONTROL)
        self._sweep_at(self.now() + 1)

    def _swept(self) -> dict[str, int]:
        done = sweep(
            self.store,
            self,
            self.callbacks,
            self.notices,
            self.attend,
            lambda _tenant, _request: "nothing",
        )
        self.note(f"swept: {done}")
        return done

    # The targets

    def _target(self) -> Target:
        target = Target(self.now, self._made)
        for index, step in enumerate(self.play.steps):
            target.behaviours[index, "do"] = Behaviour(step.settlement)
            if step.undo is not None:
                target.behaviours[index, "undo"] = Behaviour(step.undo.settlement)
        return target

    def _made(self, effect: Effect) -> None:
        self.note(f"effect {effect.command}{' by hand' if effect.hand else ''}")
        self.watch.effect(effect)

    def adapter(self, reference: str) -> Callable[..., Any]:
        """What is behind a reference: the policy, the fact, or what a step's run, status or tombstone meets."""
        if reference == POLICY:
            return lambda _: policy(self.play.catalogue, ask=self.habits.ask)
        if reference == FACT:
            return self._fact
        what = reference.rpartition("_")[2]
        if what == "run":
            return lambda call: self._call(command_of(call), call)
        return lambda call: self._inquiry(command_of(call), what, call)

    def _fact(self, call: FactCall) -> Circumstances:
        if self.scheduler.point("fact") == "denied" or not self.credentials.accepted(
            call.credential
        ):
            raise FactUnavailable("the circumstances cannot be read")
        return Circumstances(hold=self.open)

    def _call(self, command: Command, call: Call) -> Outcome:
        """A run or an undo on its way to the target and back."""
        verdict = self.scheduler.point("call:before") or ""
        self._takes_time()
        self._in_time()
        self.note(f"calls {command}{' (' + verdict + ')' if verdict else ''}")
        self.watch.called(command, call, self.scheduler.current)
        if not self.credentials.accepted(call.credential):
            return denied()
        if verdict == "request lost":
            return self._silence(call)
        if verdict.startswith("delayed"):
            late = int(verdict.partition(" ")[2])
            self.scheduler.later(late, lambda: self._lands(command, call))
            return self._silence(call)
        outcome = self.target.run(command, call)
        self._takes_time()
        if verdict == "lost" or self.scheduler.point("call:after") == "lost":
            return self._silence(call)
        return outcome

    def _lands(self, command: Command, call: Call) -> None:
        self.note(f"a late call of {command} lands: {self.target.run(command, call).kind}")

    def _inquiry(self, command: Command, what: str, call: Call) -> object:
        """A status query or a tombstone on its way."""
        verdict = self.scheduler.point(f"{what}:before")
        self._takes_time()
        self._in_time()
        self.watch.inquired(command, call)
        if not self.credentials.accepted(call.credential):
            return denied()
        if verdict == "request lost":
            return self._silence(call)
        found = self.target.status(call) if what == "status" else self.target.tombstone(call)
        self.note(f"{what} of {command}: {found.kind}")
        self._takes_time()
        if verdict == "lost" or self.scheduler.point(f"{what}:after") == "lost":
            return self._silence(call)
        return found

    def _silence(self, call: Call) -> Unknown:
        """The adapter gives up after its timeout."""
        self.scheduler.pause(int(call.timeout * 1000))
        self.scheduler.point("call:silence")
        return SILENCE

    def _in_time(self) -> None:
        """Lambda ends a function at its timeout: a zombie's writes may still arrive, but it sends no call any more."""
        worker = self.scheduler.current
        if worker is None or not worker.unkilled or worker.timeout is None:
            return
        if self.now() >= worker.born + worker.timeout:
            worker.unkilled = False
            self.scheduler.crash(worker, "Sandbox.Timedout")

    def _takes_time(self) -> None:
        if self.latency is not None:
            self.scheduler.pause(self.latency())

    # The run

    def run(self) -> None:
        """Let everything happen, and hold what came out against the invariants."""
        rested = self.scheduler.run(START + HORIZON)
        self.watch.at_rest(rested=rested)

    def close(self) -> None:
        """Give back what the run held."""
        self.scheduler.close()


def _admitted(play: Play) -> Mapping[Key, Any]:
    """What the two tables hold once the plan has been submitted: made by the real intake, once a play."""
    if not play.prepared:
        world = World(play, admitted=False)
        world.stream.clear()
        world.submit()
        world.scheduler.run(START)
        world.close()
        play.prepared.update(world.store.records)
    return play.prepared
