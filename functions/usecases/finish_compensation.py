"""The end of a compensating saga: compensated if nothing is owed any more, and otherwise what people have to know."""

from __future__ import annotations

from functions.domain.ledger import head as heads
from functions.domain.ledger.records import Attention
from functions.domain.ledger.recovery import can_be_driven
from functions.ports import Clock, Stale, Store
from functions.usecases import errors
from functions.usecases.records import changed, the_saga

TRIES = 20


def finish_compensation(store: Store, clock: Clock, saga_id: str) -> str:
    """Write the outcome if every undo is settled; answers the outcome, or "blocked" while a case is open.

    Raises NotSettledYet where something is owed that nobody has a case for: the saga is driven again.
    """
    for _ in range(TRIES):
        saga = the_saga(store, saga_id)
        if saga.head.outcome is not None:
            return saga.head.outcome.value
        ended = heads.finish_compensation(saga, now=clock.now())
        if ended is None:
            if can_be_driven(saga):
                raise errors.NotSettledYet(f"{saga_id}: an undo is neither settled nor in a case")
            return Attention.BLOCKED.value
        try:
            store.write([changed(saga.head, ended)])
        except Stale:
            continue
        return str(ended.outcome)
    raise errors.StillRunning(f"{saga_id} keeps changing")
