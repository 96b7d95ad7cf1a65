"""A declaration as JSON, so that it has one digest: what a catalogue's version is made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import timedelta
from enum import Enum
from typing import Any

from pydantic import BaseModel


def as_json(declared: Any) -> Any:
    """Everything that a dataclass declares: durations in milliseconds, models as JSON schema, functions by their names.

    A function's code is not in it: who changes what a check or a query means raises the step's version. Raises
    TypeError for what is not a declaration.
    """
    if declared is None or isinstance(declared, bool | int | str):
        return declared.value if isinstance(declared, Enum) else declared
    if isinstance(declared, float):
        return declared
    if isinstance(declared, timedelta):
        return declared // timedelta(milliseconds=1)
    if isinstance(declared, tuple | list):
        return [as_json(item) for item in declared]
    if isinstance(declared, Mapping):
        return {str(name): as_json(item) for name, item in declared.items()}
    if isinstance(declared, type) and issubclass(declared, BaseModel):
        return declared.model_json_schema()
    if is_dataclass(declared) and not isinstance(declared, type):
        return {
            each.name: as_json(getattr(declared, each.name))
            for each in fields(declared)
            if each.init
        }
    if callable(declared):
        return f"{declared.__module__}:{declared.__qualname__}"
    raise TypeError(f"not a declaration: {declared!r}")
