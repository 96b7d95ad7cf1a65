"""What people may do with cases: take and give them, write down what they find, settle them alone or in twos."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Annotated, Literal

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Body, Path, Query
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from functions.domain import cases, claims, notes, proposals
from functions.domain.cases import Case, Facts, Resolution
from functions.domain.membership import tenant_group
from functions.domain.problems import Code, problem
from functions.domain.requests import MOST_REOPENED
from functions.handlers import identity
from functions.handlers.case_refusals import case_refused, missing
from functions.handlers.http import Refusal, not_found, shown
from functions.handlers.wiring import all_catalogues, clock, directory, logger, store
from functions.ports import DirectoryUnavailable
from functions.usecases.change_case import Operator, change_case
from functions.usecases.claim_case import claim_case
from functions.usecases.list_records import open_cases
from functions.usecases.propose_resolution import (
    Confirmed,
    confirm_resolution,
    propose_resolution,
)
from functions.usecases.records import read_case, read_saga
from functions.usecases.resolve_case import Settled, resolve_case
from functions.usecases.views.cases import CaseSummary, CaseView, case_summary, case_view
from functions.usecases.views.saga import View
from functions.usecases.world import millis

router = APIGatewayHttpRouter()  # type: ignore[no-untyped-call] # Powertools leaves it untyped
Id = Annotated[str, Path(max_length=100, pattern=r"^[A-Za-z0-9._-]+$")]
Reason = Annotated[str, StringConstraints(min_length=1, max_length=500)]
Note = Annotated[str, StringConstraints(min_length=1, max_length=300)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=100)]
Limit = Annotated[int, Query(ge=1, le=100)]
Cursor = Annotated[str | None, Query(max_length=2000)]


class Request(BaseModel):
    """A body: closed in shape."""

    model_config = ConfigDict(extra="forbid")


class NoteRequest(Request):
    """Why a claim is given back, if anybody should know."""

    note: Note | None = None


class HandoverRequest(Request):
    """Who gets the case, by the name that this person signs in with."""

    to: Name
    note: Note | None = None


class ObservationRequest(Request):
    """What was found (`observed`), or what one is about to do at the target by hand (`attempted`)."""

    kind: Literal["observed", "attempted"] = "observed"
    text: Reason
    facts: Annotated[Facts, Field(max_length=10)] = {}


class ResolutionRequest(Request):
    """What was done about a case, with the evidence in words; `attempts` is for reopening a request."""

    resolution: Resolution
    evidence: Reason | None = None
    attempts: Annotated[int, Field(ge=1, le=MOST_REOPENED)] | None = None


class ProposalRequest(Request):
    """What two people have to agree to, and why; `alternate` names the other principal for a retry, `action` the other action."""

    resolution: Resolution
    reason: Reason
    alternate: Name | None = None
    action: Name | None = None


class AnswerRequest(Request):
    """An answer to the proposal of that id. Refusing needs a reason; a proposal is withdrawn by whoever made it."""

    proposal_id: Annotated[str, StringConstraints(min_length=1, max_length=120)]
    answer: Literal["confirm", "refuse", "withdraw"]
    reason: Reason | None = None


class CaseList(View):
    """Open cases, newest first."""

    cases: list[CaseSummary]
    next: str | None


@router.get("/cases")
def get_cases(limit: Limit = 50, cursor: Cursor = None) -> Response[CaseList]:
    """The open cases that one of this person's groups owns."""
    who = _person()
    found, more = open_cases(store(), who.tenants, limit=limit, start=cursor)
    mine = [case_summary(c) for c in found if c.group in who.groups]
    return shown(CaseList(cases=mine, next=more))


@router.get("/cases/<case_id>")
def get_case(case_id: Id) -> Response[CaseView]:
    """One case with all of its evidence."""
    case = read_case(store(), case_id)
    if case is None or not _operator().owns(case):
        raise not_found("case")
    return _shown(case)


@router.post("/cases/<case_id>/claim")
def post_claim(case_id: Id) -> Response[CaseView]:
    """Take a case for fifteen minutes, or renew one's own claim."""
    who = _person()
    claimed = claim_case(
        store(), clock, case_id, tenants=who.tenants, person=who.name, groups=who.groups
    )
    if isinstance(claimed, cases.Claimed):
        return _shown(claimed.case)
    raise case_refused(claimed)


@router.post("/cases/<case_id>/renewal")
def post_renewal(case_id: Id) -> Response[CaseView]:
    """Keep one's own claim for another fifteen minutes. One that has ended is claimed anew."""
    who = _operator()
    return _changed(case_id, lambda c: claims.renew(c, person=who.person, now=clock.now()))


@router.post("/cases/<case_id>/release")
def post_release(case_id: Id, body: Annotated[NoteRequest, Body()]) -> Response[CaseView]:
    """Give one's own claim back."""
    who = _operator()
    return _changed(
        case_id,
        lambda c: claims.release(c, person=who.person, note=body.note, now=clock.now()),
    )


@router.post("/cases/<case_id>/handover")
def post_handover(case_id: Id, body: Annotated[HandoverRequest, Body()]) -> Response[CaseView]:
    """Give one's own claim to a named person, for an hour. It stands on that person's list as handed over."""
    who = _operator()
    try:
        return _changed(
            case_id,
            lambda c: claims.hand_over(
                c,
                person=who.person,
                to=body.to,
                member=_belongs(body.to, c),
                note=body.note,
                now=clock.now(),
            ),
        )
    except DirectoryUnavailable:
        text = "Nobody can say just now who belongs to the group."
        raise Refusal(problem(Code.UNAVAILABLE, text, "Ask again in a moment.")) from None


@router.post("/cases/<case_id>/observations")
def post_observation(
    case_id: Id, body: Annotated[ObservationRequest, Body()]
) -> Response[CaseView]:
    """Add to the case what was found, or what one is about to do by hand. Nothing that was added is ever changed.

    Anybody who may see the case may observe; to attempt something takes a claim of one's own.
    """
    who = _operator()
    write = notes.attempt if body.kind == notes.ATTEMPTED else notes.observe
    return _changed(
        case_id,
        lambda c: write(c, person=who.person, text=body.text, facts=body.facts, now=clock.now()),
    )


@router.post("/cases/<case_id>/resolution")
def post_resolution(case_id: Id, body: Annotated[ResolutionRequest, Body()]) -> Response[CaseView]:
    """Settle a case that one holds; its saga is then driven on. What takes two people is proposed instead."""
    who = _person()
    if body.resolution is not Resolution.RETRY and body.evidence is None:
        hint = "Say in `evidence` what was done or found."
        raise missing("evidence", "This resolution needs evidence.", hint)
    if body.resolution is Resolution.REOPEN and body.attempts is None:
        hint = f"Say in `attempts` for how many more plans: 1 to {MOST_REOPENED}."
        raise missing("attempts", "Reopening needs a number of attempts.", hint)
    settled = resolve_case(
        store(),
        clock,
        case_id,
        tenants=who.tenants,
        person=who.name,
        groups=who.groups,
        resolution=body.resolution,
        evidence=body.evidence,
        settles_after=_settles_after(case_id),
        attempts=body.attempts if body.resolution is Resolution.REOPEN else None,
    )
    if isinstance(settled, Settled):
        logger.info("settled", case=case_id, resolution=body.resolution.value)
        return _shown(settled.case)
    raise case_refused(settled)


@router.post("/cases/<case_id>/proposal")
def post_proposal(case_id: Id, body: Annotated[ProposalRequest, Body()]) -> Response[CaseView]:
    """Propose what two people have to agree to, for a case that one holds. Nothing happens until another one agrees."""
    wanted = proposals.Wanted(body.resolution, body.reason, body.alternate, body.action)
    said = propose_resolution(store(), clock, case_id, _operator(), wanted)
    if isinstance(said, Case):
        logger.info("proposed", case=case_id, resolution=body.resolution.value)
        return _shown(said)
    raise case_refused(said)


@router.post("/cases/<case_id>/proposal/answer")
def post_answer(case_id: Id, body: Annotated[AnswerRequest, Body()]) -> Response[CaseView]:
    """Confirm or refuse another person's proposal, or withdraw one's own. A confirmed one is done in the same write."""
    who = _operator()
    if body.answer == "confirm":
        said = confirm_resolution(
            store(),
            clock,
            case_id,
            who,
            proposal_id=body.proposal_id,
            settles_after=_settles_after(case_id),
        )
        if isinstance(said, Confirmed):
            logger.info("confirmed", case=case_id, proposal=body.proposal_id)
            return _shown(said.case)
        raise case_refused(said)
    if body.answer == "withdraw":
        return _changed(
            case_id,
            lambda c: proposals.withdraw(c, body.proposal_id, person=who.person, now=clock.now()),
        )
    reason = body.reason
    if reason is None:
        raise missing("reason", "A refusal needs a reason.", "Say why in `reason`.")
    return _changed(
        case_id,
        lambda c: proposals.refuse(
            c, body.proposal_id, person=who.person, reason=reason, now=clock.now()
        ),
    )


def _person() -> identity.Person:
    return identity.person(router.current_event.raw_event)


def _operator() -> Operator:
    who = _person()
    return Operator(who.name, who.groups, who.tenants)


def _belongs(person: str, case: Case) -> bool:
    """Whether this person may work on the case, by the identity provider as it is now."""
    return {case.group, tenant_group(case.tenant)} <= directory().groups(person)


def _changed(case_id: str, decide: Callable[[Case], Case | object]) -> Response[CaseView]:
    said = change_case(store(), case_id, _operator(), decide)
    if isinstance(said, Case):
        return _shown(said)
    raise case_refused(said)


def _shown(case: Case) -> Response[CaseView]:
    saga = read_saga(store(), case.saga_id) if case.saga_id is not None else None
    return shown(case_view(case, saga))


def _settles_after(case_id: str) -> int:
    """How long a late effect of the case's step is possible, in milliseconds."""
    case = read_case(store(), case_id)
    if case is None or case.saga_id is None or case.index is None:
        return 0
    catalogue = all_catalogues().get(case.catalogue or "")
    saga = read_saga(store(), case.saga_id)
    step = catalogue.step(saga.steps[case.index].name) if catalogue and saga else None
    if step is None:
        return millis(timedelta(hours=1))
    settlement = step.undo.settlement if step.undo is not None else step.settlement
    return max(millis(step.settlement.settles_after), millis(settlement.settles_after))
