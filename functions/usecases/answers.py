"""From an outcome to what a machine's Task is told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, assert_never

from functions.domain.outcome import (
    Applied,
    NotApplied,
    Outcome,
    RefusalCause,
    Refused,
    Unknown,
    UnknownCause,
)
from functions.usecases import errors
from functions.usecases.targets import OUTCOME


def told(answer: Mapping[str, Any], key: str, *, undoing: bool = False) -> dict[str, str]:
    """The Task's result where the effect exists, and otherwise the error that steers the machine."""
    outcome: Outcome = OUTCOME.validate_python(answer, strict=False)
    match outcome:
        case Applied():
            return {"key": key, "outcome": outcome.kind}
        case Refused(cause=RefusalCause.AUTHORITY):
            raise errors.AuthorityLost(f"{key}: {outcome.reason}")
        case Refused():
            error = errors.UndoBlocked if undoing else errors.StepRefused
            raise error(f"{key}: {outcome.reason}")
        case NotApplied():
            raise errors.NotAppliedYet(f"{key}: {outcome.reason}")
        case Unknown(cause=UnknownCause.KEY_CONFLICT):
            raise errors.KeyConflict(f"{key}: {outcome.reason}")
        case Unknown():
            raise errors.OutcomeUnknown(f"{key}: {outcome.reason}")
        case _:
            assert_never(outcome)
