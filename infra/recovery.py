"""What goes on when something died: a rule on executions that ended badly, and a sweep each minute."""

from __future__ import annotations

from collections.abc import Mapping

from aws_cdk import Duration
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from constructs import Construct

from infra import roles
from infra.function import PublishedFunction, Runtime

_ENDED_BADLY = ["FAILED", "TIMED_OUT", "ABORTED"]


class Recovery(Construct):
    """Both re-read the ledger before they act, so waking them once too often is harmless."""

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        runtime: Runtime,
        at: roles.Places,
        environment: Mapping[str, str],
    ) -> None:
        super().__init__(scope, id_)
        self.sweeper = self._function("sweeper", runtime, at, environment)
        self.rescue = self._function("rescue", runtime, at, environment)
        events.Rule(
            self,
            "EachMinute",
            schedule=events.Schedule.rate(Duration.minutes(1)),
            targets=[targets.LambdaFunction(self.sweeper.version, retry_attempts=0)],
        )
        events.Rule(
            self,
            "EndedBadly",
            event_pattern=events.EventPattern(
                source=["aws.states"],
                detail_type=["Step Functions Execution Status Change"],
                detail={
                    "status": _ENDED_BADLY,
                    "stateMachineArn": [{"prefix": at.machine_arn_prefix()}],
                },
            ),
            targets=[targets.LambdaFunction(self.rescue.version, retry_attempts=5)],
        )

    def _function(
        self, name: str, runtime: Runtime, at: roles.Places, environment: Mapping[str, str]
    ) -> PublishedFunction:
        return PublishedFunction(
            self,
            name,
            runtime=runtime,
            name=name,
            handler=f"functions.handlers.{name}.handler",
            grants=roles.recovery(at),
            environment=environment,
            timeout=Duration.seconds(60),
        )
