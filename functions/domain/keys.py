"""Idempotency keys and digests.

Keys are built from the saga id, the step index and names of the catalogue, never from anything an agent sent. One intent has one key, on
every attempt, by machine or by person (seed two, "Make each undo idempotent").
"""

from __future__ import annotations

import hashlib
import re
from typing import Any

import rfc8785

_MOST_STEPS = 1000
_SAGA_ID = re.compile(r"[a-z0-9][a-z0-9-]{2,39}")
_ACTION = re.compile(r"[a-z][a-z0-9_]{0,59}")


def _checked(saga_id: str, index: int) -> str:
    if not _SAGA_ID.fullmatch(saga_id):
        raise ValueError(f"not a saga id: {saga_id!r}")
    if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < _MOST_STEPS:
        raise ValueError(f"not a step index: {index!r}")
    return f"{saga_id}:{index}"


def forward_key(saga_id: str, index: int) -> str:
    """The key under which a step's effect is asked for: `<saga id>:<index>:do`."""
    return f"{_checked(saga_id, index)}:do"


def undo_key(saga_id: str, index: int) -> str:
    """The key under which a step's compensation is asked for: `<saga id>:<index>:undo`."""
    return f"{_checked(saga_id, index)}:undo"


def other_action_key(saga_id: str, index: int, action: str) -> str:
    """The key of another declared action in place of the undo: `<saga id>:<index>:undo:<action>`."""
    if not _ACTION.fullmatch(action):
        raise ValueError(f"not an action's name: {action!r}")
    return f"{undo_key(saga_id, index)}:{action}"


def canonical(value: Any) -> str:
    """The one text of a JSON value (RFC 8785). Raises ValueError for what JSON cannot hold exactly."""
    return rfc8785.dumps(value).decode("utf-8")


def digest(value: Any) -> str:
    """SHA-256 over the canonical JSON of `value`, in hex."""
    return hashlib.sha256(rfc8785.dumps(value)).hexdigest()
