"""What an agent may fill in, for each step. Where a step acts is never among it: that is bound from earlier results."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

_CLOSED = ConfigDict(frozen=True, extra="forbid", strict=True)

EnvironmentName = Annotated[
    str,
    StringConstraints(pattern=r"^[a-z][a-z0-9]{0,12}(-[a-z0-9]{1,12}){0,1}$", max_length=26),
    Field(
        description="What the environment is called: lower case, digits, at most one hyphen inside.",
        examples=["checkout-trial"],
    ),
]
TeamName = Annotated[
    str,
    StringConstraints(pattern=r"^[a-z][a-z0-9]{0,23}$", max_length=24),
    Field(description="A team that exists, by its short name.", examples=["payments"]),
]
Access = Literal["read", "contribute"]
Audience = Literal["team", "everyone"]
Line = Annotated[str, StringConstraints(pattern=r"^[^\x00-\x1f\x7f]{1,80}$", max_length=80)]
Text = Annotated[
    str, StringConstraints(pattern=r"^[^\x00-\x09\x0b-\x1f\x7f]{1,2000}$", max_length=2000)
]


class _Arguments(BaseModel):
    model_config = _CLOSED


class CreateEnvironment(_Arguments):
    """What is made, and what for."""

    environment: EnvironmentName
    purpose: Literal["development", "test", "demonstration"]


class GrantAccess(_Arguments):
    """Who gets into this plan's environment, and how far: `contribute` may also write and delete."""

    team: TeamName
    access: Access


class PublishInstruction(_Arguments):
    """What the channel's readers are told. Plain text; it stays as it is for good."""

    audience: Audience
    title: Annotated[Line, Field(description="One line.")]
    text: Annotated[Text, Field(description="At most 2000 characters, without control characters.")]


class RegisterEnvironment(_Arguments):
    """How long the environment is meant to be there."""

    keep_for_days: Annotated[int, Field(ge=1, le=365)]


class NotifyTeam(_Arguments):
    """Which of the prepared messages is sent. Free text cannot be sent."""

    message: Literal["environment_ready", "instruction_published"]
