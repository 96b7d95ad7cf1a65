"""One AWS call, one outcome. The only place where an AWS error is read as refused, not applied or unknown.

Nothing here is repeated: botocore's own retries are off, since who may ask again, and how often, is the ledger's to say.
Every call gets a client of its own, so that no connection is reused that the service has closed meanwhile.
"""

from __future__ import annotations

import json
import os
from collections import ChainMap
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import boto3
from botocore import exceptions as failures
from botocore.config import Config

from functions.domain.calls import FactUnavailable
from functions.domain.catalogue import Permission
from functions.domain.outcome import NotApplied, RefusalCause, Refused, Unknown, UnknownCause

Answer = TypeVar("Answer")
Trouble = Refused | NotApplied | Unknown
AWSError = (failures.ClientError, failures.BotoCoreError)

_CONNECT = 1.0
_LONGEST_REASON = 300
_SESSION = 900
"""Seconds; the shortest that STS gives."""
_BAD_REQUEST, _UNAUTHORIZED, _FORBIDDEN = 400, 401, 403
_REQUEST_TIMEOUT, _CONFLICT, _PRECONDITION, _TOO_MANY, _SERVER = 408, 409, 412, 429, 500

_DENIED = frozenset(
    {
        "AccessDenied", "AccessDeniedException", "AuthFailure", "AuthorizationError", "ExpiredToken",
        "ExpiredTokenException", "InvalidAccessKeyId", "InvalidClientTokenId", "SignatureDoesNotMatch",
        "UnauthorizedOperation", "UnrecognizedClientException",
    }
)  # fmt: skip
_THROTTLED = frozenset(
    {
        "BandwidthLimitExceeded", "PriorRequestNotComplete", "RequestLimitExceeded", "RequestThrottled",
        "RequestThrottledException", "SlowDown", "ThrottledException", "Throttling", "ThrottlingException",
        "TooManyRequestsException", "TooManyUpdates",
    }
)  # fmt: skip
_ANOTHER_IS_AT_IT = frozenset(
    {
        "ConcurrentModification",
        "ConditionalRequestConflict",
        "EntityTemporarilyUnmodifiable",
        "OperationAborted",
    }
)
_LATE = frozenset({"RequestTimeout", "RequestTimeoutException"})
_NOTHING_SENT = (
    failures.ConnectTimeoutError,
    failures.EndpointConnectionError,
    failures.ProxyConnectionError,
    failures.NoRegionError,
)
_NO_IDENTITY = (
    failures.NoCredentialsError,
    failures.PartialCredentialsError,
    failures.CredentialRetrievalError,
)


def client(service: str, seconds: float, credentials: Mapping[str, str] | None = None) -> Any:
    """A client whose every request ends within `seconds`, under the function's own role or under `credentials`."""
    connecting = min(_CONNECT, seconds / 2)
    return boto3.client(
        service,  # type: ignore[call-overload] # the service is named by the caller
        config=Config(
            connect_timeout=connecting,
            read_timeout=seconds - connecting,
            retries={"mode": "standard", "total_max_attempts": 1},
        ),
        **(credentials or {}),
    )


def code_of(error: Exception) -> str:
    """AWS's own word for what went wrong, or ""; a HEAD has no body, there it is the status."""
    if isinstance(error, failures.ClientError):
        return str(error.response.get("Error", {}).get("Code", ""))
    return ""


def answered(work: Callable[[], Answer]) -> Answer | Trouble:
    """What `work` answers, or the outcome that its AWS error means."""
    try:
        return work()
    except AWSError as error:
        return trouble(error)


def told(work: Callable[[], Answer]) -> Answer:
    """A fact. Raises FactUnavailable where AWS does not tell it."""
    try:
        return work()
    except AWSError as error:
        raise FactUnavailable(trouble(error).reason) from None


def trouble(error: Exception) -> Trouble:
    """What an error of botocore means for the call that raised it."""
    if isinstance(error, failures.ClientError):
        return _answered_with(error)
    name = type(error).__name__
    if isinstance(error, _NO_IDENTITY):
        return Refused(reason=f"no AWS credentials ({name})", cause=RefusalCause.AUTHORITY)
    if isinstance(error, _NOTHING_SENT):
        return NotApplied(reason=f"no connection to AWS ({name}); nothing was sent")
    if isinstance(error, failures.ParamValidationError):
        return Refused(reason=_one_line(f"not sent: {error}"))
    if isinstance(error, failures.ReadTimeoutError):
        return Unknown(reason="AWS did not answer in time")
    if isinstance(error, failures.HTTPClientError):
        return Unknown(reason=f"the connection was lost before the answer ({name})")
    return Unknown(reason=f"an error nobody planned for ({name})", cause=UnknownCause.UNPLANNED)


def _answered_with(error: failures.ClientError) -> Trouble:
    code = code_of(error)
    status = int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
    message = error.response.get("Error", {}).get("Message", "")
    reason = _one_line(f"{error.operation_name}: {code}: {message} (HTTP {status})")
    if code in _THROTTLED or status == _TOO_MANY or code in _ANOTHER_IS_AT_IT:
        return NotApplied(reason=reason)
    if code in _DENIED or status in {_UNAUTHORIZED, _FORBIDDEN}:
        return Refused(reason=reason, cause=RefusalCause.AUTHORITY)
    if code in _LATE or status == _REQUEST_TIMEOUT or status >= _SERVER:
        return Unknown(reason=reason)
    if status == _PRECONDITION:
        return Refused(reason=reason, cause=RefusalCause.PRECONDITION)
    if _BAD_REQUEST <= status < _SERVER:
        return Refused(reason=reason)
    return Unknown(reason=reason, cause=UnknownCause.UNPLANNED)


def narrowed(
    role: str, permissions: Iterable[Permission], *, session: str, seconds: float
) -> Mapping[str, str]:
    """Credentials of `role` that may do just `permissions`, whatever else the role may do.

    `session` is the idempotency key: it is what CloudTrail shows. Raises the errors of botocore.
    """
    given = client("sts", seconds).assume_role(
        RoleArn=role,
        RoleSessionName=session.replace(":", "."),
        Policy=policy(permissions, role),
        DurationSeconds=_SESSION,
    )["Credentials"]
    return {
        "aws_access_key_id": given["AccessKeyId"],
        "aws_secret_access_key": given["SecretAccessKey"],
        "aws_session_token": given["SessionToken"],
    }


def policy(permissions: Iterable[Permission], role: str) -> str:
    """A session policy of these permissions. Placeholders are filled from the role's ARN and the settings."""
    _, partition, _, _, account, _ = role.split(":", 5)
    known = ChainMap({"partition": partition, "account": account}, dict(os.environ))
    statements = [
        {
            "Effect": "Allow",
            "Action": list(permission.actions),
            "Resource": [resource.format_map(known) for resource in permission.resources],
        }
        for permission in permissions
    ]
    return json.dumps({"Version": "2012-10-17", "Statement": statements}, separators=(",", ":"))


def _one_line(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text)[:_LONGEST_REASON]
