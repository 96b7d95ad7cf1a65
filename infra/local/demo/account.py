"""The account as its administrators see it: the buckets, roles, parameters of environments, and the people's groups."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from botocore.exceptions import ClientError

from infra.local.place import Place, read_json
from infra.local.seed import client

_PREFIX = "sagaplane-local-"
_LONG = 60.0
_LOOK = 0.1
_SLICE = 0.004
TEAM = "payments"
OTHER_TEAM = "search"


@dataclass(frozen=True, slots=True)
class Account:
    """Looks, and does what another administrator would do. `outputs` are the deployment's."""

    s3: Any
    iam: Any
    ssm: Any
    cognito: Any
    outputs: dict[str, Any]
    emulator: int

    @classmethod
    def of(cls, place: Place) -> Account:
        """The account of a local stage that is up."""
        return cls(
            client(place, "s3"),
            client(place, "iam"),
            client(place, "ssm"),
            client(place, "cognito-idp"),
            read_json(place.outputs_file),
            int(read_json(place.emulator_file)["pid"]),
        )

    def leave(self, person: str, group: str) -> None:
        """Somebody is taken out of a group; the token that they have stays what it is."""
        self.cognito.admin_remove_user_from_group(
            UserPoolId=self.outputs["user_pool_id"], Username=person, GroupName=group
        )

    def join(self, person: str, group: str) -> None:
        """And is let in again."""
        self.cognito.admin_add_user_to_group(
            UserPoolId=self.outputs["user_pool_id"], Username=person, GroupName=group
        )

    def bucket(self, environment: str) -> str:
        """The bucket that an environment is."""
        return f"{self.outputs['environments_bucket_prefix']}{environment}"

    def holds(self, bucket: str) -> set[str] | None:
        """What is in a bucket; None where there is none."""
        try:
            found = self.s3.list_objects_v2(Bucket=bucket)
        except ClientError as error:
            if error.response["Error"]["Code"] == "NoSuchBucket":
                return None
            raise
        return {each["Key"] for each in found.get("Contents", ())}

    def put(self, bucket: str, name: str) -> None:
        """Somebody works there."""
        self.s3.put_object(Bucket=bucket, Key=name, Body=b"theirs")

    def take(self, bucket: str, name: str) -> None:
        """Somebody takes their work away."""
        self.s3.delete_object(Bucket=bucket, Key=name)

    def role(self, team: str = TEAM) -> str:
        """The role that a team works under."""
        return f"{self.outputs['environments_team_role_prefix']}{team}"

    def bindings(self, team: str = TEAM) -> set[str]:
        """The inline policies of a team's role."""
        return set(self.iam.list_role_policies(RoleName=self.role(team))["PolicyNames"])

    def bind(self, name: str, team: str = TEAM) -> None:
        """Another administrator grants something."""
        self.iam.put_role_policy(
            RoleName=self.role(team), PolicyName=name, PolicyDocument=_statement("Allow", "*")
        )

    def unbind(self, name: str, team: str = TEAM) -> None:
        """And takes it back."""
        self.iam.delete_role_policy(RoleName=self.role(team), PolicyName=name)

    def channel(self, state: str) -> None:
        """An operator opens the channel, or closes it for some."""
        tags = {"TagSet": [{"Key": "sagaplane:channel", "Value": state}]}
        self.s3.put_bucket_tagging(Bucket=self.outputs["environments_channel_bucket"], Tagging=tags)

    def instruction(self, saga: str, index: int = 2) -> dict[str, Any] | None:
        """What a saga has published; None where it has not."""
        return self._object(
            self.outputs["environments_channel_bucket"], f"instructions/{saga}.{index}.do.json"
        )

    def undo_begun(self, saga: str, index: int) -> bool:
        """Whether an undo has come as far as acting."""
        records = self.outputs["environments_records_bucket"]
        return self._object(records, f"undone/{saga}.{index}.undo") is not None

    def registered(self, environment: str) -> dict[str, Any] | None:
        """The register's entry."""
        name = f"{self.outputs['environments_registry']}/{environment}"
        try:
            found = self.ssm.get_parameter(Name=name)["Parameter"]
        except self.ssm.exceptions.ParameterNotFound:
            return None
        return dict(json.loads(found["Value"]))

    def forbid_revoking(self, team: str) -> None:
        """An administrator takes from the revocation's role its right to a team's policies."""
        self.iam.put_role_policy(
            RoleName=f"{_PREFIX}environments-revoke",
            PolicyName=f"not-{team}",
            PolicyDocument=_statement("Deny", self._role_arn(team), "iam:*"),
        )

    def allow_revoking_again(self, team: str) -> None:
        """And gives it back."""
        self.iam.delete_role_policy(
            RoleName=f"{_PREFIX}environments-revoke", PolicyName=f"not-{team}"
        )

    def _role_arn(self, team: str) -> str:
        return str(self.iam.get_role(RoleName=self.role(team))["Role"]["Arn"])

    def kill_when(self, seen: Callable[[], bool], function: str) -> bool:
        """Kill the process that runs a function, at the moment in which `seen` is true; False if it never is.

        Until then the process runs in slices and is looked at between them, so that it cannot get far past the moment.
        """
        until, looked = time.monotonic() + _LONG, 0.0
        workers: list[int] = []
        while time.monotonic() < until:
            if time.monotonic() - looked > _LOOK:
                workers, looked = self._workers(function), time.monotonic()
            _signal(workers, signal.SIGCONT)
            time.sleep(_SLICE)
            _signal(workers, signal.SIGSTOP)
            if seen():
                _signal(workers, signal.SIGKILL)
                return True
        _signal(workers, signal.SIGCONT)
        return False

    def _workers(self, function: str) -> list[int]:
        wanted = f"AWS_LAMBDA_FUNCTION_NAME={_PREFIX}{function}".encode()
        every = [int(entry.name) for entry in os.scandir("/proc") if entry.name.isdigit()]
        return [p for p in every if wanted in _environment(p) and _parent(p) == self.emulator]

    def _object(self, bucket: str, name: str) -> dict[str, Any] | None:
        try:
            body: bytes = self.s3.get_object(Bucket=bucket, Key=name)["Body"].read()
        except ClientError as error:
            if error.response["Error"]["Code"] == "NoSuchKey":
                return None
            raise
        return dict(json.loads(body or b"{}"))


def _statement(effect: str, resource: str, action: str = "s3:*") -> str:
    statement = {"Effect": effect, "Action": action, "Resource": resource}
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


def _signal(processes: list[int], number: signal.Signals) -> None:
    for pid in processes:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def _environment(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return []


def _parent(pid: int) -> int | None:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    return int(stat.rpartition(")")[2].split()[1])
