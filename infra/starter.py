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
    """Woken by every record that asks for a driver or a case, and by no other."""

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
        # An alias, so that the stream's mapping stays what it is while the version behind it moves.
        live = lambda_.Alias(self, "Live", alias_name="live", version=self.starter.version)
        live.add_event_source(
            sources.DynamoEventSource(
                ledger,
                starting_position=lambda_.StartingPosition.TRIM_HORIZON,
                batch_size=_BATCH,
                bisect_batch_on_error=True,
                report_batch_item_failures=True,
                retry_attempts=_TRIES_AGAIN,
                on_failure=sources.SqsDlq(unstarted),
                filters=[_asks_for_something()],
            )
        )
        acknowledge(
            self.starter.role,
            "AwsSolutions-IAM5[Resource::*]",
            "dynamodb:ListStreams, which Lambda asks of a stream's reader, knows no resource.",
        )


def _asks_for_something() -> Mapping[str, Any]:
    """Whoever writes `wanted` on a saga's head or a request wants it started, resumed or handed to a person."""
    wanted = {"wanted": {"S": lambda_.FilterRule.exists()}}
    return lambda_.FilterCriteria.filter({"dynamodb": {"NewImage": wanted}})
