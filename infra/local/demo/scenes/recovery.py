"""Scenes past the point of no return: a case that a person settles, and a capture whose answer is lost."""

from __future__ import annotations

from typing import Any

from functions.domain.ledger.records import Pivot
from functions.sandbox.faults import Trouble
from infra.local.demo.stage import Stage
from infra.local.demo.story import Story

_ALL = ("reserve 0:do", "authorize 1:do", "capture 2:do", "ship 3:do", "send 4:do")


def case_settled(stage: Stage, story: Story) -> None:
    """The carrier is down for longer than the budget: nothing is undone, a person takes over."""
    stage.order("4483", "99.00")
    stage.trouble("4483", "shipping", "ship", Trouble.ERROR_503, times=4)
    saga = stage.submit(story, "4483", "99.00")
    seen = stage.wait(saga, "awaiting_manual_resolution")
    story.check("captured, and nothing is undone", seen["pivot"] == "crossed", seen["pivot"])

    def look() -> dict[str, Any] | None:
        cases = stage.operator.get("/cases").body["cases"]
        return next((c for c in cases if c["saga_id"] == saga), None)

    case = stage.until(look, f"the case of saga {saga}")
    story.check("the case says what is owed", "has to be finished" in case["obligation"], case)
    story.tell("sagaplane cases claim; the carrier is repaired; sagaplane cases resolve retry")
    stage.operator_terminal.run("cases", "claim", case["case_id"])
    stage.operator_terminal.run("cases", "resolve", case["case_id"], "retry", "--yes")
    stage.wait(saga, "completed")
    stage.check_books(story, saga, *_ALL)
    head = stage.ledger(saga).head
    story.check("on a new execution", head.execution == f"{saga}-2", head.execution)


def capture_lost(stage: Stage, story: Story) -> None:
    """The pivot's outcome is unknown: it is settled, never guessed and never repeated."""
    stage.order("4484", "180.00")
    stage.trouble("4484", "payments", "capture", Trouble.LOST_ANSWER)
    saga = stage.submit(story, "4484", "180.00")
    stage.wait(saga, "awaiting_approval")
    stage.decide(saga, "approve")
    stage.wait(saga, "completed")
    stage.check_books(story, saga, *_ALL)
    found = stage.ledger(saga)
    outcomes = [f"{e.purpose}: {e.outcome}" for e in found.steps[2].forward.history]
    story.check("the first answer was unknown", outcomes[0] == "call: unknown", outcomes)
    story.check("nobody was asked a second time", found.steps[2].rounds == 1, found.steps[2].rounds)
    story.check("the pivot is crossed, once", found.head.pivot is Pivot.CROSSED, found.head.pivot)
