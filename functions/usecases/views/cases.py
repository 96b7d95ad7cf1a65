"""Cases as people see them: what is owed, what is known, what has been done, and what may be done by how many."""

from __future__ import annotations

from typing import Any

from functions.domain.cases import BY_TWO, Case, CaseCause, CaseEvent, CaseState, Resolution
from functions.domain.ledger.records import AuthorityReference, DeclaredAction, Saga
from functions.domain.notes import attempted
from functions.domain.requests import MOST_REOPENED
from functions.usecases.views.people import AgentWords
from functions.usecases.views.saga import View, iso


class CaseEventView(View):
    """One line of a case's own history."""

    at: str | None
    who: str
    what: str
    text: str | None
    facts: dict[str, str]


class CaseSummary(View):
    """One line of the operator's list."""

    case_id: str
    saga_id: str | None
    request_id: str | None
    catalogue: str | None
    cause: CaseCause
    obligation: str
    state: CaseState
    claimed_by: str | None
    claimed_until: str | None
    handed_over_by: str | None
    proposed: Resolution | None
    created_at: str | None


class InputView(View):
    """Something that has to be said with a resolution: one of `choices` where there are some, and otherwise free."""

    name: str
    required: bool
    choices: list[str] | None


class WayView(View):
    """A way of settling the case: by one person, or proposed by one and confirmed by another."""

    resolution: Resolution
    people: int
    inputs: list[InputView]


class ProposalView(View):
    """What somebody has proposed, and waits for another person."""

    proposal_id: str
    resolution: Resolution
    alternate: AuthorityReference | None
    action: DeclaredAction | None
    reason: str
    by: str
    at: str | None


class CaseView(CaseSummary):
    """All that a person needs to settle it. `attempted`: the last thing that somebody was about to do by hand."""

    group: str
    why: str
    step: int | None
    direction: str
    evidence: dict[str, Any]
    allowed: list[Resolution]
    ways: list[WayView]
    alternates: list[AuthorityReference]
    other_actions: list[DeclaredAction]
    proposal: ProposalView | None
    attempted: CaseEventView | None
    resolution: Resolution | None
    events: list[CaseEventView]
    settled_at: str | None
    agent: AgentWords | None


class NoticeView(View):
    """A notice that was taken from the queue: `receipt` takes it off, once the case is settled."""

    receipt: str
    case: CaseSummary


def case_summary(case: Case) -> CaseSummary:
    """One line of a list."""
    return CaseSummary(**_summary(case))


def case_view(case: Case, saga: Saga | None) -> CaseView:
    """The whole case, with the words of the agent whose plan it came from."""
    last = attempted(case)
    return CaseView(
        **_summary(case),
        group=case.group,
        why=case.why,
        step=case.index,
        direction=case.direction,
        evidence=case.evidence,
        allowed=list(case.allowed),
        ways=[_way(case, resolution) for resolution in case.allowed],
        alternates=list(case.alternates),
        other_actions=list(case.other_actions),
        proposal=_proposal(case),
        attempted=_event(last) if last is not None else None,
        resolution=case.resolution,
        events=[_event(e) for e in case.events],
        settled_at=iso(case.settled_at),
        agent=AgentWords(rationale=saga.head.rationale, notes=list(saga.head.notes))
        if saga is not None
        else None,
    )


def _way(case: Case, resolution: Resolution) -> WayView:
    in_twos = resolution in BY_TWO
    words = InputView(
        name="reason" if in_twos else "evidence",
        required=resolution is not Resolution.RETRY,
        choices=None,
    )
    inputs = [words]
    if resolution is Resolution.RETRY_WITH_ALTERNATE:
        names = [a.alternate for a in case.alternates if a.alternate]
        inputs.append(InputView(name="alternate", required=True, choices=names))
    if resolution is Resolution.ANOTHER_ACTION:
        names = [a.name for a in case.other_actions]
        inputs.append(InputView(name="action", required=True, choices=names))
    if resolution is Resolution.REOPEN:
        numbers = [str(n) for n in range(1, MOST_REOPENED + 1)]
        inputs.append(InputView(name="attempts", required=True, choices=numbers))
    return WayView(resolution=resolution, people=2 if in_twos else 1, inputs=inputs)


def _proposal(case: Case) -> ProposalView | None:
    proposal = case.proposal
    if proposal is None:
        return None
    return ProposalView(
        proposal_id=proposal.id,
        resolution=proposal.resolution,
        alternate=proposal.alternate,
        action=proposal.action,
        reason=proposal.reason,
        by=proposal.by,
        at=iso(proposal.at),
    )


def _event(event: CaseEvent) -> CaseEventView:
    return CaseEventView(
        at=iso(event.at), who=event.who, what=event.what, text=event.text, facts=event.facts
    )


def _summary(case: Case) -> dict[str, Any]:
    return {
        "case_id": case.id,
        "saga_id": case.saga_id,
        "request_id": case.request_id,
        "catalogue": case.catalogue,
        "cause": case.cause,
        "obligation": case.obligation,
        "state": case.state,
        "claimed_by": case.claimed_by,
        "claimed_until": iso(case.claimed_until),
        "handed_over_by": case.handed_over_by,
        "proposed": case.proposal.resolution if case.proposal else None,
        "created_at": iso(case.created_at),
    }
