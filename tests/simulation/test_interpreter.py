"""The interpreter of machines: what AWS says, and where it can be compared, the same as moto."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest

from simulation.interpreter import Done, Execution, Task
from statemachines.compiler import Machine
from tests.sagas.test_machines_run import Answers, Run, run  # noqa: F401 - moto's side is its fixture
from tests.unit.machines import machine

CAUGHT = [{"ErrorEquals": ["States.ALL"], "Next": "caught"}]
ENDS = {"caught": {"Type": "Succeed"}}


@dataclass(eq=False)
class Timed:
    act: Callable[[], object]
    cancelled: bool = False


@dataclass
class Host:
    """Runs one execution with scripted answers. "never": the function does not report."""

    answers: dict[str, list[str | None]]
    random: Random = field(default_factory=lambda: Random(1))  # noqa: S311
    now: int = 0
    pushed: int = 0
    calls: list[str] = field(default_factory=list)
    at: list[int] = field(default_factory=list)
    tokens: dict[str, tuple[Task, int]] = field(default_factory=dict)
    reports: list[Done] = field(default_factory=list)
    heap: list[tuple[int, int, Timed]] = field(default_factory=list)

    def later(self, milliseconds: int, act: Callable[[], object]) -> Timed:
        made = Timed(act)
        self.pushed += 1
        heapq.heappush(self.heap, (self.now + milliseconds, self.pushed, made))
        return made

    def invoke(self, function: str, payload: Mapping[str, Any], done: Done) -> None:
        said = payload.get("operation") or payload.get("direction")
        name = function.split(":")[6]
        call = " ".join(str(p) for p in (name, payload.get("index"), said) if p is not None)
        self.calls.append(call)
        self.at.append(self.now)
        self.reports.append(done)
        script = self.answers.get(call, [])
        answer = script.pop(0) if script else None
        if "token" in payload:
            done(None)
            if answer != "never":
                task, number = self.tokens[payload["token"]]
                self.later(0, lambda: task.report(answer, number))
        elif answer != "never":
            self.later(0, lambda: done(answer))

    def waiting(self, token: str, task: Task) -> None:
        self.tokens[token] = (task, task.number)

    def ended(self, execution: Execution) -> None:
        del execution

    def note(self, what: str) -> None:
        del what

    def walk(self, definition: Mapping[str, Any], saga: str | None = "order-4471") -> Execution:
        made = Execution(self, "m", "order-4471-0", {"saga_id": saga} if saga else {})
        made.start(definition)
        while self.heap:
            at, _, timed = heapq.heappop(self.heap)
            if not timed.cancelled:
                self.now = at
                timed.act()
        return made


def walked(made: Machine, answers: Answers) -> tuple[str, list[str]]:
    host = Host({call: list(errors) for call, errors in answers.items()})
    execution = host.walk(made.definition)
    return execution.status, host.calls


SCRIPTS: list[tuple[str, dict[int, set[int]] | None, dict[str, list[str | None]]]] = [
    ("ccprr", None, {}),
    ("ccprr", None, {"step_2-run 2 run": ["ApprovalRequired"]}),
    ("ccprr", None, {"step_2-run 2 run": ["ApprovalRequired"], "gate 2": ["ApprovalRejected"]}),
    ("ccprr", None, {"step_1-run 1 run": ["StepRefused"]}),
    ("c", None, {"step_0-run 0 run": ["OutcomeUnknown", "StillRunning", "NotSettledYet", None]}),
    ("c", None, {"step_0-run 0 run": ["NotAppliedYet"] * 9}),
    ("c", None, {"step_0-run 0 run": ["StepRefused"], "begin 0": ["Superseded"]}),
    ("cc", None, {"step_1-run 1 run": ["StepRefused"], "step_0-undo 0": ["Sandbox.Timedout"]}),
    ("ccprr", None, {"step_2-run 2 run": ["PersonNeeded"]}),
    (
        "ccprr",
        None,
        {"step_2-run 2 run": ["StepRefused"], "step_2-run 2 settle": ["DidNotHappen"]},
    ),
    ("ccprr", None, {"step_3-run 3 run": ["NotAppliedYet", "BudgetSpent"]}),
    (
        "ccprr",
        None,
        {"step_1-run 1 run": ["StepRefused"], "step_1-undo 1": ["UndoBlocked"]},
    ),
]


@pytest.mark.parametrize(("kinds", "waits", "answers"), SCRIPTS)
def test_moto_walks_the_same_way(
    run: Run,  # noqa: F811
    kinds: str,
    waits: dict[int, set[int]] | None,
    answers: Answers,
) -> None:
    made = machine(kinds, waits)
    assert walked(made, answers) == run(made, answers)


def test_undos_of_one_wave_run_side_by_side_and_the_next_wave_waits_for_both() -> None:
    status, calls = walked(
        machine("cccp", {0: {1, 2}}),
        {"step_3-run 3 run": ["StepRefused"], "step_3-run 3 settle": ["DidNotHappen"]},
    )
    assert status == "SUCCEEDED"
    assert set(calls[-4:-2]) == {"step_1-undo 1", "step_2-undo 2"}
    assert calls[-2:] == ["step_0-undo 0", "finish"]


def task(**more: Any) -> dict[str, Any]:
    return {
        "StartAt": "work",
        "States": {
            "work": {
                "Type": "Task",
                "Resource": "arn:aws:states:::lambda:invoke",
                "Parameters": {
                    "FunctionName": "arn:aws:lambda:eu-central-1:111122223333:function:work:1",
                    "Payload": {"saga_id.$": "$.saga_id"},
                },
                "TimeoutSeconds": 10,
                "Catch": CAUGHT,
                "End": True,
                **more,
            },
            **ENDS,
        },
    }


def of(answers: Iterable[str | None]) -> Host:
    return Host({"work": list(answers)})


def test_a_runtime_error_is_neither_retried_nor_caught() -> None:
    host = of([])
    retry = [{"ErrorEquals": ["States.ALL"], "MaxAttempts": 5}]
    execution = host.walk(task(Retry=retry), saga=None)
    assert (execution.status, host.calls) == ("FAILED", [])


def test_the_first_retrier_that_matches_decides_even_when_it_is_spent() -> None:
    host = of(["Throttled"] * 9)
    execution = host.walk(
        task(
            Retry=[
                {"ErrorEquals": ["Throttled"], "MaxAttempts": 2},
                {"ErrorEquals": ["States.ALL"], "MaxAttempts": 5},
            ]
        )
    )
    assert (execution.status, len(host.calls)) == ("SUCCEEDED", 3)
    assert execution.visited == ["work", "caught"]


def test_each_retrier_counts_for_itself() -> None:
    host = of(["Throttled", "Other", "Throttled", "Other", None])
    execution = host.walk(
        task(
            Retry=[
                {"ErrorEquals": ["Throttled"], "MaxAttempts": 2},
                {"ErrorEquals": ["States.ALL"], "MaxAttempts": 2},
            ]
        )
    )
    assert (execution.visited, len(host.calls)) == (["work"], 5)


def test_a_retrier_without_attempts_leads_straight_to_the_catcher() -> None:
    host = of(["Final"])
    execution = host.walk(
        task(
            Retry=[
                {"ErrorEquals": ["Final"], "MaxAttempts": 0},
                {"ErrorEquals": ["States.ALL"], "MaxAttempts": 5},
            ]
        )
    )
    assert (execution.visited, len(host.calls)) == (["work", "caught"], 1)


def test_delays_grow_up_to_their_longest() -> None:
    host = of(["Busy"] * 4)
    host.walk(
        task(
            Retry=[
                {
                    "ErrorEquals": ["Busy"],
                    "IntervalSeconds": 2,
                    "BackoffRate": 2.0,
                    "MaxDelaySeconds": 5,
                    "MaxAttempts": 4,
                }
            ]
        )
    )
    assert host.at == [0, 2_000, 6_000, 11_000, 16_000]


def test_full_jitter_is_anything_up_to_the_delay() -> None:
    host = of(["Busy"] * 30)
    retrier = {
        "ErrorEquals": ["Busy"],
        "IntervalSeconds": 4,
        "BackoffRate": 1.0,
        "MaxAttempts": 30,
        "JitterStrategy": "FULL",
    }
    host.walk(task(Retry=[retrier]))
    waits = [after - before for before, after in zip(host.at, host.at[1:], strict=False)]
    assert 0 <= min(waits) < 1_000
    assert 3_000 < max(waits) <= 4_000


def test_a_timeout_ends_the_wait_and_what_the_worker_says_afterwards_is_not_heard() -> None:
    host = of(["never", None])
    retry = [{"ErrorEquals": ["States.Timeout"], "MaxAttempts": 1, "IntervalSeconds": 1}]
    execution = host.walk(task(Retry=retry))
    assert (host.at, execution.visited) == ([0, 11_000], ["work"])
    events = execution.events
    host.reports[0]("Late")
    assert (execution.status, execution.events) == ("SUCCEEDED", events)


def test_task_failed_is_every_error_but_a_timeout() -> None:
    retry = [{"ErrorEquals": ["States.TaskFailed"], "MaxAttempts": 1}]
    assert len(_calls(["Anything", None], retry)) == 2
    assert len(_calls(["never", None], retry)) == 1


def _calls(answers: list[str | None], retry: list[dict[str, Any]]) -> list[str]:
    host = of(answers)
    host.walk(task(Retry=retry))
    return host.calls


def gate(**more: Any) -> dict[str, Any]:
    made = task(**more)
    work = made["States"]["work"]
    work["Resource"] += ".waitForTaskToken"
    work["Parameters"]["Payload"]["token.$"] = "$$.Task.Token"
    return made


def test_a_token_is_answered_once_and_not_after_its_timeout() -> None:
    host = of(["never"])
    execution = host.walk(gate())
    assert execution.visited == ["work", "caught"]
    [(waiting, number)] = host.tokens.values()
    assert waiting.report(None, number) is False
    host = of([None])
    execution = host.walk(gate())
    [(waiting, number)] = host.tokens.values()
    assert execution.status == "SUCCEEDED"
    assert waiting.report("TooLate", number) is False


def test_each_attempt_has_a_token_of_its_own_and_an_old_one_is_refused() -> None:
    host = of(["Throttled", "never"])
    retry = [{"ErrorEquals": ["Throttled"], "MaxAttempts": 1, "IntervalSeconds": 1}]
    execution = host.walk(gate(Retry=retry))
    assert len(host.tokens) == 2
    assert host.at == [0, 1_000]
    assert execution.visited == ["work", "caught"]
    assert [task.report(None, number) for task, number in host.tokens.values()] == [False, False]


def test_an_execution_that_is_stopped_hears_nothing_any_more() -> None:
    host = of(["never"])
    made = Execution(host, "m", "order-4471-0", {"saga_id": "order-4471"})
    made.start(task())
    made.end("ABORTED")
    host.reports[0](None)
    assert (made.status, made.visited) == ("ABORTED", ["work"])


def test_a_failed_branch_ends_the_states_of_the_others_but_not_their_workers() -> None:
    branches = [
        {"StartAt": name, "States": {name: {**task()["States"]["work"], "Catch": []}}}
        for name in ("one", "two")
    ]
    definition = {
        "StartAt": "both",
        "States": {
            "both": {"Type": "Parallel", "Branches": branches, "Catch": CAUGHT, "End": True},
            **ENDS,
        },
    }
    host = of(["Broken", "never"])
    execution = host.walk(definition)
    assert execution.visited == ["both", "one", "two", "caught"]
    host.reports[1](None)
    assert execution.status == "SUCCEEDED"


def test_the_event_limit_ends_an_execution_and_nothing_catches_that() -> None:
    host = of(["Busy"] * 10_000)
    retry = [{"ErrorEquals": ["Busy"], "MaxAttempts": 99_999, "BackoffRate": 1.0}]
    execution = host.walk(task(Retry=retry))
    assert (execution.status, execution.visited) == ("FAILED", ["work"])
    assert 8_000 < len(host.calls) < 9_000
