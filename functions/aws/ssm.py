"""The published versions of this deployment's functions, from the parameter that the deployment wrote."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mypy_boto3_ssm import SSMClient


def published_versions(client: SSMClient, parameter: str) -> dict[str, Any]:
    """`{"begin", "finish", "gate", "open_case", "steps": {catalogue: {step: {"run", "undo"}}}}`, all version ARNs."""
    versions: dict[str, Any] = json.loads(
        client.get_parameter(Name=parameter)["Parameter"]["Value"]
    )
    return versions
