"""Telling the queue once more of an approval that nobody has decided: at half of its time, by whoever sweeps."""

from __future__ import annotations

from functions.domain import approvals
from functions.domain.approvals import Approval
from functions.ports import Clock, Notices, Stale, Store
from functions.usecases.records import changed


def remind_approvers(store: Store, clock: Clock, notices: Notices, approval: Approval) -> str:
    """Send the notice, then note that it was sent; answers what was done, in one word.

    It is noted on the approval, so that it is sent once; a sweep that dies in between has the next one send it again.
    """
    notices.approval(approval.id)
    try:
        store.write([changed(approval, approvals.reminded(approval, clock.now()))])
    except Stale:
        # Somebody has decided meanwhile. If that was not enough it stays due, and is announced once more.
        return "raced"
    return "reminded"
