"""How much of its history an execution of a plan may write: AWS ends one at 25,000 events, and nothing catches that.

A machine is proved before it is created (`statemachines/proofs/limits.py`). A plan whose machine would fail that proof must
not be admitted in the first place, so its worst case is counted here from the catalogue alone; never below what the
proof counts, and little above it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from functions.domain.approvals import MOST_ROUNDS
from functions.domain.catalogue import Kind, Retry, Step

MOST_EVENTS: Final = 20_000
_EXECUTION: Final = 4
"""Its start and its end, and the state that gives up."""
_TASK: Final = 2
_ATTEMPT: Final = 3
_ATTEMPT_WITH_TOKEN: Final = 4
_WAVE: Final = 4
_SERVICE: Final = 6
_SPARE: Final = 2
_GRACE: Final = timedelta(seconds=5)
_CONTROL: Final = timedelta(seconds=30)
_START_UP: Final = 20
_CONTROL_ATTEMPTS: Final = 6


def worst_history(steps: Sequence[Step]) -> int:
    """The most events of one execution: every attempt of every call fails, all the way forward or all the way back."""
    boundary = next((i for i, s in enumerate(steps) if s.kind is not Kind.COMPENSABLE), len(steps))
    before = sum(_run(step) for step in steps[:boundary])
    crossing = _crossing(steps[boundary]) if boundary < len(steps) else 0
    after = sum(_run(step) for step in steps[boundary + 1 :]) + _control()
    back = 2 * _control() + sum(_undo(step) for step in steps[:boundary])
    return _EXECUTION + before + crossing + max(after, back)


def _crossing(step: Step) -> int:
    """The boundary and its settling; a pivot takes turns with its gate."""
    settling = _run(step)
    if step.kind is not Kind.PIVOT:
        return _run(step) + settling
    gate = _task(_attempts(_CONTROL, _CONTROL_ATTEMPTS), _ATTEMPT_WITH_TOKEN)
    return (MOST_ROUNDS + 1) * _run(step) + MOST_ROUNDS * gate + settling


def _run(step: Step) -> int:
    return _task(_attempts(_run_wait(step), step.retry.attempts))


def _undo(step: Step) -> int:
    """An undo and its case, in a wave of its own at worst."""
    undo, timeout = step.undo, step.undo_function_timeout
    if undo is None or timeout is None:
        return 0
    wait = _run_wait(step) + timeout + _GRACE + undo.settlement.settles_after
    retry: Retry = undo.retry
    return _WAVE + _TASK + _task(_attempts(wait, retry.attempts)) + _control()


def _run_wait(step: Step) -> timedelta:
    return step.function_timeout + _GRACE + step.settlement.settles_after


def _control() -> int:
    return _task(_attempts(_CONTROL, _CONTROL_ATTEMPTS))


def _attempts(wait: timedelta, budget: int) -> int:
    """The first, and all that the retriers add: waiting out a lease, service errors, the budget."""
    seconds = math.ceil(wait.total_seconds()) + _START_UP
    return 1 + _waiting(seconds) + _SERVICE + budget + _SPARE


def _waiting(seconds: int) -> int:
    """Short delays first, doubled up to an eighth of the whole, until they add up to more."""
    longest, attempts, total = max(10, math.ceil(seconds / 8)), 0, 0
    while total <= seconds:
        total += min(2 ** (attempts + 1), longest)
        attempts += 1
    return attempts


def _task(attempts: int, each: int = _ATTEMPT) -> int:
    return _TASK + attempts * each
