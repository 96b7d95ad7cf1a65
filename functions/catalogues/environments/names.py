"""What things are called at AWS. A name that is made from our key is how a service without keys remembers one."""

from __future__ import annotations

import os
from typing import Any, TypeVar

from pydantic import BaseModel

from functions.domain.calls import Call
from functions.domain.keys import canonical, digest

BUCKET_PREFIX = "ENVIRONMENTS_BUCKET_PREFIX"
CHANNEL = "ENVIRONMENTS_CHANNEL_BUCKET"
RECORDS = "ENVIRONMENTS_RECORDS_BUCKET"
TEAM_ROLES = "ENVIRONMENTS_TEAM_ROLE_PREFIX"
REGISTRY = "ENVIRONMENTS_REGISTRY"
TOPIC = "ENVIRONMENTS_TOPIC_ARN"
SETTINGS = (BUCKET_PREFIX, CHANNEL, RECORDS, TEAM_ROLES, REGISTRY, TOPIC)

KEY_TAG = "sagaplane:key"
MARKER_TAG = "sagaplane:marker"
MARKER = ".sagaplane/environment.json"
"""The object that says inside an environment what made it. Teams have access to what lies under `work/` alone."""
WORK = "work/"

Arguments = TypeVar("Arguments", bound=BaseModel)
_MARK = 32


def setting(name: str) -> str:
    """A deploy-time value, read at call time; "" where there is none, and then nothing can be sent."""
    return os.environ.get(name, "")


def bucket_of(environment: str) -> str:
    """The bucket that an environment is. Making it reserves the name."""
    return f"{setting(BUCKET_PREFIX)}{environment}"


def role_of(team: str) -> str:
    """The role that a team works under."""
    return f"{setting(TEAM_ROLES)}{team}"


def as_name(key: str) -> str:
    """An idempotency key with the one character replaced that names may not have; still one name for each key."""
    return key.replace(":", ".")


def binding_of(key: str) -> str:
    """The inline policy that a grant is."""
    return f"sagaplane.{as_name(key)}"


def instruction_of(key: str) -> str:
    """The object that an instruction is."""
    return f"instructions/{as_name(key)}.json"


def entry_of(key: str) -> str:
    """Where an undo's key is remembered."""
    return f"undone/{as_name(key)}"


def mark(*parts: Any) -> str:
    """A short digest: equal only for the same key with the same parameters."""
    return digest(list(parts))[:_MARK]


def content_of(key: str, arguments: BaseModel) -> str:
    """What the marker says."""
    return canonical({"made_by": "sagaplane", "key": key, **arguments.model_dump(mode="json")})


def given(call: Call, model: type[Arguments]) -> Arguments:
    """The call's arguments as what the step declares. Raises TypeError where they are another step's."""
    return given_arguments(call.arguments, model)


def given_arguments(arguments: BaseModel | None, model: type[Arguments]) -> Arguments:
    """The same for arguments alone."""
    if not isinstance(arguments, model):
        raise TypeError(f"{model.__name__} expected, not {type(arguments).__name__}")
    return arguments
