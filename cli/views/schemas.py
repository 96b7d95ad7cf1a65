"""A JSON Schema as one line of words: what an argument may be, with its limits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Schema = Mapping[str, Any]
_DEPTH = 5


def arguments(schema: Schema) -> Iterator[tuple[str, str, str]]:
    """Name (with `?` where it may be left out), limits, description of every argument."""
    definitions = schema.get("$defs", {})
    required = set(schema.get("required", ()))
    for name, each in schema.get("properties", {}).items():
        mark = name if name in required else f"{name}?"
        yield mark, limits(each, definitions), described(each, definitions)


def described(schema: Schema, definitions: Schema) -> str:
    """What the schema says of it, with its examples."""
    found = _resolved(schema, definitions)
    text = str(schema.get("description") or found.get("description") or "")
    examples = schema.get("examples") or found.get("examples")
    if examples:
        text = f"{text} E.g. {', '.join(str(e) for e in examples[:3])}.".strip()
    return text


def limits(schema: Schema, definitions: Schema, depth: int = _DEPTH) -> str:
    """`text, at most 32 characters, like ^[0-9]+$`; `whole number, 1 to 1000`; `one of A, B, C`."""
    found = _resolved(schema, definitions)
    if depth == 0:
        return "…"
    if "const" in found:
        return f"always {found['const']}"
    if "enum" in found:
        return f"one of {', '.join(str(value) for value in found['enum'])}"
    choices = [*found.get("anyOf", ()), *found.get("oneOf", ())]
    if choices:
        return " or ".join(limits(each, definitions, depth - 1) for each in choices)
    match found.get("type"):
        case "string":
            return _text(found)
        case "integer" | "number":
            return _number(found)
        case "boolean":
            return "true or false"
        case "null":
            return "nothing"
        case "array":
            return _list(found, definitions, depth)
        case "object":
            inner = [
                f"{name}: {what}" for name, what, _ in arguments({**found, **_defs(definitions)})
            ]
            return f"object ({'; '.join(inner)})"
        case other:
            return str(other or "anything")


def _defs(definitions: Schema) -> dict[str, Any]:
    return {"$defs": definitions}


def _resolved(schema: Schema, definitions: Schema) -> Schema:
    for _ in range(_DEPTH):
        reference = schema.get("$ref")
        if not isinstance(reference, str):
            break
        schema = definitions.get(reference.removeprefix("#/$defs/"), {})
    return schema


def _text(schema: Schema) -> str:
    parts = [str(schema.get("format") or "text")]
    parts += _range(schema.get("minLength"), schema.get("maxLength"), "characters")
    if schema.get("pattern"):
        parts.append(f"like {schema['pattern']}")
    return ", ".join(parts)


def _number(schema: Schema) -> str:
    kind = "whole number" if schema.get("type") == "integer" else "number"
    parts = [kind, *_range(schema.get("minimum"), schema.get("maximum"))]
    if "exclusiveMinimum" in schema:
        parts.append(f"over {schema['exclusiveMinimum']}")
    if "exclusiveMaximum" in schema:
        parts.append(f"under {schema['exclusiveMaximum']}")
    return ", ".join(parts)


def _list(schema: Schema, definitions: Schema, depth: int) -> str:
    inner = limits(schema.get("items", {}), definitions, depth - 1)
    size = _range(schema.get("minItems"), schema.get("maxItems"), "entries")
    return ", ".join([f"list of ({inner})", *size])


def _range(least: Any, most: Any, unit: str = "") -> list[str]:
    tail = f" {unit}" if unit else ""
    match least, most:
        case None, None:
            return []
        case None | 0, _ if unit:
            return [f"at most {most}{tail}"]
        case None, _:
            return [f"at most {most}{tail}"]
        case _, None:
            return [f"at least {least}{tail}"]
        case _ if least == most:
            return [f"exactly {least}{tail}"]
        case _:
            return [f"{least} to {most}{tail}"]
