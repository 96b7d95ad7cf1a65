"""Scenes about amounts that two people have to agree to, that nobody may agree to, and about one of two who leaves."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from functions.domain.approvals import ApprovalState
from functions.domain.ledger.records import Pivot, SagaOutcome
from functions.usecases.records import read_approval
from infra.local.demo.callers import Answer, Caller
from infra.local.demo.plans import plan, steps
from infra.local.demo.stage import Stage
from infra.local.demo.story import Story

_PREPARED = ("reserve 0:do", "authorize 1:do")
_DONE = (*_PREPARED, "capture 2:do", "ship 3:do", "send 4:do")
_BOTH = ["approver", "approver2"]


def two_agree(stage: Stage, story: Story) -> None:
    """1,200.00: two different people, each shown how far the other has come; 10,000.01: nobody."""
    stage.order("4496", "1200.00")
    saga = stage.submit(story, "4496", "1200.00")
    stage.wait(saga, "awaiting_approval")
    path = f"/approvals/{stage.approval(saga)['approval_id']}"
    shown = stage.approver.get(path).body
    story.check("1,200.00: two people are asked", shown["needed"] == len(_BOTH), shown["needed"])
    story.check("who are told why", "above 1000.00" in shown["reason"], shown["reason"])
    yes = {"decision": "approve", "binds": shown["binds"]}
    stage.approver.post(f"{path}/decision", yes)
    again = stage.approver.post(f"{path}/decision", yes)
    open_still = (again.status, again.body["state"]) == (HTTPStatus.OK, "open")
    story.check("one agrees, twice: that is one of two", open_still, again.body)
    answer = stage.approver.post(f"{path}/decision", {"decision": "reject", "reason": "Or not?"})
    taken_back = answer.codes == {"already_approved_by_you"}
    story.check("and cannot take it back", taken_back, answer.body)
    stage.check_books(story, saga, *_PREPARED)
    seen = stage.approver2.get(path).body
    who = [d["person"] for d in seen["decisions"]]
    story.check("the second sees who has agreed", who == _BOTH[:1], who)
    story.tell("sagaplane approvals approve, as the second approver")
    words = ("approve", seen["approval_id"], "--binds", seen["binds"], "--yes")
    stage.approver2_terminal.run("approvals", *words)
    stage.wait(saga, "completed")
    stage.check_books(story, saga, *_DONE)
    _check_used(stage, story, saga)
    _nobody_may(stage, story)


def one_leaves(stage: Stage, story: Story) -> None:
    """Who agreed leaves the approvers before the other agrees: the pivot asks the user pool, and then people anew."""
    stage.order("4497", "1200.00")
    saga = stage.submit(story, "4497", "1200.00")
    stage.wait(saga, "awaiting_approval")
    first = stage.approval(saga)
    _agree(stage.approver2, first["approval_id"])
    story.tell(f"the second approver agrees, and is taken out of {first['group']}; then the first")
    stage.account.leave("approver2", first["group"])
    try:
        _agree(stage.approver, first["approval_id"])
        anew = _asked_anew(stage, saga, first["approval_id"])
    finally:
        stage.account.join("approver2", first["group"])
    told = anew["again"]
    story.check("both have agreed and one may not: asked anew", "approver2" in str(told), told)
    story.check("and from everybody", anew["decisions"] == [], anew["decisions"])
    stage.check_books(story, saga, *_PREPARED)
    late = _agree(stage.approver, first["approval_id"])
    story.check("an answer to the first round: 409", late.codes == {"approval_changed"}, late.body)
    story.tell("they are back among the approvers, and both agree")
    for person in (stage.approver, stage.approver2):
        _agree(person, anew["approval_id"])
    stage.wait(saga, "completed")
    stage.check_books(story, saga, *_DONE)
    _check_used(stage, story, saga)


def _agree(person: Caller, approval: str) -> Answer:
    return person.post(f"/approvals/{approval}/decision", {"decision": "approve"})


def _asked_anew(stage: Stage, saga: str, first: str) -> dict[str, Any]:
    """The next round, once there is one."""

    def look() -> dict[str, Any] | None:
        following = stage.approver.get(f"/approvals/{first}").body["superseded_by"]
        return stage.approver.get(f"/approvals/{following}").body if following else None

    return stage.until(look, f"saga {saga} to ask anew")


def _check_used(stage: Stage, story: Story, saga: str) -> None:
    """The ledger: completed, and an approval that two people gave, used up."""
    found = stage.ledger(saga)
    approval = read_approval(stage.store, found.steps[2].approval or "")
    people = sorted(d.person for d in approval.decisions) if approval else []
    used = approval is not None and approval.state is ApprovalState.CONSUMED
    story.check("the approval: given by both, used once", used and people == _BOTH, people)
    ended = (found.head.outcome, found.head.pivot) == (SagaOutcome.COMPLETED, Pivot.CROSSED)
    story.check("the ledger: completed, the pivot crossed", ended, found.head.outcome)


def _nobody_may(stage: Stage, story: Story) -> None:
    stage.order("4498", "10000.01")
    request = stage.request_id("order-4498")
    answer = stage.agent.post("/plans", plan(request, steps("4498", "10000.01")))
    refused = answer.codes == {"forbidden_by_policy"}
    story.check("10,000.01: nobody may approve that, so it is rejected", refused, answer.body)
    story.check("and nothing was prepared", not stage.shop.books("4498"), stage.shop.books("4498"))
