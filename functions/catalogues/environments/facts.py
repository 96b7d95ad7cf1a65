"""What AWS says about names, teams and the channel, before anything is executed."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, StringConstraints

ChannelState = Literal["open", "team-only", "frozen"]
Name = Annotated[str, StringConstraints(max_length=128)]


class _Told(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class TakenName(_Told):
    """An environment's name that somebody has already."""

    bucket: Name


class Team(_Told):
    """A team's role. `bounded`: a permissions boundary limits what any grant can add up to."""

    role: Name
    bounded: bool


class Channel(_Told):
    """Where instructions are published: `frozen` takes none, `team-only` none that goes to everyone."""

    bucket: Name
    state: ChannelState
