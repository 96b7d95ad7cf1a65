"""What each handler works with, made from the environment at the first use and kept for the life of the sandbox."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import boto3
from aws_lambda_powertools import Logger
from botocore.config import Config

from functions.aws.clock import SystemClock
from functions.aws.cognito import CognitoDirectory
from functions.aws.dynamo import DynamoStore
from functions.aws.eventbridge import EventBridgeEvents
from functions.aws.idempotency import once
from functions.aws.imports import ImportedAdapters, catalogues
from functions.aws.secretsmanager import SecretsManagerCredentials
from functions.aws.sqs import SqsCaseQueue, SqsNotices
from functions.aws.stepfunctions import StepFunctionsCallbacks, StepFunctionsMachines
from functions.domain.catalogue import Catalogue, role_setting
from functions.usecases.targets import Targets
from functions.usecases.world import StepWorld

if TYPE_CHECKING:
    from mypy_boto3_cognito_idp import CognitoIdentityProviderClient
    from mypy_boto3_stepfunctions import SFNClient

logger = Logger()
clock = SystemClock()
_QUICK = Config(
    connect_timeout=2, read_timeout=5, retries={"mode": "standard", "total_max_attempts": 4}
)


@cache
def store() -> DynamoStore:
    """The two tables, as far as this function has been told of them."""
    return DynamoStore(
        boto3.client("dynamodb", config=_QUICK),
        ledger=os.environ["LEDGER_TABLE"],
        people=os.environ.get("PEOPLE_TABLE"),
    )


@cache
def all_catalogues() -> Mapping[str, Catalogue]:
    """The catalogues of this deployment by name."""
    return catalogues(os.environ["CATALOGUES"])


@cache
def _credentials() -> SecretsManagerCredentials:
    client = boto3.client("secretsmanager", config=_QUICK)
    return SecretsManagerCredentials(client, os.environ["SECRET_PREFIX"])


@cache
def targets(catalogue: str) -> Targets:
    """A catalogue's targets."""
    return Targets(
        catalogue,
        ImportedAdapters(),
        _credentials(),
        lambda role: os.environ.get(role_setting(catalogue, role)),
    )


@cache
def _cognito() -> CognitoIdentityProviderClient:
    return boto3.client("cognito-idp", config=_QUICK)


@cache
def directory() -> CognitoDirectory:
    """The user pool, where this function may ask it."""
    return CognitoDirectory(_cognito, os.environ.get("USER_POOL_ID"))


@cache
def step_world() -> StepWorld:
    """The world of a step's own function: `SAGAPLANE_STEP` is `<catalogue>/<step>`."""
    name, _, step_name = os.environ["SAGAPLANE_STEP"].partition("/")
    catalogue = all_catalogues()[name]
    step = catalogue.step(step_name)
    if step is None:
        raise LookupError(f"{name} has no step {step_name}")
    return StepWorld(catalogue, step, store(), targets(name), directory(), clock, once)


@cache
def _stepfunctions() -> SFNClient:
    return boto3.client("stepfunctions", config=_QUICK)


@cache
def machines() -> StepFunctionsMachines:
    """The engine."""
    return StepFunctionsMachines(_stepfunctions(), role=os.environ["MACHINE_ROLE_ARN"])


@cache
def callbacks() -> StepFunctionsCallbacks:
    """Answers to waiting machines."""
    return StepFunctionsCallbacks(_stepfunctions())


@cache
def notices() -> SqsNotices:
    """The queues that this function may send to."""
    return SqsNotices(
        boto3.client("sqs", config=_QUICK),
        approvals=os.environ.get("APPROVALS_QUEUE_URL"),
        cases=os.environ.get("CASES_QUEUE_URL"),
    )


@cache
def events() -> EventBridgeEvents:
    """Where other systems are told."""
    client = boto3.client("events", config=_QUICK)
    return EventBridgeEvents(client, bus=os.environ["EVENT_BUS"])


@cache
def case_queue() -> SqsCaseQueue:
    """The manual-resolution queue, for who drains it."""
    # Longer than the longest poll; one that was lost comes back by itself, and is not asked for twice.
    patient = Config(connect_timeout=2, read_timeout=14, retries={"total_max_attempts": 1})
    return SqsCaseQueue(boto3.client("sqs", config=patient), os.environ["CASES_QUEUE_URL"])


def parameter(name: str) -> Any:
    """The deployment's published versions, read anew: a deployment may have happened since."""
    from functions.aws.ssm import published_versions  # noqa: PLC0415 - drivers alone read parameters

    return published_versions(boto3.client("ssm", config=_QUICK), name)
