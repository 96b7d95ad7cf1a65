"""The register of environments: one parameter for each, entered once, with our key in it."""

from __future__ import annotations

import json
from typing import Any

from functions.catalogues.aws import AWSError, answered, client, code_of
from functions.catalogues.environments.arguments import RegisterEnvironment
from functions.catalogues.environments.names import BUCKET_PREFIX, REGISTRY, given, setting
from functions.domain.calls import Call
from functions.domain.keys import canonical
from functions.domain.outcome import (
    Applied,
    Outcome,
    Receipt,
    RefusalCause,
    Refused,
    Unknown,
    UnknownCause,
)

_REQUESTS = 2
_TAKEN = "ParameterAlreadyExists"


def register(call: Call) -> Outcome:
    """Enter the environment of this plan. A second entry under our key is the first one."""
    return answered(lambda: _register(call))


def _register(call: Call) -> Outcome:
    arguments = given(call, RegisterEnvironment)
    environment = call.results["create_environment"].resource
    name = f"{setting(REGISTRY)}/{environment.removeprefix(setting(BUCKET_PREFIX))}"
    value = canonical(
        {"key": call.key, "bucket": environment, "keep_for_days": arguments.keep_for_days}
    )
    ssm = client("ssm", call.timeout / _REQUESTS)
    try:
        ssm.put_parameter(Name=name, Value=value, Type="String", Overwrite=False)
    except AWSError as error:
        if code_of(error) != _TAKEN:
            raise
        return _already(ssm, name, value)
    return _applied(name)


def _already(ssm: Any, name: str, value: str) -> Outcome:
    found = ssm.get_parameter(Name=name)["Parameter"]["Value"]
    if found == value:
        return _applied(name)
    if _key_in(found) == _key_in(value):
        return Unknown(reason=f"{name} says something else", cause=UnknownCause.KEY_CONFLICT)
    return Refused(reason=f"{name} was entered by somebody else", cause=RefusalCause.PRECONDITION)


def _key_in(value: str) -> Any:
    try:
        return json.loads(value).get("key")
    except (ValueError, AttributeError):
        return None


def _applied(name: str) -> Applied:
    return Applied(receipt=Receipt(resource=name))
