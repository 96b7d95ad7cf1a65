"""A deployment asks whether it would strand an open saga, on tables of DynamoDB."""

from __future__ import annotations

import json
from typing import Any

import pytest
import urllib3

from functions.catalogues.fulfilment.catalogue import CATALOGUE
from functions.domain.stranding import Offer
from tests.sagas.orders import enter, plan
from tests.sagas.stage import Stage

OFFER = Offer.of(CATALOGUE).model_dump(mode="json")


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    told: list[dict[str, Any]] = []
    monkeypatch.setattr(urllib3, "request", lambda *_, body, **__: told.append(json.loads(body)))
    return told


def ask(stage: Stage, *without: str) -> None:
    """A deployment of the fulfilment catalogue without these steps."""
    steps = {name: step for name, step in OFFER["steps"].items() if name not in without}
    offer = {"version": "next" if without else OFFER["version"], "steps": steps}
    stage.functions["guard"](
        {
            "RequestType": "Update",
            "ResponseURL": "https://cfn.example/x",
            "StackId": "stack",
            "RequestId": "request",
            "LogicalResourceId": "Asked",
            "ResourceProperties": {"Offers": {"fulfilment": offer}},
        }
    )


def test_a_deployment_that_would_strand_an_open_saga_fails_and_names_it(
    stage: Stage, answers: list[dict[str, Any]]
) -> None:
    enter(stage)
    saga_id = stage.run(plan())
    assert stage.status(saga_id) == "awaiting_approval"
    ask(stage, "create_shipment", "send_confirmation")
    [answer] = answers
    assert answer["Status"] == "FAILED"
    assert f"{saga_id} needs create_shipment, send_confirmation" in answer["Reason"]
    assert "retired=True" in answer["Reason"]


def test_it_goes_through_once_that_saga_has_ended(
    stage: Stage, answers: list[dict[str, Any]]
) -> None:
    enter(stage)
    saga_id = stage.run(plan())
    stage.decide(saga_id, {"decision": "reject", "reason": "not today"})
    assert stage.status(saga_id) == "compensated"
    ask(stage, "create_shipment")
    assert [a["Status"] for a in answers] == ["SUCCESS"]


def test_a_deployment_that_takes_nothing_away_goes_through(
    stage: Stage, answers: list[dict[str, Any]]
) -> None:
    enter(stage)
    stage.run(plan())
    ask(stage)
    assert [a["Status"] for a in answers] == ["SUCCESS"]


def test_of_many_some_are_named_and_all_are_counted(
    stage: Stage, answers: list[dict[str, Any]]
) -> None:
    for number in range(22):
        enter(stage, f"45{number}", "99.00")
        assert stage.submit(plan(f"45{number}", "99.00")).status == 201
    ask(stage, "reserve_stock")
    [answer] = answers
    assert answer["Reason"].startswith("22 open saga(s) would be stranded")
    assert answer["Reason"].count(" needs ") == 20
    assert "; and 2 more." in answer["Reason"]
    assert len(json.dumps(answer)) < 4_096
