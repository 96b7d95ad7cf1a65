"""A state machine's driver as a loop: which use case follows which answer, with the machine's retries, on the bench.

The same rules as the compiler's, in plain Python, so that a test can kill it at any point and have another one go on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from functions.domain.catalogue import Kind
from functions.domain.ledger.records import Attention
from functions.domain.shape import Shape
from functions.usecases import errors
from functions.usecases.begin_compensation import begin_compensation
from functions.usecases.finish_compensation import finish_compensation
from functions.usecases.open_case import open_case
from functions.usecases.request_approval import request_approval
from functions.usecases.rescue import rescue
from functions.usecases.run_step import run_step
from functions.usecases.settle_step import settle_boundary
from functions.usecases.start_saga import attend_to, drive, shape_of
from functions.usecases.sweep import sweep
from functions.usecases.undo_step import undo_step
from functions.usecases.world import StepRef
from statemachines.errors import NOT_REPEATED, WAITED_OUT
from statemachines.order import undo_waves
from tests.unit.kernel import SAGA, Bench, Killed

TRIES = 6
WAITS = 14
WAIT_SECONDS = 20.0
End = Literal["succeeded", "failed"]


class Machine:
    """One execution: `play` goes from the first state to the last."""

    def __init__(
        self, bench: Bench, execution: str, at_gate: Callable[[Bench, str], None] | None = None
    ) -> None:
        self.bench = bench
        self.execution = execution
        self.at_gate = at_gate
        self.shape = shape_of(bench.saga)
        found = self.shape.boundary
        self.boundary = len(self.shape.steps) if found is None else found
        self.tokens = 0

    def play(self) -> End:
        for index in range(len(self.shape.steps)):
            error = self._task(lambda i=index: run_step(self.bench.world_at(i), self._ref(i)))
            if error == "ApprovalRequired" and index == self.boundary:
                error = self._ask_people(index)
                if error is not None:
                    return self._back(index)
            if error is None:
                continue
            if index < self.boundary:
                return self._back(index)
            if index == self.boundary:
                error = self._task(
                    lambda i=index: settle_boundary(self.bench.world_at(i), self._ref(i))
                )
                if error is None:
                    continue
                if error == "DidNotHappen":
                    return self._back(index)
            return self._hand_over(index)
        return "succeeded"

    def _ref(self, index: int) -> StepRef:
        return StepRef(SAGA, index, self.execution)

    def _task(self, call: Callable[[], object]) -> str | None:
        """None, or the error that no retrier was left for."""
        tries, waits = 0, 0
        while True:
            try:
                call()
            except errors.StepError as raised:
                error = type(raised).__name__
            except Killed:
                error = "Lambda.Unknown"
            except Exception as raised:  # noqa: BLE001 - the machine retries whatever a function raises
                error = type(raised).__name__
            else:
                return None
            if error in NOT_REPEATED:
                return error
            if error in WAITED_OUT:
                waits += 1
                self.bench.clock.pass_(WAIT_SECONDS)
            else:
                tries += 1
                self.bench.clock.pass_(1)
            if tries > TRIES or waits > WAITS:
                return error

    def _ask_people(self, index: int) -> str | None:
        """The gate and, once people have agreed, the pivot again; three rounds at most."""
        bench = self.bench
        for _ in range(4):
            self.tokens += 1
            token = f"{self.execution}-token-{self.tokens}"
            error = self._task(
                lambda t=token: request_approval(
                    bench.store, bench.callbacks, bench.notices, self._ref(index), t
                )
            )
            if error is None and self.at_gate is not None:
                self.at_gate(bench, bench.step(index).approval or "")
            said = dict(bench.callbacks.answers).get(token)
            if error is not None or said != "succeed":
                return error or said or "States.Timeout"
            error = self._task(lambda: run_step(bench.world_at(index), self._ref(index)))
            if error != "ApprovalRequired":
                return error
        return "ApprovalRequired"

    def _back(self, index: int) -> End:
        bench = self.bench
        error = self._task(lambda: begin_compensation(bench.store, bench.clock, self._ref(index)))
        if error is not None:
            return "failed"
        waves = undo_waves(self.shape)
        first = next((n for n, wave in enumerate(waves) if min(wave) <= index), len(waves))
        for wave in waves[first:]:
            for each in wave:
                if self._task(lambda i=each: undo_step(bench.world_at(i), self._ref(i))):
                    self._task(lambda i=each: self._open(i, "undo"))
        finished = self._task(lambda: finish_compensation(bench.store, bench.clock, SAGA))
        return "failed" if finished else "succeeded"

    def _hand_over(self, index: int) -> End:
        return "failed" if self._task(lambda: self._open(index, "do")) else "succeeded"

    def _open(self, index: int, side: Literal["do", "undo"]) -> None:
        bench = self.bench
        open_case(bench.store, bench.clock, bench.notices, self._ref(index), side)


def compiled(shape: Shape) -> tuple[str, dict[str, str]]:
    """A machine's name and definition, as far as the bench needs them."""
    return f"shop-{len(shape.steps)}-{shape.catalogue_version[:8]}", {}


def attend(bench: Bench, saga_id: str = SAGA) -> str:
    """What starter and sweeper do for one saga."""
    return attend_to(bench.store, bench.clock, bench.machines, bench.notices, compiled, saga_id)


def swept(bench: Bench) -> dict[str, int]:
    """One run of the sweeper."""
    return sweep(
        bench.store,
        bench.clock,
        bench.callbacks,
        bench.notices,
        lambda saga_id: attend(bench, saga_id),
        lambda _tenant, _request: "request",
    )


def rest(
    bench: Bench, at_gate: Callable[[Bench, str], None] | None = None, *, rounds: int = 30
) -> None:
    """Play every execution that starts, sweep, rescue, until the saga is at rest: ended, or in a person's hands."""
    played: set[str] = set()
    for _ in range(rounds):
        for execution in [e for e in bench.machines.started if e not in played]:
            played.add(execution)
            end = Machine(bench, execution, at_gate).play()
            bench.machines.end(execution)
            if end == "failed":
                rescue(
                    bench.store,
                    lambda saga: drive(
                        bench.store, bench.clock, bench.machines, bench.notices, compiled, saga
                    ),
                    execution,
                )
        head = bench.head
        idle = all(e in played for e in bench.machines.started)
        at_rest = head.outcome is not None or head.attention is not Attention.NONE
        if idle and at_rest and head.wanted is None:
            return
        if idle:
            bench.clock.pass_(300)
            swept(bench)
    raise AssertionError(f"never at rest: {bench.head}")


def boundary_of(bench: Bench) -> int:
    """Index of the plan's boundary."""
    return next(i for i, s in enumerate(bench.saga.steps) if s.kind is not Kind.COMPENSABLE)
