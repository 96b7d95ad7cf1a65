"""Which actions on which resources each call needs, said once.

The catalogue declares them on everything that a step may come upon; an undo's session gets the same actions on the one
thing in its receipt. `{…}` is filled at deploy time, or from the settings when a session is made.
"""

from __future__ import annotations

from functions.catalogues.environments.names import (
    BUCKET_PREFIX,
    CHANNEL,
    MARKER,
    RECORDS,
    REGISTRY,
    TEAM_ROLES,
    TOPIC,
)
from functions.domain.catalogue import Permission

Permissions = tuple[Permission, ...]
ANY_ENVIRONMENT = f"{{{BUCKET_PREFIX}}}*"
ANY_TEAM = f"{{{TEAM_ROLES}}}*"
ANY_ENTRY = "undone/*"


def _bucket(name: str) -> str:
    return f"arn:{{partition}}:s3:::{name}"


def _role(name: str) -> str:
    return f"arn:{{partition}}:iam::{{account}}:role/{name}"


_CHANNEL = _bucket(f"{{{CHANNEL}}}")
_RECORDS = _bucket(f"{{{RECORDS}}}")
_PARAMETER = f"arn:{{partition}}:ssm:{{region}}:{{account}}:parameter{{{REGISTRY}}}/*"


def environment_create() -> Permissions:
    """Make buckets of our prefix with their tags, and put the marker in."""
    at = _bucket(ANY_ENVIRONMENT)
    return (
        Permission(("s3:CreateBucket", "s3:TagResource", "s3:GetBucketTagging"), (at,)),
        Permission(("s3:PutObject",), (f"{at}/{MARKER}",)),
    )


def environment_status() -> Permissions:
    """Read whose an environment is."""
    return (Permission(("s3:GetBucketTagging",), (_bucket(ANY_ENVIRONMENT),)),)


def environment_decommission(bucket: str, entry: str) -> Permissions:
    """Look through one bucket, take the marker out (or put it back), and delete the bucket while it is empty."""
    at = _bucket(bucket)
    return (
        Permission(("s3:GetBucketTagging", "s3:ListBucketVersions", "s3:DeleteBucket"), (at,)),
        Permission(("s3:DeleteObject", "s3:PutObject"), (f"{at}/{MARKER}",)),
        *_remember(entry),
    )


def access_grant() -> Permissions:
    """Put an inline policy on a team's role. The boundary of that role limits what any policy can add up to."""
    return (Permission(("iam:GetRolePolicy", "iam:PutRolePolicy"), (_role(ANY_TEAM),)),)


def access_status() -> Permissions:
    """Read an inline policy of a team's role."""
    return (Permission(("iam:GetRolePolicy",), (_role(ANY_TEAM),)),)


def access_revoke(role: str, entry: str) -> Permissions:
    """Take one inline policy off one role. IAM knows no finer resource for inline policies than their role."""
    return (
        Permission(("iam:GetRolePolicy", "iam:DeleteRolePolicy"), (_role(role),)),
        *_remember(entry),
    )


def instruction_publish() -> Permissions:
    """Write an instruction, after looking at what it relies on."""
    return (*instruction_status(), _WRITE, *environment_status(), *access_status())


def instruction_status() -> Permissions:
    """Read an instruction. Without leave to list, S3 answers 403 for what is not there."""
    return (
        Permission(("s3:GetObject",), (f"{_CHANNEL}/instructions/*",)),
        Permission(("s3:ListBucket",), (_CHANNEL,)),
    )


def instruction_cancel() -> Permissions:
    """Strike an instruction's name off by writing an empty object there first."""
    return (*instruction_status(), _WRITE)


_WRITE = Permission(("s3:PutObject",), (f"{_CHANNEL}/instructions/*",))


def registry_put() -> Permissions:
    """Enter a name once; read who has it."""
    return (Permission(("ssm:PutParameter", "ssm:GetParameter"), (_PARAMETER,)),)


def notice_send() -> Permissions:
    """Publish to the one topic."""
    return (Permission(("sns:Publish",), (f"{{{TOPIC}}}",)),)


def read_name() -> Permissions:
    """Whether a bucket is there."""
    return (Permission(("s3:ListBucket",), (_bucket(ANY_ENVIRONMENT),)),)


def read_team() -> Permissions:
    """Whether a role is there, and bounded."""
    return (Permission(("iam:GetRole",), (_role(ANY_TEAM),)),)


def read_channel() -> Permissions:
    """Whether the channel is there, and open."""
    return (Permission(("s3:GetBucketTagging",), (_CHANNEL,)),)


def _remember(entry: str) -> Permissions:
    at = f"{_RECORDS}/{entry}"
    return (
        Permission(("s3:GetObject", "s3:PutObject", "s3:DeleteObject"), (at,)),
        Permission(("s3:ListBucket",), (_RECORDS,)),
    )
