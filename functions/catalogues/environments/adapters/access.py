"""A team's access: one inline policy on the team's role, under a name that is made from our key.

A statement in the bucket's own policy would do as well, but S3 replaces that document as a whole and on no condition: a
grant that another administrator adds in between would be lost. An inline policy is written and removed by itself.
"""

from __future__ import annotations

from typing import Any

from functions.catalogues.aws import AWSError, answered, client, code_of, narrowed
from functions.catalogues.environments.adapters.journal import Entry
from functions.catalogues.environments.arguments import Access, GrantAccess
from functions.catalogues.environments.names import (
    WORK,
    binding_of,
    entry_of,
    given,
    mark,
    role_of,
)
from functions.catalogues.environments.permissions import access_revoke
from functions.domain.calls import Call
from functions.domain.keys import canonical
from functions.domain.outcome import (
    Applied,
    Finding,
    NotFound,
    Outcome,
    Receipt,
    RefusalCause,
    Refused,
    Unknown,
    UnknownCause,
)

Document = dict[str, Any]
_REQUESTS = 2
_UNDO_REQUESTS = 6
_ABSENT = "NoSuchEntity"
_ACTIONS: dict[Access, list[str]] = {
    "read": ["s3:GetObject"],
    "contribute": ["s3:GetObject", "s3:PutObject", "s3:DeleteObject"],
}


def grant(call: Call) -> Outcome:
    """Let a team into the environment of this plan. Putting the same policy twice is one grant."""
    return answered(lambda: _grant(call))


def status(call: Call) -> Finding:
    """Whether the policy under our name is there, and says what we would have it say."""
    return answered(lambda: _status(call))


def revoke(call: Call) -> Outcome:
    """Take off exactly that policy, if it still says what was granted, under a session for just this role."""
    return answered(lambda: _revoke(call))


def policy_of(iam: Any, role: str, binding: str) -> Document | None:
    """An inline policy; None where the role, or a policy of that name on it, is not there."""
    try:
        found: Document = iam.get_role_policy(RoleName=role, PolicyName=binding)["PolicyDocument"]
    except AWSError as error:
        if code_of(error) == _ABSENT:
            return None
        raise
    return found


def version_of(document: Document) -> str:
    """What a policy says, as a digest: IAM has no versions of inline policies."""
    return mark(document)


def _grant(call: Call) -> Outcome:
    arguments = given(call, GrantAccess)
    environment = call.results["create_environment"].resource
    role, binding = role_of(arguments.team), binding_of(call.key)
    iam = client("iam", call.timeout / _REQUESTS)
    document = _document(iam.meta.partition, environment, arguments.access)
    found = policy_of(iam, role, binding)
    if found is None:
        iam.put_role_policy(RoleName=role, PolicyName=binding, PolicyDocument=canonical(document))
    elif found != document:
        return Unknown(
            reason=f"{role}/{binding} says something else", cause=UnknownCause.KEY_CONFLICT
        )
    return _applied(arguments, binding, environment, document)


def _document(partition: str, environment: str, access: Access) -> Document:
    bucket = f"arn:{partition}:s3:::{environment}"
    under = {"StringLike": {"s3:prefix": f"{WORK}*"}}
    return {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Sid": "Work",
                "Effect": "Allow",
                "Action": _ACTIONS[access],
                "Resource": f"{bucket}/{WORK}*",
            },
            {
                "Sid": "List",
                "Effect": "Allow",
                "Action": "s3:ListBucket",
                "Resource": bucket,
                "Condition": under,
            },
        ],
    }


def _status(call: Call) -> Finding:
    arguments = given(call, GrantAccess)
    role, binding = role_of(arguments.team), binding_of(call.key)
    iam = client("iam", call.timeout)
    found = policy_of(iam, role, binding)
    if found is None:
        return NotFound()
    environment = _environment_in(found)
    if found != _document(iam.meta.partition, environment, arguments.access):
        return Unknown(
            reason=f"{role}/{binding} is there, but says something else",
            cause=UnknownCause.UNPLANNED,
        )
    return _applied(arguments, binding, environment, found)


def _environment_in(document: Document) -> str:
    try:
        return str(document["Statement"][1]["Resource"]).rsplit(":", 1)[-1]
    except (KeyError, IndexError, TypeError):
        return ""


def _applied(arguments: GrantAccess, binding: str, environment: str, document: Document) -> Applied:
    role = role_of(arguments.team)
    return Applied(
        receipt=Receipt(
            resource=f"{role}/{binding}",
            version=version_of(document),
            details={
                "role": role,
                "binding": binding,
                "environment": environment,
                "team": arguments.team,
                "access": arguments.access,
            },
        )
    )


def _revoke(call: Call) -> Outcome:
    role, binding = call.inputs["role"], call.inputs["binding"]
    version = call.inputs["version"]
    seconds = call.timeout / _UNDO_REQUESTS
    session = narrowed(
        call.role,
        access_revoke(role, entry_of(call.key)),
        session=call.key,
        seconds=seconds,
    )
    iam = client("iam", seconds, session)
    entry = Entry(client("s3", seconds, session), call.key, mark("revoke", role, binding, version))
    remembered = entry.remembered()
    if isinstance(remembered, Unknown):
        return remembered
    found = policy_of(iam, role, binding)
    if found is None:
        return _revoked(role, binding) if remembered else _refused(role, binding, "is gone")
    if version_of(found) != version:
        return _refused(role, binding, "was changed by somebody else")
    return entry.remember() or _take_off(iam, role, binding)


def _take_off(iam: Any, role: str, binding: str) -> Outcome:
    try:
        iam.delete_role_policy(RoleName=role, PolicyName=binding)
    except AWSError as error:
        if code_of(error) != _ABSENT:
            raise
    return _revoked(role, binding)


def _revoked(role: str, binding: str) -> Applied:
    return Applied(receipt=Receipt(resource=f"{role}/{binding}", details={"state": "revoked"}))


def _refused(role: str, binding: str, how: str) -> Refused:
    return Refused(reason=f"{role}/{binding} {how}", cause=RefusalCause.PRECONDITION)
