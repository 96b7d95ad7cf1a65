"""What must not be forgotten: the due index is read each minute, and everything is looked at again before it is acted on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from functions.domain import approvals
from functions.domain.approvals import Approval, ApprovalState
from functions.domain.ledger.head import DUE_SHARDS
from functions.ports import Callbacks, Clock, Item, Notices, Stale, Store, Table
from functions.usecases.announce_case import announce_case
from functions.usecases.decide_approval import answer
from functions.usecases.records import changed, parsed, read_approval
from functions.usecases.remind_approvers import remind_approvers

SHARDS = tuple(f"due-{n}" for n in range(DUE_SHARDS))
AT_ONCE = 100
PAGES = 20


def sweep(
    store: Store,
    clock: Clock,
    callbacks: Callbacks,
    notices: Notices,
    attend_to_saga: Callable[[str], str],
    attend_to_request: Callable[[str, str], str],
) -> dict[str, int]:
    """Look at everything that is due in both tables; answers counts by what was done, for the log and the alarm.

    One item that can not be attended to does not keep the others waiting: it stays due, and is counted as failed.
    """
    done: Counter[str] = Counter()
    for shard in SHARDS:
        for item in _due(store, Table.LEDGER, shard, clock.now()):
            if "step_count" in item:
                done[_safely(attend_to_saga, item["saga_id"])] += 1
            else:
                done[_safely(attend_to_request, item["tenant"], item["request_id"])] += 1
        for item in _due(store, Table.PEOPLE, shard, clock.now()):
            if "binds" in item:
                done[_safely(_approval, store, clock, callbacks, notices, item["id"])] += 1
            else:
                done[_safely(announce_case, store, clock, notices, item["id"])] += 1
    return dict(done)


def _due(store: Store, table: Table, shard: str, now: int) -> list[Item]:
    """All that is due, not only the oldest: what fails each time must not keep the rest from its turn."""
    found: list[Item] = []
    start = None
    for _ in range(PAGES):
        page, start = store.index(table, "due", shard, up_to=now, limit=AT_ONCE, start=start)
        found += page
        if start is None:
            break
    return found


def _safely(attend: Callable[..., str], *what: object) -> str:
    try:
        return attend(*what)
    except Exception:  # noqa: BLE001 - counted and alarmed on; the item stays due
        return "failed"


def _approval(
    store: Store, clock: Clock, callbacks: Callbacks, notices: Notices, approval_id: str
) -> str:
    approval = read_approval(store, approval_id)
    if approval is None:
        return "gone"
    now = clock.now()
    if approvals.wants_reminder(approval, now):
        return remind_approvers(store, clock, notices, approval)
    if approval.state is ApprovalState.OPEN and now >= approval.expires_at:
        try:
            [written] = store.write([changed(approval, approvals.expire(approval, now))])
        except Stale:
            return "raced"
        approval = parsed(Approval, written)
    answered = answer(store, callbacks, approval)
    if answered.token is None and answered.state is not ApprovalState.OPEN:
        # No machine waits. One that comes to wait finds the decision, and is due its answer from then on.
        return _let_rest(store, answered)
    return approval.state.value


def _let_rest(store: Store, approval: Approval) -> str:
    rested = approval.model_copy(update={"due_at": None, "due_shard": None})
    try:
        store.write([changed(approval, rested)])
    except Stale:
        return "raced"
    return approval.state.value
