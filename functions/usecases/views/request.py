"""A request as the agent that makes it sees it."""

from __future__ import annotations

from functions.domain.problems import Problem
from functions.domain.requests import RequestRecord, RequestState
from functions.usecases.views.saga import View, iso


class AttemptedPlan(View):
    """One plan and what it met: a saga or problems."""

    at: str | None
    plan_digest: str
    saga_id: str | None
    problems: list[Problem]


class RequestView(View):
    """How far a request has come."""

    request_id: str
    state: RequestState
    attempts_left: int
    saga_id: str | None
    attempts: list[AttemptedPlan]


def request_view(request: RequestRecord, attempts_left: int) -> RequestView:
    """The request with every plan that was looked at."""
    return RequestView(
        request_id=request.request_id,
        state=request.state,
        attempts_left=attempts_left,
        saga_id=request.saga_id,
        attempts=[
            AttemptedPlan(
                at=iso(a.at),
                plan_digest=a.plan_digest,
                saga_id=a.saga_id,
                problems=list(a.problems),
            )
            for a in request.history
        ],
    )
