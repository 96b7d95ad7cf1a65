"""What a saga costs: transitions from the history, invocations, and the tables' calls; counted, not timed."""

from __future__ import annotations

from collections import Counter

from tests.sagas.lambdas import AWS, LEDGER, PEOPLE
from tests.sagas.orders import enter, plan
from tests.sagas.stage import Stage

_READS = {"GetItem", "Query", "Scan", "BatchGetItem", "TransactGetItems"}
_STEPS = (
    "reserve_stock",
    "authorize_payment",
    "capture_payment",
    "create_shipment",
    "send_confirmation",
)


def tables(function: str) -> Counter[str]:
    """How often a function read and wrote each table."""
    counted: Counter[str] = Counter()
    for call in AWS.calls:
        service, _, operation = call.operation.partition(":")
        if service != "dynamodb" or call.function != function:
            continue
        counted[_what(operation, dict(call.parameters))] += 1
    return counted


def _what(operation: str, parameters: dict[str, object]) -> str:
    if operation == "TransactWriteItems":
        return "transactions"
    does = "reads" if operation in _READS else "writes"
    return f"{does} of {parameters['TableName']}"


def asked_of_the_directory() -> list[str]:
    """What a pivot has asked of the user pool."""
    made = [c for c in AWS.calls if c.function == "fulfilment-capture_payment-run"]
    return [c.operation.partition(":")[2] for c in made if c.operation.startswith("cognito-idp:")]


def test_a_step_costs_one_transition_one_invocation_and_two_writes(stage: Stage) -> None:
    enter(stage, amount="99.00")
    saga_id = stage.run(plan(amount="99.00"))
    assert len(stage.states(f"{saga_id}-1")) == len(_STEPS)
    assert stage.invoked() == [f"{name}-run {i} run" for i, name in enumerate(_STEPS)]
    read, write, both = f"reads of {LEDGER}", f"writes of {LEDGER}", "transactions"
    assert {name: dict(tables(f"fulfilment-{name}-run")) for name in _STEPS} == {
        "reserve_stock": {write: 2},
        "authorize_payment": {write: 2},
        "capture_payment": {read: 1, both: 2},  # the boundary: with the head
        "create_shipment": {read: 1, write: 2},  # a result is bound
        "send_confirmation": {write: 1, both: 1},  # the last: with the head
    }


def test_an_approval_costs_two_transitions_more(stage: Stage) -> None:
    enter(stage)
    saga_id = stage.run(plan())
    AWS.calls.clear()
    stage.approve(saga_id)
    assert len(stage.states(f"{saga_id}-1")) == len(_STEPS) + 2
    assert len(stage.invoked()) == len(_STEPS) + 2
    assert dict(tables("fulfilment-capture_payment-run")) == {
        f"reads of {LEDGER}": 1,
        f"reads of {PEOPLE}": 1,
        "transactions": 2,
    }


def test_the_directory_is_asked_about_those_who_agreed_and_about_nobody_else(stage: Stage) -> None:
    enter(stage)
    saga_id = stage.run(plan())
    enter(stage, "2", "99.00")
    stage.run(plan("2", "99.00"))
    assert asked_of_the_directory() == []
    stage.approve(saga_id)
    assert asked_of_the_directory() == ["AdminGetUser", "AdminListGroupsForUser"]


def test_a_failure_costs_one_begin_one_undo_for_each_step_and_one_finish(stage: Stage) -> None:
    enter(stage)
    saga_id = stage.run(plan())
    stage.decide(saga_id, {"decision": "reject", "reason": "no"})
    assert stage.states(f"{saga_id}-1")[4:] == [
        "begin 2 capture_payment",
        "undo 1 authorize_payment",
        "undo 0 reserve_stock",
        "finish compensation",
    ]


def test_plans_of_one_shape_share_one_machine(stage: Stage) -> None:
    for order_id in ("1", "2"):
        enter(stage, order_id, "99.00")
        stage.run(plan(order_id, "99.00"))
    created = [c for c in AWS.calls if c.operation == "stepfunctions:CreateStateMachine"]
    assert len(created) == 1
    assert "4471" not in str(created[0].parameters)


def test_nothing_but_the_sagas_id_travels_through_the_machine(stage: Stage) -> None:
    """256 KiB of state end an execution for good; results live in the ledger, so nothing grows."""
    enter(stage)
    saga_id = stage.run(plan())
    stage.approve(saga_id)
    [started] = [c for c in AWS.calls if c.operation == "stepfunctions:StartExecution"]
    assert started.parameters["input"] == f'{{"saga_id": "{saga_id}"}}'
    for made in stage.machines.invocations:
        assert set(made.payload) <= {
            "saga_id",
            "execution",
            "index",
            "operation",
            "direction",
            "token",
        }
