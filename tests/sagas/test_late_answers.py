"""Attempts that stall and come back: whoever is late destroys nothing and adds nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from functions.sandbox.faults import Trouble
from tests.sagas.lambdas import Killed
from tests.sagas.orders import enter, plan
from tests.sagas.shopfront import Asked
from tests.sagas.stage import OPERATOR, Stage

TABLES = "memory"

DONE = ["reserve", "authorize", "capture", "ship", "send"]
UNDONE = ["reserve", "authorize", "void", "release"]
OPERATIONS = ["reserve", "authorize", "capture", "ship", "send"]


def stall(stage: Stage, operation: str, *, before: bool, then: Callable[[], None]) -> None:
    """The first attempt stalls around its call, past its lease; another delivery takes over meanwhile, then `then`."""
    stalled: list[bool] = []

    def look(asked: Asked) -> None:
        if asked.operation != operation or stalled:
            return
        stalled.append(True)
        stage.clock.pass_(3600)
        made = stage.machines.invocations[-1]
        answer = stage.machines.invoke(made.as_parameters())
        assert "FunctionError" not in answer, answer
        then()

    (stage.shop.before if before else stage.shop.after).append(look)


def nothing() -> None:
    """It comes back with its own answer."""


def die() -> None:
    """It never comes back."""
    raise Killed


def fail() -> None:
    """It comes back with an exception that nobody planned for."""
    raise RuntimeError


@pytest.mark.parametrize("then", [nothing, die, fail], ids=["answers", "dies", "raises"])
@pytest.mark.parametrize("before", [True, False], ids=["before its call", "after its call"])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_stalled_attempt_leaves_the_record_of_the_one_that_took_over_as_it_is(
    stage: Stage, operation: str, *, before: bool, then: Callable[[], None]
) -> None:
    """A late answer that overwrites the winner's record, or erases it: Powertools issue 5675."""
    enter(stage, amount="99.00")
    stall(stage, operation, before=before, then=then)
    saga_id = stage.run(plan(amount="99.00"))
    assert stage.status(saga_id) == "completed"
    assert stage.shop.books() == DONE
    step = stage.saga(saga_id).steps[OPERATIONS.index(operation)]
    assert step.late is None
    assert step.forward.receipt is not None
    [made] = [e["resource"] for e in stage.shop.shop.books() if e["operation"] == operation]
    assert step.forward.receipt.resource == made
    assert stage.cases() == []


@pytest.mark.parametrize("then", [nothing, die, fail], ids=["answers", "dies", "raises"])
@pytest.mark.parametrize("operation", ["void", "release"])
def test_a_stalled_undo_leaves_the_record_of_the_one_that_took_over_as_it_is(
    stage: Stage, operation: str, then: Callable[[], None]
) -> None:
    enter(stage)
    saga_id = stage.run(plan())
    stall(stage, operation, before=True, then=then)
    stage.decide(saga_id, {"decision": "reject", "reason": "no"})
    assert stage.status(saga_id) == "compensated"
    assert stage.shop.books() == UNDONE


def test_a_capture_that_is_under_way_until_its_budget_is_spent_is_cancelled_and_never_lands(
    stage: Stage,
) -> None:
    enter(stage, amount="99.00")
    stage.shop.trouble(Trouble.SLOW, operation="capture", seconds=6.0)
    saga_id = stage.run(plan(amount="99.00"))
    stage.shop.land_late_calls()
    assert stage.status(saga_id) == "compensated"
    assert stage.shop.books() == UNDONE


def test_a_capture_that_lands_while_it_is_asked_about_is_found(stage: Stage) -> None:
    enter(stage, amount="99.00")
    stage.shop.trouble(Trouble.SLOW, operation="capture", seconds=6.0)

    def land(asked: Asked) -> None:
        if asked.operation == "status":
            stage.shop.land_late_calls()

    stage.shop.before.append(land)
    saga_id = stage.run(plan(amount="99.00"))
    assert stage.status(saga_id) == "completed"
    assert stage.shop.books() == DONE


@pytest.mark.parametrize("operation", OPERATIONS)
def test_an_error_after_the_effect_is_an_unknown_that_is_asked_about(
    stage: Stage, operation: str
) -> None:
    enter(stage, amount="99.00")
    stage.shop.trouble(Trouble.ERROR_AFTER, operation=operation)
    saga_id = stage.run(plan(amount="99.00"))
    assert stage.status(saga_id) == "completed"
    assert stage.shop.books() == DONE
    assert len(stage.shop.calls(operation)) == 1


@pytest.mark.parametrize("resolution", ["retry", "did_not_happen", "done"])
def test_what_keeps_its_answer_to_itself_for_ever_is_asked_eight_times_and_then_a_persons(
    stage: Stage, resolution: str
) -> None:
    """A step that may have run, at a target that nobody can ask: no guess in either direction."""
    enter(stage, amount="99.00")
    for operation in ("reserve", "status", "cancel"):
        stage.shop.trouble(Trouble.ERROR_500, operation=operation, times=99)
    saga_id = stage.run(plan(amount="99.00"))
    assert stage.status(saga_id) == "compensation_blocked"
    case = stage.open_case()
    assert (case.cause.value, case.index, case.direction) == ("outcome_unsettled", 0, "undo")
    assert stage.saga(saga_id).steps[0].forward.settlings == 8
    stage.shop.scene.calm()
    stage.clock.pass_(60)
    assert stage.settle(case.id, resolution).status == 200
    assert stage.status(saga_id) == "compensated"
    assert stage.shop.books() == []


def test_an_expired_question_whose_machine_is_gone_is_undone_all_the_same(stage: Stage) -> None:
    enter(stage)
    saga_id = stage.run(plan())
    stage.stop(f"{saga_id}-1")
    stage.rescued.add(f"{saga_id}-1")
    stage.later(hours=25)
    stage.later(minutes=1)
    assert stage.status(saga_id) == "compensated"
    assert stage.shop.books() == UNDONE


def test_a_saga_that_no_execution_brings_to_an_end_becomes_a_case_and_goes_on_from_it(
    stage: Stage,
) -> None:
    enter(stage, amount="99.00")
    broken: list[Any] = [True]

    def refuse(_: Any) -> None:
        if broken:
            raise Killed

    stage.machines.before.append(refuse)
    saga_id = stage.run(plan(amount="99.00"))
    assert stage.status(saga_id) == "awaiting_manual_resolution"
    case = stage.open_case()
    assert (case.cause.value, case.direction) == ("cannot_resume", "saga")
    assert len(stage.executions()) == 8
    broken.clear()
    stage.settle(case.id, "retry")
    assert stage.status(saga_id) == "completed"
    assert stage.shop.books() == DONE


def test_an_effect_that_turns_up_after_the_saga_was_undone_is_owed_again(stage: Stage) -> None:
    """The target forgot the key, and told the undo that nothing had happened: the late answer proves it wrong."""
    enter(stage)
    saga_ids: list[str] = []

    def turn_meanwhile(asked: Asked) -> None:
        if asked.operation != "reserve" or saga_ids:
            return
        made = stage.machines.invocations[-1]
        saga_ids.append(made.payload["saga_id"])
        stage.shop.forget_keys()
        stage.call(OPERATOR, "POST", f"/sagas/{saga_ids[0]}/cancel")
        stage.clock.pass_(3600)
        for index, name in ((1, "authorize_payment"), (0, "reserve_stock")):
            task = {"saga_id": saga_ids[0], "execution": f"{saga_ids[0]}-1", "index": index}
            stage.functions[f"fulfilment-{name}-undo"](task)
        task = {"saga_id": saga_ids[0], "execution": f"{saga_ids[0]}-1"}
        assert stage.functions["finish-compensation"](task) == {"outcome": "compensated"}

    stage.shop.after.append(turn_meanwhile)
    saga_id = stage.run(plan())
    stage.deliver()
    case = stage.open_case()
    assert (case.cause.value, case.index) == ("late_effect", 0)
    assert stage.status(saga_id) == "awaiting_manual_resolution"
    stage.settle(case.id, "retry")
    assert stage.status(saga_id) == "compensated"
    assert stage.shop.books() == ["reserve", "release"]
    assert stage.sweep() == {}
