"""An environment: a bucket of our prefix, with our key among the tags that it is made with, and a marker in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from functions.catalogues.aws import AWSError, answered, client, code_of, narrowed, trouble
from functions.catalogues.environments.adapters.journal import Entry
from functions.catalogues.environments.adapters.s3 import put_once, tags_of
from functions.catalogues.environments.arguments import CreateEnvironment
from functions.catalogues.environments.names import (
    KEY_TAG,
    MARKER,
    MARKER_TAG,
    bucket_of,
    content_of,
    entry_of,
    given,
    mark,
)
from functions.catalogues.environments.permissions import environment_decommission
from functions.domain.calls import Call
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

_UNSAID = "us-east-1"
"""The one region that is never named when a bucket is made."""
_REQUESTS = 4
_UNDO_REQUESTS = 7
_LOOKED_AT = 3
_EXISTS = frozenset({"BucketAlreadyExists", "BucketAlreadyOwnedByYou"})


def create(call: Call) -> Outcome:
    """Make the bucket and its marker. A bucket of that name that is not ours by its tags is left alone."""
    return answered(lambda: _create(call))


def status(call: Call) -> Finding:
    """Whether the bucket of that name was made under our key."""
    return answered(lambda: _status(call))


def decommission(call: Call) -> Outcome:
    """Delete the bucket while it is the one that was made and holds nobody's work, under a session for just this one."""
    return answered(lambda: _decommission(call))


def _create(call: Call) -> Outcome:
    s3 = client("s3", call.timeout / _REQUESTS)
    arguments = given(call, CreateEnvironment)
    bucket, marker = bucket_of(arguments.environment), _marker(call.key, arguments)
    tags = tags_of(s3, bucket)
    if tags is None:
        made = _make(s3, bucket, {KEY_TAG: call.key, MARKER_TAG: marker})
        if made is not None:
            return made
        try:
            tags = tags_of(s3, bucket) or {}
        except AWSError as error:
            return _half_made(error)
    if tags.get(KEY_TAG) != call.key:
        return Refused(
            reason=f"the bucket {bucket} is there and was not made under this key",
            cause=RefusalCause.PRECONDITION,
        )
    if tags.get(MARKER_TAG) != marker:
        return Unknown(reason=f"{bucket} was made otherwise", cause=UnknownCause.KEY_CONFLICT)
    try:
        content = content_of(call.key, arguments).encode()
        put_once(s3, bucket, MARKER, content, {"sagaplane-marker": marker})
    except AWSError as error:
        return _half_made(error)
    return _applied(bucket, tags)


def _make(s3: Any, bucket: str, tags: Mapping[str, str]) -> Refused | None:
    """The key goes in with the creation, as one operation: no bucket of ours is ever without it."""
    region = s3.meta.region_name
    wanted: dict[str, Any] = {"Tags": [{"Key": k, "Value": v} for k, v in tags.items()]}
    if region != _UNSAID:
        wanted["LocationConstraint"] = region
    try:
        s3.create_bucket(Bucket=bucket, CreateBucketConfiguration=wanted)
    except AWSError as error:
        if code_of(error) in _EXISTS:
            return None if code_of(error) == "BucketAlreadyOwnedByYou" else _taken(bucket)
        raise
    return None


def _taken(bucket: str) -> Refused:
    return Refused(reason=f"the name {bucket} is taken in another account")


def _half_made(error: Exception) -> Unknown:
    """The bucket exists: whatever AWS said to the rest, it would be wrong to say that nothing happened."""
    return Unknown(
        reason=f"the bucket is made, its marker perhaps not: {trouble(error).reason}"[:300],
        cause=UnknownCause.UNPLANNED,
    )


def _status(call: Call) -> Finding:
    bucket = bucket_of(given(call, CreateEnvironment).environment)
    tags = tags_of(client("s3", call.timeout), bucket)
    if tags is None or tags.get(KEY_TAG) != call.key:
        return NotFound()
    return _applied(bucket, tags)


def _applied(bucket: str, tags: Mapping[str, str]) -> Applied:
    receipt = Receipt(resource=bucket, version=tags[MARKER_TAG], details={"key": tags[KEY_TAG]})
    return Applied(receipt=receipt)


def _marker(key: str, arguments: CreateEnvironment) -> str:
    return mark(key, arguments.model_dump(mode="json"))


def _decommission(call: Call) -> Outcome:
    bucket, marker = call.inputs["bucket"], call.inputs["marker"]
    seconds = call.timeout / _UNDO_REQUESTS
    session = narrowed(
        call.role,
        environment_decommission(bucket, entry_of(call.key)),
        session=call.key,
        seconds=seconds,
    )
    s3 = client("s3", seconds, session)
    entry = Entry(s3, call.key, mark("decommission", bucket, marker))
    remembered = entry.remembered()
    if isinstance(remembered, Unknown):
        return remembered
    tags = tags_of(s3, bucket)
    if tags is None or tags.get(MARKER_TAG) != marker:
        return _gone(bucket) if remembered else _not_ours(bucket, tags)
    others = _others(s3, bucket)
    if others:
        return _occupied(bucket, others)
    return entry.remember() or _delete(s3, bucket, entry, call.inputs)


def _others(s3: Any, bucket: str) -> list[str]:
    """A few names of what is in the bucket beside the marker, old versions and delete markers included."""
    found = s3.list_object_versions(Bucket=bucket, MaxKeys=_LOOKED_AT)
    everything = [*found.get("Versions", ()), *found.get("DeleteMarkers", ())]
    return [each["Key"] for each in everything if each["Key"] != MARKER]


def _delete(s3: Any, bucket: str, entry: Entry, inputs: Mapping[str, str]) -> Outcome:
    """S3 refuses to delete a bucket that has been written to since we looked: then everything is as it was."""
    s3.delete_object(Bucket=bucket, Key=MARKER)
    try:
        s3.delete_bucket(Bucket=bucket)
    except AWSError as error:
        if code_of(error) == "NoSuchBucket":
            return _gone(bucket)
        if code_of(error) != "BucketNotEmpty":
            raise
        body = inputs["content"].encode()
        put_once(s3, bucket, MARKER, body, {"sagaplane-marker": inputs["marker"]})
        entry.forget()
        return _occupied(bucket, _others(s3, bucket))
    return _gone(bucket)


def _gone(bucket: str) -> Applied:
    return Applied(receipt=Receipt(resource=bucket, details={"state": "deleted"}))


def _not_ours(bucket: str, tags: Mapping[str, str] | None) -> Refused:
    state = "is gone, and not by this undo" if tags is None else "is not the one that was made"
    return Refused(reason=f"the bucket {bucket} {state}", cause=RefusalCause.PRECONDITION)


def _occupied(bucket: str, names: list[str]) -> Refused:
    shown = ", ".join(sorted(set(names)))[:200]
    return Refused(
        reason=f"the bucket {bucket} holds other work: {shown}", cause=RefusalCause.PRECONDITION
    )
