"""Rows for a rehearsal alone: targets that do not want to, beside the moments at which our own processes are struck."""

from __future__ import annotations

from simulation import ways
from simulation.boundary import Boundary, compensable, every
from simulation.faults import Fault
from simulation.scheduler import Place


def _run(index: int) -> Place:
    return "run", index, "call:before"


def _undo(index: int) -> Place:
    return "undo", index, "call:before"


RESISTANCE = (
    Boundary("target", "refuses the step", every, _run, begin=ways.refused),
    Boundary("target", "is not available", every, _run, begin=ways.unavailable("do")),
    Boundary(
        "target",
        "no longer accepts the credential",
        every,
        _run,
        already=ways.revoked,
        is_itself=Fault.DENIAL,
    ),
    Boundary(
        "target",
        "holds the key with other parameters",
        every,
        _run,
        begin=ways.conflicts("do"),
    ),
    Boundary("target", "refuses the undo", compensable, _undo, begin=ways.undo_refused),
    Boundary(
        "target",
        "is not available for the undo",
        compensable,
        _undo,
        begin=ways.unavailable("undo"),
    ),
    Boundary(
        "target",
        "has been changed by somebody else",
        compensable,
        _undo,
        begin=ways.turned,
        already=ways.moved_on,
    ),
    Boundary(
        "target",
        "holds the undo's key with other parameters",
        compensable,
        _undo,
        begin=ways.conflicts("undo"),
    ),
)
