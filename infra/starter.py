"""From an admission in the ledger to a running machine: the table's stream feeds the starter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aws_cdk import Duration
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_lambda_event_sources as sources
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra import roles
from infra.acknowledge import acknowledge
from infra.function import PublishedFunction, Runtime

# Half a minute of quick tries; what is left then lies in the dead-letter queue, and the sweeper starts it all the same.
_TRIES_AGAIN = 5
_BATCH = 10


class Starter(Construct):
    """Woken by the head of a new saga, and by a request that has become escalated."""

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        runtime: Runtime,
        at: roles.Places,
        environment: Mapping[str, str],
        ledger: dynamodb.Table,
        unstarted: sqs.Queue,
    ) -> None:
        super().__init__(scope, id_)
        self.starter = PublishedFunction(
            self,
            "Function",
            runtime=runtime,
            name="starter",
            handler="functions.handlers.starter.handler",
            grants=roles.starter(at),
            environment=environment,
            timeout=Duration.seconds(60),
        )
        self.starter.version.add_event_source(
            sources.DynamoEventSource(
                ledger,
                starting_position=lambda_.StartingPosition.TRIM_HORIZON,
                batch_size=_BATCH,
                bisect_batch_on_error=True,
                report_batch_item_failures=True,
                retry_attempts=_TRIES_AGAIN,
                on_failure=sources.SqsDlq(unstarted),
                filters=[_new_saga(), _escalated_request()],
            )
        )
        acknowledge(
            self.starter.role,
            "AwsSolutions-IAM5[Resource::*]",
            "dynamodb:ListStreams, which Lambda asks of a stream's reader, knows no resource.",
        )


def _new_saga() -> Mapping[str, Any]:
    return lambda_.FilterCriteria.filter(
        {"eventName": ["INSERT"], "dynamodb": {"NewImage": {"sk": {"S": ["saga"]}}}}
    )


def _escalated_request() -> Mapping[str, Any]:
    return lambda_.FilterCriteria.filter(
        {"dynamodb": {"NewImage": {"sk": {"S": ["request"]}, "state": {"S": ["escalated"]}}}}
    )
