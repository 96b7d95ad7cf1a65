"""What the deployed sweeper does with sagas that are over, with the rights that it really has."""

from __future__ import annotations

from typing import Any

from infra.local.demo.stage import Stage
from infra.local.demo.story import Story


def test_their_end_is_told_and_their_records_are_kept_for_a_while_only(
    stage: Stage, stories: list[Story]
) -> None:
    """It tells first and marks afterwards: a mark shows that the bus has taken the event."""
    for story in stories:
        story.failures()
    listed = stage.operator.get("/sagas", limit="100").body["sagas"]
    ended = [saga["saga_id"] for saga in listed if saga["status"] in {"completed", "compensated"}]
    assert ended

    def marked() -> dict[str, Any] | None:
        sagas = [stage.ledger(saga_id) for saga_id in ended]
        kept = [s for s in sagas if s.head.forgotten_at is not None]
        return {"sagas": kept} if kept else None

    for saga in stage.until(marked, "the sweeper to mark a saga that is over")["sagas"]:
        assert saga.head.ended_at is not None
        assert saga.head.forgotten_at * 1000 > saga.head.ended_at + saga.head.retain_for - 1000
        assert {step.forgotten_at for step in saga.steps} == {saga.head.forgotten_at}
