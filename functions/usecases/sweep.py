"""What must not be forgotten: the due index is read each minute, and everything is looked at again before it is acted on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from functions.domain import approvals
from functions.domain.approvals import Approval, ApprovalState
from functions.domain.cases import ANNOUNCE_AGAIN, Case, CaseState
from functions.domain.ledger.head import DUE_SHARDS
from functions.ports import Callbacks, Clock, Notices, Stale, Store, Table
from functions.usecases.decide_approval import answer
from functions.usecases.records import changed, parsed, read_approval, read_case

SHARDS = tuple(f"due-{n}" for n in range(DUE_SHARDS))
AT_ONCE = 100


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
        now = clock.now()
        ledger, _ = store.index(Table.LEDGER, "due", shard, up_to=now, limit=AT_ONCE)
        people, _ = store.index(Table.PEOPLE, "due", shard, up_to=now, limit=AT_ONCE)
        for item in ledger:
            if "step_count" in item:
                done[_safely(attend_to_saga, item["saga_id"])] += 1
            else:
                done[_safely(attend_to_request, item["tenant"], item["request_id"])] += 1
        for item in people:
            if "binds" in item:
                done[_safely(_approval, store, clock, callbacks, item["id"])] += 1
            else:
                done[_safely(_case, store, clock, notices, item["id"])] += 1
    return dict(done)


def _safely(attend: Callable[..., str], *what: object) -> str:
    try:
        return attend(*what)
    except Exception:  # noqa: BLE001 - counted and alarmed on; the item stays due
        return "failed"


def _approval(store: Store, clock: Clock, callbacks: Callbacks, approval_id: str) -> str:
    approval = read_approval(store, approval_id)
    if approval is None:
        return "gone"
    now = clock.now()
    if approval.state is ApprovalState.OPEN and now >= approval.expires_at:
        try:
            [written] = store.write([changed(approval, approvals.expire(approval, now))])
        except Stale:
            return "raced"
        approval = parsed(Approval, written)
    answer(store, callbacks, approval)
    return approval.state.value


def _case(store: Store, clock: Clock, notices: Notices, case_id: str) -> str:
    case = read_case(store, case_id)
    if case is None or case.state is CaseState.SETTLED:
        return "gone"
    announced = case.model_copy(
        update={"announced": case.announced + 1, "due_at": clock.now() + ANNOUNCE_AGAIN}
    )
    try:
        [written] = store.write([changed(case, announced)])
    except Stale:
        return "raced"
    notices.case(parsed(Case, written).id)
    return "announced"
