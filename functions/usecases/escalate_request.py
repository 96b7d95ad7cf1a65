"""A request that used up its attempts becomes a case: a person reads what the agent could not plan."""

from __future__ import annotations

from collections.abc import Callable

from functions.domain import keys
from functions.domain.cases import Case, CaseCause, Resolution
from functions.domain.ledger.head import due_shard
from functions.domain.requests import RequestRecord
from functions.ports import Clock, Notices, Stale, Store
from functions.usecases.announce_case import announce_case
from functions.usecases.records import changed, created, read_request

DIGITS = 24


def escalate_request(
    store: Store,
    clock: Clock,
    notices: Notices,
    group: Callable[[str | None], str],
    tenant: str,
    request_id: str,
) -> str:
    """Open the case of an escalated request, once; answers what was done, in one word.

    `group` says who owns the cases of a catalogue, or of plans that named none that exists.
    """
    request = read_request(store, tenant, request_id)
    if request is None or request.wanted != "case":
        return "nothing"
    case = _case(request, group(request.catalogue), clock.now())
    told = request.model_copy(
        update={"wanted": None, "case": case.id, "due_at": None, "due_shard": None}
    )
    try:
        store.write([created(case), changed(request, told)])
    except Stale:
        return "raced"
    announce_case(store, clock, notices, case.id)
    return "case"


def _case(request: RequestRecord, group: str, now: int) -> Case:
    number = keys.digest({"tenant": request.tenant, "request": request.request_id})[:DIGITS]
    again = f"-{request.escalations}" if request.escalations > 1 else ""
    return Case(
        id=f"request-{number}{again}",
        tenant=request.tenant,
        catalogue=request.catalogue,
        group=group,
        request_id=request.request_id,
        direction="request",
        cause=CaseCause.REQUEST_ESCALATED,
        obligation=f"No acceptable plan was made for request {request.request_id}: a person has to take it up.",
        why=f"{request.attempts} plans were looked at, and none is left.",
        evidence={
            "rationale": request.rationale,
            "source_document_id": request.source_document_id,
            "attempts": [
                {
                    "at": a.at,
                    "plan_digest": a.plan_digest,
                    "saga": a.saga_id,
                    "problems": [p.model_dump(mode="json") for p in a.problems],
                }
                for a in request.history
            ],
        },
        allowed=(Resolution.CLOSE, Resolution.REOPEN),
        created_at=now,
        open=f"case#{request.tenant}",
        due_shard=due_shard(request.request_id),
        due_at=now,
    )
