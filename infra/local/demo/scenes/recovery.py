"""Scenes that end with a person or by asking: a budget spent, a credential revoked, a capture whose answer is lost."""

from __future__ import annotations

from typing import Any

from functions.domain.ledger.records import Pivot
from functions.sandbox.faults import Trouble
from infra.local.demo.stage import Stage
from infra.local.demo.story import Story

OK = 200
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


def credential_revoked(stage: Stage, story: Story) -> None:
    """The undo's credential is refused: blocked, no other is tried, and an operator settles it from the queue's notice."""
    stage.order("4485", "99.00")
    stage.trouble("4485", "payments", "authorize", Trouble.DECLINE)
    # Refused as it is, and once more after it was read again through the same reference.
    stage.trouble("4485", "inventory", "release", Trouble.UNAUTHORIZED_401, times=2)
    saga = stage.submit(story, "4485", "99.00")
    stage.wait(saga, "compensation_blocked")
    stage.check_books(story, saga, "reserve 0:do")
    case, receipt = _noticed(stage, saga)
    story.check("a case: the authority is lost", case["cause"] == "authority_lost", case["cause"])
    body = {"case_id": case["case_id"], "receipt": receipt}
    early = stage.operator.post("/notices/acknowledgement", body)
    story.check("its notice stays as long as it is open", early.codes == {"case_open"}, early.body)
    story.tell("the credential is given back; sagaplane cases claim; sagaplane cases resolve retry")
    stage.operator_terminal.run("cases", "claim", case["case_id"])
    stage.operator_terminal.run("cases", "resolve", case["case_id"], "retry", "--yes")
    stage.wait(saga, "compensated")
    stage.check_books(story, saga, "reserve 0:do", "release 0:undo")
    done = stage.operator.post("/notices/acknowledgement", body)
    story.check("and is taken off the queue once it is settled", done.status == OK, done.body)
    told = stage.operator_terminal.run("show", saga, "--audit")["entries"]
    people = [f"{e['what']} by {e['who']}" for e in told if e["kind"] == "case" and e["who"]]
    expected = ["claimed by operator", "retry by operator"]
    story.check("the audit says who did what", people == expected, people)


def _noticed(stage: Stage, saga: str) -> tuple[dict[str, Any], str]:
    """The case of a saga as the queue tells of it, with the notice's receipt."""

    def look() -> dict[str, Any] | None:
        taken = stage.operator.post("/notices/take", {"most": 10, "wait": 2}).body["notices"]
        return next((n for n in taken if n["case"]["saga_id"] == saga), None)

    notice = stage.until(look, f"the notice of the case of saga {saga}")
    return notice["case"], notice["receipt"]


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
