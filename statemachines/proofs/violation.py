"""What is wrong with a machine, and where."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Code(StrEnum):
    """Why a machine must not be created. Stable: tests, logs and people refer to these."""

    MALFORMED = "malformed"
    """Not a state machine at all, or a state of a type that no saga needs."""
    ILLEGAL_NAME = "illegal_name"
    UNEXPECTED_STATE = "unexpected_state"
    """A state that a machine of this shape does not have."""
    MISSING_STATE = "missing_state"
    DUPLICATE_STATE = "duplicate_state"
    MISSING_TARGET = "missing_target"
    """A `StartAt` or `Next` to a state that does not exist beside it. Emulators accept that, AWS does not."""
    UNREACHABLE = "unreachable"
    NO_WAY_ON = "no_way_on"
    """Not exactly one of `Next` and `End`."""
    UNEXPECTED_FIELD = "unexpected_field"
    RESULT_KEPT = "result_kept"
    """`ResultPath` is not null: an answer would travel through the machine."""
    UNBOUNDED = "unbounded"
    """No sound `TimeoutSeconds`."""
    UNSOUND_RETRY = "unsound_retry"
    UNCAUGHT = "uncaught"
    FOREIGN_PATH = "foreign_path"
    """Reads something else than the saga's id, the execution's name or, in the gate, the token."""
    FOREIGN_TEXT = "foreign_text"
    """An intrinsic function, an expression, or text that no compiler wrote."""
    WRONG_CALL = "wrong_call"
    """Calls with a resource or a payload that is not this state's."""
    UNPINNED_FUNCTION = "unpinned_function"
    MIXED_FUNCTIONS = "mixed_functions"
    """One function plays two parts, or one part is played by two functions."""
    WRONG_FAILURE = "wrong_failure"
    """A failure leads elsewhere than to its own *begin*, settling, gate or case."""
    WRONG_SUCCESS = "wrong_success"
    """A success leads elsewhere than to what follows in the plan."""
    UNDO_SKIPPED = "undo_skipped"
    """A path from *begin* misses the undo of a step that may have run, or the finish."""
    UNDO_AFTER_BOUNDARY = "undo_after_boundary"
    UNDO_WITHOUT_BEGIN = "undo_without_begin"
    FORWARD_AFTER_BEGIN = "forward_after_begin"
    UNDO_ORDER = "undo_order"
    ENDLESS = "endless"
    """A cycle other than the pivot and its gate."""
    TOO_LARGE = "too_large"
    TOO_LONG = "too_long"
    """The worst execution would pass the bound on history events."""


@dataclass(frozen=True, slots=True)
class Violation:
    """One property that does not hold; `state` is "" where it is the whole machine's."""

    code: Code
    state: str
    message: str
