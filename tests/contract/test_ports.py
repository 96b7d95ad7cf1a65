"""One body of tests for both sides of the smaller ports: credentials, the directory, notices, machines."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import boto3
import pytest
from botocore.awsrequest import AWSResponse
from botocore.exceptions import ClientError
from moto import mock_aws

from functions.aws import secretsmanager
from functions.aws.cognito import CognitoDirectory
from functions.aws.secretsmanager import SecretsManagerCredentials
from functions.aws.sqs import SqsCaseQueue, SqsNotices
from functions.aws.stepfunctions import StepFunctionsCallbacks, StepFunctionsMachines
from functions.memory.queue import MemoryCaseQueue
from functions.memory.world import (
    MemoryCredentials,
    MemoryDirectory,
    MemoryMachines,
    MemoryNotices,
    TestClock,
)
from functions.ports import (
    BadReceipt,
    CaseQueue,
    CredentialLost,
    Credentials,
    Directory,
    DirectoryUnavailable,
    MachineGone,
    Machines,
    Notices,
)

REGION = "eu-central-1"
ROLE = "arn:aws:iam::123456789012:role/machines"
DEFINITION = {"StartAt": "a", "States": {"a": {"Type": "Pass", "End": True}}}
both = pytest.mark.parametrize("side", ["memory", "aws"])


@pytest.fixture(scope="module")
def clients() -> Iterator[dict[str, Any]]:
    with mock_aws():
        yield {
            name: boto3.client(name, region_name=REGION)
            for name in ("secretsmanager", "sqs", "stepfunctions", "cognito-idp")
        }


def failing(client: Any, service: str, operation: str, code: str) -> None:
    """The next call of an operation fails with that code."""
    left = iter([True])

    def fail(**_: Any) -> Any:
        if next(left, None) is None:
            return None
        body = {
            "Error": {"Code": code, "Message": "by order of the test"},
            "ResponseMetadata": {"HTTPStatusCode": 400},
        }
        return AWSResponse("https://local", 400, {}, None), body

    client.meta.events.register_first(f"before-call.{service}.{operation}", fail)


# Credentials


@dataclass
class Safe:
    credentials: Credentials
    change: Callable[[str], None]
    remove: Callable[[], None]


@pytest.fixture
def safe(side: str, request: pytest.FixtureRequest) -> Safe:
    if side == "memory":
        memory = MemoryCredentials({"shop/payments": "one"})
        return Safe(
            memory,
            lambda value: memory.values.update({"shop/payments": value}),
            memory.values.clear,
        )
    client = request.getfixturevalue("clients")["secretsmanager"]
    prefix = f"stage-{uuid4()}"
    name = f"{prefix}/shop/payments"
    client.create_secret(Name=name, SecretString="one")
    return Safe(
        SecretsManagerCredentials(client, prefix),
        lambda value: client.put_secret_value(SecretId=name, SecretString=value),
        lambda: client.delete_secret(SecretId=name, ForceDeleteWithoutRecovery=True),
    )


@both
def test_a_credential_is_read_through_its_reference(safe: Safe) -> None:
    assert safe.credentials.read("shop/payments", fresh=False) == "one"
    assert safe.credentials.read("shop/payments", fresh=True) == "one"


@both
def test_a_fresh_read_sees_what_was_rotated(safe: Safe) -> None:
    safe.credentials.read("shop/payments", fresh=False)
    safe.change("two")
    assert safe.credentials.read("shop/payments", fresh=True) == "two"
    assert safe.credentials.read("shop/payments", fresh=False) == "two"


@both
def test_a_credential_that_is_gone_is_lost_for_every_later_read(safe: Safe) -> None:
    safe.credentials.read("shop/payments", fresh=False)
    safe.remove()
    for fresh in (True, False):
        with pytest.raises(CredentialLost):
            safe.credentials.read("shop/payments", fresh=fresh)


@both
def test_a_credential_that_never_was_is_lost(safe: Safe) -> None:
    with pytest.raises(CredentialLost):
        safe.credentials.read("shop/shipping", fresh=False)


@pytest.mark.parametrize("side", ["aws"])
def test_a_read_value_is_kept_for_a_while_and_then_read_anew(
    safe: Safe, monkeypatch: pytest.MonkeyPatch
) -> None:
    safe.credentials.read("shop/payments", fresh=False)
    safe.change("two")
    assert safe.credentials.read("shop/payments", fresh=False) == "one"
    now = secretsmanager.time.monotonic()
    monkeypatch.setattr(secretsmanager.time, "monotonic", lambda: now + secretsmanager.KEPT_FOR)
    assert safe.credentials.read("shop/payments", fresh=False) == "two"


def test_a_refused_read_is_a_lost_credential_and_a_throttled_one_is_not(
    clients: dict[str, Any],
) -> None:
    client = clients["secretsmanager"]
    credentials = SecretsManagerCredentials(client, "nowhere")
    failing(client, "secrets-manager", "GetSecretValue", "AccessDeniedException")
    with pytest.raises(CredentialLost):
        credentials.read("shop/payments", fresh=False)
    failing(client, "secrets-manager", "GetSecretValue", "InternalServiceError")
    with pytest.raises(ClientError, match="InternalServiceError"):
        credentials.read("shop/payments", fresh=False)


# Directory


@dataclass
class Office:
    directory: Directory
    join: Callable[[str, str], None]
    leave: Callable[[str, str], None]
    disable: Callable[[str], None]
    delete: Callable[[str], None]


@pytest.fixture
def office(side: str, request: pytest.FixtureRequest) -> Office:
    """Ann, who is in 70 groups: more than a page of them."""
    groups = [f"group-{n}" for n in range(70)]
    if side == "memory":
        members = {"ann": frozenset(groups)}
        memory = MemoryDirectory(members)

        def drop(person: str) -> None:
            memory.members[person] = frozenset()

        return Office(
            memory,
            lambda p, g: memory.members.update({p: memory.members[p] | {g}}),
            lambda p, g: memory.members.update({p: memory.members[p] - {g}}),
            drop,
            drop,
        )
    client = request.getfixturevalue("clients")["cognito-idp"]
    pool = client.create_user_pool(PoolName=f"pool-{uuid4()}")["UserPool"]["Id"]
    client.admin_create_user(UserPoolId=pool, Username="ann")

    def join(person: str, group: str) -> None:
        client.create_group(UserPoolId=pool, GroupName=group)
        client.admin_add_user_to_group(UserPoolId=pool, Username=person, GroupName=group)

    for group in groups:
        join("ann", group)
    return Office(
        CognitoDirectory(lambda: client, pool),
        join,
        lambda person, group: client.admin_remove_user_from_group(
            UserPoolId=pool, Username=person, GroupName=group
        ),
        lambda person: client.admin_disable_user(UserPoolId=pool, Username=person),
        lambda person: client.admin_delete_user(UserPoolId=pool, Username=person),
    )


@both
def test_a_person_s_groups_are_those_of_now_all_of_them(office: Office) -> None:
    assert office.directory.groups("ann") == {f"group-{n}" for n in range(70)}
    office.join("ann", "approvers")
    assert "approvers" in office.directory.groups("ann")
    office.leave("ann", "approvers")
    assert "approvers" not in office.directory.groups("ann")


@both
def test_whom_nobody_knows_belongs_to_nothing(office: Office) -> None:
    assert office.directory.groups("bob") == frozenset()


@both
@pytest.mark.parametrize("end", ["disable", "delete"])
def test_who_may_no_longer_sign_in_belongs_to_nothing(office: Office, end: str) -> None:
    getattr(office, end)("ann")
    assert office.directory.groups("ann") == frozenset()


@pytest.mark.parametrize("operation", ["AdminGetUser", "AdminListGroupsForUser"])
@pytest.mark.parametrize("code", ["AccessDeniedException", "TooManyRequestsException"])
def test_a_directory_that_does_not_answer_is_unavailable_and_says_nothing_of_anybody(
    clients: dict[str, Any], operation: str, code: str
) -> None:
    client = clients["cognito-idp"]
    pool = client.create_user_pool(PoolName="closed")["UserPool"]["Id"]
    client.admin_create_user(UserPoolId=pool, Username="ann")
    failing(client, "cognito-identity-provider", operation, code)
    directory = CognitoDirectory(lambda: client, pool)
    with pytest.raises(DirectoryUnavailable):
        directory.groups("ann")
    assert directory.groups("ann") == frozenset()


def test_a_pool_that_is_not_there_is_unavailable_and_nobody_is_taken_for_unknown(
    clients: dict[str, Any],
) -> None:
    directory = CognitoDirectory(lambda: clients["cognito-idp"], "eu-central-1_nowhere")
    with pytest.raises(DirectoryUnavailable):
        directory.groups("ann")


def test_in_memory_a_directory_can_be_down_too() -> None:
    memory = MemoryDirectory({"ann": frozenset({"approvers"})})
    memory.down = True
    with pytest.raises(DirectoryUnavailable):
        memory.groups("ann")


def test_a_function_without_a_pool_may_not_ask(clients: dict[str, Any]) -> None:
    with pytest.raises(PermissionError):
        CognitoDirectory(lambda: clients["cognito-idp"], None).groups("ann")


# Notices


@dataclass
class Desk:
    notices: Notices
    approvals: Callable[[], list[str]]
    cases: Callable[[], list[str]]


@pytest.fixture
def desk(side: str, request: pytest.FixtureRequest) -> Desk:
    if side == "memory":
        memory = MemoryNotices()
        return Desk(memory, lambda: memory.approvals, lambda: memory.cases)
    client = request.getfixturevalue("clients")["sqs"]
    approvals, cases = (
        client.create_queue(QueueName=f"{name}-{uuid4()}")["QueueUrl"]
        for name in ("approvals", "cases")
    )

    def bodies(url: str, field: str) -> list[str]:
        found = client.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages", [])
        notices = [json.loads(m["Body"]) for m in found]
        assert all(set(n) == {field} for n in notices), "a notice is an id and nothing else"
        return [n[field] for n in notices]

    return Desk(
        SqsNotices(client, approvals=approvals, cases=cases),
        lambda: bodies(approvals, "approval"),
        lambda: bodies(cases, "case"),
    )


@both
def test_a_notice_reaches_its_own_queue_as_an_id(desk: Desk) -> None:
    desk.notices.approval("saga-1-2-1")
    desk.notices.case("saga-1-0-undo-1")
    desk.notices.case("saga-1-0-undo-1")
    assert desk.approvals() == ["saga-1-2-1"]
    assert desk.cases() == ["saga-1-0-undo-1"] * 2


def test_a_function_without_a_queue_may_not_send_to_it(clients: dict[str, Any]) -> None:
    notices = SqsNotices(clients["sqs"], approvals=None, cases=None)
    with pytest.raises(PermissionError):
        notices.approval("a")
    with pytest.raises(PermissionError):
        notices.case("c")


# The queue of cases, from its other end


@dataclass
class Drain:
    queue: CaseQueue
    send: Callable[[str], None]
    pass_: Callable[[int], None]
    dead: Callable[[], int]


DELIVERIES = 3


@pytest.fixture
def drain(side: str, request: pytest.FixtureRequest) -> Drain:
    """A queue whose notices end among the dead letters after three deliveries."""
    if side == "memory":
        clock = TestClock()
        memory = MemoryCaseQueue(clock, deliveries=DELIVERIES)
        return Drain(
            memory,
            lambda body: memory.send(json.loads(body)["case"] if body.startswith("{") else None),
            clock.pass_,
            lambda: len(memory.dead),
        )
    client = request.getfixturevalue("clients")["sqs"]
    dead = client.create_queue(QueueName=f"dead-{uuid4()}")["QueueUrl"]
    of_dead = client.get_queue_attributes(QueueUrl=dead, AttributeNames=["QueueArn"])["Attributes"]
    redrive = {"deadLetterTargetArn": of_dead["QueueArn"], "maxReceiveCount": DELIVERIES}
    url = client.create_queue(
        QueueName=f"cases-{uuid4()}", Attributes={"RedrivePolicy": json.dumps(redrive)}
    )["QueueUrl"]

    def count() -> int:
        found = client.get_queue_attributes(
            QueueUrl=dead, AttributeNames=["ApproximateNumberOfMessages"]
        )
        return int(found["Attributes"]["ApproximateNumberOfMessages"])

    return Drain(
        SqsCaseQueue(client, url),
        lambda body: client.send_message(QueueUrl=url, MessageBody=body),
        lambda seconds: time.sleep(seconds + 0.1),
        count,
    )


@both
def test_a_notice_that_was_taken_is_hidden_and_comes_back(drain: Drain) -> None:
    drain.send('{"case": "saga-1-0-undo-1"}')
    [taken] = drain.queue.take(10, wait=0, hidden=1)
    assert taken.case_id == "saga-1-0-undo-1"
    assert drain.queue.take(10, wait=0, hidden=1) == []
    drain.pass_(1)
    [again] = drain.queue.take(10, wait=0, hidden=1)
    assert again.case_id == taken.case_id


@both
def test_a_notice_is_hidden_longer_or_shorter_by_its_receipt(drain: Drain) -> None:
    drain.send('{"case": "c"}')
    [taken] = drain.queue.take(1, wait=0, hidden=900)
    drain.queue.hide(taken.receipt, 0)
    [again] = drain.queue.take(1, wait=0, hidden=900)
    assert again.case_id == "c"


@both
def test_a_notice_that_was_deleted_does_not_come_back(drain: Drain) -> None:
    drain.send('{"case": "c"}')
    [taken] = drain.queue.take(1, wait=0, hidden=0)
    drain.queue.delete(taken.receipt)
    assert drain.queue.take(1, wait=0, hidden=0) == []


@both
def test_what_is_no_receipt_is_said(drain: Drain) -> None:
    with pytest.raises(BadReceipt):
        drain.queue.delete("not a receipt")


@both
@pytest.mark.parametrize("body", ["not JSON", '{"case": null}', "[]"])
def test_a_notice_that_nobody_can_read_ends_among_the_dead_letters(drain: Drain, body: str) -> None:
    drain.send(body)
    for _ in range(DELIVERIES):
        [taken] = drain.queue.take(1, wait=0, hidden=0)
        assert taken.case_id is None
    assert drain.queue.take(1, wait=0, hidden=0) == []
    assert drain.dead() == 1


# Machines


@dataclass
class Engine:
    machines: Machines
    delete: Callable[[str], None]
    stop: Callable[[str, str], None]


@pytest.fixture
def engine(side: str, request: pytest.FixtureRequest) -> Engine:
    if side == "memory":
        memory = MemoryMachines()
        return Engine(memory, lambda _: memory.vanish(), lambda _machine, e: memory.end(e))
    client = request.getfixturevalue("clients")["stepfunctions"]

    def stop(machine: str, execution: str) -> None:
        arn = machine.replace(":stateMachine:", ":execution:")
        client.stop_execution(executionArn=f"{arn}:{execution}")

    return Engine(
        StepFunctionsMachines(client, role=ROLE),
        lambda arn: client.delete_state_machine(stateMachineArn=arn),
        stop,
    )


@pytest.fixture
def name() -> str:
    return f"shop-{uuid4()}"


@both
def test_a_machine_is_made_once_and_found_ever_after(engine: Engine, name: str) -> None:
    arns = {engine.machines.ensure(name, DEFINITION) for _ in range(3)}
    assert len(arns) == 1
    assert arns.pop().endswith(f":stateMachine:{name}")


@both
def test_an_execution_is_started_once_however_often_it_is_asked_for(
    engine: Engine, name: str
) -> None:
    arn = engine.machines.ensure(name, DEFINITION)
    assert engine.machines.driver(arn, "saga-1-1") == "absent"
    for _ in range(3):
        engine.machines.start(arn, "saga-1-1", "saga-1")
    assert engine.machines.driver(arn, "saga-1-1") == "running"
    assert engine.machines.driver(arn, "saga-1-2") == "absent"


@both
def test_an_execution_that_is_over_has_ended(engine: Engine, name: str) -> None:
    arn = engine.machines.ensure(name, DEFINITION)
    engine.machines.start(arn, "saga-1-1", "saga-1")
    engine.stop(arn, "saga-1-1")
    assert engine.machines.driver(arn, "saga-1-1") == "ended"


@both
def test_a_deleted_machine_is_gone_until_it_is_made_again(engine: Engine, name: str) -> None:
    arn = engine.machines.ensure(name, DEFINITION)
    engine.delete(arn)
    with pytest.raises(MachineGone):
        engine.machines.start(arn, "saga-1-1", "saga-1")
    assert engine.machines.ensure(name, DEFINITION) == arn
    engine.machines.start(arn, "saga-1-1", "saga-1")
    assert engine.machines.driver(arn, "saga-1-1") == "running"


def test_an_execution_carries_the_sagas_id_and_nothing_else(clients: dict[str, Any]) -> None:
    client = clients["stepfunctions"]
    machines = StepFunctionsMachines(client, role=ROLE)
    arn = machines.ensure("shop-input", DEFINITION)
    machines.start(arn, "saga-9-1", "saga-9")
    execution = arn.replace(":stateMachine:", ":execution:") + ":saga-9-1"
    described = client.describe_execution(executionArn=execution)
    assert json.loads(described["input"]) == {"saga_id": "saga-9"}
    assert client.describe_state_machine(stateMachineArn=arn)["roleArn"] == ROLE


@pytest.mark.parametrize(
    ("operation", "code", "lost"),
    [
        ("CreateStateMachine", "StateMachineAlreadyExists", None),
        ("CreateStateMachine", "StateMachineLimitExceeded", ClientError),
        ("DescribeStateMachine", "AccessDeniedException", ClientError),
    ],
)
def test_only_a_machine_that_somebody_else_has_made_is_no_failure(
    clients: dict[str, Any], operation: str, code: str, lost: type[Exception] | None
) -> None:
    client = clients["stepfunctions"]
    machines = StepFunctionsMachines(client, role=ROLE)
    failing(client, "sfn", operation, code)
    if lost is None:
        assert machines.ensure(f"shop-{code}", DEFINITION).endswith(code)
    else:
        with pytest.raises(lost):
            machines.ensure(f"shop-{code}", DEFINITION)


@pytest.mark.parametrize(
    ("operation", "code", "outcome"),
    [
        ("StartExecution", "ExecutionAlreadyExists", None),
        ("StartExecution", "StateMachineDeleting", MachineGone),
        ("StartExecution", "StateMachineDoesNotExist", MachineGone),
        ("StartExecution", "ExecutionLimitExceeded", ClientError),
    ],
)
def test_a_start_that_was_made_before_is_no_failure_and_a_machine_that_is_gone_says_so(
    clients: dict[str, Any], operation: str, code: str, outcome: type[Exception] | None
) -> None:
    client = clients["stepfunctions"]
    machines = StepFunctionsMachines(client, role=ROLE)
    arn = machines.ensure("shop-starts", DEFINITION)
    failing(client, "sfn", operation, code)
    if outcome is None:
        machines.start(arn, "saga-2-1", "saga-2")
    else:
        with pytest.raises(outcome):
            machines.start(arn, "saga-2-1", "saga-2")


@pytest.mark.parametrize("code", ["TaskDoesNotExist", "TaskTimedOut", "InvalidToken"])
def test_a_token_that_somebody_has_answered_is_no_failure(
    clients: dict[str, Any], code: str
) -> None:
    client = clients["stepfunctions"]
    callbacks = StepFunctionsCallbacks(client)
    failing(client, "sfn", "SendTaskSuccess", code)
    callbacks.succeed("token")
    failing(client, "sfn", "SendTaskFailure", code)
    callbacks.fail("token", "ApprovalRejected", "rejected")
    for operation, answer in (
        ("SendTaskSuccess", lambda: callbacks.succeed("token")),
        ("SendTaskFailure", lambda: callbacks.fail("token", "E", "c")),
    ):
        failing(client, "sfn", operation, "AccessDeniedException")
        with pytest.raises(ClientError, match="AccessDenied"):
            answer()
