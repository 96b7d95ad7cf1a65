"""Plans of every known shape, and what the facts say while they run."""

from __future__ import annotations

from typing import Any

import pytest

from functions.sandbox import asks
from functions.sandbox.faults import Trouble
from tests.sagas import lambdas, shopfront
from tests.sagas.lambdas import AWS
from tests.sagas.orders import enter, plan, step
from tests.sagas.stage import OPERATOR, Stage, agent

TABLES = "memory"

UNDONE = ["reserve", "authorize", "void", "release"]
DONE = ["reserve", "authorize", "capture", "ship", "send"]
HOLD = ("reserve_stock", "authorize_payment")
SHAPES = {
    "hold": HOLD,
    "one hold": ("reserve_stock",),
    "confirm": ("send_confirmation",),
    "hold and confirm": (*HOLD, "send_confirmation"),
    "ship": ("reserve_stock", "create_shipment"),
    "ship and confirm": ("reserve_stock", "create_shipment", "send_confirmation"),
    "capture": (*HOLD, "capture_payment"),
    "capture and confirm": (*HOLD, "capture_payment", "send_confirmation"),
}
OPERATIONS = {
    "reserve_stock": "reserve",
    "authorize_payment": "authorize",
    "capture_payment": "capture",
    "create_shipment": "ship",
    "send_confirmation": "send",
}
UNDOES = {"reserve": "release", "authorize": "void"}
CASES = [(shape, name) for shape, names in SHAPES.items() for name in names]


@pytest.mark.parametrize("shape", SHAPES)
def test_a_plan_of_any_shape_runs_to_its_end(stage: Stage, shape: str) -> None:
    enter(stage, amount="99.00")
    saga_id = stage.run(plan("4471", "99.00", *SHAPES[shape]))
    assert stage.status(saga_id) == "completed"
    assert stage.shop.books() == [OPERATIONS[name] for name in SHAPES[shape]]
    assert stage.executions() == {f"{saga_id}-1": "SUCCEEDED"}
    assert len(stage.invoked()) == len(SHAPES[shape])


@pytest.mark.parametrize(("shape", "name"), CASES)
def test_a_plan_of_any_shape_that_is_refused_anywhere_ends_as_it_should(
    stage: Stage, shape: str, name: str
) -> None:
    """Up to its boundary it is undone, in reverse; behind it a person finishes it."""
    names = SHAPES[shape]
    enter(stage, amount="99.00")
    stage.shop.trouble(Trouble.DECLINE, operation=OPERATIONS[name])
    saga_id = stage.run(plan("4471", "99.00", *names))
    before = [OPERATIONS[each] for each in names[: names.index(name)]]
    boundary = next((i for i, each in enumerate(names) if each not in HOLD), len(names))
    if names.index(name) <= boundary:
        undone = [UNDOES[each] for each in reversed(before)]
        assert stage.shop.books() == before + undone
        assert stage.status(saga_id) == "compensated"
    else:
        assert stage.shop.books() == before
        assert stage.status(saga_id) == "awaiting_manual_resolution"
        stage.settle(stage.open_case().id, "retry")
        assert stage.status(saga_id) == "completed"


def test_an_order_is_sent_from_two_warehouses_and_all_of_it_is_undone(stage: Stage) -> None:
    enter(stage)
    stage.shop.scene.put_stock(asks.Stock(warehouse="A", sku="LAMP-1", on_hand=1))
    proposed = plan()
    holds = [
        {**step("reserve_stock", order_id="4471", warehouse=w, sku="LAMP-1", quantity=1), "id": w}
        for w in "AB"
    ]
    proposed["steps"][0:1] = holds
    proposed["steps"][-2]["uses"] = {"reserve_stock": "B"}
    saga_id = stage.run(proposed)
    stage.decide(saga_id, {"decision": "reject", "reason": "no"})
    assert stage.status(saga_id) == "compensated"
    assert stage.shop.keys("release") == [f"{saga_id}:1:undo", f"{saga_id}:0:undo"]


def test_a_completed_hold_can_no_longer_be_stopped(stage: Stage) -> None:
    enter(stage, amount="99.00")
    saga_id = stage.run(plan("4471", "99.00", *HOLD))
    answer = stage.call(OPERATOR, "POST", f"/sagas/{saga_id}/cancel")
    assert (answer.status, answer.codes) == (409, ["cannot_cancel"])
    assert stage.shop.books() == ["reserve", "authorize"]


def test_a_fact_that_cannot_be_read_decides_nothing_and_costs_no_attempt(stage: Stage) -> None:
    enter(stage)
    stage.shop.trouble(Trouble.ERROR_503, service="orders", operation="read")
    answer = stage.submit(plan())
    assert (answer.status, set(answer.codes)) == (503, {"facts_unavailable"})
    assert answer.body["attempts_left"] == 3
    assert stage.submit(plan()).status == 201


def test_a_fact_that_cannot_be_read_before_the_pivot_is_asked_for_again(stage: Stage) -> None:
    enter(stage)
    saga_id = stage.run(plan())
    stage.shop.trouble(Trouble.ERROR_503, service="orders", operation="read", times=2)
    stage.approve(saga_id)
    assert stage.status(saga_id) == "completed"
    assert stage.saga(saga_id).steps[2].forward.attempts == 1


def test_a_fact_that_stays_unreadable_before_the_pivot_turns_the_saga(stage: Stage) -> None:
    enter(stage)
    saga_id = stage.run(plan())
    stage.shop.trouble(Trouble.ERROR_503, service="orders", operation="read", times=99)
    stage.approve(saga_id)
    assert stage.status(saga_id) == "compensated"
    assert stage.shop.books() == UNDONE


def test_the_credential_of_a_fact_that_was_rotated_is_read_again(stage: Stage) -> None:
    enter(stage)
    saga_id = stage.run(plan())
    stage.shop.refuse(shopfront.token("orders"))
    stage.shop.accept("the-new-token", "orders")
    AWS.client("secretsmanager").put_secret_value(
        SecretId=f"{lambdas.SECRET_PREFIX}/fulfilment/orders", SecretString="the-new-token"
    )
    assert stage.submit(plan(request_id="req-2")).status == 201
    stage.approve(saga_id)
    assert stage.status(saga_id) == "completed"


def test_sagas_are_found_by_status_request_document_and_time(stage: Stage) -> None:
    ids: dict[str, str] = {}
    for order_id, amount in (("1", "99.00"), ("2", "180.00")):
        enter(stage, order_id, amount)
        ids[order_id] = stage.run(plan(order_id, amount))

    def found(query: str) -> list[str]:
        answer = stage.call(OPERATOR, "GET", f"/sagas?{query}")
        assert answer.status == 200, answer.text
        return [each["saga_id"] for each in answer.body["sagas"]]

    assert found("") == [ids["2"], ids["1"]]
    assert found("status=completed") == [ids["1"]]
    assert found("status=awaiting_approval") == [ids["2"]]
    assert found("request_id=req-1") == [ids["1"]]
    assert found("source_document_id=mail-2") == [ids["2"]]
    since = stage.saga(ids["2"]).head.created_at
    assert found(f"since={since}") == [ids["2"]]
    first = stage.call(OPERATOR, "GET", "/sagas?limit=1").body
    assert [each["saga_id"] for each in first["sagas"]] == [ids["2"]]
    rest = stage.call(OPERATOR, "GET", f"/sagas?limit=1&cursor={first['next']}").body
    assert [each["saga_id"] for each in rest["sagas"]] == [ids["1"]]


def test_the_agent_follows_its_request_to_the_saga_and_its_end(stage: Stage) -> None:
    enter(stage, amount="99.00")
    saga_id = stage.run(plan(amount="99.00"))
    request: dict[str, Any] = stage.call(agent(), "GET", "/requests/req-4471").body
    assert (request["state"], request["saga_id"]) == ("admitted", saga_id)
    assert request["attempts_left"] == 2
    saga = stage.call(agent(), "GET", f"/sagas/{saga_id}").body
    assert (saga["status"], saga["final"], saga["pivot"]) == ("completed", True, "crossed")
