"""What the environments catalogue declares, tried on the live stage with the roles that its functions really have."""

from __future__ import annotations

import json
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from functions.catalogues.aws import policy as session_policy
from functions.catalogues.environments import permissions
from infra.local.demo.account import Account
from infra.local.place import ACCOUNT, Place
from infra.local.seed import client
from tests.e2e.test_least_privilege import DENIED, Ask, ask

__all__ = ["ask"]

_DENIED = {*DENIED, "403", "AuthorizationError"}  # HEAD has no body, and SNS a word of its own
MARKER = ".sagaplane/environment.json"


@pytest.fixture(scope="module")
def account(place: Place, outputs: dict[str, Any]) -> Account:  # noqa: ARG001 - seeded first
    return Account.of(place)


@pytest.fixture(scope="module")
def bucket(account: Account) -> Any:
    """An environment that no saga knows."""
    name = account.bucket("authority-x")
    account.s3.create_bucket(Bucket=name)
    yield name
    for each in account.holds(name) or ():
        account.take(name, each)
    account.s3.delete_bucket(Bucket=name)


def allowed(answers: dict[str, str]) -> set[str]:
    return {call for call, code in answers.items() if code not in _DENIED}


def a_policy(role: str) -> dict[str, str]:
    document = json.dumps({"Version": "2012-10-17", "Statement": []})
    return {"RoleName": role, "PolicyName": "probe", "PolicyDocument": document}


def test_creating_makes_environments_and_their_marker_and_nothing_else(
    ask: Ask, account: Account, bucket: str
) -> None:
    run = "environments-create_environment-run"
    own = ask(
        run,
        [
            ("s3", "get_bucket_tagging", {"Bucket": bucket}),
            ("s3", "put_object", {"Bucket": bucket, "Key": MARKER, "Body": "x"}),
        ],
    )
    assert allowed(own) == {"s3.get_bucket_tagging", "s3.put_object"}
    for calls in (
        [("s3", "create_bucket", {"Bucket": "somebody-elses-name"})],
        [("s3", "put_object", {"Bucket": bucket, "Key": "work/x", "Body": "x"})],
        [("s3", "delete_object", {"Bucket": bucket, "Key": MARKER})],
        [("s3", "delete_bucket", {"Bucket": bucket})],
        [("iam", "put_role_policy", a_policy(account.role()))],
    ):
        assert allowed(ask(run, calls)) == set(), calls


def test_granting_writes_policies_of_teams_roles_and_takes_none_off(
    ask: Ask, account: Account
) -> None:
    run, team = "environments-grant_access-run", account.role()
    found = ask(run, [("iam", "get_role_policy", {"RoleName": team, "PolicyName": "not-there"})])
    assert allowed(found) == {"iam.get_role_policy"}
    for calls in (
        [("iam", "put_role_policy", a_policy("sagaplane-local-environments-revoke"))],
        [("iam", "delete_role_policy", {"RoleName": team, "PolicyName": "not-there"})],
        [
            (
                "iam",
                "attach_role_policy",
                {"RoleName": team, "PolicyArn": "arn:aws:iam::aws:policy/ReadOnlyAccess"},
            )
        ],
        [("iam", "delete_role_permissions_boundary", {"RoleName": team})],
    ):
        assert allowed(ask(run, calls)) == set(), calls


def test_publishing_writes_where_instructions_are_and_deletes_nothing(
    ask: Ask, account: Account
) -> None:
    run, channel = (
        "environments-publish_instruction-run",
        account.outputs["environments_channel_bucket"],
    )
    for calls in (
        [("s3", "put_object", {"Bucket": channel, "Key": "elsewhere", "Body": "x"})],
        [("s3", "delete_object", {"Bucket": channel, "Key": "instructions/x.json"})],
        [("s3", "put_bucket_tagging", {"Bucket": channel, "Tagging": {"TagSet": []}})],
        [
            (
                "ssm",
                "put_parameter",
                {"Name": "/sagaplane/local/environments/x", "Value": "x", "Type": "String"},
            )
        ],
        [
            (
                "sns",
                "publish",
                {
                    "TopicArn": account.outputs["environments_topic_arn"],
                    "Message": "x",
                    "MessageGroupId": "x",
                    "MessageDeduplicationId": "x",
                },
            )
        ],
    ):
        assert allowed(ask(run, calls)) == set(), calls


def test_an_undo_s_function_has_none_of_its_role_s_rights_and_takes_on_no_other_role(
    ask: Ask, account: Account, bucket: str
) -> None:
    undo = "environments-create_environment-undo"
    roles = f"arn:aws:iam::{ACCOUNT}:role/sagaplane-local-environments"
    own = {"RoleArn": f"{roles}-decommission", "RoleSessionName": "probe"}
    assert allowed(ask(undo, [("sts", "assume_role", own)])) == {"sts.assume_role"}
    other = {"RoleArn": f"{roles}-revoke", "RoleSessionName": "probe"}
    for calls in (
        [("sts", "assume_role", other)],
        [("s3", "delete_bucket", {"Bucket": bucket})],
        [("s3", "delete_object", {"Bucket": bucket, "Key": MARKER})],
        [("iam", "delete_role_policy", {"RoleName": account.role(), "PolicyName": "x"})],
    ):
        assert allowed(ask(undo, calls)) == set(), calls


@pytest.mark.parametrize(
    "function",
    ["environments-create_environment-run", "environments-grant_access-undo", "agent-api"],
)
def test_nobody_else_takes_on_the_role_of_an_undo(ask: Ask, function: str) -> None:
    role = f"arn:aws:iam::{ACCOUNT}:role/sagaplane-local-environments-decommission"
    calls = [("sts", "assume_role", {"RoleArn": role, "RoleSessionName": "probe"})]
    assert allowed(ask(function, calls)) == set()


def test_an_undo_s_session_reaches_the_one_environment_of_its_receipt(
    place: Place, account: Account, bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The session policy is the adapter's own; the role is taken on by an administrator here, for this test alone."""
    monkeypatch.setenv(
        "ENVIRONMENTS_RECORDS_BUCKET", account.outputs["environments_records_bucket"]
    )
    role = f"arn:aws:iam::{ACCOUNT}:role/sagaplane-local-environments-decommission"
    own, other = bucket, account.bucket("authority-y")
    account.s3.create_bucket(Bucket=other)
    document = session_policy(permissions.environment_decommission(own, "undone/probe"), role)
    before = account.iam.get_role(RoleName=role.rpartition("/")[2])["Role"]
    _trust(account, role, {"AWS": f"arn:aws:iam::{ACCOUNT}:root"})
    try:
        given = client(place, "sts").assume_role(
            RoleArn=role, RoleSessionName="probe", Policy=document
        )["Credentials"]
        narrowed = _as(account, given)
        assert _code(narrowed.list_object_versions, Bucket=own) == "allowed"
        assert _code(narrowed.list_object_versions, Bucket=other) in DENIED
        assert _code(narrowed.delete_bucket, Bucket=other) in DENIED
        assert _code(narrowed.delete_object, Bucket=own, Key="work/x") in DENIED
    finally:
        account.iam.update_assume_role_policy(
            RoleName=role.rpartition("/")[2],
            PolicyDocument=json.dumps(before["AssumeRolePolicyDocument"]),
        )
        account.s3.delete_bucket(Bucket=other)


def _trust(account: Account, role: str, principal: dict[str, str]) -> None:
    statement = {"Effect": "Allow", "Principal": principal, "Action": "sts:AssumeRole"}
    account.iam.update_assume_role_policy(
        RoleName=role.rpartition("/")[2],
        PolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": [statement]}),
    )


def _as(account: Account, given: dict[str, str]) -> Any:
    return boto3.client(
        "s3",
        endpoint_url=account.s3.meta.endpoint_url,
        region_name=account.s3.meta.region_name,
        aws_access_key_id=given["AccessKeyId"],
        aws_secret_access_key=given["SecretAccessKey"],
        aws_session_token=given["SessionToken"],
    )


def _code(call: Any, **parameters: Any) -> str:
    try:
        call(**parameters)
    except ClientError as error:
        return str(error.response["Error"]["Code"])
    return "allowed"
