"""Names of states, machines and executions.

A state is named after its place in the plan, so that the graph in the console reads like the plan. The compiler writes
these names and the verifier expects them. AWS limits: a state's name has at most 80 characters and is unique in the
whole machine, branches included; names of machines and executions have at most 80 of `[A-Za-z0-9_-]`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

LONGEST = 80
_CATALOGUE, _DIGEST = 20, 24
FINISH = "finish compensation"
STOPPED = "stopped"

_STEP = re.compile(r"[a-z0-9_]{1,60}")
_RESOURCE = re.compile(r"[A-Za-z0-9_-]{1,80}")
_STATE = re.compile(r"[a-z0-9_+.()]+( [a-z0-9_+.()]+)*")


def forward(index: int, step: str) -> str:
    """The step itself: `1 authorize_payment`."""
    return f"{index} {_checked(step)}"


def settle(index: int, step: str) -> str:
    """Finding out what became of the boundary's call."""
    return f"settle {forward(index, step)}"


def approve(index: int, step: str) -> str:
    """The gate beside the pivot, where people are asked."""
    return f"approve {forward(index, step)}"


def case(index: int, step: str) -> str:
    """Handing a forward step to a person."""
    return f"case {forward(index, step)}"


def begin(index: int, step: str) -> str:
    """Turning the saga back, because of this step."""
    return f"begin {forward(index, step)}"


def undo(index: int, step: str) -> str:
    """The step's compensation."""
    return f"undo {forward(index, step)}"


def undo_case(index: int, step: str) -> str:
    """Handing a compensation to a person."""
    return f"undo case {forward(index, step)}"


def undo_left(index: int, step: str) -> str:
    """The end of a branch whose compensation could not even be handed to a person: the ledger still owes it."""
    return f"undo left {forward(index, step)}"


def wave(indexes: Iterable[int]) -> str:
    """Undos that run side by side: `undo 0+2`. Waves are disjoint, so the lowest index keeps a long one's name unique."""
    ordered = sorted(indexes)
    name = "undo " + "+".join(map(str, ordered))
    return name if len(name) <= LONGEST else f"undo {ordered[0]}..{ordered[-1]} ({len(ordered)})"


def is_state_name(name: str) -> bool:
    """Whether AWS, and a person reading the graph, can take this as a state's name."""
    return len(name) <= LONGEST and _STATE.fullmatch(name) is not None


def machine_name(deployment: str, catalogue: str, digest: str) -> str:
    """`<deployment>-<catalogue, at most 20>-<24 hex digits of the digest>`. Raises ValueError for what AWS would refuse.

    The deployment comes first, so that roles and rules can tell the machines of two stages in one account apart.
    """
    return _resource(f"{deployment}-{catalogue[:_CATALOGUE]}-{digest[:_DIGEST]}")


def execution_name(saga_id: str, epoch: int) -> str:
    """`<saga id>-<epoch>`: each driver of a saga has its own. Raises ValueError for what AWS would refuse."""
    if epoch < 0:
        raise ValueError(f"not an epoch: {epoch!r}")
    return _resource(f"{saga_id}-{epoch}")


def _resource(name: str) -> str:
    if not _RESOURCE.fullmatch(name):
        raise ValueError(f"not a legal name on AWS: {name!r}")
    return name


def _checked(step: str) -> str:
    if not _STEP.fullmatch(step):
        raise ValueError(f"not a step name of at most 60 of [a-z0-9_]: {step!r}")
    return step
