"""What validation reads of AWS. Nothing here changes anything."""

from __future__ import annotations

from functions.catalogues.aws import AWSError, client, code_of, told
from functions.catalogues.environments.adapters.s3 import tags_of
from functions.catalogues.environments.facts import Channel, ChannelState, TakenName, Team
from functions.catalogues.environments.names import CHANNEL, bucket_of, role_of, setting
from functions.domain.calls import FactCall

STATE_TAG = "sagaplane:channel"
"""An operator sets it on the channel's bucket; without it the channel is open, and what is no state closes it."""
_STATES: dict[str, ChannelState] = {"open": "open", "team-only": "team-only"}


def name(call: FactCall) -> TakenName | None:
    """Who has a name; None where it is free. A bucket that may not be looked at is somebody else's."""
    return told(lambda: _name(call))


def team(call: FactCall) -> Team | None:
    """A team's role."""
    return told(lambda: _team(call))


def channel(call: FactCall) -> Channel | None:
    """The channel, as it is now."""
    return told(lambda: _channel(call))


def _name(call: FactCall) -> TakenName | None:
    bucket = bucket_of(call.query)
    try:
        client("s3", call.timeout).head_bucket(Bucket=bucket)
    except AWSError as error:
        if code_of(error) == "404":
            return None
        if code_of(error) != "403":
            raise
    return TakenName(bucket=bucket)


def _team(call: FactCall) -> Team | None:
    role = role_of(call.query)
    try:
        found = client("iam", call.timeout).get_role(RoleName=role)["Role"]
    except AWSError as error:
        if code_of(error) == "NoSuchEntity":
            return None
        raise
    return Team(role=role, bounded="PermissionsBoundary" in found)


def _channel(call: FactCall) -> Channel | None:
    bucket = setting(CHANNEL)
    tags = tags_of(client("s3", call.timeout), bucket)
    if tags is None:
        return None
    return Channel(bucket=bucket, state=_STATES.get(tags.get(STATE_TAG, "open"), "frozen"))
