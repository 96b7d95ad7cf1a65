"""Telling the queue of an open case, at least once: the record is due until it has been told."""

from __future__ import annotations

from functions.domain.cases import ANNOUNCE_AGAIN, CaseState
from functions.ports import Clock, Notices, Stale, Store
from functions.usecases.records import changed, read_case


def announce_case(store: Store, clock: Clock, notices: Notices, case_id: str) -> str:
    """Send the notice, then note that it was sent; answers what was done, in one word.

    A case is written as due. Whoever opens it announces it at once; if that is lost on the way the sweeper does it, and
    does it again before the queue forgets.
    """
    case = read_case(store, case_id)
    if case is None or case.state is CaseState.SETTLED:
        return "gone"
    notices.case(case_id)
    told = case.model_copy(
        update={"announced": case.announced + 1, "due_at": clock.now() + ANNOUNCE_AGAIN}
    )
    try:
        store.write([changed(case, told)])
    except Stale:
        # Claimed or settled meanwhile. An open one stays due, and is announced once more.
        return "raced"
    return "announced"
