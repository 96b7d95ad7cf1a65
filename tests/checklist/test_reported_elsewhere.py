"""What people have reported of other systems, and only a whole saga can show of this one (tests/CASES.md has all of it)."""

from __future__ import annotations

from tests.sagas.orders import enter, plan
from tests.sagas.stage import APPROVER, OPERATOR, Stage, agent

BEYOND = "9007199254740993"
"""2^53 + 1, which a double rounds to ...992."""


def test_an_id_beyond_2_to_the_53_is_the_same_text_from_the_request_to_the_target_and_to_people(
    stage: Stage,
) -> None:
    """Integers of tool calls that were silently rounded on their way: pi issue 8943."""
    enter(stage, BEYOND)
    saga_id = stage.run(plan(BEYOND))
    approval = stage.approval(saga_id).id
    shown = [
        stage.call(agent(), "GET", f"/sagas/{saga_id}").text,
        stage.call(OPERATOR, "GET", f"/sagas/{saga_id}").text,
        stage.call(APPROVER, "GET", f"/approvals/{approval}").text,
    ]
    stage.approve(saga_id)
    assert stage.status(saga_id) == "completed"
    assert stage.shop.books(BEYOND) == ["reserve", "authorize", "capture", "ship", "send"]
    assert all(f'"order_id":"{BEYOND}"' in s.arguments for s in stage.saga(saga_id).steps)
    assert all(f"order {BEYOND}" in text for text in shown)
    assert not any("9007199254740992" in text for text in shown)
