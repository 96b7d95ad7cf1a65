"""One Lambda function: its own role, its own log group, and the published version that everybody calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra.acknowledge import acknowledge, acknowledge_wide
from infra.roles import why_wide
from infra.settings import Settings

_LONGEST_NAME = 64
_RETENTION = {
    7: logs.RetentionDays.ONE_WEEK,
    30: logs.RetentionDays.ONE_MONTH,
    90: logs.RetentionDays.THREE_MONTHS,
    365: logs.RetentionDays.ONE_YEAR,
}


@dataclass(frozen=True, slots=True)
class Runtime:
    """What all functions of a deployment share."""

    settings: Settings
    code: lambda_.Code


class PublishedFunction(Construct):
    """A function that may do what `grants` say and nothing else."""

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        runtime: Runtime,
        name: str,
        handler: str,
        grants: Sequence[iam.PolicyStatement],
        environment: Mapping[str, str],
        timeout: Duration,
        memory: int = 512,
    ) -> None:
        super().__init__(scope, id_)
        settings = runtime.settings
        self.name = f"{settings.prefix}-{name}"
        if len(self.name) > _LONGEST_NAME:
            raise ValueError(f"the function name {self.name!r} is longer than {_LONGEST_NAME}")
        log_group = logs.LogGroup(
            self,
            "Log",
            log_group_name=f"/aws/lambda/{self.name}",
            retention=_RETENTION[settings.log_retention_days],
            removal_policy=RemovalPolicy.DESTROY if settings.local else RemovalPolicy.RETAIN,
        )
        self.role = iam.Role(self, "Role", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
        log_group.grant_write(self.role)
        for statement in grants:
            self.role.add_to_policy(statement)
        acknowledge_wide(self.role, grants, why_wide)
        self.function = lambda_.Function(
            self,
            "Function",
            function_name=self.name,
            runtime=_language(settings),
            architecture=lambda_.Architecture.ARM_64,
            handler=handler,
            code=runtime.code,
            role=self.role,
            log_group=log_group,
            timeout=timeout,
            memory_size=memory,
            environment={
                "SAGAPLANE_STAGE": settings.stage,
                "POWERTOOLS_SERVICE_NAME": name,
                "POWERTOOLS_LOG_LEVEL": settings.log_level,
                **environment,
            },
            # A saga that is open finishes on the code it began with: old versions stay.
            current_version_options=lambda_.VersionOptions(removal_policy=RemovalPolicy.RETAIN),
        )
        self.version = self.function.current_version
        acknowledge(
            self.function,
            "AwsSolutions-L1",
            "Python 3.13 is in full support, and the version that the locked wheels are chosen for.",
        )


def _language(settings: Settings) -> lambda_.Runtime:
    """Locally the runtime client is started by our bootstrap, so that exception names survive as they do on AWS."""
    return lambda_.Runtime.PROVIDED_AL2023 if settings.local else lambda_.Runtime.PYTHON_3_13
