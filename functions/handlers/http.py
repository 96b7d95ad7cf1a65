"""What both APIs share: problems as RFC 9457, and a resolver that never answers with a traceback."""

from __future__ import annotations

import base64
import binascii
import json
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response
from aws_lambda_powertools.event_handler.exceptions import NotFoundError
from aws_lambda_powertools.event_handler.openapi.exceptions import RequestValidationError
from aws_lambda_powertools.utilities.typing import LambdaContext
from pydantic import BaseModel

from functions.domain.parsing import Parsed, parse_json
from functions.domain.problems import (
    PROBLEM_JSON,
    Code,
    Problem,
    ProblemDetails,
    problem,
    quoted,
)
from functions.handlers.wiring import logger
from functions.ports import BadCursor

V = TypeVar("V", bound=BaseModel)
_JSON = "application/json"
_AS_JSON = "Send one JSON object, in UTF-8, as application/json."
_PLACES = {"path": Code.INVALID_PARAMETER, "query": Code.INVALID_PARAMETER}


class Refusal(Exception):
    """An answer that is a problem; raised where a handler can not go on."""

    def __init__(self, *problems: Problem, **members: Any) -> None:
        super().__init__(problems[0].code)
        self.problems = problems
        self.members = members


def api(title: str) -> APIGatewayHttpResolver:
    """A resolver whose every failure is a problem."""
    app = APIGatewayHttpResolver(enable_validation=True)
    app.configure_openapi(title=title, version="1")
    app.exception_handler(Refusal)(_refused)
    app.exception_handler(RequestValidationError)(_invalid)
    app.exception_handler(BadCursor)(_bad_cursor)
    app.exception_handler(Exception)(_failed)
    app.not_found(_not_found)
    return app


def answered(
    app: APIGatewayHttpResolver,
    event: dict[str, Any],
    context: LambdaContext,
    *,
    admit: Callable[[Mapping[str, Any]], object],
) -> dict[str, Any]:
    """The resolver's answer, once `admit` lets the caller in and the body is JSON that means one thing.

    The resolver would read the body first, with a parser that takes the last of two equal keys and that fails on deep
    nesting.
    """
    try:
        admit(event)
        _must_be_clear(event)
    except Refusal as refusal:
        answer = _refused(refusal)
        return {
            "statusCode": answer.status_code,
            "headers": {"Content-Type": answer.content_type},
            "body": answer.body,
            "isBase64Encoded": False,
        }
    return app.resolve(event, context)


def sent(event: Mapping[str, Any]) -> bytes:
    """The body as it was sent, b"" where there was none. Raises Refusal for what is not Base64 and says it is."""
    body = event.get("body") or ""
    if not event.get("isBase64Encoded"):
        return bytes(body.encode("utf-8", "surrogatepass"))
    try:
        return base64.b64decode(body, validate=True)
    except binascii.Error as error:
        message = "The body is not the Base64 that it is said to be."
        raise Refusal(problem(Code.INVALID_JSON, message, _AS_JSON)) from error


def _must_be_clear(event: Mapping[str, Any]) -> None:
    body = sent(event)
    if not body:
        return
    kind = str((event.get("headers") or {}).get("content-type", "")).strip().lower()
    if kind and kind.partition(";")[0].strip() != _JSON:
        message = f"The body is sent as {quoted(kind)}."
        raise Refusal(problem(Code.INVALID_JSON, message, _AS_JSON))
    parsed = parse_json(body)
    if not isinstance(parsed, Parsed):
        raise Refusal(*parsed)


def shown(view: V, status: int = 200) -> Response[V]:
    """A view as JSON; the resolver holds it against the route's declared answer."""
    return Response(status_code=status, content_type="application/json", body=view)


def refused(problems: Sequence[Problem], **members: Any) -> Response[str]:
    """Problems as `application/problem+json`."""
    details = ProblemDetails.of(problems, **members)
    return Response(
        status_code=details.status,
        content_type=PROBLEM_JSON,
        body=json.dumps(details.body(), ensure_ascii=False),
    )


def not_found(what: str) -> Refusal:
    """404: there is no such thing, or it is another tenant's."""
    hint = "Check the id; you see only what is yours."
    return Refusal(problem(Code.NOT_FOUND, f"There is no such {what}.", hint))


def _refused(refusal: Refusal) -> Response[str]:
    return refused(refusal.problems, **refusal.members)


def _invalid(error: RequestValidationError) -> Response[str]:
    return refused([_problem(each) for each in error.errors()])


def _bad_cursor(_error: BadCursor) -> Response[str]:
    hint = "Use `next` of the page before as it is, with the same parameters."
    return refused(
        [problem(Code.INVALID_PARAMETER, "Not a cursor of this list.", hint, at=("cursor",))]
    )


def _problem(error: Mapping[str, Any]) -> Problem:
    place, *path = error.get("loc", ("body",))
    code = _PLACES.get(str(place), Code.BAD_VALUE)
    if error.get("type") == "missing":
        code = Code.MISSING_FIELD
    elif error.get("type") == "extra_forbidden":
        code = Code.UNKNOWN_FIELD
    elif error.get("type") == "json_invalid":
        code = Code.INVALID_JSON
    hint = f"See the OpenAPI description of this {place}."
    return problem(code, str(error.get("msg", "not usable")), hint, at=path)


def _not_found(_error: NotFoundError) -> Response[str]:
    hint = "See the OpenAPI description for the routes that exist."
    return refused([problem(Code.NOT_FOUND, "There is no such route.", hint)])


def _failed(error: Exception) -> Response[str]:
    # Its type and where it came from, without its message: that could hold what somebody sent.
    places = [f"{f.filename}:{f.lineno}" for f in traceback.extract_tb(error.__traceback__)[-8:]]
    logger.error("unplanned", error=type(error).__name__, places=places)
    hint = "Ask again with the same request id; nothing is done twice."
    return refused([problem(Code.INTERNAL_ERROR, "The service failed.", hint)])
