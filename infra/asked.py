"""A function that CloudFormation asks in the course of each deployment: a custom resource without a provider of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from aws_cdk import CustomResource, Duration
from aws_cdk import aws_iam as iam
from constructs import Construct

from infra.function import PublishedFunction, Runtime

_PATIENCE = Duration.minutes(5)


def asked(
    scope: Construct,
    id_: str,
    *,
    runtime: Runtime,
    name: str,
    grants: Sequence[iam.PolicyStatement],
    environment: Mapping[str, str],
    kind: str,
    properties: Mapping[str, Any],
) -> CustomResource:
    """The resource, which is asked again whenever its properties change. `name` is the function's, and its handler's."""
    function = PublishedFunction(
        scope,
        "Function",
        runtime=runtime,
        name=name,
        handler=f"functions.handlers.{name.replace('-', '_')}.handler",
        grants=grants,
        environment=environment,
        timeout=_PATIENCE,
    )
    return CustomResource(
        scope,
        id_,
        resource_type=f"Custom::{kind}",
        service_token=function.function.function_arn,
        service_timeout=_PATIENCE,
        properties=properties,
    )
