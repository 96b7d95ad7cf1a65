"""What people may call: see what runs, decide approvals, settle cases, stop a saga. Agents get 403 for all of it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Body, Path, Query
from aws_lambda_powertools.utilities.typing import LambdaContext
from pydantic import BaseModel, ConfigDict, StringConstraints

from functions.domain import approvals
from functions.domain.ledger.records import Saga
from functions.domain.ledger.status import Status
from functions.domain.ledger.status import status as status_of
from functions.domain.problems import Code, problem
from functions.handlers import cases_api, identity, notices_api
from functions.handlers.answers import decision_refused
from functions.handlers.http import Refusal, answered, api, not_found, shown
from functions.handlers.wiring import callbacks, clock, logger, store
from functions.usecases.audit_saga import audit_saga
from functions.usecases.cancel_saga import Cancelled, cancel_saga
from functions.usecases.decide_approval import decide_approval
from functions.usecases.list_records import ended_otherwise, open_approvals, sagas
from functions.usecases.records import read_approval, read_saga
from functions.usecases.views.audit import Audit, audit
from functions.usecases.views.people import (
    ApprovalSummary,
    ApprovalView,
    approval_summary,
    approval_view,
)
from functions.usecases.views.saga import PeopleSaga, SagaSummary, View, people_saga, saga_summary

app = api("sagaplane: for people")
app.include_router(cases_api.router)
app.include_router(notices_api.router)
Id = Annotated[str, Path(max_length=100, pattern=r"^[A-Za-z0-9._-]+$")]
Reason = Annotated[str, StringConstraints(min_length=1, max_length=500)]
Digest = Annotated[str, StringConstraints(min_length=1, max_length=100)]
Limit = Annotated[int, Query(ge=1, le=100)]
Cursor = Annotated[str | None, Query(max_length=2000)]


class DecisionRequest(BaseModel):
    """A decision on an approval. Rejecting needs a reason.

    `binds` is the digest that the person was shown: where it is not the approval's own, nothing is decided.
    """

    model_config = ConfigDict(extra="forbid")

    decision: Literal["approve", "reject"]
    reason: Reason | None = None
    binds: Digest | None = None


class ApprovalList(View):
    """Open approvals, newest first."""

    approvals: list[ApprovalSummary]
    next: str | None


class SagaList(View):
    """Sagas, newest first."""

    sagas: list[SagaSummary]
    next: str | None


def _person() -> identity.Person:
    return identity.person(app.current_event.raw_event)


@app.get("/approvals")
def get_approvals(limit: Limit = 50, cursor: Cursor = None) -> Response[ApprovalList]:
    """The approvals that wait for one of this person's groups."""
    who = _person()
    found, more = open_approvals(store(), who.tenants, limit=limit, start=cursor)
    mine = [approval_summary(a) for a in found if a.group in who.groups]
    return shown(ApprovalList(approvals=mine, next=more))


@app.get("/approvals/<approval_id>")
def get_approval(approval_id: Id) -> Response[ApprovalView]:
    """One approval: the validated facts, what follows on yes and on no, and the agent's own words. Decides nothing.

    For those who are asked, and for the operators of its catalogue, who have to know who agreed to what.
    """
    who = _person()
    approval = read_approval(store(), approval_id)
    if approval is None or approval.tenant not in who.tenants:
        raise not_found("approval")
    saga = _saga(approval.saga_id)
    if who.groups.isdisjoint({approval.group, saga.head.operators}):
        raise identity.forbidden(f"This approval is for members of {approval.group}.")
    return shown(approval_view(approval, saga))


@app.post("/approvals/<approval_id>/decision")
def post_decision(
    approval_id: Id, decision: Annotated[DecisionRequest, Body()]
) -> Response[ApprovalView]:
    """Approve or reject. The same person saying the same again is answered the same."""
    who = _person()
    if decision.decision == "reject" and decision.reason is None:
        hint = "Say why in `reason`: the agent and the operators read it."
        raise Refusal(
            problem(Code.MISSING_FIELD, "A rejection needs a reason.", hint, at=("reason",))
        )
    said = decide_approval(
        store(),
        clock,
        callbacks(),
        approval_id,
        tenants=who.tenants,
        person=who.name,
        groups=who.groups,
        decision=decision.decision,
        reason=decision.reason,
        binds=decision.binds,
    )
    if isinstance(said, approvals.Decided | approvals.AlreadySaid):
        logger.info("decided", approval=approval_id, decision=decision.decision)
        view = approval_view(said.approval, _saga(said.approval.saga_id))
        return shown(view)
    raise decision_refused(said, clock.now(), _standing(said))


@app.get("/sagas")
def get_sagas(
    status: Annotated[Status | None, Query()] = None,
    request_id: Annotated[str | None, Query(max_length=100)] = None,
    source_document_id: Annotated[str | None, Query(max_length=200)] = None,
    since: Annotated[int | None, Query(ge=0)] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response[SagaList]:
    """Sagas by status, request, source document, or time (`since`, in milliseconds since the epoch)."""
    who = _person()
    found, more = sagas(
        store(),
        who.tenants,
        status=status,
        request_id=request_id,
        source_document_id=source_document_id,
        since=since,
        limit=limit,
        start=cursor,
    )
    listed = SagaList(sagas=[saga_summary(s) for s in found], next=more)
    return shown(listed)


@app.get("/sagas/<saga_id>/audit")
def get_audit(saga_id: Id) -> Response[Audit]:
    """Who did what when, and what was seen: attempts, undos, approvals and cases of a saga in order."""
    gathered = audit_saga(store(), saga_id, tenants=_person().tenants)
    if gathered is None:
        raise not_found("saga")
    return shown(audit(gathered))


@app.get("/review")
def get_review(
    since: Annotated[int, Query(ge=0)] = 0, limit: Limit = 50, cursor: Cursor = None
) -> Response[SagaList]:
    """Sagas that ended otherwise than completed since then (in milliseconds since the epoch), the last one first."""
    tenants = _person().tenants
    found, more = ended_otherwise(store(), tenants, since=since, limit=limit, start=cursor)
    return shown(SagaList(sagas=[saga_summary(s) for s in found], next=more))


@app.post("/sagas/<saga_id>/cancel")
def post_cancel(saga_id: Id) -> Response[PeopleSaga]:
    """Turn a saga back before its boundary; after that, 409 with the reason."""
    who = _person()
    saga = read_saga(store(), saga_id)
    if saga is None or saga.head.tenant not in who.tenants:
        raise not_found("saga")
    if saga.head.operators not in who.groups:
        raise identity.forbidden("Only operators of this catalogue may cancel.")
    answer = cancel_saga(store(), clock, callbacks(), saga_id, person=who.name)
    if isinstance(answer, Cancelled):
        return shown(people_saga(_saga(saga_id)))
    hint = "What is past the point of no return is finished, not undone."
    raise Refusal(problem(Code.CANNOT_CANCEL, answer.why, hint), saga_id=saga_id)


def _standing(said: approvals.Answer | None) -> Status | None:
    """Where the saga of an approval is that can not be decided any more."""
    return status_of(_saga(said.approval.saga_id)) if isinstance(said, approvals.NotOpen) else None


def _saga(saga_id: str) -> Saga:
    saga = read_saga(store(), saga_id)
    if saga is None:
        raise not_found("saga")
    return saga


def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Entry of the people's function: whoever is no person is refused before anything that was sent is read."""
    return answered(app, event, context, admit=identity.person)
