"""Scenes about people: asked, not asked, saying yes, saying no, saying nothing, saying yes too late."""

from __future__ import annotations

from datetime import timedelta
from http import HTTPStatus

from functions.domain.ledger.records import Pivot, SagaOutcome
from infra.local.demo.plans import CREDIT_NOTE
from infra.local.demo.stage import Stage
from infra.local.demo.story import Story

_UNDONE = ("reserve 0:do", "authorize 1:do", "void 1:undo", "release 0:undo")


def approved(stage: Stage, story: Story) -> None:
    """The saga of the first scene: the approver reads, approves from a terminal, and it runs to its end."""
    request = stage.agent.get(f"/requests/{stage.request_id('order-4471')}").body
    saga = str(request["saga_id"])
    stage.wait(saga, "awaiting_approval")
    approval = stage.approval(saga)
    shown = stage.approver.get(f"/approvals/{approval['approval_id']}").body
    story.check("capturing 180.00 waits for a person", "180.00 EUR" in shown["sentence"], shown)
    story.check("who is told why", "above 150.00" in shown["reason"], shown["reason"])
    story.check("and sees the agent's words as such", CREDIT_NOTE in shown["agent"]["notes"])
    story.tell("sagaplane approvals approve")
    stage.approver_terminal.run("approvals", "approve", approval["approval_id"], "--yes")
    seen = stage.wait(saga, "completed")
    story.check("captured, shipped, confirmed: completed", seen["final"], seen["status"])
    stage.check_books(
        story, saga, "reserve 0:do", "authorize 1:do", "capture 2:do", "ship 3:do", "send 4:do"
    )
    head = stage.ledger(saga).head
    ended = (head.outcome, head.pivot) == (SagaOutcome.COMPLETED, Pivot.CROSSED)
    story.check("the ledger: completed, the pivot crossed", ended, head.outcome)


def threshold(stage: Stage, story: Story) -> None:
    """The policy's line, from both sides."""
    stage.order("4474", "150.00")
    stage.order("4475", "150.01")
    under = stage.submit(story, "4474", "150.00")
    over = stage.submit(story, "4475", "150.01")
    stage.wait(under, "completed")
    asked = [s.approval for s in stage.ledger(under).steps if s.approval]
    story.check("150.00: completed, and nobody was asked", not asked, asked)
    stage.wait(over, "awaiting_approval")
    story.check("150.01: one person is asked", stage.approval(over)["state"] == "open")
    stage.decide(over, "approve")
    stage.wait(over, "completed")


def rejected_and_expired(stage: Stage, story: Story) -> None:
    """No, and silence: both undo what was prepared."""
    stage.order("4476", "220.00")
    stage.order("4477", "220.00", cutoff=timedelta(seconds=40))
    silent = stage.submit(story, "4477", "220.00")
    saga = stage.submit(story, "4476", "220.00")
    stage.wait(saga, "awaiting_approval")
    answer = stage.decide(saga, "reject", "The customer has cancelled by telephone.")
    story.check("the approver rejects", answer.status == HTTPStatus.OK, answer.body)
    seen = stage.wait(saga, "compensated")
    story.check("compensated; the agent reads why", "telephone" in seen["reason"], seen["reason"])
    stage.check_books(story, saga, *_UNDONE)
    story.tell("in the other saga nobody answers until the order's cut-off")
    seen = stage.wait(silent, "compensated")
    story.check("compensated as well", "in time" in seen["reason"], seen["reason"])
    stage.check_books(story, silent, *_UNDONE)


def stale(stage: Stage, story: Story) -> None:
    """An approval is for what was asked; what has changed meanwhile is looked at again before the pivot."""
    stage.order("4478", "199.00")
    saga = stage.submit(story, "4478", "199.00")
    stage.wait(saga, "awaiting_approval")
    story.tell("the order ships by other means; then a person approves")
    stage.approval(saga)
    stage.order("4478", "199.00", shipped=True)
    stage.decide(saga, "approve")
    seen = stage.wait(saga, "compensated")
    story.check("refused at the pivot, compensated", "shipped" in seen["reason"], seen["reason"])
    stage.check_books(story, saga, *_UNDONE)
