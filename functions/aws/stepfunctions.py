"""State machines and callbacks, on Step Functions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from botocore.exceptions import ClientError

from functions.ports import MachineGone

if TYPE_CHECKING:
    from mypy_boto3_stepfunctions import SFNClient

_GONE = {"StateMachineDoesNotExist", "StateMachineDeleting"}
_ANSWERED = {"TaskDoesNotExist", "TaskTimedOut", "InvalidToken"}


def _code(error: ClientError) -> str:
    return error.response["Error"]["Code"]


class StepFunctionsMachines:
    """Machines by content-addressed names: created once, found ever after."""

    def __init__(self, client: SFNClient, *, role: str) -> None:
        self._client = client
        self._role = role
        self._known: set[str] = set()

    def ensure(self, name: str, definition: Mapping[str, Any]) -> str:
        """The machine's ARN. CreateStateMachine refills at about one a second, so it is looked for first."""
        arn = self._arn(name)
        if arn in self._known or self._exists(arn):
            self._known.add(arn)
            return arn
        try:
            created = self._client.create_state_machine(
                name=name,
                definition=json.dumps(definition, separators=(",", ":")),
                roleArn=self._role,
                type="STANDARD",
            )
        except ClientError as error:
            # The name is a digest of all that is in it: whoever was faster has made the same machine.
            if _code(error) != "StateMachineAlreadyExists":
                raise
            return arn
        return created["stateMachineArn"]

    def start(self, machine: str, execution: str, saga_id: str) -> None:
        """Start the execution, or find it started. Raises MachineGone."""
        try:
            self._client.start_execution(
                stateMachineArn=machine, name=execution, input=json.dumps({"saga_id": saga_id})
            )
        except ClientError as error:
            if _code(error) in _GONE:
                self._known.discard(machine)
                raise MachineGone(machine) from error
            if _code(error) != "ExecutionAlreadyExists":
                raise

    def driver(self, machine: str, execution: str) -> Literal["running", "ended", "absent"]:
        """What has become of an execution."""
        arn = f"{machine.replace(':stateMachine:', ':execution:', 1)}:{execution}"
        try:
            status = self._client.describe_execution(executionArn=arn)["status"]
        except ClientError as error:
            if _code(error) != "ExecutionDoesNotExist":
                raise
            return "absent"
        return "running" if status == "RUNNING" else "ended"

    def _exists(self, arn: str) -> bool:
        try:
            status = self._client.describe_state_machine(stateMachineArn=arn)["status"]
        except ClientError as error:
            if _code(error) != "StateMachineDoesNotExist":
                raise
            return False
        if status == "DELETING":
            raise MachineGone(arn)
        return True

    def _arn(self, name: str) -> str:
        partition, account = self._role.split(":")[1], self._role.split(":")[4]
        region = self._client.meta.region_name
        return f"arn:{partition}:states:{region}:{account}:stateMachine:{name}"


class StepFunctionsCallbacks:
    """Answers to waiting machines. A token that is used up or timed out was answered by somebody faster."""

    def __init__(self, client: SFNClient) -> None:
        self._client = client

    def succeed(self, token: str) -> None:
        """The machine goes on; nothing travels with the answer."""
        try:
            self._client.send_task_success(taskToken=token, output="{}")
        except ClientError as error:
            if _code(error) not in _ANSWERED:
                raise

    def fail(self, token: str, error: str, cause: str) -> None:
        """The machine takes its failure branch."""
        try:
            self._client.send_task_failure(taskToken=token, error=error, cause=cause)
        except ClientError as failed:
            if _code(failed) not in _ANSWERED:
                raise
