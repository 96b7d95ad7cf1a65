"""When our own queues and machines fail us for a moment: nothing is lost, and nothing is done twice."""

from __future__ import annotations

import json
from typing import Any

import pytest

from functions.sandbox.faults import Trouble
from tests.sagas import lambdas
from tests.sagas.lambdas import AWS, ApiCall, Killed
from tests.sagas.orders import enter, plan, step
from tests.sagas.stage import APPROVER, OPERATOR, Stage
from tests.sagas.trouble import fail_once, refusal

TABLES = "memory"

UNDONE = ["reserve", "authorize", "void", "release"]
DONE = ["reserve", "authorize", "capture", "ship", "send"]
REJECT = {"decision": "reject", "reason": "no"}


def test_a_notice_to_approvers_that_fails_is_sent_again(stage: Stage) -> None:
    enter(stage)
    fail_once("gate", "sqs:SendMessage")
    saga_id = stage.run(plan())
    assert stage.notices("approvals") == [f'{{"approval": "{saga_id}-2-1"}}']
    stage.approve(saga_id)
    assert stage.status(saga_id) == "completed"


def test_an_approval_that_nobody_answers_is_announced_once_more_and_a_lost_notice_thereby_too(
    stage: Stage,
) -> None:
    enter(stage)
    saga_id = stage.run(plan())
    notice = f'{{"approval": "{saga_id}-2-1"}}'
    assert stage.notices("approvals") == [notice]
    wait = stage.approval(saga_id).expires_at - stage.approval(saga_id).created_at
    stage.later(seconds=wait // 2000)
    for _ in range(3):
        stage.later(minutes=1)
    assert stage.notices("approvals") == [notice]
    stage.approve(saga_id)
    assert stage.status(saga_id) == "completed"


def test_a_notice_of_a_case_that_fails_is_sent_again(stage: Stage) -> None:
    enter(stage, amount="99.00")
    stage.shop.trouble(Trouble.ERROR_503, operation="ship", times=4)
    fail_once("open-case", "sqs:SendMessage")
    stage.run(plan(amount="99.00"))
    assert stage.notices("cases") == [f'{{"case": "{stage.open_case().id}"}}']


def test_a_notice_of_an_escalated_request_that_fails_is_sent_again(stage: Stage) -> None:
    bad = plan(steps=[step("apply_goodwill_credit", order_id="4471")])
    for attempt in range(3):
        stage.submit({**bad, "rationale": f"try {attempt}"})
    records = stage.stream()
    fail_once("starter", "sqs:SendMessage")
    assert refusal(lambda: stage.deliver(records)) == "BatchProcessingError"
    stage.later(minutes=1)
    assert stage.notices("cases") == [f'{{"case": "{stage.open_case().id}"}}']


def test_a_notice_of_an_escalated_request_that_is_lost_is_made_good_by_the_sweep(
    stage: Stage,
) -> None:
    bad = plan(steps=[step("apply_goodwill_credit", order_id="4471")])
    for attempt in range(3):
        stage.submit({**bad, "rationale": f"try {attempt}"})
    stage.kill_at("sqs:SendMessage")
    with pytest.raises(Killed):
        stage.deliver()
    stage.later(minutes=2)
    assert stage.notices("cases") == [f'{{"case": "{stage.open_case().id}"}}']


@pytest.mark.parametrize(
    ("said", "call", "then"),
    [
        ({"decision": "approve"}, "SendTaskSuccess", "completed"),
        (REJECT, "SendTaskFailure", "compensated"),
    ],
)
def test_a_decision_whose_answer_to_the_machine_is_lost_is_answered_by_the_sweep(
    stage: Stage, said: dict[str, str], call: str, then: str
) -> None:
    enter(stage)
    saga_id = stage.run(plan())
    stage.kill_at(f"stepfunctions:{call}")
    with pytest.raises(Killed):
        stage.decide(saga_id, said)
    assert stage.status(saga_id) == "awaiting_approval"
    stage.later(minutes=1)
    assert stage.status(saga_id) == then


def test_a_stop_whose_answer_to_the_machine_is_lost_is_answered_by_the_sweep(
    stage: Stage,
) -> None:
    enter(stage)
    saga_id = stage.run(plan())
    stage.kill_at("stepfunctions:SendTaskFailure")
    with pytest.raises(Killed):
        stage.call(OPERATOR, "POST", f"/sagas/{saga_id}/cancel")
    stage.later(minutes=1)
    assert stage.status(saga_id) == "compensated"
    assert stage.shop.books() == UNDONE


def test_a_decision_before_the_machine_has_handed_over_its_token_is_answered_by_the_gate(
    stage: Stage,
) -> None:
    enter(stage)
    early: list[int] = []

    def decide(made: Any) -> None:
        path = f"/approvals/{made.payload['saga_id']}-2-1/decision"
        early.append(stage.call(APPROVER, "POST", path, {"decision": "approve"}).status)

    stage.when("gate 2", decide)
    saga_id = stage.run(plan())
    assert early == [200]
    assert stage.status(saga_id) == "completed"


@pytest.mark.parametrize("code", ["ThrottlingException", "ServiceUnavailable"])
def test_a_machine_that_cannot_be_created_just_now_is_created_later(
    stage: Stage, code: str
) -> None:
    """CreateStateMachine refills at about one a second, and may be eventually consistent."""
    enter(stage, amount="99.00")
    saga_id = stage.submit(plan(amount="99.00")).body["saga_id"]
    fail_once("starter", "stepfunctions:CreateStateMachine", code=code)
    records = stage.stream()
    assert refusal(lambda: stage.deliver(records)) == "BatchProcessingError"
    stage.deliver(records)
    stage.rest()
    assert stage.status(saga_id) == "completed"


def test_a_machine_that_is_not_yet_known_when_it_is_started_is_started_all_the_same(
    stage: Stage,
) -> None:
    enter(stage, amount="99.00")
    fail_once("starter", "stepfunctions:StartExecution", code="StateMachineDoesNotExist")
    saga_id = stage.run(plan(amount="99.00"))
    assert stage.status(saga_id) == "completed"
    assert stage.executions() == {f"{saga_id}-1": "SUCCEEDED"}


def test_an_execution_without_its_input_fails_and_is_rescued(stage: Stage) -> None:
    """A path that is not there ends an execution, and no Catch can do anything about it (floci issue 2521)."""
    enter(stage, amount="99.00")

    def forget(made: ApiCall) -> None:
        if made.operation == "stepfunctions:StartExecution":
            AWS.before.remove(forget)
            made.parameters["input"] = "{}"  # type: ignore[index]

    AWS.before.append(forget)
    saga_id = stage.run(plan(amount="99.00"))
    assert stage.executions() == {f"{saga_id}-1": "FAILED", f"{saga_id}-2": "SUCCEEDED"}
    assert stage.status(saga_id) == "completed"
    assert stage.shop.books() == DONE


def test_a_step_of_another_function_is_refused_and_left_alone(stage: Stage) -> None:
    enter(stage)
    saga_id = stage.run(plan())
    before = stage.saga(saga_id)
    task = {"saga_id": saga_id, "execution": f"{saga_id}-1", "index": 1}
    for function in ("fulfilment-reserve_stock-run", "fulfilment-reserve_stock-undo"):
        assert refusal(lambda: stage.functions[function](task)) == "BadRequest"  # noqa: B023
    assert stage.saga(saga_id).steps == before.steps


def test_an_old_driver_changes_nothing_any_more(stage: Stage) -> None:
    enter(stage)
    saga_id = stage.run(plan())
    stage.stop(f"{saga_id}-1")
    stage.rest()
    before = stage.saga(saga_id), stage.approval(saga_id)
    old = {"saga_id": saga_id, "execution": f"{saga_id}-1", "index": 2}
    assert refusal(lambda: stage.functions["begin-compensation"](old)) == "Superseded"
    assert refusal(lambda: stage.functions["gate"]({**old, "token": "old"})) == "Superseded"
    case = {**old, "direction": "do"}
    assert refusal(lambda: stage.functions["open-case"](case)) == "Superseded"
    assert (stage.saga(saga_id), stage.approval(saga_id)) == before


def test_a_saga_that_this_deployment_has_no_functions_for_becomes_a_case(stage: Stage) -> None:
    """Not an alarm each minute for ever: after the deployment was put right, a person lets it go on."""
    enter(stage, amount="99.00")
    parameter = AWS.client("ssm").get_parameter(Name=lambdas.PARAMETER)["Parameter"]["Value"]
    broken = json.loads(parameter)
    del broken["steps"]["fulfilment"]["create_shipment"]
    publish(json.dumps(broken))
    saga_id = stage.run(plan(amount="99.00"))
    assert stage.status(saga_id) == "awaiting_manual_resolution"
    case = stage.open_case()
    assert case.cause.value == "cannot_resume"
    assert "create_shipment" in case.why
    assert stage.settle(case.id, "retry").status == 200
    again = stage.open_case()
    assert again.id != case.id
    publish(parameter)
    stage.settle(again.id, "retry")
    assert stage.status(saga_id) == "completed"


def test_a_deleted_machine_that_cannot_be_made_again_becomes_a_case(stage: Stage) -> None:
    enter(stage, amount="99.00")
    stage.shop.trouble(Trouble.ERROR_503, operation="ship", times=4)
    saga_id = stage.run(plan(amount="99.00"))
    stage.sfn.delete_state_machine(stateMachineArn=stage.saga(saga_id).head.machine)
    parameter = AWS.client("ssm").get_parameter(Name=lambdas.PARAMETER)["Parameter"]["Value"]
    publish('{"steps": {}}')
    case = stage.open_case()
    assert refusal(lambda: stage.settle(case.id, "retry")) == "none"
    stage.later(minutes=1)
    assert stage.status(saga_id) == "awaiting_manual_resolution"
    publish(parameter)
    stage.settle(stage.open_case().id, "retry")
    assert stage.status(saga_id) == "completed"
    assert stage.shop.books() == DONE


def publish(versions: str) -> None:
    AWS.client("ssm").put_parameter(
        Name=lambdas.PARAMETER, Value=versions, Type="String", Overwrite=True
    )
