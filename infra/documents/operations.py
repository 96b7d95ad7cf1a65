"""Who may call what, and which problems each call can meet: what the two resolvers' own descriptions do not say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from functions.domain.codes import Code
from functions.handlers import agent_api, cases_api, notices_api, people_api

AGENTS = "agents"
PEOPLE = "people"

_EVERYWHERE = (
    Code.UNAUTHENTICATED,
    Code.FORBIDDEN,
    Code.TOO_MANY_REQUESTS,
    Code.INTERNAL_ERROR,
    Code.UNAVAILABLE,
)
_ALL = tuple(Code)
_JSON = _ALL[: _ALL.index(Code.UNSAFE_INTEGER) + 1]
"""What is wrong with a document as such: the list begins with it."""
_BODY = (*_JSON, Code.MISSING_FIELD, Code.UNKNOWN_FIELD, Code.BAD_VALUE)
_HELD = (Code.CASE_CLOSED, Code.NOT_CLAIMED)
_ONE = (Code.INVALID_PARAMETER, Code.NOT_FOUND)
_PLAN = _ALL[: _ALL.index(Code.REQUEST_ESCALATED) + 1]
"""Documents, plans, catalogues and requests: the list goes on with those."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One route: its handler, the scope that an agent's token needs, and the codes beside those of every route.

    `scope` is None where only people may call; `people` says whether they may.
    """

    method: str
    path: str
    handler: Callable[..., Any]
    codes: tuple[Code, ...]
    scope: str | None = None
    people: bool = True

    @property
    def all_codes(self) -> tuple[Code, ...]:
        """Every code of it, in the order of the list of codes."""
        return tuple(code for code in Code if code in {*self.codes, *_EVERYWHERE})


OPERATIONS = (
    Operation("get", "/catalogues/{name}", agent_api.get_catalogue, _ONE, scope="catalogue.read"),
    Operation(
        "post",
        "/plans",
        agent_api.post_plan,
        (*_PLAN, Code.WRITE_CONFLICT),
        scope="plans.submit",
        people=False,
    ),
    Operation(
        "get",
        "/requests/{request_id}",
        agent_api.get_request,
        _ONE,
        scope="sagas.read",
        people=False,
    ),
    Operation("get", "/sagas/{saga_id}", agent_api.get_saga, _ONE, scope="sagas.read"),
    Operation("get", "/sagas", people_api.get_sagas, (Code.INVALID_PARAMETER,)),
    Operation("get", "/sagas/{saga_id}/audit", people_api.get_audit, _ONE),
    Operation("get", "/review", people_api.get_review, (Code.INVALID_PARAMETER,)),
    Operation(
        "post",
        "/sagas/{saga_id}/cancel",
        people_api.post_cancel,
        (*_ONE, Code.CANNOT_CANCEL),
    ),
    Operation("get", "/approvals", people_api.get_approvals, (Code.INVALID_PARAMETER,)),
    Operation("get", "/approvals/{approval_id}", people_api.get_approval, _ONE),
    Operation(
        "post",
        "/approvals/{approval_id}/decision",
        people_api.post_decision,
        (
            *_ONE,
            *_BODY,
            Code.ALREADY_DECIDED,
            Code.ALREADY_APPROVED_BY_YOU,
            Code.APPROVAL_EXPIRED,
            Code.APPROVAL_CHANGED,
        ),
    ),
    Operation("get", "/cases", cases_api.get_cases, (Code.INVALID_PARAMETER,)),
    Operation("get", "/cases/{case_id}", cases_api.get_case, _ONE),
    Operation(
        "post",
        "/cases/{case_id}/claim",
        cases_api.post_claim,
        (*_ONE, Code.CLAIM_CONFLICT, Code.CASE_CLOSED),
    ),
    Operation("post", "/cases/{case_id}/renewal", cases_api.post_renewal, (*_ONE, *_HELD)),
    Operation("post", "/cases/{case_id}/release", cases_api.post_release, (*_ONE, *_BODY, *_HELD)),
    Operation(
        "post",
        "/cases/{case_id}/handover",
        cases_api.post_handover,
        (*_ONE, *_BODY, *_HELD, Code.NOT_A_MEMBER),
    ),
    Operation(
        "post",
        "/cases/{case_id}/observations",
        cases_api.post_observation,
        (*_ONE, *_BODY, *_HELD, Code.CASE_FULL),
    ),
    Operation(
        "post",
        "/cases/{case_id}/resolution",
        cases_api.post_resolution,
        (
            *_ONE,
            *_BODY,
            *_HELD,
            Code.OUT_OF_RANGE,
            Code.RESOLUTION_NOT_ALLOWED,
            Code.ANOTHER_PERSON_NEEDED,
            Code.ATTEMPT_ALIVE,
        ),
    ),
    Operation(
        "post",
        "/cases/{case_id}/proposal",
        cases_api.post_proposal,
        (
            *_ONE,
            *_BODY,
            *_HELD,
            Code.NOT_ONE_OF,
            Code.RESOLUTION_NOT_ALLOWED,
            Code.PROPOSAL_OPEN,
            Code.CASE_FULL,
        ),
    ),
    Operation(
        "post",
        "/cases/{case_id}/proposal/answer",
        cases_api.post_answer,
        (
            *_ONE,
            *_BODY,
            Code.CASE_CLOSED,
            Code.CLAIM_CONFLICT,
            Code.RESOLUTION_NOT_ALLOWED,
            Code.ANOTHER_PERSON_NEEDED,
            Code.NO_PROPOSAL,
            Code.NOT_YOUR_PROPOSAL,
            Code.PROPOSAL_VOID,
            Code.ATTEMPT_ALIVE,
        ),
    ),
    Operation("post", "/notices/take", notices_api.post_take, _BODY),
    Operation(
        "post",
        "/notices/acknowledgement",
        notices_api.post_acknowledgement,
        (*_BODY, Code.NOT_FOUND, Code.CASE_OPEN),
    ),
)
