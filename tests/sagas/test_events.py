"""The end of a saga on the bus, as the deployed sweeper publishes it."""

from __future__ import annotations

import json

from tests.sagas import lambdas
from tests.sagas.orders import enter, plan
from tests.sagas.stage import Stage


def published() -> list[dict[str, str]]:
    made = [c for c in lambdas.AWS.calls if c.operation == "events:PutEvents"]
    assert {c.function for c in made} <= {"sweeper"}
    return [json.loads(e["Detail"]) for c in made for e in c.parameters["Entries"]]


def test_the_minute_after_its_end_other_systems_are_told(stage: Stage) -> None:
    enter(stage, amount="99.00")
    saga_id = stage.run(plan(amount="99.00"))
    assert published() == []
    stage.later(minutes=1)
    stage.later(minutes=1)
    [event] = published()
    assert (event["saga_id"], event["outcome"]) == (saga_id, "completed")
    assert event["source_document_id"] == "mail-4471"


def test_a_saga_that_nobody_decided_on_in_time_is_told_of_as_compensated(stage: Stage) -> None:
    enter(stage)
    saga_id = stage.run(plan())
    assert stage.status(saga_id) == "awaiting_approval"
    stage.later(hours=30)
    stage.later(minutes=1)
    [event] = published()
    assert (event["saga_id"], event["outcome"]) == (saga_id, "compensated")
