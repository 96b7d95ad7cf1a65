"""Tokens and credentials stay where they are used, looked for after all scenes have been played."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from infra.local.demo.stage import Stage
from infra.local.demo.story import Story
from infra.local.place import Place
from infra.local.seed import client

CREDENTIALS = ("inventory", "payments", "shipping", "mail", "orders")


@pytest.fixture(scope="module")
def played(stories: list[Story]) -> list[Story]:
    for story in stories:
        story.failures()
    return stories


@pytest.fixture(scope="module")
def secrets(place: Place, outputs: dict[str, Any], played: list[Story]) -> dict[str, str]:  # noqa: ARG001
    found = {}
    pages = client(place, "dynamodb").get_paginator("scan")
    for page in pages.paginate(TableName=outputs["people_table"]):
        for item in page["Items"]:
            if "token" in item:
                found[f"token of {item['id']['S']}"] = item["token"]["S"]
    manager = client(place, "secretsmanager")
    for name in CREDENTIALS:
        secret = manager.get_secret_value(SecretId=f"sagaplane/local/fulfilment/{name}")
        found[f"credential {name}"] = secret["SecretString"]
    assert len(found) > len(CREDENTIALS), "no approval was ever asked for: nothing is shown"
    return found


def _leaks(secrets: dict[str, str], texts: Iterator[tuple[str, str]]) -> list[str]:
    seen = 0
    leaks = []
    for where, text in texts:
        seen += 1
        leaks += [f"{what} in {where}" for what, secret in secrets.items() if secret in text]
    assert seen, "nothing was searched"
    return leaks


def test_no_log_line_holds_a_task_token_or_a_credential(
    place: Place, secrets: dict[str, str]
) -> None:
    logs = client(place, "logs")

    def lines() -> Iterator[tuple[str, str]]:
        for group in logs.get_paginator("describe_log_groups").paginate():
            for name in (g["logGroupName"] for g in group["logGroups"]):
                for page in logs.get_paginator("filter_log_events").paginate(logGroupName=name):
                    yield name, "\n".join(e["message"] for e in page["events"])

    assert _leaks(secrets, lines()) == []


def test_no_answer_of_the_api_holds_a_task_token_or_a_credential(
    stage: Stage, secrets: dict[str, str]
) -> None:
    def bodies() -> Iterator[tuple[str, str]]:
        for path in ("/approvals", "/cases", "/sagas"):
            yield path, json.dumps(stage.operator.get(path).body)
        sagas = stage.operator.get("/sagas", limit="100").body["sagas"]
        for saga in sagas:
            seen = stage.operator.get(f"/sagas/{saga['saga_id']}").body
            yield saga["saga_id"], json.dumps(seen)
            for approval in filter(None, (step["approval"] for step in seen["steps"])):
                body = stage.approver.get(f"/approvals/{approval}").body
                yield approval, json.dumps(body)

    assert _leaks(secrets, bodies()) == []


def test_no_notice_holds_a_task_token_or_a_credential(
    place: Place, outputs: dict[str, Any], secrets: dict[str, str]
) -> None:
    sqs = client(place, "sqs")

    def messages() -> Iterator[tuple[str, str]]:
        for queue in (outputs["approvals_queue_url"], outputs["cases_queue_url"]):
            while found := sqs.receive_message(
                QueueUrl=queue, MaxNumberOfMessages=10, VisibilityTimeout=30
            ).get("Messages"):
                for message in found:
                    yield queue, message["Body"]

    assert _leaks(secrets, messages()) == []


def test_no_execution_s_input_or_output_holds_a_credential_or_an_argument(
    place: Place, secrets: dict[str, str]
) -> None:
    engine = client(place, "stepfunctions")

    def executions() -> Iterator[tuple[str, str]]:
        for machine in engine.list_state_machines()["stateMachines"]:
            arn = machine["stateMachineArn"]
            yield machine["name"], engine.describe_state_machine(stateMachineArn=arn)["definition"]
            for execution in engine.list_executions(stateMachineArn=arn)["executions"]:
                told = engine.describe_execution(executionArn=execution["executionArn"])
                assert set(json.loads(told["input"])) == {"saga_id"}
                yield told["name"], told["input"] + told.get("output", "")

    assert _leaks(secrets, executions()) == []
