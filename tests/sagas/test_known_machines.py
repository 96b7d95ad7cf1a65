"""Shapes that are known when a deployment is made: their machines are there before any plan is."""

from __future__ import annotations

import json
from typing import Any

import pytest
import urllib3

from functions.catalogues.fulfilment.catalogue import CATALOGUE
from statemachines.golden.machines import SHAPES
from tests.sagas import lambdas
from tests.sagas.orders import enter, plan
from tests.sagas.stage import Stage

CREATE = "stepfunctions:CreateStateMachine"
KNOWN = {plan: [step.name for step in shape.steps] for plan, shape in SHAPES["fulfilment"].items()}


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    told: list[dict[str, Any]] = []
    monkeypatch.setattr(urllib3, "request", lambda *_, body, **__: told.append(json.loads(body)))
    return told


def deploy(stage: Stage, shapes: dict[str, list[str]]) -> None:
    """What CloudFormation sends at the end of a deployment."""
    properties = {
        "Versions": lambdas.published(CATALOGUE),
        "Role": lambdas.MACHINE_ROLE,
        "Shapes": {"fulfilment": shapes},
    }
    stage.functions["known-machines"](
        {
            "RequestType": "Update",
            "ResponseURL": "https://cfn.example/x",
            "StackId": "stack",
            "RequestId": "request",
            "LogicalResourceId": "Machines",
            "ResourceProperties": properties,
        }
    )


def created() -> int:
    return sum(call.operation == CREATE for call in lambdas.AWS.calls)


def test_a_plan_of_a_known_shape_creates_nothing_when_it_is_posted(
    stage: Stage, answers: list[dict[str, Any]]
) -> None:
    deploy(stage, KNOWN)
    assert [a["Status"] for a in answers] == ["SUCCESS"]
    assert created() == len(KNOWN)
    before = machines(stage)
    enter(stage)
    assert stage.status(stage.run(plan())) == "awaiting_approval"
    assert created() == len(KNOWN)
    assert machines(stage) == before


def test_deploying_again_makes_none_twice(stage: Stage, answers: list[dict[str, Any]]) -> None:
    deploy(stage, KNOWN)
    deploy(stage, KNOWN)
    assert [a["Status"] for a in answers] == ["SUCCESS", "SUCCESS"]
    assert created() == len(KNOWN)


def test_a_step_that_this_deployment_does_not_publish_fails_it(
    stage: Stage, answers: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    versions = json.loads(lambdas.published(CATALOGUE))
    del versions["steps"]["fulfilment"]["capture_payment"]
    monkeypatch.setattr(lambdas, "published", lambda _: json.dumps(versions))
    deploy(stage, {"capture_and_ship": KNOWN["capture_and_ship"]})
    [answer] = answers
    assert answer["Status"] == "FAILED"
    assert "capture_payment" in answer["Reason"]


def machines(stage: Stage) -> set[str]:
    return {m["name"] for m in stage.sfn.list_state_machines()["stateMachines"]}
