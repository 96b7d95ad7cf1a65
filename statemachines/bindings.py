"""What a shape is bound to: published functions, their timeouts, the pace of asking again, the machine's role."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Literal

from functions.domain.catalogue import Catalogue, Retry, Step

LEASE_GRACE: Final = timedelta(seconds=5)
"""A lease outlives its function by this, so that a claim never lapses under a call that is still running."""

Side = Literal["run", "undo"]
ArnOf = Callable[[str, Side], str]
"""From a step's name and side to the ARN of its function's published version."""


@dataclass(frozen=True, slots=True)
class StepBinding:
    """One step's functions. Timeouts are the functions' own, in seconds.

    `run_wait` and `undo_wait` are seconds: the machine waits out *still running* and *not settled yet* for longer than
    that, because before it neither a lapsed lease nor a late effect can be told. The undo fields are None where the step
    has no undo (`undo_wait` is then 0).
    """

    run: str
    undo: str | None
    run_timeout: int
    undo_timeout: int | None
    run_retry: Retry
    undo_retry: Retry | None
    run_wait: int
    undo_wait: int


@dataclass(frozen=True, slots=True)
class Bindings:
    """Everything outside the shape that a machine is made from.

    `begin`, `finish`, `gate` and `open_case` are ARNs of published versions, `control_timeout` is the timeout of these
    four in seconds; `gate_timeout` is how long a gate may wait for people, in seconds: policy's longest wait and a few
    minutes. `role` is the ARN of the role that the machine assumes, `deployment` what the names of all machines of this
    deployment begin with.
    """

    steps: Mapping[str, StepBinding]
    begin: str
    finish: str
    gate: str
    open_case: str
    control_timeout: int
    gate_timeout: int
    role: str
    deployment: str = "sagaplane"


def bindings_for(
    catalogue: Catalogue,
    arn: ArnOf,
    *,
    begin: str,
    finish: str,
    gate: str,
    open_case: str,
    control_timeout: int,
    gate_timeout: int,
    role: str,
    deployment: str = "sagaplane",
) -> Bindings:
    """Bind every step of a catalogue, retired ones too: an open saga may still need them."""
    return Bindings(
        steps={step.name: _bind(step, arn) for step in catalogue.steps},
        begin=begin,
        finish=finish,
        gate=gate,
        open_case=open_case,
        control_timeout=control_timeout,
        gate_timeout=gate_timeout,
        role=role,
        deployment=deployment,
    )


def _bind(step: Step, arn: ArnOf) -> StepBinding:
    run_wait = step.function_timeout + LEASE_GRACE + step.settlement.settles_after
    undo, undo_timeout = step.undo, step.undo_function_timeout
    if undo is None or undo_timeout is None:
        return StepBinding(
            run=arn(step.name, "run"),
            undo=None,
            run_timeout=_seconds(step.function_timeout),
            undo_timeout=None,
            run_retry=step.retry,
            undo_retry=None,
            run_wait=_seconds(run_wait),
            undo_wait=0,
        )
    # An undo waits for the forward call to settle, and then perhaps for its own.
    undo_wait = run_wait + undo_timeout + LEASE_GRACE + undo.settlement.settles_after
    return StepBinding(
        run=arn(step.name, "run"),
        undo=arn(step.name, "undo"),
        run_timeout=_seconds(step.function_timeout),
        undo_timeout=_seconds(undo_timeout),
        run_retry=step.retry,
        undo_retry=undo.retry,
        run_wait=_seconds(run_wait),
        undo_wait=_seconds(undo_wait),
    )


def _seconds(duration: timedelta) -> int:
    return math.ceil(duration.total_seconds())
