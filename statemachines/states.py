"""Single states and retriers of the Amazon States Language, in the one form that every interpreter reads alike.

Every Task calls a function with the saga's id and constants, keeps nothing of what it answers (`ResultPath: null`), is
bounded in time, and is caught.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from functions.domain.catalogue import Retry
from statemachines import errors

State = dict[str, Any]
"""One state of the Amazon States Language, as JSON."""

INVOKE: Final = "arn:aws:states:::lambda:invoke"
INVOKE_AND_WAIT: Final = "arn:aws:states:::lambda:invoke.waitForTaskToken"
SAGA: Final = {"saga_id.$": "$.saga_id"}
EXECUTION: Final = {"execution.$": "$$.Execution.Name"}
TOKEN: Final = {"token.$": "$$.Task.Token"}

_START_UP: Final = 20
"""Seconds for a cold start and the way there and back. A function's own timeout does not count its start."""
_SPARE: Final = 2
"""Attempts beyond the ledger's budget, for those that fail before they claim anything."""


@dataclass(frozen=True, slots=True)
class Caught:
    """One catcher: these errors lead to that state."""

    errors: tuple[str, ...]
    target: str


@dataclass(frozen=True, slots=True)
class Asking:
    """How a function is asked: its timeout and the longest *still running* in seconds, its budget, what is final."""

    timeout: int
    wait: int
    retry: Retry
    final: tuple[str, ...] = errors.NOT_REPEATED


def anything(target: str) -> Caught:
    """The catcher that every Task ends with."""
    return Caught((errors.ANY,), target)


def task(
    function: str,
    payload: Mapping[str, Any],
    asking: Asking,
    *,
    follow: str | None,
    catch: Sequence[Caught],
    comment: str,
) -> State:
    """A Task that calls `function` and goes on to `follow`, or ends where that is None."""
    limit = asking.timeout + _START_UP
    return {
        "Type": "Task",
        "Comment": comment,
        **_call(INVOKE, function, payload),
        "TimeoutSeconds": limit,
        "Retry": _retriers(asking, max(asking.wait, limit)),
        **_onward(follow),
        "Catch": [_catcher(each) for each in catch],
    }


def gate(
    function: str,
    payload: Mapping[str, Any],
    asking: Asking,
    *,
    seconds: int,
    follow: str,
    catch: Sequence[Caught],
    comment: str,
) -> State:
    """A Task that hands out a callback token and waits `seconds` at most for its answer."""
    return {
        "Type": "Task",
        "Comment": comment,
        **_call(INVOKE_AND_WAIT, function, {**payload, **TOKEN}),
        "TimeoutSeconds": seconds,
        "Retry": _retriers(asking, asking.wait),
        **_onward(follow),
        "Catch": [_catcher(each) for each in catch],
    }


def parallel(branches: Iterable[Mapping[str, State]], *, follow: str, comment: str) -> State:
    """Branches side by side, each starting at its first state. Whatever happens in them, `follow` is next."""
    return {
        "Type": "Parallel",
        "Comment": comment,
        "Branches": [{"StartAt": next(iter(each)), "States": dict(each)} for each in branches],
        "ResultPath": None,
        "Next": follow,
        "Catch": [_catcher(anything(follow))],
    }


def fail(error: str, cause: str) -> State:
    """The end of an execution that could not even hand over to a person."""
    return {"Type": "Fail", "Error": error, "Cause": cause}


def succeed(comment: str) -> State:
    """The quiet end of a branch."""
    return {"Type": "Succeed", "Comment": comment}


def _call(resource: str, function: str, payload: Mapping[str, Any]) -> State:
    return {
        "Resource": resource,
        "Parameters": {"FunctionName": function, "Payload": dict(payload)},
        "ResultPath": None,
    }


def _onward(follow: str | None) -> State:
    return {"End": True} if follow is None else {"Next": follow}


def _catcher(caught: Caught) -> State:
    return {"ErrorEquals": list(caught.errors), "ResultPath": None, "Next": caught.target}


def _retriers(asking: Asking, wait: int) -> list[State]:
    """In this order, because the first retrier that matches an error decides."""
    return [
        {"ErrorEquals": list(asking.final), "MaxAttempts": 0},
        {"ErrorEquals": list(errors.WAITED_OUT), **_waiting_out(wait)},
        {"ErrorEquals": list(errors.SERVICE), **_backing_off(Retry(attempts=6))},
        {"ErrorEquals": [errors.ANY], **_backing_off(asking.retry, spare=_SPARE)},
    ]


def _waiting_out(seconds: int) -> State:
    """Delays without jitter that add up to more than `seconds`: short ones first, then about eight long ones."""
    interval, longest = 2, max(10, math.ceil(seconds / 8))
    attempts, total = 0, 0
    while total <= seconds:
        total += min(interval * 2**attempts, longest)
        attempts += 1
    return {
        "IntervalSeconds": interval,
        "BackoffRate": 2.0,
        "MaxDelaySeconds": longest,
        "MaxAttempts": attempts,
        "JitterStrategy": "NONE",
    }


def _backing_off(retry: Retry, spare: int = 0) -> State:
    """Full jitter. AWS takes whole seconds, and a longest delay above the first one."""
    interval = max(1, math.ceil(retry.interval.total_seconds()))
    return {
        "IntervalSeconds": interval,
        "BackoffRate": retry.backoff,
        "MaxDelaySeconds": max(interval + 1, math.ceil(retry.longest.total_seconds())),
        "MaxAttempts": retry.attempts + spare,
        "JitterStrategy": "FULL",
    }
