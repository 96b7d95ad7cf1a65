"""One HTTP call, one outcome. The only place where an adapter's answer is read as applied, refused, not applied, unknown.

Nothing here is repeated and no redirect is followed: who may ask again, and how often, is the ledger's to say. A
connection is never kept, since one that the target has closed meanwhile would turn a call that was never sent into one
that may have been.
"""

from __future__ import annotations

import json
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import monotonic
from typing import Any, TypeVar

import urllib3
from pydantic import BaseModel, ValidationError
from urllib3 import exceptions as failures

from functions.domain.calls import Call, FactCall, FactUnavailable
from functions.domain.outcome import (
    Applied,
    Finding,
    NotApplied,
    NotFound,
    Outcome,
    Receipt,
    RefusalCause,
    Refused,
    Tombstoned,
    Unknown,
    UnknownCause,
)

Model = TypeVar("Model", bound=BaseModel)
JSONObject = Mapping[str, Any]
ReadReceipt = Callable[[JSONObject], Receipt]
"""From the target's answer to a receipt. May raise KeyError, TypeError or ValueError: then nobody knows what happened."""

LONGEST_ANSWER = 256 * 1024
_CHUNK = 16 * 1024
_LONGEST_MESSAGE = 300
_POOL = urllib3.PoolManager(num_pools=4, maxsize=1, retries=False)

_OK, _ACCEPTED, _MULTIPLE, _BAD_REQUEST = 200, 202, 300, 400
_NOT_FOUND, _REQUEST_TIMEOUT, _GONE = 404, 408, 410
_TOO_MANY, _SERVER, _UNAVAILABLE = 429, 500, 503
_CAUSES = {
    401: RefusalCause.AUTHORITY,
    403: RefusalCause.AUTHORITY,
    412: RefusalCause.PRECONDITION,
}
_NO_ADDRESS = NotApplied(reason="the target's address is missing or unusable; nothing was sent")


@dataclass(frozen=True, slots=True)
class Answer:
    """What the target said: a status and a JSON object (empty where it sent none that can be read)."""

    status: int
    body: JSONObject

    @property
    def code(self) -> str:
        """The target's own word for what happened, or ""."""
        return str(self.body.get("code", ""))

    @property
    def succeeded(self) -> bool:
        """Whether the status says that it was done. 202 only says that it was heard."""
        return _OK <= self.status < _MULTIPLE and self.status != _ACCEPTED


@dataclass(frozen=True, slots=True)
class Target:
    """What a target promises about its answers, by the `code` in their bodies.

    `turned_away`: a 503 came before anything was done. `absent`: a 404 to a question by key means that there is no such
    key, and not that the address is wrong. `cancelled`: a 410 means that the key is unusable for good.
    """

    turned_away: str | None = None
    absent: str = "key_not_found"
    cancelled: str = "key_cancelled"
    in_use: str = "key_in_use"
    conflict: str = "key_conflict"


def request(
    call: Call,
    method: str,
    url: str,
    body: JSONObject,
    *,
    target: Target,
    receipt: ReadReceipt,
) -> Outcome:
    """Ask for an effect under the call's key, conditional on `call.condition` where it is set."""
    headers = {"Idempotency-Key": call.key, "Content-Type": "application/json"}
    if call.condition is not None:
        headers["If-Match"] = f'"{call.condition}"'
    answer = _exchange(call, method, url, headers, json.dumps(body).encode())
    if not isinstance(answer, Answer):
        return answer
    return _outcome(answer, target, receipt, call.credential)


def inquire(call: Call, method: str, url: str, *, target: Target, receipt: ReadReceipt) -> Finding:
    """Ask what became of the call's key (GET), or make it unusable (DELETE). Doing either twice changes nothing."""
    answer = _exchange(call, method, url, {}, None)
    if not isinstance(answer, Answer):
        return answer
    if answer.status == _NOT_FOUND and answer.code == target.absent:
        return NotFound()
    if answer.status == _GONE and answer.code == target.cancelled:
        return Tombstoned()
    if answer.status in {_NOT_FOUND, _GONE}:
        return Unknown(reason=_reason(answer, call.credential), cause=UnknownCause.UNPLANNED)
    return _outcome(answer, target, receipt, call.credential)


def read_fact(call: FactCall, url: str, model: type[Model], *, absent: str) -> Model | None:
    """Read a fact; None where the target says, with the code `absent`, that there is no such thing."""
    answer = _exchange(call, "GET", url, {}, None)
    if not isinstance(answer, Answer):
        raise FactUnavailable(answer.reason)
    if answer.status == _NOT_FOUND and answer.code == absent:
        return None
    if answer.status != _OK:
        raise FactUnavailable(_reason(answer, call.credential))
    try:
        return model.model_validate_json(json.dumps(answer.body))
    except ValidationError as error:
        where = ", ".join(sorted({".".join(map(str, e["loc"])) for e in error.errors()})[:5])
        raise FactUnavailable(f"the target's answer cannot be read at {where}") from None


def _outcome(answer: Answer, target: Target, receipt: ReadReceipt, credential: str) -> Outcome:
    status, reason = answer.status, _reason(answer, credential)
    if answer.succeeded:
        return _applied(answer, receipt)
    about_key = {target.in_use: UnknownCause.KEY_IN_USE, target.conflict: UnknownCause.KEY_CONFLICT}
    if answer.code in about_key:
        return Unknown(reason=reason, cause=about_key[answer.code])
    if status == _TOO_MANY or (status == _UNAVAILABLE and answer.code == target.turned_away):
        return NotApplied(reason=reason)
    if _BAD_REQUEST <= status < _SERVER and status != _REQUEST_TIMEOUT:
        return Refused(reason=reason, cause=_CAUSES.get(status, RefusalCause.BUSINESS))
    decided_nothing = status >= _SERVER or status == _REQUEST_TIMEOUT
    cause = UnknownCause.SILENCE if decided_nothing else UnknownCause.UNPLANNED
    return Unknown(reason=reason, cause=cause)


def _applied(answer: Answer, receipt: ReadReceipt) -> Applied | Unknown:
    notice = answer.body.get("notice")
    try:
        return Applied(
            receipt=receipt(answer.body), notice=_one_line(str(notice)) if notice else None
        )
    except (KeyError, TypeError, ValueError):
        return Unknown(
            reason=f"HTTP {answer.status}, but its answer is no receipt",
            cause=UnknownCause.UNPLANNED,
        )


def _exchange(
    call: Call | FactCall, method: str, url: str, headers: Mapping[str, str], body: bytes | None
) -> Answer | Refused | NotApplied | Unknown:
    """Send once and read the whole answer, all within `call.timeout` seconds."""
    if not _usable(call.credential):
        return Refused(
            reason="the credential is empty, or no bearer token", cause=RefusalCause.AUTHORITY
        )
    if not url.startswith(("https://", "http://")):
        return _NO_ADDRESS
    until = monotonic() + call.timeout
    try:
        response = _POOL.request(
            method,
            url,
            body=body,
            headers={
                "Authorization": f"Bearer {call.credential}",
                "Accept": "application/json",
                "Accept-Encoding": "identity",
                "Connection": "close",
                **headers,
            },
            timeout=urllib3.Timeout(total=call.timeout),
            redirect=False,
            preload_content=False,
        )
        try:
            return Answer(response.status, _json_object(_read(response, until)))
        finally:
            response.close()
    except failures.LocationValueError:
        return _NO_ADDRESS
    except (failures.NewConnectionError, failures.ConnectTimeoutError):
        return NotApplied(reason="no connection to the target; nothing was sent")
    except failures.ReadTimeoutError:
        return Unknown(reason=f"no answer within {call.timeout:g} s")
    except failures.SSLError as error:
        if isinstance(error.args[0], ssl.SSLCertVerificationError):
            return NotApplied(reason="the target's certificate is not trusted; nothing was sent")
        return Unknown(reason="the encrypted connection broke")
    except failures.HTTPError as error:
        return Unknown(reason=f"the connection was lost before the answer ({type(error).__name__})")


def _read(response: urllib3.BaseHTTPResponse, until: float) -> bytes:
    """The body, up to the limit and the deadline: a target that answers drop by drop ends here as well."""
    parts: list[bytes] = []
    size = 0
    while part := response.read1(_CHUNK):
        parts.append(part)
        size += len(part)
        if size > LONGEST_ANSWER:
            raise failures.BodyNotHttplibCompatible("answer too long")
        if monotonic() > until:
            raise failures.TimeoutError("answer too slow")
    return b"".join(parts)


def _json_object(body: bytes) -> JSONObject:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _usable(credential: str) -> bool:
    """Header values that cannot be sent raise errors that quote them; those are not let that far."""
    return (
        credential.isascii()
        and credential.isprintable()
        and bool(credential)
        and " " not in credential
    )


def _reason(answer: Answer, credential: str) -> str:
    """The target's own words, short, on one line, and without our credential."""
    said = ": ".join(part for part in (answer.code, str(answer.body.get("message", ""))) if part)
    return f"{_one_line(said.replace(credential, '[credential]'))} (HTTP {answer.status})".strip()


def _one_line(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text)[:_LONGEST_MESSAGE]
