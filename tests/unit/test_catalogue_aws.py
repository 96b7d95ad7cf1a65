"""What an error of AWS means, one by one; and that botocore repeats nothing by itself."""

from __future__ import annotations

import json
from typing import Any

import pytest
from botocore import exceptions

from functions.catalogues import aws
from functions.domain.calls import FactUnavailable
from functions.domain.catalogue import Permission
from functions.domain.outcome import (
    NotApplied,
    RefusalCause,
    Refused,
    Unknown,
    UnknownCause,
)
from tests.unit.aws_stage import said

ROLE = "arn:aws-cn:iam::123456789012:role/undo"


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("AccessDenied", 403),
        ("AccessDeniedException", 400),
        ("AuthorizationError", 403),
        ("ExpiredToken", 400),
        ("InvalidClientTokenId", 403),
        ("403", 403),
    ],
)
def test_lost_authority_is_a_refusal_that_says_so(code: str, status: int) -> None:
    found = aws.trouble(said(code, status))
    assert isinstance(found, Refused)
    assert found.cause is RefusalCause.AUTHORITY


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("SlowDown", 503),
        ("Throttling", 400),
        ("ThrottlingException", 400),
        ("TooManyUpdates", 429),
        ("OperationAborted", 409),
        ("ConditionalRequestConflict", 409),
    ],
)
def test_a_throttled_call_and_one_that_gave_way_to_another_did_nothing(
    code: str, status: int
) -> None:
    assert isinstance(aws.trouble(said(code, status)), NotApplied)


@pytest.mark.parametrize(
    ("code", "status"),
    [("InternalError", 500), ("ServiceUnavailable", 503), ("503", 503), ("RequestTimeout", 400)],
)
def test_a_failure_of_the_service_leaves_it_open_what_happened(code: str, status: int) -> None:
    found = aws.trouble(said(code, status))
    assert isinstance(found, Unknown)
    assert found.cause is UnknownCause.SILENCE


def test_an_answer_that_nobody_planned_for_is_not_guessed_at() -> None:
    found = aws.trouble(said("PermanentRedirect", 301))
    assert isinstance(found, Unknown)
    assert found.cause is UnknownCause.UNPLANNED


@pytest.mark.parametrize(
    ("code", "status", "cause"),
    [
        ("PreconditionFailed", 412, RefusalCause.PRECONDITION),
        ("InvalidBucketName", 400, RefusalCause.BUSINESS),
        ("LimitExceeded", 409, RefusalCause.BUSINESS),
    ],
)
def test_any_other_client_error_is_a_decision(code: str, status: int, cause: RefusalCause) -> None:
    found = aws.trouble(said(code, status))
    assert isinstance(found, Refused)
    assert found.cause is cause


@pytest.mark.parametrize(
    "error",
    [
        exceptions.EndpointConnectionError(endpoint_url="https://x"),
        exceptions.ConnectTimeoutError(endpoint_url="https://x"),
        exceptions.NoRegionError(),
    ],
)
def test_without_a_connection_nothing_was_sent(error: Exception) -> None:
    assert isinstance(aws.trouble(error), NotApplied)


@pytest.mark.parametrize(
    "error",
    [
        exceptions.ReadTimeoutError(endpoint_url="https://x"),
        exceptions.ConnectionClosedError(endpoint_url="https://x"),
        exceptions.SSLError(endpoint_url="https://x", error="broken"),
        exceptions.ResponseStreamingError(error="broken"),
    ],
)
def test_silence_and_a_lost_connection_are_unknown(error: Exception) -> None:
    assert isinstance(aws.trouble(error), Unknown)


def test_without_credentials_the_authority_is_gone() -> None:
    found = aws.trouble(exceptions.NoCredentialsError())
    assert isinstance(found, Refused)
    assert found.cause is RefusalCause.AUTHORITY


def test_what_botocore_will_not_send_was_not_sent() -> None:
    assert isinstance(aws.trouble(exceptions.ParamValidationError(report="Bucket")), Refused)


def test_a_reason_is_short_and_on_one_line() -> None:
    error = exceptions.ClientError(
        {"Error": {"Code": "X", "Message": "a\n\x1b" + "b" * 900}}, "PutObject"
    )
    reason = aws.trouble(error).reason
    assert len(reason) <= 300
    assert reason.isprintable()


def test_an_error_of_our_own_is_not_swallowed() -> None:
    def work() -> Any:
        raise KeyError("create_environment")

    with pytest.raises(KeyError):
        aws.answered(work)


def test_a_fact_that_aws_does_not_tell_is_unavailable() -> None:
    def work() -> Any:
        raise said("AccessDenied", 403)

    with pytest.raises(FactUnavailable, match="AccessDenied"):
        aws.told(work)


def test_a_client_makes_one_attempt_within_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    config = aws.client("sts", 2.0).meta.config
    assert config.retries["total_max_attempts"] == 1
    assert config.connect_timeout + config.read_timeout == pytest.approx(2.0)


def test_a_session_policy_holds_just_what_it_is_given_with_its_placeholders_filled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("RECORDS", "acme-records")
    permission = Permission(("s3:GetObject",), ("arn:{partition}:s3:::{RECORDS}/{account}",))
    [statement] = json.loads(aws.policy([permission], ROLE))["Statement"]
    assert statement == {
        "Effect": "Allow",
        "Action": ["s3:GetObject"],
        "Resource": ["arn:aws-cn:s3:::acme-records/123456789012"],
    }
