"""An AWS account in this process for the environments catalogue: its channel, records, topic, teams, and trouble to order."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import boto3
import pytest
import xmltodict
from botocore import exceptions
from moto import mock_aws
from moto.s3.responses import S3Response

REGION = "eu-central-1"
ACCOUNT = "123456789012"
CHANNEL, RECORDS = "acme-channel", "acme-records"
TEAM_ROLE = "acme-team-payments"
DECOMMISSION_ROLE = f"arn:aws:iam::{ACCOUNT}:role/acme-decommission"
REVOKE_ROLE = f"arn:aws:iam::{ACCOUNT}:role/acme-revoke"
REGISTRY = "/acme/environments"
SETTINGS = {
    "ENVIRONMENTS_BUCKET_PREFIX": "acme-env-",
    "ENVIRONMENTS_CHANNEL_BUCKET": CHANNEL,
    "ENVIRONMENTS_RECORDS_BUCKET": RECORDS,
    "ENVIRONMENTS_TEAM_ROLE_PREFIX": "acme-team-",
    "ENVIRONMENTS_REGISTRY": REGISTRY,
}
_LAMBDA = json.dumps(
    {
        "Version": "2012-10-17",
        "Statement": [
            {"Effect": "Allow", "Principal": {"AWS": "*"}, "Action": "sts:AssumeRole"},
        ],
    }
)


def lost() -> Exception:
    return exceptions.ReadTimeoutError(endpoint_url="https://aws.example")


def said(code: str, status: int, operation: str = "Call") -> Exception:
    return exceptions.ClientError(
        {
            "Error": {"Code": code, "Message": "so it is"},
            "ResponseMetadata": {"HTTPStatusCode": status},  # type: ignore[typeddict-item]
        },
        operation,
    )


@dataclass
class AWS:
    """The account, seen by its administrator; `calls` are the operations that adapters sent, in order."""

    region: str = REGION
    calls: list[str] = field(default_factory=list)
    _orders: list[tuple[str, str, Callable[[], Any]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.s3, self.iam, self.sns, self.sqs, self.ssm = (
            _session(self.region).client(name)  # type: ignore[call-overload]
            for name in ("s3", "iam", "sns", "sqs", "ssm")
        )
        for name in (CHANNEL, RECORDS):
            self.make_bucket(name)
        boundary = self.iam.create_policy(
            PolicyName="acme-boundary", PolicyDocument=_allowing("s3:GetObject")
        )["Policy"]["Arn"]
        self.iam.create_role(
            RoleName=TEAM_ROLE, AssumeRolePolicyDocument=_LAMBDA, PermissionsBoundary=boundary
        )
        for role in ("acme-decommission", "acme-revoke", "acme-team-unbounded"):
            self.iam.create_role(RoleName=role, AssumeRolePolicyDocument=_LAMBDA)
        self.topic = self.sns.create_topic(Name="acme.fifo", Attributes={"FifoTopic": "true"})[
            "TopicArn"
        ]
        self.inbox = self.sqs.create_queue(QueueName="acme.fifo", Attributes={"FifoQueue": "true"})[
            "QueueUrl"
        ]
        arn = self.sqs.get_queue_attributes(QueueUrl=self.inbox, AttributeNames=["QueueArn"])
        self.sns.subscribe(
            TopicArn=self.topic, Protocol="sqs", Endpoint=arn["Attributes"]["QueueArn"]
        )

    def before(self, operation: str, error: Exception) -> None:
        """The next call of `s3.PutObject` and the like goes wrong before it does anything."""
        self._orders.append(("before", operation, _raising(error)))

    def after(self, operation: str, error: Exception) -> None:
        """The next such call does its work, and its answer is lost."""
        self._orders.append(("after", operation, _raising(error)))

    def meanwhile(self, operation: str, act: Callable[[], Any]) -> None:
        """Just before the next such call reaches AWS, somebody else acts."""
        self._orders.append(("before", operation, act))

    def make_bucket(self, name: str, **tags: str) -> None:
        where = {} if self.region == "us-east-1" else {"LocationConstraint": self.region}
        made = {"CreateBucketConfiguration": where} if where else {}
        self.s3.create_bucket(Bucket=name, **made)
        self.tag(name, **tags)

    def tag(self, name: str, **tags: str) -> None:
        tag_set = [{"Key": k.replace("__", ":"), "Value": v} for k, v in tags.items()]
        self.s3.put_bucket_tagging(Bucket=name, Tagging={"TagSet": tag_set})

    def buckets(self) -> set[str]:
        return {b["Name"] for b in self.s3.list_buckets()["Buckets"]} - {CHANNEL, RECORDS}

    def objects(self, bucket: str) -> set[str]:
        found = self.s3.list_objects_v2(Bucket=bucket).get("Contents", [])
        return {each["Key"] for each in found}

    def text(self, bucket: str, name: str) -> str:
        body: bytes = self.s3.get_object(Bucket=bucket, Key=name)["Body"].read()
        return body.decode()

    def put(self, bucket: str, name: str, body: bytes = b"x", **more: Any) -> None:
        self.s3.put_object(Bucket=bucket, Key=name, Body=body, **more)

    def delete_bucket(self, bucket: str) -> None:
        for name in self.objects(bucket):
            self.s3.delete_object(Bucket=bucket, Key=name)
        self.s3.delete_bucket(Bucket=bucket)

    def bindings(self, role: str = TEAM_ROLE) -> dict[str, Any]:
        names = self.iam.list_role_policies(RoleName=role)["PolicyNames"]
        return {
            name: self.iam.get_role_policy(RoleName=role, PolicyName=name)["PolicyDocument"]
            for name in names
        }

    def bind(self, name: str, action: str = "s3:ListAllMyBuckets", role: str = TEAM_ROLE) -> None:
        self.iam.put_role_policy(RoleName=role, PolicyName=name, PolicyDocument=_allowing(action))

    def messages(self) -> list[Any]:
        found = self.sqs.receive_message(QueueUrl=self.inbox, MaxNumberOfMessages=10)
        return [json.loads(m["Body"])["Message"] for m in found.get("Messages", [])]

    def sent(self, operation: str) -> int:
        """How many calls of an operation the adapters have sent."""
        return self.calls.count(operation)

    def _before(self, model: Any, **_: Any) -> None:
        operation = f"{model.service_model.service_name}.{model.name}"
        self.calls.append(operation)
        self._carry_out("before", operation)

    def _after(self, model: Any, **_: Any) -> None:
        self._carry_out("after", f"{model.service_model.service_name}.{model.name}")

    def _carry_out(self, when: str, operation: str) -> None:
        for order in self._orders:
            if order[:2] == (when, operation):
                self._orders.remove(order)
                order[2]()
                return


@contextmanager
def aws_account(monkeypatch: pytest.MonkeyPatch, region: str = REGION) -> Iterator[AWS]:
    """A fresh account until the block ends."""
    for name, value in SETTINGS.items():
        monkeypatch.setenv(name, value)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", region)
    monkeypatch.setattr(S3Response, "_bucket_response_put", _put_with_tags)
    session = _session(region)
    with mock_aws():
        monkeypatch.setattr(boto3, "DEFAULT_SESSION", session)
        account = AWS(region)
        monkeypatch.setenv("ENVIRONMENTS_TOPIC_ARN", account.topic)
        session.events.register("before-call.*.*", account._before)
        session.events.register("after-call.*.*", account._after)
        try:
            yield account
        finally:
            session.events.unregister("before-call.*.*", account._before)
            session.events.unregister("after-call.*.*", account._after)


@cache
def _session(region: str) -> boto3.Session:
    """Kept: it has read the descriptions of the services, which takes longer than all of a test."""
    return boto3.Session(region_name=region)


_bucket_response_put = S3Response._bucket_response_put


def _put_with_tags(
    self: S3Response, request: Any, bucket_name: str, querystring: dict[str, Any]
) -> Any:
    """A bucket is created with its tags, as AWS does it; moto forgets them."""
    fresh = bucket_name not in self.backend.buckets and not querystring
    answer = _bucket_response_put(self, request, bucket_name, querystring)
    if fresh and self.body:
        wanted = xmltodict.parse(self.body)["CreateBucketConfiguration"].get("Tags")
        tags = wanted["Tag"] if wanted else []
        listed = tags if isinstance(tags, list) else [tags]
        self.backend.put_bucket_tagging(bucket_name, {t["Key"]: t["Value"] for t in listed})
    return answer


def _allowing(action: str) -> str:
    statement = {"Effect": "Allow", "Action": action, "Resource": "*"}
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


def _raising(error: Exception) -> Callable[[], Any]:
    def act() -> None:
        raise error

    return act
