"""When a call of our own tables fails, or should never have been made: nothing is lost, and nothing is done twice."""

from __future__ import annotations

from typing import Any

import pytest

from tests.sagas.lambdas import AWS
from tests.sagas.orders import enter, plan
from tests.sagas.stage import Stage
from tests.sagas.trouble import fail_once, refusal

UNDONE = ["reserve", "authorize", "void", "release"]
DONE = ["reserve", "authorize", "capture", "ship", "send"]
REJECT = {"decision": "reject", "reason": "no"}


@pytest.mark.parametrize("nth", [1, 2], ids=["claim", "record"])
@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("reserve_stock", "UpdateItem"),
        ("authorize_payment", "UpdateItem"),
        ("capture_payment", "TransactWriteItems"),
        ("create_shipment", "UpdateItem"),
        ("send_confirmation", "UpdateItem"),
    ],
)
def test_a_write_that_fails_costs_time_and_no_effect(
    stage: Stage, name: str, write: str, nth: int
) -> None:
    """An exception after the effect leaves the record: it is found out, not run again (Powertools issue 801)."""
    enter(stage, amount="99.00")
    fail_once(f"fulfilment-{name}-run", f"dynamodb:{write}", nth=nth)
    saga_id = stage.run(plan(amount="99.00"))
    assert stage.status(saga_id) == "completed"
    assert stage.shop.books() == DONE
    assert all(len(stage.shop.calls(each)) == 1 for each in DONE)


def test_the_last_write_of_a_saga_may_fail(stage: Stage) -> None:
    enter(stage, amount="99.00")
    fail_once("fulfilment-send_confirmation-run", "dynamodb:TransactWriteItems")
    saga_id = stage.run(plan(amount="99.00"))
    assert stage.status(saga_id) == "completed"
    assert stage.shop.books() == DONE


@pytest.mark.parametrize("nth", [1, 2], ids=["claim", "record"])
@pytest.mark.parametrize("name", ["authorize_payment", "reserve_stock"])
def test_a_write_of_an_undo_that_fails_costs_time_and_no_second_undo(
    stage: Stage, name: str, nth: int
) -> None:
    enter(stage)
    saga_id = stage.run(plan())
    fail_once(f"fulfilment-{name}-undo", "dynamodb:UpdateItem", nth=nth)
    stage.decide(saga_id, REJECT)
    assert stage.status(saga_id) == "compensated"
    assert stage.shop.books() == UNDONE
    assert len(stage.shop.calls("void")) == len(stage.shop.calls("release")) == 1


@pytest.mark.parametrize("function", ["begin-compensation", "finish-compensation"])
def test_a_turn_and_an_end_that_fail_are_tried_again(stage: Stage, function: str) -> None:
    enter(stage)
    saga_id = stage.run(plan())
    writes = {"begin-compensation": "TransactWriteItems", "finish-compensation": "UpdateItem"}
    fail_once(function, f"dynamodb:{writes[function]}")
    stage.decide(saga_id, REJECT)
    assert stage.status(saga_id) == "compensated"
    assert stage.executions() == {f"{saga_id}-1": "SUCCEEDED"}


@pytest.mark.parametrize(
    "event",
    [
        {},
        {"execution": "saga-1-1", "index": 0},
        {"saga_id": None, "execution": "saga-1-1", "index": 0},
        {"saga_id": "", "execution": "saga-1-1", "index": 0},
        {"saga_id": "saga-1", "execution": "saga-1-1"},
        {"saga_id": "saga-1", "execution": "saga-1-1", "index": None},
        {"saga_id": "saga-1", "execution": "saga-1-1", "index": "0"},
        {"saga_id": "saga-1", "execution": "saga-1-1", "index": True},
        {"saga_id": "saga-1", "execution": "saga-1-1", "index": 0, "more": 1},
        {"saga_id": "saga-1", "execution": "saga-1", "index": 0},
    ],
    ids=str,
)
@pytest.mark.parametrize(
    "function",
    [
        "fulfilment-reserve_stock-run",
        "fulfilment-reserve_stock-undo",
        "begin-compensation",
        "gate",
        "open-case",
    ],
)
def test_a_task_that_does_not_say_what_it_is_about_is_refused_before_any_write(
    stage: Stage, function: str, event: dict[str, Any]
) -> None:
    """Missing values that collapse unrelated calls onto one key: Powertools issue 2465."""
    error = refusal(lambda: stage.functions[function](event))
    assert error == "BadRequest"
    assert not [c for c in AWS.calls if c.function == function]
