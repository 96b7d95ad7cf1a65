"""Compiled machines on moto's interpreter, with scripted functions: which states follow from which answers."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from moto import mock_aws
from moto.stepfunctions.parser.asl.component.common.retry import retrier_decl
from moto.stepfunctions.parser.asl.component.state.exec.state_task import lambda_eval_utils

from statemachines.compiler import Machine
from tests.unit.machines import machine

if TYPE_CHECKING:
    from mypy_boto3_stepfunctions import SFNClient

ROLE = "arn:aws:iam::123456789012:role/machines"
Answers = Mapping[str, list[str | None]]
"""Call to the errors it raises, one after another; None is a success, and so is every call after the last."""

Run = Callable[[Machine, Answers], tuple[str, list[str]]]


class Functions:
    """Stands in for Lambda: answers by script, and remembers who was called."""

    def __init__(self, client: SFNClient, answers: Answers) -> None:
        self.client = client
        self.answers = {call: list(errors) for call, errors in answers.items()}
        self.calls: list[str] = []

    def invoke(self, parameters: Mapping[str, Any], **_: object) -> dict[str, Any]:
        payload = json.loads(parameters["Payload"])
        function = parameters["FunctionName"].split(":")[6]
        said = payload.get("operation") or payload.get("direction")
        call = " ".join(
            str(part) for part in (function, payload.get("index"), said) if part is not None
        )
        self.calls.append(call)
        assert payload["saga_id"] == "order-4471"
        assert payload["execution"] == "order-4471-0"
        error = next(iter(self.answers.get(call, [])), None)
        self.answers[call] = self.answers.get(call, [])[1:]
        if "token" in payload:
            self._decide(payload["token"], error)
        elif error:
            body = json.dumps({"errorType": error, "errorMessage": "scripted"})
            raise lambda_eval_utils.LambdaFunctionErrorException("Unhandled", body)
        return {"StatusCode": 200, "Payload": {"never": "kept"}}

    def _decide(self, token: str, error: str | None) -> None:
        if error:
            self.client.send_task_failure(taskToken=token, error=error)
        else:
            self.client.send_task_success(taskToken=token, output="{}")


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """Runs a machine to its end: the execution's status, and the calls in their order."""
    monkeypatch.setattr(retrier_decl, "time", SimpleNamespace(sleep=lambda _: None))
    with mock_aws(config={"stepfunctions": {"execute_state_machine": True}}):
        client = boto3.client("stepfunctions", region_name="eu-central-1")

        def to_the_end(made: Machine, answers: Answers) -> tuple[str, list[str]]:
            functions = Functions(client, answers)
            monkeypatch.setattr(lambda_eval_utils, "_invoke_lambda_function", functions.invoke)
            arn = client.create_state_machine(name=made.name, definition=made.text, roleArn=ROLE)[
                "stateMachineArn"
            ]
            started = client.start_execution(
                stateMachineArn=arn, name="order-4471-0", input='{"saga_id":"order-4471"}'
            )
            return _status(client, started["executionArn"]), functions.calls

        yield to_the_end


def _status(client: SFNClient, execution: str) -> str:
    for _ in range(500):
        status = client.describe_execution(executionArn=execution)["status"]
        if status != "RUNNING":
            return status
        time.sleep(0.01)
    pytest.fail("the execution did not end")


RESERVE, AUTHORIZE = "step_0-run 0 run", "step_1-run 1 run"
CAPTURE, SHIP, CONFIRM = "step_2-run 2 run", "step_3-run 3 run", "step_4-run 4 run"
SETTLE = "step_2-run 2 settle"
UNDO_BOTH = ["step_1-undo 1", "step_0-undo 0", "finish"]


def test_a_plan_that_nobody_is_asked_about_runs_straight_through(run: Run) -> None:
    assert run(machine("ccprr"), {}) == (
        "SUCCEEDED",
        [RESERVE, AUTHORIZE, CAPTURE, SHIP, CONFIRM],
    )


def test_an_approved_pivot_is_tried_again(run: Run) -> None:
    assert run(machine("ccprr"), {CAPTURE: ["ApprovalRequired"]}) == (
        "SUCCEEDED",
        [RESERVE, AUTHORIZE, CAPTURE, "gate 2", CAPTURE, SHIP, CONFIRM],
    )


@pytest.mark.parametrize("answer", ["ApprovalRejected", "ApprovalExpired", "SagaCancelled"])
def test_a_rejected_pivot_compensates_and_nobody_is_asked_twice(run: Run, answer: str) -> None:
    assert run(machine("ccprr"), {CAPTURE: ["ApprovalRequired"], "gate 2": [answer]}) == (
        "SUCCEEDED",
        [RESERVE, AUTHORIZE, CAPTURE, "gate 2", "begin 2", *UNDO_BOTH],
    )


def test_a_refusal_is_not_repeated_and_what_may_have_run_is_undone_in_reverse(run: Run) -> None:
    assert run(machine("ccprr"), {AUTHORIZE: ["StepRefused"]}) == (
        "SUCCEEDED",
        [RESERVE, AUTHORIZE, "begin 1", *UNDO_BOTH],
    )


def test_an_unknown_answer_and_a_live_lease_are_asked_about_again(run: Run) -> None:
    answers = {RESERVE: ["OutcomeUnknown", "StillRunning", "NotSettledYet", None]}
    assert run(machine("c"), answers) == ("SUCCEEDED", [RESERVE] * 4)


def test_a_timed_out_undo_is_asked_for_again(run: Run) -> None:
    status, calls = run(
        machine("cc"), {AUTHORIZE: ["StepRefused"], "step_0-undo 0": ["Sandbox.Timedout"]}
    )
    assert status == "SUCCEEDED"
    assert calls == [
        RESERVE,
        AUTHORIZE,
        "begin 1",
        "step_1-undo 1",
        "step_0-undo 0",
        *UNDO_BOTH[1:],
    ]


def test_a_pivot_whose_answer_is_lost_is_settled_and_the_saga_goes_on(run: Run) -> None:
    assert run(machine("ccprr"), {CAPTURE: ["PersonNeeded"]}) == (
        "SUCCEEDED",
        [RESERVE, AUTHORIZE, CAPTURE, SETTLE, SHIP, CONFIRM],
    )


def test_only_proof_that_the_pivot_did_not_happen_leads_back(run: Run) -> None:
    assert run(machine("ccprr"), {CAPTURE: ["StepRefused"], SETTLE: ["DidNotHappen"]}) == (
        "SUCCEEDED",
        [RESERVE, AUTHORIZE, CAPTURE, SETTLE, "begin 2", *UNDO_BOTH],
    )


def test_a_pivot_that_cannot_be_settled_goes_to_a_person_and_nothing_is_undone(run: Run) -> None:
    assert run(machine("ccprr"), {CAPTURE: ["StepRefused"], SETTLE: ["PersonNeeded"]}) == (
        "SUCCEEDED",
        [RESERVE, AUTHORIZE, CAPTURE, SETTLE, "open-case 2 do"],
    )


def test_a_spent_budget_after_the_pivot_goes_to_a_person_and_nothing_is_undone(run: Run) -> None:
    answers: Answers = {SHIP: ["NotAppliedYet", "NotAppliedYet", "BudgetSpent"]}
    assert run(machine("ccprr"), answers) == (
        "SUCCEEDED",
        [RESERVE, AUTHORIZE, CAPTURE, SHIP, SHIP, SHIP, "open-case 3 do"],
    )


def test_an_undo_that_goes_to_a_person_keeps_no_other_from_running(run: Run) -> None:
    answers: Answers = {AUTHORIZE: ["StepRefused"], "step_1-undo 1": ["UndoBlocked"]}
    assert run(machine("ccprr"), answers) == (
        "SUCCEEDED",
        [RESERVE, AUTHORIZE, "begin 1", "step_1-undo 1", "open-case 1 undo", *UNDO_BOTH[1:]],
    )


def test_side_by_side_an_undo_that_nobody_can_take_keeps_no_other_from_running(run: Run) -> None:
    answers: Answers = {
        "step_2-run 2 run": ["StepRefused"],
        "step_1-undo 1": ["UndoBlocked"],
        "open-case 1 undo": ["Superseded"],
    }
    status, calls = run(machine("ccc", {0: {1, 2}}), answers)
    assert status == "SUCCEEDED"
    assert calls[:4] == [RESERVE, AUTHORIZE, "step_2-run 2 run", "begin 2"]
    assert sorted(calls[4:-2]) == ["open-case 1 undo", "step_1-undo 1", "step_2-undo 2"]
    assert calls[-2:] == ["step_0-undo 0", "finish"]


def test_a_saga_that_cannot_be_turned_fails_for_the_rescue_to_see(run: Run) -> None:
    assert run(machine("c"), {RESERVE: ["StepRefused"], "begin 0": ["Superseded"]}) == (
        "FAILED",
        [RESERVE, "begin 0"],
    )
