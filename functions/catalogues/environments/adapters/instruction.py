"""An instruction in the channel: an object that is written once and read by others. It cannot be recalled.

Its name is made from our key and S3 lets just one writer have a name, so a repeat is refused, a HEAD tells whether ours
is there, and an empty object in its place keeps a late call out for good.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from functions.catalogues.aws import answered, client
from functions.catalogues.environments.adapters.access import policy_of, version_of
from functions.catalogues.environments.adapters.s3 import head, put_once, tags_of
from functions.catalogues.environments.arguments import PublishInstruction
from functions.catalogues.environments.names import (
    CHANNEL,
    MARKER_TAG,
    given,
    instruction_of,
    mark,
    setting,
)
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
    Tombstoned,
    Unknown,
    UnknownCause,
)

_KEY, _CONTENT, _CANCELLED = "sagaplane-key", "sagaplane-content", "sagaplane-cancelled"
_REQUESTS = 5
_NOBODY_KNOWS = Unknown(
    reason="something else stands in the instruction's place", cause=UnknownCause.UNPLANNED
)


def publish(call: Call) -> Outcome:
    """Write the instruction, if all that it relies on is still there."""
    return answered(lambda: _publish(call))


def status(call: Call) -> Finding:
    """Whether the instruction under our key has been published."""
    return answered(lambda: _status(call))


def cancel(call: Call) -> Finding:
    """Take the name, so that the instruction can never be published; or learn that it has been."""
    return answered(lambda: _cancel(call))


def _publish(call: Call) -> Outcome:
    arguments = given(call, PublishInstruction)
    environment, access = call.results["create_environment"], call.results["grant_access"]
    body = canonical(
        {
            "environment": environment.resource,
            "team": access.details["team"],
            **arguments.model_dump(mode="json"),
        }
    )
    metadata = {_KEY: call.key, _CONTENT: mark(body)}
    s3 = client("s3", call.timeout / _REQUESTS)
    bucket, name = setting(CHANNEL), instruction_of(call.key)
    there = head(s3, bucket, name)
    if there is None:
        missing = _missing(call, s3)
        if missing is not None:
            return missing
        written = put_once(s3, bucket, name, body.encode(), metadata)
        if written is not None:
            return _applied(bucket, name, written)
        there = head(s3, bucket, name)
    return _already(there, metadata, bucket, name)


def _missing(call: Call, s3: Any) -> Refused | None:
    """What the instruction relies on and is not as it was prepared (seed two, "Mark the pivot explicitly")."""
    environment, access = call.results["create_environment"], call.results["grant_access"]
    tags = tags_of(s3, environment.resource)
    if tags is None or tags.get(MARKER_TAG) != environment.version:
        return _unprepared(f"the environment {environment.resource} is not there any more")
    iam = client("iam", call.timeout / _REQUESTS)
    found = policy_of(iam, access.details["role"], access.details["binding"])
    if found is None or version_of(found) != access.version:
        return _unprepared(f"the access {access.resource} is not as it was granted")
    return None


def _unprepared(reason: str) -> Refused:
    return Refused(reason=reason, cause=RefusalCause.PRECONDITION)


def _already(
    there: Mapping[str, Any] | None, metadata: Mapping[str, str], bucket: str, name: str
) -> Outcome:
    if there is None:
        return _NOBODY_KNOWS
    found = there["Metadata"]
    if found.get(_KEY) != metadata[_KEY]:
        return _unprepared(f"{name} was written by somebody else")
    if _CANCELLED in found:
        return Refused(reason=f"{name} was struck off before it was published")
    if found.get(_CONTENT) != metadata[_CONTENT]:
        return Unknown(reason=f"{name} says something else", cause=UnknownCause.KEY_CONFLICT)
    return _applied(bucket, name, there)


def _status(call: Call) -> Finding:
    s3 = client("s3", call.timeout)
    return _found(call, head(s3, setting(CHANNEL), instruction_of(call.key)))


def _cancel(call: Call) -> Finding:
    s3 = client("s3", call.timeout / 2)
    bucket, name = setting(CHANNEL), instruction_of(call.key)
    if put_once(s3, bucket, name, b"", {_KEY: call.key, _CANCELLED: "yes"}) is not None:
        return Tombstoned()
    return _found(call, head(s3, bucket, name))


def _found(call: Call, there: Mapping[str, Any] | None) -> Finding:
    if there is None or there["Metadata"].get(_KEY) != call.key:
        return NotFound()
    if _CANCELLED in there["Metadata"]:
        return Tombstoned()
    return _applied(setting(CHANNEL), instruction_of(call.key), there)


def _applied(bucket: str, name: str, there: Mapping[str, Any]) -> Applied:
    return Applied(
        receipt=Receipt(resource=f"s3://{bucket}/{name}", version=there["ETag"].strip('"'))
    )
