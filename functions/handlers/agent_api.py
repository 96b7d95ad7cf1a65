"""What agents may call: read the catalogue, submit a plan, follow it. There is nothing here that undoes anything."""

from __future__ import annotations

import secrets
from typing import Annotated, Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Path
from aws_lambda_powertools.utilities.typing import LambdaContext
from pydantic import Field

from functions.domain import requests
from functions.handlers import identity
from functions.handlers.http import Refusal, api, not_found, sent, shown
from functions.handlers.wiring import all_catalogues, clock, logger, store, targets
from functions.usecases.admission import Actor
from functions.usecases.records import read_document, read_request, read_saga
from functions.usecases.submit_plan import Admitted, Intake, submit_plan
from functions.usecases.views.catalogue import CatalogueView, catalogue_view
from functions.usecases.views.request import RequestView, request_view
from functions.usecases.views.saga import (
    AgentSaga,
    PeopleSaga,
    View,
    agent_saga,
    people_saga,
)

app = api("sagaplane: for agents")
Name = Annotated[str, Path(max_length=100, pattern=r"^[A-Za-z0-9._-]+$")]


class Admission(View):
    """The plan was admitted: the saga that runs it, and how many more plans the request may have."""

    saga_id: str
    request_id: str
    attempts_left: Annotated[int, Field(ge=0)]


@app.get("/catalogues/<name>")
def get_catalogue(name: Name) -> Response[CatalogueView]:
    """The steps that a plan may choose from."""
    who = identity.caller(app.current_event.raw_event)
    if isinstance(who, identity.Agent):
        who.must("catalogue.read")
    catalogue = all_catalogues().get(name)
    if catalogue is None:
        raise not_found("catalogue")
    return shown(catalogue_view(catalogue))


@app.post("/plans")
def post_plan() -> Response[Admission]:
    """Submit a plan: admitted (201, or 200 where it was admitted before), or every problem it has."""
    who = identity.agent(app.current_event.raw_event)
    who.must("plans.submit")
    actor = Actor(tenant=who.tenant, name=who.name, kind="agent", owner=who.owner)
    answer = submit_plan(_intake(), actor, sent(app.current_event.raw_event))
    if isinstance(answer, Admitted):
        logger.info("admitted", saga_id=answer.saga_id, fresh=answer.fresh)
        admission = Admission(
            saga_id=answer.saga_id,
            request_id=answer.request_id,
            attempts_left=answer.attempts_left,
        )
        return shown(admission, 201 if answer.fresh else 200)
    logger.info("rejected", codes=sorted({p.code for p in answer.problems}))
    raise Refusal(*answer.problems, attempts_left=answer.attempts_left, saga_id=answer.saga_id)


@app.get("/requests/<request_id>")
def get_request(request_id: Name) -> Response[RequestView]:
    """How far a request has come: its attempts, their problems, its saga."""
    who = identity.agent(app.current_event.raw_event)
    who.must("sagas.read")
    request = read_request(store(), who.tenant, request_id)
    if request is None:
        raise not_found("request")
    document = None
    if request.source_document_id is not None:
        document = read_document(store(), who.tenant, request.source_document_id)
    catalogue = all_catalogues().get(request.catalogue or "")
    limit = catalogue.attempts_per_request if catalogue else requests.ATTEMPTS
    left = requests.attempts_left(request, document, limit=limit)
    return shown(request_view(request, left))


@app.get("/sagas/<saga_id>")
def get_saga(saga_id: Name) -> Response[AgentSaga | PeopleSaga]:
    """A saga: an agent sees its own and how it ended, people see all of it."""
    who = identity.caller(app.current_event.raw_event)
    saga = read_saga(store(), saga_id)
    if isinstance(who, identity.Agent):
        who.must("sagas.read")
        own = saga is not None and saga.head.provenance.actor == who.name
        if saga is None or not own or saga.head.tenant != who.tenant:
            raise not_found("saga")
        return shown(agent_saga(saga))
    if saga is None or saga.head.tenant not in who.tenants:
        raise not_found("saga")
    return shown(people_saga(saga))


def _intake() -> Intake:
    return Intake(
        store=store(),
        clock=clock,
        catalogues=all_catalogues(),
        targets=lambda catalogue: targets(catalogue.name),
        new_id=lambda: secrets.token_hex(10),
    )


def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    """Entry of the agents' function."""
    return app.resolve(event, context)
