"""One HTTP call is exactly one outcome: against a target that answers, is silent, breaks off, or is not there."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict

from functions.catalogues import http
from functions.catalogues.http import JSONObject, Target, inquire, read_fact, request
from functions.domain.calls import Call, FactCall, FactUnavailable
from functions.domain.outcome import (
    Applied,
    NotApplied,
    NotFound,
    Receipt,
    RefusalCause,
    Refused,
    Tombstoned,
    Unknown,
    UnknownCause,
)

TARGET = Target(turned_away="unavailable")
TOKEN = "tok-7f3a9c"


@contextmanager
def target(answer: bytes | Callable[[socket.socket], None]) -> Iterator[tuple[str, list[bytes]]]:
    """A target that takes one request and answers these bytes, or does as told with the connection."""
    asked: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                asked.append(whole_request(connection))
                if callable(answer):
                    answer(connection)
                else:
                    connection.sendall(answer)

        thread = Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/things", asked
        thread.join(timeout=5)


def whole_request(connection: socket.socket) -> bytes:
    asked = b""
    while b"\r\n\r\n" not in asked:
        asked += connection.recv(65536)
    head, _, body = asked.partition(b"\r\n\r\n")
    length = next(
        (int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")),
        0,
    )  # fmt: skip
    while len(body) < length:
        body += connection.recv(65536)
    return head + b"\r\n\r\n" + body


def http_answer(status: int, body: bytes | str, extra: str = "") -> bytes:
    body = body.encode() if isinstance(body, str) else body
    head = f"HTTP/1.1 {status} X\r\nContent-Length: {len(body)}\r\n{extra}\r\n"
    return head.encode() + body


def receipt(body: JSONObject) -> Receipt:
    return Receipt(resource=body["id"], version=str(body["version"]))


def call(**changes: Any) -> Call:
    return Call(**{"key": "saga-1:0:do", "credential": TOKEN, "timeout": 1.0, **changes})


def asked_for(answer: Any, **changes: Any) -> Any:
    with target(answer) as (url, _):
        return request(call(**changes), "POST", url, {"a": 1}, target=TARGET, receipt=receipt)


def found_out(answer: bytes) -> Any:
    with target(answer) as (url, _):
        return inquire(call(), "GET", url, target=TARGET, receipt=receipt)


def test_a_success_with_a_receipt_is_applied() -> None:
    outcome = asked_for(http_answer(201, '{"id": "t-1", "version": 3}'))
    assert outcome == Applied(receipt=Receipt(resource="t-1", version="3"))


def test_a_notice_of_the_target_is_handed_on() -> None:
    outcome = asked_for(
        http_answer(200, '{"id": "t-1", "version": 3, "notice": "someone took it"}')
    )
    assert outcome.notice == "someone took it"


def test_the_key_the_credential_and_the_condition_are_sent() -> None:
    with target(http_answer(200, '{"id": "t-1", "version": 1}')) as (url, asked):
        request(call(condition="7"), "POST", url, {"a": "é"}, target=TARGET, receipt=receipt)
    head, _, body = asked[0].partition(b"\r\n\r\n")
    lines = set(head.decode().split("\r\n"))
    assert {
        "Idempotency-Key: saga-1:0:do",
        f"Authorization: Bearer {TOKEN}",
        'If-Match: "7"',
    } <= lines
    assert body == b'{"a": "\\u00e9"}'


@pytest.mark.parametrize(
    "body",
    ["", "[]", '"ok"', "{", '{"id": "t-1"}', '{"id": 7, "version": 1}', '{"id": "", "version": 1}',
     "[" * 100_000, b"\xff\xfe"],
)  # fmt: skip
def test_a_success_that_is_no_receipt_is_unknown(body: bytes | str) -> None:
    outcome = asked_for(http_answer(200, body))
    assert isinstance(outcome, Unknown)
    assert outcome.cause is UnknownCause.UNPLANNED


def test_a_target_that_only_heard_us_has_not_said_that_it_did_it() -> None:
    outcome = asked_for(http_answer(202, '{"id": "t-1", "version": 3}'))
    assert isinstance(outcome, Unknown)


@pytest.mark.parametrize(
    ("status", "cause"),
    [
        (400, RefusalCause.BUSINESS),
        (402, RefusalCause.BUSINESS),
        (404, RefusalCause.BUSINESS),
        (409, RefusalCause.BUSINESS),
        (410, RefusalCause.BUSINESS),
        (422, RefusalCause.BUSINESS),
        (401, RefusalCause.AUTHORITY),
        (403, RefusalCause.AUTHORITY),
        (412, RefusalCause.PRECONDITION),
    ],
)
def test_a_decision_against_the_call_is_refused(status: int, cause: RefusalCause) -> None:
    outcome = asked_for(http_answer(status, '{"code": "nope", "message": "not today"}'))
    assert outcome == Refused(reason=f"nope: not today (HTTP {status})", cause=cause)


def test_a_throttled_call_did_nothing() -> None:
    assert isinstance(asked_for(http_answer(429, "{}")), NotApplied)


def test_503_did_nothing_only_if_the_target_says_so_in_its_own_word() -> None:
    assert isinstance(asked_for(http_answer(503, '{"code": "unavailable"}')), NotApplied)
    assert isinstance(asked_for(http_answer(503, '{"message": "Service Unavailable"}')), Unknown)


@pytest.mark.parametrize("status", [408, 500, 502, 504, 599])
def test_any_other_failure_of_the_target_is_unknown(status: int) -> None:
    outcome = asked_for(http_answer(status, '{"code": "unavailable"}'))
    assert isinstance(outcome, Unknown)
    assert outcome.cause is UnknownCause.SILENCE


@pytest.mark.parametrize(
    ("status", "code", "cause"),
    [
        (409, "key_in_use", UnknownCause.KEY_IN_USE),
        (422, "key_conflict", UnknownCause.KEY_CONFLICT),
    ],
)
def test_trouble_with_the_key_is_unknown_and_says_which(
    status: int, code: str, cause: UnknownCause
) -> None:
    outcome = asked_for(http_answer(status, f'{{"code": "{code}"}}'))
    assert isinstance(outcome, Unknown)
    assert outcome.cause is cause


def test_a_redirect_is_not_followed() -> None:
    with socket.create_server(("127.0.0.1", 0)) as elsewhere:
        elsewhere.setblocking(False)
        address = f"Location: http://127.0.0.1:{elsewhere.getsockname()[1]}/\r\n"
        assert isinstance(asked_for(http_answer(307, "{}", address)), Unknown)
        with pytest.raises(BlockingIOError):
            elsewhere.accept()


def test_where_nobody_listens_nothing_was_done() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/"
    outcome = request(call(), "POST", url, {}, target=TARGET, receipt=receipt)
    assert isinstance(outcome, NotApplied)
    assert "nothing was sent" in outcome.reason


@pytest.mark.parametrize(
    "url", ["", "/inventory/reservations", "ftp://127.0.0.1/", "http://", "http://[::", "http://host.invalid/"]
)  # fmt: skip
def test_an_address_that_leads_nowhere_means_that_nothing_was_done(url: str) -> None:
    assert isinstance(request(call(), "POST", url, {}, target=TARGET, receipt=receipt), NotApplied)


def test_a_connection_that_is_lost_after_sending_is_unknown() -> None:
    outcome = asked_for(lambda connection: connection.shutdown(socket.SHUT_RDWR))
    assert isinstance(outcome, Unknown)
    assert outcome.cause is UnknownCause.SILENCE


def test_an_answer_that_breaks_off_is_unknown() -> None:
    half = b'HTTP/1.1 201 X\r\nContent-Length: 500\r\n\r\n{"id": "t-1", "version": 1}'
    assert isinstance(asked_for(half), Unknown)


def test_no_answer_within_the_timeout_is_unknown() -> None:
    started = time.monotonic()
    outcome = asked_for(lambda _: time.sleep(0.4), timeout=0.1)
    assert isinstance(outcome, Unknown)
    assert outcome.reason == "no answer within 0.1 s"
    assert time.monotonic() - started < 2


def test_an_answer_drop_by_drop_ends_at_the_timeout_too() -> None:
    def drip(connection: socket.socket) -> None:
        try:
            connection.sendall(b"HTTP/1.1 200 X\r\nContent-Length: 1000\r\n\r\n")
            for _ in range(40):
                connection.sendall(b" ")
                time.sleep(0.05)
        except OSError:
            pass  # it hung up on us, as it should

    started = time.monotonic()
    assert isinstance(asked_for(drip, timeout=0.2), Unknown)
    assert time.monotonic() - started < 1.5


def test_an_answer_without_end_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "LONGEST_ANSWER", 1000)
    outcome = asked_for(http_answer(200, '{"id": "t-1", "version": 1}' + " " * 2000))
    assert isinstance(outcome, Unknown)


@pytest.mark.parametrize("credential", ["", " ", "a b", "a\r\nX-Evil: 1", "ключ", "a\x00b"])
def test_a_credential_that_cannot_be_sent_is_refused_without_being_quoted(credential: str) -> None:
    outcome = request(
        call(credential=credential),
        "POST",
        "http://127.0.0.1:9/",
        {},
        target=TARGET,
        receipt=receipt,
    )
    assert isinstance(outcome, Refused)
    assert outcome.cause is RefusalCause.AUTHORITY
    assert "Evil" not in outcome.reason


def test_a_reason_is_short_on_one_line_and_never_holds_the_credential() -> None:
    hostile = f'{{"code": "c\\nd", "message": "Bearer {TOKEN} \\u202e \\u0007{"x" * 5000}"}}'
    reason = asked_for(http_answer(409, hostile)).reason
    assert TOKEN not in reason
    assert len(reason) < 400
    assert reason.isprintable()


def test_a_key_that_did_something_is_found_with_its_receipt() -> None:
    finding = found_out(http_answer(200, '{"id": "t-1", "version": 1}'))
    assert finding == Applied(receipt=Receipt(resource="t-1", version="1"))


def test_a_key_that_is_not_there_is_not_found() -> None:
    assert found_out(http_answer(404, '{"code": "key_not_found"}')) == NotFound()


def test_a_cancelled_key_is_tombstoned() -> None:
    assert found_out(http_answer(410, '{"code": "key_cancelled"}')) == Tombstoned()


@pytest.mark.parametrize("status", [404, 410])
def test_an_address_that_is_not_there_says_nothing_about_a_key(status: int) -> None:
    assert isinstance(found_out(http_answer(status, '{"message": "Not Found"}')), Unknown)


def test_a_question_that_is_not_allowed_is_a_refusal_of_authority() -> None:
    finding = found_out(http_answer(403, "{}"))
    assert isinstance(finding, Refused)
    assert finding.cause is RefusalCause.AUTHORITY


class Thing(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")

    size: int


def fact(answer: bytes) -> Thing | None:
    with target(answer) as (url, _):
        return read_fact(FactCall("t", TOKEN, 0.5), url, Thing, absent="thing_not_found")


def test_a_fact_is_read_as_its_model() -> None:
    assert fact(http_answer(200, '{"size": 3, "more": true}')) == Thing(size=3)


def test_a_fact_that_is_not_there_is_none() -> None:
    assert fact(http_answer(404, '{"code": "thing_not_found"}')) is None


@pytest.mark.parametrize(
    ("status", "body"),
    [(404, "{}"), (401, "{}"), (500, "{}"), (503, "{}"), (200, '{"size": "3"}'), (200, "[1]"), (302, "{}")],
)  # fmt: skip
def test_a_fact_that_cannot_be_read_is_unavailable_and_never_none(status: int, body: str) -> None:
    with pytest.raises(FactUnavailable):
        fact(http_answer(status, body))


def test_a_fact_nobody_answers_for_is_unavailable() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/"
    with pytest.raises(FactUnavailable, match="nothing was sent"):
        read_fact(FactCall("t", TOKEN, 0.5), url, Thing, absent="thing_not_found")
