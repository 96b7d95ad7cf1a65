"""Scenes about undoing: declined, a lost answer of the undo, an unknown outcome settled by asking."""

from __future__ import annotations

from functions.domain.ledger.records import SagaOutcome, UndoState
from functions.sandbox.faults import Trouble
from infra.local.demo.stage import Stage
from infra.local.demo.story import Story


def declined(stage: Stage, story: Story) -> None:
    """The card is declined: what was reserved is released, once, under its own key."""
    stage.order("4480", "180.00")
    stage.trouble("4480", "payments", "authorize", Trouble.DECLINE)
    saga = stage.submit(story, "4480", "180.00")
    seen = stage.wait(saga, "compensated")
    story.check(
        "compensated, and the agent reads why", "declined" in seen["reason"], seen["reason"]
    )
    stage.check_books(story, saga, "reserve 0:do", "release 0:undo")
    undo = stage.ledger(saga).steps[0].undo
    key = undo.key if undo else ""
    story.check(f"released with key {saga}:0:undo", key == f"{saga}:0:undo", key)


def release_lost(stage: Stage, story: Story) -> None:
    """The undo takes effect and its answer is lost; the retry carries the same key."""
    stage.order("4481", "180.00")
    stage.trouble("4481", "payments", "authorize", Trouble.DECLINE)
    stage.trouble("4481", "inventory", "release", Trouble.LOST_ANSWER)
    saga = stage.submit(story, "4481", "180.00")
    stage.wait(saga, "compensated")
    stage.check_books(story, saga, "reserve 0:do", "release 0:undo")
    undo = stage.ledger(saga).steps[0].undo
    if undo is None:
        raise LookupError("reserve_stock has lost its undo")
    outcomes = [entry.outcome for entry in undo.history]
    story.check("the first answer was unknown", outcomes[0] == "unknown", outcomes)
    story.check("then found to have succeeded", undo.state is UndoState.SUCCEEDED, outcomes)


def unknown_then_401(stage: Stage, story: Story) -> None:
    """Nobody knows whether the card was authorised, and the credential is turned away: asking settles it."""
    stage.order("4482", "180.00")
    stage.trouble("4482", "payments", "authorize", Trouble.LOST_ANSWER)
    stage.trouble("4482", "payments", "status", Trouble.UNAUTHORIZED_401, times=2)
    saga = stage.submit(story, "4482", "180.00")
    seen = stage.wait(saga, "compensated")
    story.check("compensated", seen["status"] == "compensated", seen)
    stage.check_books(
        story, saga, "reserve 0:do", "authorize 1:do", "void 1:undo", "release 0:undo"
    )
    step = stage.ledger(saga).steps[1]
    outcomes = [f"{e.purpose}: {e.outcome}" for e in step.forward.history]
    story.check("unknown first, settled by asking", outcomes[0] == "call: unknown", outcomes)
    story.check("found before it was voided", step.forward.receipt is not None, outcomes)
    outcome = stage.ledger(saga).head.outcome
    story.check("the ledger agrees", outcome is SagaOutcome.COMPENSATED, outcome)
