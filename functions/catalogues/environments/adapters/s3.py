"""What the adapters ask of S3, in the words that they need: absent is a value, a lost race is a value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from functions.catalogues.aws import AWSError, code_of

_ABSENT = frozenset({"404", "NoSuchBucket", "NoSuchKey", "NotFound"})
_NO_TAGS = frozenset({"NoSuchTagSet", "NoSuchTagSetError"})
_TAKEN = "PreconditionFailed"


def tags_of(s3: Any, bucket: str) -> Mapping[str, str] | None:
    """A bucket's tags; None where there is no such bucket."""
    try:
        tags = s3.get_bucket_tagging(Bucket=bucket)["TagSet"]
    except AWSError as error:
        if code_of(error) in _NO_TAGS:
            return {}
        if code_of(error) in _ABSENT:
            return None
        raise
    return {tag["Key"]: tag.get("Value", "") for tag in tags}


def head(s3: Any, bucket: str, name: str) -> Mapping[str, Any] | None:
    """An object's `Metadata` and `ETag`; None where there is none."""
    try:
        found: Mapping[str, Any] = s3.head_object(Bucket=bucket, Key=name)
    except AWSError as error:
        if code_of(error) in _ABSENT:
            return None
        raise
    return found


def put_once(
    s3: Any, bucket: str, name: str, body: bytes, metadata: Mapping[str, str]
) -> Mapping[str, Any] | None:
    """Write an object that is not there yet; None where one is. S3 decides between two that write at once."""
    try:
        written: Mapping[str, Any] = s3.put_object(
            Bucket=bucket,
            Key=name,
            Body=body,
            Metadata=dict(metadata),
            ContentType="application/json",
            IfNoneMatch="*",
        )
    except AWSError as error:
        if code_of(error) == _TAKEN:
            return None
        raise
    return written
