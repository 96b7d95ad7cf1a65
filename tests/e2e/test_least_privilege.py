"""The live stack's own IAM, asked with the roles that the functions really have."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from infra.local.place import ROOT, Place
from infra.local.seed import client

DENIED = {"AccessDeniedException", "AccessDenied"}
PROBE = """
import boto3
from botocore.exceptions import ClientError

def handler(event, context):
    answers = {}
    for service, operation, parameters in event:
        try:
            getattr(boto3.client(service), operation)(**parameters)
            answers[f"{service}.{operation}"] = "allowed"
        except ClientError as error:
            answers[f"{service}.{operation}"] = error.response["Error"]["Code"]
    return answers
"""
Calls = list[tuple[str, str, dict[str, Any]]]
Ask = Callable[[str, Calls], dict[str, str]]


@pytest.fixture(scope="module")
def ask(place: Place) -> Iterator[Ask]:
    """Makes calls with the role of a deployed function, from a function that holds the role for this test only."""
    functions = client(place, "lambda")
    made = []

    def with_role_of(function: str, calls: Calls) -> dict[str, str]:
        deployed = functions.get_function_configuration(FunctionName=f"sagaplane-local-{function}")
        name = f"probe-{function}"
        if name not in made:
            functions.create_function(
                FunctionName=name,
                Runtime="provided.al2023",
                Handler="probe.handler",
                Role=deployed["Role"],
                Timeout=60,
                Code={"ZipFile": _package()},
            )
            made.append(name)
        answer = functions.invoke(FunctionName=name, Payload=json.dumps(calls))
        told = json.loads(answer["Payload"].read())
        assert "FunctionError" not in answer, told
        return dict(told)

    yield with_role_of
    for name in made:
        functions.delete_function(FunctionName=name)


def _package() -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.write(ROOT / "infra/local/bootstrap", "bootstrap")
        archive.writestr("probe.py", PROBE)
    return packed.getvalue()


@pytest.fixture(scope="module")
def versions(place: Place) -> dict[str, Any]:
    parameter = client(place, "ssm").get_parameter(Name="/sagaplane/local/functions")
    return dict(json.loads(parameter["Parameter"]["Value"]))


def test_what_an_agent_reaches_can_neither_invoke_nor_start_nor_answer_nor_send(
    ask: Ask, outputs: dict[str, Any], versions: dict[str, Any]
) -> None:
    undo = versions["steps"]["fulfilment"]["reserve_stock"]["undo"]
    run = versions["steps"]["fulfilment"]["capture_payment"]["run"]
    machine = "arn:aws:states:us-east-1:000000000000:stateMachine:sagaplane-local-x"
    for target in (undo, run, versions["begin"], versions["open_case"]):
        answers = ask("agent-api", [("lambda", "invoke", {"FunctionName": target})])
        assert set(answers.values()) <= DENIED, target
    answers = ask(
        "agent-api",
        [
            (
                "stepfunctions",
                "create_state_machine",
                {
                    "name": "sagaplane-local-x",
                    "definition": '{"StartAt":"x","States":{"x":{"Type":"Succeed"}}}',
                    "roleArn": "arn:aws:iam::000000000000:role/any",
                },
            ),
            ("stepfunctions", "start_execution", {"stateMachineArn": machine}),
            ("stepfunctions", "list_state_machines", {}),
            ("stepfunctions", "send_task_success", {"taskToken": "x", "output": "{}"}),
            ("stepfunctions", "send_task_failure", {"taskToken": "x"}),
            (
                "sqs",
                "send_message",
                {"QueueUrl": outputs["cases_queue_url"], "MessageBody": "x"},
            ),
            ("sqs", "receive_message", {"QueueUrl": outputs["approvals_queue_url"]}),
        ],
    )
    assert set(answers.values()) <= DENIED, answers


def test_what_an_agent_reaches_reads_and_writes_nothing_of_people(
    ask: Ask, outputs: dict[str, Any]
) -> None:
    people = {"TableName": outputs["people_table"]}
    key = {"pk": {"S": "approval#x"}, "sk": {"S": "approval"}}
    answers = ask(
        "agent-api",
        [
            ("dynamodb", "get_item", {**people, "Key": key}),
            ("dynamodb", "scan", people),
            ("dynamodb", "put_item", {**people, "Item": key}),
            ("dynamodb", "update_item", {**people, "Key": key}),
            ("dynamodb", "delete_item", {**people, "Key": key}),
            (
                "dynamodb",
                "transact_write_items",
                {"TransactItems": [{"Put": {**people, "Item": key}}]},
            ),
        ],
    )
    assert set(answers.values()) <= DENIED, answers


def test_nothing_deletes_or_replaces_a_record_of_the_ledger(
    ask: Ask, outputs: dict[str, Any]
) -> None:
    ledger = {"TableName": outputs["ledger_table"]}
    key = {"pk": {"S": "saga#x"}, "sk": {"S": "saga"}}
    for function in ("agent-api", "starter", "fulfilment-capture_payment-run", "sweeper"):
        answers = ask(
            function,
            [
                ("dynamodb", "put_item", {**ledger, "Item": key}),
                ("dynamodb", "delete_item", {**ledger, "Key": key}),
            ],
        )
        assert set(answers.values()) <= DENIED, (function, answers)


def test_a_step_reads_its_own_credential_and_no_other(ask: Ask) -> None:
    def reading(credential: str) -> Calls:
        name = f"sagaplane/local/fulfilment/{credential}"
        return [("secretsmanager", "get_secret_value", {"SecretId": name})]

    own = ask("fulfilment-reserve_stock-undo", reading("inventory"))
    other = ask("fulfilment-reserve_stock-undo", reading("payments"))
    assert set(own.values()) == {"allowed"}
    assert set(other.values()) <= DENIED
