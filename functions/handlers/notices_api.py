"""What operators may do with the queue of cases: take notices from it, and take off those of settled cases."""

from __future__ import annotations

from typing import Annotated

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Body
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from pydantic import Field, StringConstraints

from functions.domain.problems import Code, problem
from functions.handlers import identity
from functions.handlers.cases_api import Request
from functions.handlers.http import Refusal, not_found, shown
from functions.handlers.wiring import case_queue, clock, store
from functions.ports import BadReceipt
from functions.usecases.take_notices import Acknowledged, acknowledge_notice, take_notices
from functions.usecases.views.cases import CaseSummary, NoticeView, case_summary
from functions.usecases.views.saga import View

router = APIGatewayHttpRouter()  # type: ignore[no-untyped-call] # Powertools leaves it untyped


class TakeRequest(Request):
    """How many notices to take at most, and for how many seconds to wait for the first one."""

    most: Annotated[int, Field(ge=1, le=10)] = 1
    wait: Annotated[int, Field(ge=0, le=10)] = 0


class AcknowledgementRequest(Request):
    """The notice of a settled case."""

    case_id: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._-]{1,100}$")]
    receipt: Annotated[str, StringConstraints(min_length=1, max_length=1024)]


class NoticeList(View):
    """Notices of open cases; an empty list says that none came in time."""

    notices: list[NoticeView]


@router.post("/notices/take")
def post_take(asked: Annotated[TakeRequest, Body()]) -> Response[NoticeList]:
    """Take notices of open cases from the queue, for fifteen minutes each. What is not settled by then comes back."""
    who = _person()
    taken = take_notices(
        store(),
        clock,
        case_queue(),
        tenants=who.tenants,
        groups=who.groups,
        person=who.name,
        most=asked.most,
        wait=asked.wait,
    )
    found = [NoticeView(receipt=t.receipt, case=case_summary(t.case)) for t in taken]
    return shown(NoticeList(notices=found))


@router.post("/notices/acknowledgement")
def post_acknowledgement(
    notice: Annotated[AcknowledgementRequest, Body()],
) -> Response[CaseSummary]:
    """Take a notice off the queue, once its case is settled."""
    who = _person()
    try:
        said = acknowledge_notice(
            store(),
            case_queue(),
            notice.case_id,
            notice.receipt,
            tenants=who.tenants,
            groups=who.groups,
        )
    except BadReceipt:
        hint = "Use the receipt that the notice came with."
        raise Refusal(
            problem(Code.BAD_VALUE, "This is no receipt of the queue.", hint, at=("receipt",))
        ) from None
    if isinstance(said, Acknowledged):
        return shown(case_summary(said.case))
    if said is None:
        raise not_found("case")
    hint = "Settle the case first; its notice comes back until then."
    raise Refusal(problem(Code.CASE_OPEN, "This case has not been settled.", hint))


def _person() -> identity.Person:
    return identity.person(router.current_event.raw_event)
