"""An execution ended otherwise than by its own last state: the ledger alone is enough to go on."""

from __future__ import annotations

from collections.abc import Callable

from functions.domain.ledger.records import Saga
from functions.domain.ledger.recovery import can_be_driven
from functions.ports import Store
from functions.usecases.records import read_saga


def rescue(store: Store, drive: Callable[[Saga], str], execution: str) -> str:
    """Drive the saga on if `execution` was its driver and it has neither ended nor come into a person's hands."""
    saga_id = execution.rsplit("-", 1)[0]
    saga = read_saga(store, saga_id)
    if saga is None or saga.head.execution != execution:
        return "not ours"
    if not can_be_driven(saga):
        return "at rest"
    return drive(saga)
