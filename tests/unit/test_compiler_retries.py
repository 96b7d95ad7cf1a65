"""How machines ask again: never, patiently, or with jitter. The ledger holds the budget; this only paces."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from functions.usecases import errors as raised
from statemachines import errors
from tests.unit.machines import RUN_RETRY, UNDO_RETRY, machine

STATES = machine("ccprr", {}).definition["States"]


def tasks(states: Mapping[str, Any] = STATES) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, state in states.items():
        if state["Type"] == "Task":
            yield name, state
        for branch in state.get("Branches", []):
            yield from tasks(branch["States"])


TASKS = dict(tasks())


def delays(retrier: Mapping[str, Any]) -> list[float]:
    """Seconds before each repetition, as AWS computes them without jitter."""
    return [
        min(
            retrier["IntervalSeconds"] * retrier["BackoffRate"] ** n,
            retrier["MaxDelaySeconds"],
        )
        for n in range(retrier["MaxAttempts"])
    ]


@pytest.mark.parametrize("name", TASKS)
def test_what_must_not_be_repeated_comes_first_with_no_attempt(name: str) -> None:
    first = TASKS[name]["Retry"][0]
    assert first["MaxAttempts"] == 0
    assert set(errors.NOT_REPEATED) <= set(first["ErrorEquals"])


@pytest.mark.parametrize("name", TASKS)
def test_every_task_is_repeated_for_everything_else_in_the_same_order(name: str) -> None:
    assert [set(each["ErrorEquals"]) for each in TASKS[name]["Retry"][1:]] == [
        set(errors.WAITED_OUT),
        set(errors.SERVICE),
        {"States.ALL"},
    ]


@pytest.mark.parametrize(
    ("name", "wait"), [("0 step_0", 60), ("settle 2 step_2", 60), ("undo 0 step_0", 150)]
)
def test_a_lease_and_a_late_effect_are_waited_out_without_jitter(name: str, wait: int) -> None:
    waiting = TASKS[name]["Retry"][1]
    assert waiting["JitterStrategy"] == "NONE"
    assert wait < sum(delays(waiting)) < 2 * wait + 20


@pytest.mark.parametrize("wait", [1, 30, 600, 86_400])
def test_a_wait_of_any_length_takes_few_attempts(wait: int) -> None:
    from statemachines.states import _waiting_out  # noqa: PLC0415

    waiting = _waiting_out(wait)
    assert sum(delays(waiting)) > wait
    assert waiting["MaxAttempts"] <= 25


@pytest.mark.parametrize(
    ("name", "budget"),
    [("0 step_0", RUN_RETRY.attempts), ("undo 0 step_0", UNDO_RETRY.attempts)],
)
def test_a_step_is_asked_at_least_as_often_as_the_ledger_allows(name: str, budget: int) -> None:
    rest = TASKS[name]["Retry"][3]
    assert rest["MaxAttempts"] + 1 > budget
    assert rest["JitterStrategy"] == "FULL"


def test_the_pace_is_the_catalogues_in_whole_seconds_as_aws_takes_them() -> None:
    run, undo = TASKS["0 step_0"]["Retry"][3], TASKS["undo 0 step_0"]["Retry"][3]
    assert (run["IntervalSeconds"], run["MaxDelaySeconds"]) == (2, 20)
    assert (undo["IntervalSeconds"], undo["MaxDelaySeconds"]) == (1, 2)


@pytest.mark.parametrize(
    ("name", "timeout"),
    [("0 step_0", 25), ("settle 2 step_2", 25), ("undo 0 step_0", 40), ("begin 0 step_0", 30)],
)
def test_a_task_is_given_more_time_than_its_function(name: str, timeout: int) -> None:
    assert TASKS[name]["TimeoutSeconds"] > timeout + 10


def test_people_who_have_answered_or_let_time_pass_are_not_asked_again() -> None:
    final = set(TASKS["approve 2 step_2"]["Retry"][0]["ErrorEquals"])
    assert {*errors.PEOPLE_SAID_NO, "States.Timeout"} <= final


def test_a_step_that_timed_out_is_asked_again() -> None:
    assert "States.Timeout" not in TASKS["0 step_0"]["Retry"][0]["ErrorEquals"]


def test_every_error_that_a_function_raises_has_its_place_in_a_retrier() -> None:
    known = {
        name
        for name, each in inspect.getmembers(raised, inspect.isclass)
        if issubclass(each, raised.StepError) and each is not raised.StepError
    }
    asked_again_with_jitter = {"NotAppliedYet", "OutcomeUnknown"}
    assert known - asked_again_with_jitter == {*errors.NOT_REPEATED, *errors.WAITED_OUT}
