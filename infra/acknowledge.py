"""Findings of cdk-nag that are meant, each with its reason, said beside the construct it is about."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from aws_cdk import Acknowledgment, Aws, Validations
from aws_cdk import aws_iam as iam
from constructs import IConstruct

_RENDERED = {
    Aws.PARTITION: "<AWS::Partition>",
    Aws.REGION: "<AWS::Region>",
    Aws.ACCOUNT_ID: "<AWS::AccountId>",
}


def acknowledge(construct: IConstruct, finding: str, reason: str) -> None:
    """Accept one finding on one construct and what is in it."""
    Validations.of(construct).acknowledge(Acknowledgment(id=finding, reason=reason))


def acknowledge_wide(
    role: iam.Role, grants: Iterable[iam.PolicyStatement], why: Callable[[str], str | None]
) -> None:
    """Accept the patterns among the resources of `grants` for which `why` has a reason; others stay findings."""
    for resource in {r for statement in grants for r in statement.resources if "*" in r}:
        if reason := why(resource):
            finding = resource
            for token, rendered in _RENDERED.items():
                finding = finding.replace(token, rendered)
            acknowledge(role, f"AwsSolutions-IAM5[Resource::{finding}]", reason)
