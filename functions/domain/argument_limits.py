"""What a step's arguments may be: closed in shape, strict in type, bounded in size.

Read from the JSON schema, which is what an agent is shown, so that what is checked and what is promised are one text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, get_args

from pydantic import BaseModel

_BOUNDED_FORMATS = frozenset({"date", "date-time", "time", "duration", "uuid"})
_SAFE_INTEGER = 2**53 - 1
_LONGEST_STRING = 65_536
_LONGEST_ARRAY = 1_000

Schema = Mapping[str, Any]


def open_ends(model: type[BaseModel]) -> Iterator[str]:
    """Each place where an argument could hold anything, or any amount of it, in words that begin with its name."""
    for each in _models(model, set()):
        if not each.model_config.get("strict"):
            yield f"{each.__name__} is not strict: set strict=True, or text is quietly turned into numbers"
    schema = model.model_json_schema()
    yield from _Walk(schema.get("$defs", {})).visit(schema, "arguments", ())


def _models(annotation: Any, seen: set[type]) -> Iterator[type[BaseModel]]:
    """Every model in an annotation: pydantic does not hand strictness down to the inner ones."""
    if (
        isinstance(annotation, type)
        and issubclass(annotation, BaseModel)
        and annotation not in seen
    ):
        seen.add(annotation)
        yield annotation
        for field in annotation.model_fields.values():
            yield from _models(field.annotation, seen)
    for part in get_args(annotation):
        yield from _models(part, seen)


class _Walk:
    """One walk through a schema; `within` holds the definitions that are being visited, to notice recursion."""

    def __init__(self, definitions: Mapping[str, Schema]) -> None:
        self._definitions = definitions

    def visit(self, schema: Schema, at: str, within: tuple[str, ...]) -> Iterator[str]:
        if reference := schema.get("$ref"):
            name = str(reference).removeprefix("#/$defs/")
            if name in within:
                yield f"{at} contains itself, to any depth"
                return
            yield from self.visit(self._definitions[name], at, (*within, name))
            return
        alternatives = [
            *schema.get("anyOf", ()),
            *schema.get("oneOf", ()),
            *schema.get("allOf", ()),
        ]
        for alternative in alternatives:
            yield from self.visit(alternative, at, within)
        if not alternatives and "const" not in schema and "enum" not in schema:
            yield from self._typed(schema, at, within)

    def _typed(self, schema: Schema, at: str, within: tuple[str, ...]) -> Iterator[str]:
        match schema.get("type"):
            case "object":
                yield from self._object(schema, at, within)
            case "array":
                yield from self._array(schema, at, within)
            case "string":
                yield from _string(schema, at)
            case "integer":
                yield from _integer(schema, at)
            case "number":
                yield f"{at} is a float, which is never exact: use an integer, or Amount for money"
            case "boolean" | "null":
                pass
            case other:
                yield f"{at} may be anything (type {other}): name its type"

    def _object(self, schema: Schema, at: str, within: tuple[str, ...]) -> Iterator[str]:
        if schema.get("additionalProperties") is not False or "patternProperties" in schema:
            yield f"{at} takes names that are not declared: set model_config extra='forbid', name every field"
        for name, inner in schema.get("properties", {}).items():
            yield from self.visit(inner, name if at == "arguments" else f"{at}.{name}", within)

    def _array(self, schema: Schema, at: str, within: tuple[str, ...]) -> Iterator[str]:
        if schema.get("maxItems", _LONGEST_ARRAY + 1) > _LONGEST_ARRAY:
            yield f"{at} is a collection without a limit: set max_length to at most {_LONGEST_ARRAY}"
        for index, inner in enumerate(schema.get("prefixItems", ())):
            yield from self.visit(inner, f"{at}[{index}]", within)
        if "items" in schema:
            yield from self.visit(schema["items"], f"{at}[]", within)
        elif "prefixItems" not in schema:
            yield f"{at}[] may be anything: name its type"


def _string(schema: Schema, at: str) -> Iterator[str]:
    if schema.get("format") in _BOUNDED_FORMATS:
        return
    if schema.get("maxLength", _LONGEST_STRING + 1) > _LONGEST_STRING:
        yield f"{at} is text without a limit: set max_length, or make it an enumeration"


def _integer(schema: Schema, at: str) -> Iterator[str]:
    lowest = schema.get("minimum", schema.get("exclusiveMinimum"))
    highest = schema.get("maximum", schema.get("exclusiveMaximum"))
    if lowest is None or highest is None:
        yield f"{at} is a number without bounds: set ge and le"
    elif lowest < -_SAFE_INTEGER or highest > _SAFE_INTEGER:
        yield f"{at} goes beyond the integers that JSON holds exactly: stay within ±{_SAFE_INTEGER}"
