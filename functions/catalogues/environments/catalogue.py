"""What an agent may do with environments: create one, let a team in, publish an instruction; and how the first two are undone.

The targets are AWS's own services. None of them keeps idempotency keys as such: each step puts our key where the service
will not take a second one, and says here for how long that holds.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from pydantic import BaseModel

from functions.catalogues.environments import permissions as may
from functions.catalogues.environments import policy, preconditions
from functions.catalogues.environments.arguments import (
    CreateEnvironment,
    GrantAccess,
    NotifyTeam,
    PublishInstruction,
    RegisterEnvironment,
)
from functions.catalogues.environments.facts import Channel, TakenName, Team
from functions.catalogues.environments.names import SETTINGS, content_of, given_arguments
from functions.domain.catalogue import (
    Alternate,
    Authority,
    Catalogue,
    Fact,
    Kind,
    Operation,
    Precondition,
    Retry,
    Settlement,
    Step,
    Undo,
)

_ADAPTERS = "functions.catalogues.environments.adapters"
_CALL = timedelta(seconds=6)
_UNDO_CALL = timedelta(seconds=8)
_KEYS = timedelta(days=365)
_RECORDS = timedelta(days=365)
_SETTLES = timedelta(seconds=30)
"""A request that AWS has accepted is decided well within this; IAM also needs a while until everybody sees it."""
_TOPIC_KEYS = timedelta(minutes=4)
"""A FIFO topic remembers a deduplication id for five minutes; the last repeat has to arrive within them."""
_UNDO = Retry(attempts=5)


def _call(module: str, does: str, needs: may.Permissions, role: str | None = None) -> Operation:
    return Operation(
        adapter=f"{_ADAPTERS}.{module}:{does}",
        authority=Authority(scope=f"{module}:{does}", permissions=needs, role=role),
    )


def _bucket_to_delete(arguments: BaseModel, receipt: Any) -> dict[str, str]:
    made = given_arguments(arguments, CreateEnvironment)
    return {
        "bucket": receipt.resource,
        "marker": receipt.version,
        "content": content_of(receipt.details["key"], made),
    }


def _binding_to_revoke(_: BaseModel, receipt: Any) -> dict[str, str]:
    return {
        "role": receipt.details["role"],
        "binding": receipt.details["binding"],
        "version": receipt.version,
    }


def _name(arguments: BaseModel) -> str:
    return given_arguments(arguments, CreateEnvironment).environment


def _team(arguments: BaseModel) -> str:
    return given_arguments(arguments, GrantAccess).team


def _the_channel(_: BaseModel) -> str:
    return "channel"


_REMEMBERED = Settlement(settles_after=_SETTLES, keys_kept_for=_KEYS)
"""An undo writes its key down before it acts, so a repeat is known as one."""

CREATE_ENVIRONMENT = Step(
    name="create_environment",
    version="1",
    kind=Kind.COMPENSABLE,
    description=(
        "Create an empty environment under a new name: storage of its own, tagged with its purpose. Use it first. "
        "An environment that exists already is never taken over. If the plan fails before the publication, the "
        "environment is removed without your doing, unless somebody has put work into it meanwhile."
    ),
    arguments=CreateEnvironment,
    run=_call("environment", "create", may.environment_create()),
    settlement=Settlement(
        settles_after=_SETTLES,
        keys_kept_for=_KEYS,
        status=_call("environment", "status", may.environment_status()),
    ),
    retry=Retry(attempts=4),
    call_timeout=_CALL,
    retain_for=_RECORDS,
    sentence="Create the environment {environment} for {purpose}",
    preconditions=("name_is_free",),
    undo=Undo(
        name="decommission_environment",
        run=_call(
            "environment",
            "decommission",
            may.environment_decommission(may.ANY_ENVIRONMENT, may.ANY_ENTRY),
            role="decommission",
        ),
        settlement=_REMEMBERED,
        retry=_UNDO,
        call_timeout=_UNDO_CALL,
        fixed_inputs=_bucket_to_delete,
        sentence="Remove the environment {environment}, if it is empty",
    ),
)

GRANT_ACCESS = Step(
    name="grant_access",
    version="1",
    kind=Kind.COMPENSABLE,
    description=(
        "Let a team into the environment that this plan creates, to read or to contribute. Use it after "
        "create_environment, once for each team. It gives access to nothing else. If the plan fails before the "
        "publication, just this access is taken back without your doing."
    ),
    arguments=GrantAccess,
    run=_call("access", "grant", may.access_grant()),
    settlement=Settlement(
        settles_after=_SETTLES,
        keys_kept_for=_KEYS,
        status=_call("access", "status", may.access_status()),
    ),
    retry=Retry(attempts=4),
    call_timeout=_CALL,
    retain_for=_RECORDS,
    sentence="Give team {team} {access} access to the new environment",
    requires=("create_environment",),
    preconditions=("team_exists", "team_is_bounded"),
    undo=Undo(
        name="revoke_access",
        run=_call(
            "access", "revoke", may.access_revoke(may.ANY_TEAM, may.ANY_ENTRY), role="revoke"
        ),
        settlement=_REMEMBERED,
        retry=_UNDO,
        call_timeout=_UNDO_CALL,
        fixed_inputs=_binding_to_revoke,
        sentence="Take back the {access} access of team {team}",
        alternates=(
            Alternate(
                name="access_on_call",
                authority=Authority(
                    scope="access:revoke",
                    permissions=may.access_revoke(may.ANY_TEAM, may.ANY_ENTRY),
                    role="revoke_on_call",
                ),
                sentence="The access administration on call",
            ),
        ),
    ),
)

PUBLISH_INSTRUCTION = Step(
    name="publish_instruction",
    version="1",
    kind=Kind.PIVOT,
    description=(
        "Publish an instruction about the new environment in the channel. This is the point of no return: it cannot be "
        "recalled or corrected. At most one in a plan, after the environment and the access that it is about. An "
        "instruction to everyone, or about a team that may contribute, waits for a person who reads your rationale."
    ),
    arguments=PublishInstruction,
    run=_call("instruction", "publish", may.instruction_publish()),
    settlement=Settlement(
        settles_after=_SETTLES,
        keys_kept_for=_KEYS,
        status=_call("instruction", "status", may.instruction_status()),
        tombstone=_call("instruction", "cancel", may.instruction_cancel()),
    ),
    retry=Retry(attempts=4),
    call_timeout=_CALL,
    retain_for=_RECORDS,
    sentence="Publish “{title}” to {audience}",
    requires=("create_environment", "grant_access"),
    preconditions=("channel_is_open", "content_is_allowed"),
)

REGISTER_ENVIRONMENT = Step(
    name="register_environment",
    version="1",
    kind=Kind.RETRIABLE,
    description=(
        "Enter the new environment into the register, with the days that it is meant to be kept. Use it after the "
        "publication, once."
    ),
    arguments=RegisterEnvironment,
    run=_call("registry", "register", may.registry_put()),
    settlement=Settlement(settles_after=_SETTLES, keys_kept_for=_KEYS),
    retry=Retry(attempts=5),
    call_timeout=_CALL,
    retain_for=_RECORDS,
    sentence="Register the new environment for {keep_for_days} days",
    requires=("create_environment",),
)

NOTIFY_TEAM = Step(
    name="notify_team",
    version="1",
    kind=Kind.RETRIABLE,
    description=(
        "Send the subscribers of the environments' topic one of the prepared messages. Use it last. It cannot be unsent "
        "and carries no free text: what a person should know belongs into the plan's notes."
    ),
    arguments=NotifyTeam,
    run=_call("notices", "send", may.notice_send()),
    settlement=Settlement(settles_after=_SETTLES, keys_kept_for=_TOPIC_KEYS),
    retry=Retry(attempts=4),
    call_timeout=_CALL,
    retain_for=_RECORDS,
    sentence="Send the message {message}",
    requires=("create_environment",),
)

CATALOGUE = Catalogue(
    name="environments",
    steps=(
        CREATE_ENVIRONMENT,
        GRANT_ACCESS,
        PUBLISH_INSTRUCTION,
        REGISTER_ENVIRONMENT,
        NOTIFY_TEAM,
    ),
    facts=(
        Fact("taken_name", _call("lookups", "name", may.read_name()), TakenName, _name),
        Fact("team", _call("lookups", "team", may.read_team()), Team, _team),
        Fact("channel", _call("lookups", "channel", may.read_channel()), Channel, _the_channel),
    ),
    preconditions=(
        Precondition("name_is_free", "taken_name", preconditions.name_is_free),
        Precondition("team_exists", "team", preconditions.team_exists),
        Precondition("team_is_bounded", "team", preconditions.team_is_bounded),
        Precondition("channel_is_open", "channel", preconditions.channel_is_open),
        Precondition("content_is_allowed", "channel", preconditions.content_is_allowed),
    ),
    policy=f"{policy.__name__}:{policy.decide.__name__}",
    policy_version=policy.VERSION,
    approvers=policy.GROUP,
    operators="environments-operators",
    settings=SETTINGS,
)
