"""What must be true of target, authority and content: at submission, and for the publication again just before it."""

from __future__ import annotations

import re

from pydantic import BaseModel

from functions.catalogues.environments.arguments import (
    CreateEnvironment,
    GrantAccess,
    PublishInstruction,
)
from functions.catalogues.environments.facts import Channel, TakenName, Team
from functions.domain.catalogue import Violation

_SECRETS = re.compile(
    r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|-----BEGIN [A-Z ]*PRIVATE KEY-----|\beyJ[\w-]{10,}\.[\w-]{10,}\."
)
"""Access keys of AWS, private keys, signed tokens."""


def name_is_free(arguments: BaseModel, taken: TakenName | None) -> list[Violation]:
    """Nobody has an environment of that name."""
    if taken is None or not isinstance(arguments, CreateEnvironment):
        return []
    return [
        Violation(
            code="environment_exists",
            message=f"there is an environment {arguments.environment} already",
            hint="Choose another name. An existing environment is never taken over.",
            argument="environment",
        )
    ]


def team_exists(arguments: BaseModel, team: Team | None) -> list[Violation]:
    """There is such a team."""
    if team is not None or not isinstance(arguments, GrantAccess):
        return []
    return [
        Violation(
            code="team_not_found",
            message=f"there is no team {arguments.team}",
            hint="Use the short name of a team that exists.",
            argument="team",
        )
    ]


def team_is_bounded(arguments: BaseModel, team: Team | None) -> list[Violation]:
    """The team's role has a permissions boundary: without one nobody has limited what a grant may add up to."""
    if team is None or team.bounded or not isinstance(arguments, GrantAccess):
        return []
    return [
        Violation(
            code="team_not_bounded",
            message=f"the role of team {arguments.team} has no permissions boundary",
            hint="An administrator has to set the boundary first: leave a note for a person.",
            argument="team",
        )
    ]


def channel_is_open(arguments: BaseModel, channel: Channel | None) -> list[Violation]:
    """The channel is there and takes such an instruction."""
    if not isinstance(arguments, PublishInstruction):
        return []
    if channel is None:
        return [_closed(code="channel_not_found", message="the channel is not there")]
    if channel.state == "frozen":
        return [_closed(code="channel_frozen", message="the channel is frozen")]
    if channel.state == "team-only" and arguments.audience == "everyone":
        return [
            _closed(
                code="channel_team_only",
                message="the channel takes nothing for everyone at present",
            )
        ]
    return []


def _closed(*, code: str, message: str) -> Violation:
    return Violation(
        code=code,
        message=message,
        hint="It cannot be published now: leave a note for a person, or propose the plan later.",
    )


def content_is_allowed(arguments: BaseModel, _: Channel | None) -> list[Violation]:
    """The text holds nothing that looks like a credential: it cannot be taken back."""
    if not isinstance(arguments, PublishInstruction):
        return []
    return [
        Violation(
            code="credential_in_text",
            message=f"the {name} holds something that looks like a credential",
            hint="Say where the credential is found, never the credential itself.",
            argument=name,
        )
        for name in ("title", "text")
        if _SECRETS.search(getattr(arguments, name))
    ]
