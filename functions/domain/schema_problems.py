"""What a typed model finds wrong in an agent's JSON, as problems that say what to change.

Values are read strictly: nothing is converted, so that what was checked, hashed, shown to a person and sent is one
value. The descriptions that a model's fields carry are part of the hints.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails
from pydantic_core.core_schema import ErrorType

from functions.domain.problems import Code, Problem, clean, problem, quoted

M = TypeVar("M", bound=BaseModel)
Path = tuple[str | int, ...]

_CODE = re.compile(r"[a-z][a-z0-9_]{0,59}")
_OWN_TYPES = frozenset(get_args(ErrorType))
_FAMILIES: tuple[tuple[Code, frozenset[str]], ...] = (
    (
        Code.WRONG_TYPE,
        frozenset({"int_parsing", "int_from_float", "bool_parsing", "float_parsing"}),
    ),
    (Code.TOO_SHORT, frozenset({"too_short", "string_too_short", "bytes_too_short"})),
    (Code.TOO_LONG, frozenset({"too_long", "string_too_long", "bytes_too_long", "url_too_long"})),
    (
        Code.OUT_OF_RANGE,
        frozenset(
            {
                "greater_than",
                "greater_than_equal",
                "less_than",
                "less_than_equal",
                "multiple_of",
                "int_parsing_size",
                "decimal_max_digits",
                "decimal_max_places",
                "decimal_whole_digits",
            }
        ),
    ),
    (Code.NOT_FINITE_NUMBER, frozenset({"finite_number"})),
    (
        Code.NOT_ONE_OF,
        frozenset({"enum", "literal_error", "union_tag_invalid", "union_tag_not_found"}),
    ),
    (Code.BAD_VALUE, frozenset({"value_error", "assertion_error"})),
)


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a value stands: its path from the document's root, and which codes and step speak for it."""

    at: Path = ()
    missing: Code = Code.MISSING_FIELD
    unknown: Code = Code.UNKNOWN_FIELD
    step: Callable[[Path], str | None] = lambda _: None


def fit(model: type[M], value: Any, spot: Spot) -> M | list[Problem]:
    """An instance of `model` from a parsed JSON value, or everything in it that does not fit."""
    try:
        return model.model_validate_json(json.dumps(value))
    except ValidationError as error:
        found: dict[tuple[str, str], Problem] = {}
        for details in error.errors(include_url=False):
            one = _problem(model, value, details, spot)
            found.setdefault((one.code, one.pointer), one)
        return list(found.values())


def closest(name: str, names: Iterable[str]) -> str | None:
    """The name that was probably meant, if one is near."""
    return next(iter(difflib.get_close_matches(name[:100], list(names), n=1)), None)


def _problem(model: type[BaseModel], value: Any, details: ErrorDetails, spot: Spot) -> Problem:
    path = _path(value, details)
    field = _Field.at(model, path)
    code = _code(details, spot)
    message, hint, allowed = _words(code, path, details, field, spot)
    place = (*spot.at, *path)
    return problem(code, message, hint, at=place, step=spot.step(place), allowed=allowed)


def _path(value: Any, details: ErrorDetails) -> Path:
    """The error's location as a path in the document: names of union branches and validators are left out."""
    path: list[str | int] = []
    location = details["loc"]
    for token in location:
        if _has(value, token):
            value = value[token]
        elif not (token is location[-1] and details["type"] == "missing"):
            continue
        path.append(token)
    return tuple(path)


def _has(value: Any, token: str | int) -> bool:
    if isinstance(value, dict):
        return token in value
    return isinstance(value, list) and isinstance(token, int) and 0 <= token < len(value)


def _code(details: ErrorDetails, spot: Spot) -> str:
    kind = details["type"]
    if kind not in _OWN_TYPES:
        # A validator of the catalogue names its own code, as money does.
        return kind if _CODE.fullmatch(kind) else Code.BAD_VALUE
    if kind == "missing":
        return spot.missing
    if kind == "extra_forbidden":
        return spot.unknown
    for code, kinds in _FAMILIES:
        if kind in kinds:
            return code
    return Code.WRONG_TYPE if kind.endswith("_type") else Code.BAD_FORMAT


def _words(
    code: str, path: Path, details: ErrorDetails, field: _Field | None, spot: Spot
) -> tuple[str, str, Sequence[str] | None]:
    """Message, hint and what is allowed."""
    name = quoted(_name(path)) if path else "The document"
    context = details.get("ctx", {})
    said = str(context.get("error", details["msg"])).rstrip(".")
    about = field.description if field else ""
    if code == spot.missing:
        return f"{name} is missing.", f"Add {name}. {about}".rstrip(), None
    if code == spot.unknown:
        known = field.siblings if field else ()
        near = closest(str(path[-1]), known)
        hint = f"Did you mean {quoted(near)}?" if near else "Leave it out; nothing reads it."
        return f"{name} is not known here.", hint, known
    if code == Code.WRONG_TYPE:
        sent = _json_type(details["input"])
        quotes = details["type"] == "string_type" and sent in {"a number", "a boolean"}
        hint = "Put it in quotes, as text." if quotes else "Send it as the type that is asked for."
        return f"{name}: {said}, and {sent} was sent.", f"{hint} {about}".rstrip(), None
    if code == Code.NOT_ONE_OF:
        allowed = field.choices if field else None
        hint = "Use one of the allowed values, spelled exactly so." if allowed else f"{said}."
        return f"{name}: {said}.", f"{hint} {about}".rstrip(), allowed
    hint = clean(str(context.get("hint") or about or "Change it so that it fits."))
    return f"{name}: {said}.", hint, None


def _name(path: Path) -> str:
    """A field's name, or for an item of an array the array's name and the index."""
    start = max((i for i, token in enumerate(path) if isinstance(token, str)), default=0)
    return "/".join(map(str, path[start:]))


def _json_type(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case list():
            return "an array"
    return "an object"


@dataclass(frozen=True, slots=True)
class _Field:
    """What the model declares at a path."""

    description: str
    siblings: tuple[str, ...]
    choices: tuple[str, ...] | None

    @classmethod
    def at(cls, model: type[BaseModel], path: Path) -> _Field | None:
        current: Any = model
        description = ""
        siblings: tuple[str, ...] = ()
        for token in path:
            current = _plain(current)
            if isinstance(current, type) and issubclass(current, BaseModel):
                siblings = tuple(current.model_fields)
                info = current.model_fields.get(str(token))
                description = (info.description or "") if info else ""
                current = info.annotation if info else None
            else:
                inner = [a for a in get_args(current) if a is not Ellipsis]
                siblings = ()
                current = inner[-1] if inner else None
        return cls(description, siblings, _choices(_plain(current)))


def _plain(annotation: Any) -> Any:
    """The annotation without its metadata, and without `| None`."""
    if get_origin(annotation) is Annotated:
        return _plain(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        inner = [a for a in get_args(annotation) if a is not NoneType]
        return _plain(inner[0]) if len(inner) == 1 else annotation
    return annotation


def _choices(annotation: Any) -> tuple[str, ...] | None:
    if get_origin(annotation) is Literal:
        return tuple(str(value) for value in get_args(annotation))
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return tuple(str(member.value) for member in annotation)
    return None
