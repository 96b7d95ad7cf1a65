"""Bytes from outside become one JSON value, or problems. Never an exception, whatever the bytes are.

Stricter than the `json` module on purpose: what two readers could understand differently (repeated keys, numbers that a
double cannot hold, broken text) is refused here, before anything is decided or hashed.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import Any

from functions.domain.problems import Code, Problem, listed, problem, quoted

MOST_BYTES = 65_536
MOST_LEVELS = 20
MOST_INTEGER = 2**53 - 1

_SAFE_DIGITS = 17
_TOO_MANY_DIGITS = 10**18
_STRUCTURE = re.compile(rb'"(?:[^"\\]++|\\.)*+"?|[\[\]{}]', re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Parsed:
    """A JSON value: dict, list, str, int within 2^53 - 1, finite float, bool or None."""

    value: Any


class _Members(list[tuple[str, Any]]):
    """An object's members as they were written, repeated keys included."""


def parse_json(body: bytes) -> Parsed | list[Problem]:
    """The one value that `body` holds, at most 65,536 bytes of UTF-8 and 20 levels deep."""
    if len(body) > MOST_BYTES:
        message = f"The body has {len(body)} bytes, and at most {MOST_BYTES} are accepted."
        return [
            problem(Code.TOO_LARGE, message, "Send a shorter document; shorten its texts first.")
        ]
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        message = f"Byte {error.start} is not valid UTF-8."
        return [problem(Code.INVALID_UTF8, message, "Encode the document as UTF-8.")]
    if text.startswith("\ufeff"):
        message = "The body begins with a byte order mark."
        return [problem(Code.INVALID_UTF8, message, "Send plain UTF-8 without a byte order mark.")]
    # Depth is measured before anything recurses: how deep Python's own parser may go differs by version.
    too_deep = _nesting_problem(body)
    return [too_deep] if too_deep else _load(text)


def _nesting_problem(body: bytes) -> Problem | None:
    level = 0
    for match in _STRUCTURE.finditer(body):
        token = match.group()
        if token in (b"[", b"{"):
            level += 1
        elif token in (b"]", b"}"):
            level -= 1
        if level > MOST_LEVELS:
            message = f"At byte {match.start()} the nesting is more than {MOST_LEVELS} levels deep."
            return problem(
                Code.TOO_DEEP, message, "Send flat objects: a plan needs 5 levels or so."
            )
    return None


def _load(text: str) -> Parsed | list[Problem]:
    try:
        raw = json.loads(
            text,
            object_pairs_hook=_Members,
            # A longer integer is refused below; reading its digits would be slow, or an error of Python's own.
            parse_int=lambda d: int(d) if len(d) <= _SAFE_DIGITS else _TOO_MANY_DIGITS,
        )
    except json.JSONDecodeError as error:
        message = f"Not JSON at line {error.lineno}, column {error.colno}: {error.msg}."
        return [problem(Code.INVALID_JSON, message, "Send exactly one JSON object.")]
    problems: list[Problem] = []
    value = _settled(raw, (), problems)
    return listed(problems) if problems else Parsed(value)


def _settled(raw: Any, path: Path, problems: list[Problem]) -> Any:
    """`raw` with plain dicts for objects; what is wrong in it goes to `problems`, with the place."""
    match raw:
        case _Members():
            return _object(raw, path, problems)
        case list():
            return [_settled(item, (*path, i), problems) for i, item in enumerate(raw)]
        case str() if _SURROGATE.search(raw):
            problems.append(_broken_text(path))
        case int() if abs(raw) > MOST_INTEGER:
            message = "The integer is beyond 2^53 - 1, and would change silently on its way."
            hint = "Use a string, if the field takes one; otherwise send a smaller number."
            problems.append(problem(Code.UNSAFE_INTEGER, message, hint, at=path))
        case float() if not math.isfinite(raw):
            message = "The number is not finite: NaN, Infinity, or too large to be represented."
            hint = 'Send a finite number; an amount of money is a string, as in "180.00".'
            problems.append(problem(Code.NOT_FINITE_NUMBER, message, hint, at=path))
    return raw


def _object(members: _Members, path: Path, problems: list[Problem]) -> dict[str, Any]:
    settled: dict[str, Any] = {}
    for key, raw in members:
        here = (*path, key)
        if _SURROGATE.search(key):
            problems.append(_broken_text(here))
        if key in settled:
            message = f"The key {quoted(key)} appears more than once in one object."
            hint = "Keep one of them; each key may appear once."
            problems.append(problem(Code.DUPLICATE_KEY, message, hint, at=here))
        settled[key] = _settled(raw, here, problems)
    return settled


def _broken_text(path: Path) -> Problem:
    message = "The text holds half of a surrogate pair."
    return problem(
        Code.LONE_SURROGATE, message, "Write whole characters, or their full escape.", at=path
    )
