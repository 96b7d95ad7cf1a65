"""Other systems learn that a saga is over: at least once, by ids and states, and by nothing that anybody wrote."""

from __future__ import annotations

import json
from typing import Any

import pytest

from functions.aws.eventbridge import EventBridgeEvents, NotPublished
from functions.domain import events
from functions.domain.ledger.records import Saga
from functions.usecases.start_saga import attend_to
from tests.unit.kernel import SAGA, Bench, Killed
from tests.unit.kernel_machine import attend, compiled, rest


class Bus:
    """Stands in for the service."""

    def __init__(self, failed: int = 0) -> None:
        self.failed = failed
        self.entries: list[dict[str, Any]] = []

    def put_events(self, Entries: list[dict[str, Any]]) -> dict[str, Any]:  # noqa: N803 - boto3's
        self.entries += Entries
        entries = [{"ErrorCode": "ThrottlingException"}] if self.failed else [{"EventId": "1"}]
        return {"FailedEntryCount": self.failed, "Entries": entries}


def ran(**trouble: str) -> Bench:
    bench = Bench()
    bench.admit(epoch=0)
    for step, kind in trouble.items():
        bench.target.trouble(f"{SAGA}:{step[1:]}:do", kind)
    attend(bench)
    rest(bench)
    return bench


def told(bench: Bench, publish: Any = None) -> list[Saga]:
    """The saga is looked at once more, as the sweeper does; what was published."""
    seen: list[Saga] = []
    attend_to(
        bench.store,
        bench.clock,
        bench.machines,
        bench.notices,
        compiled,
        SAGA,
        ended=publish or seen.append,
    )
    return seen


def test_it_names_the_saga_its_outcome_and_where_its_plan_came_from() -> None:
    bench = ran()
    assert events.ended(bench.saga) == {
        "saga_id": SAGA,
        "tenant": "acme",
        "request_id": "request-1",
        "catalogue": "shop",
        "catalogue_version": bench.catalogue.version,
        "outcome": "completed",
        "ended_at": bench.head.ended_at,
        "noticed": [],
        "actor_type": "agent",
        "actor": "agent-1",
        "run_id": "run-1",
        "prompt_version": "7",
        "source_document_id": "mail-88",
    }


def test_nothing_that_the_agent_or_a_person_wrote_is_in_it() -> None:
    saga = ran(s1="refuse").saga
    said = json.dumps(events.ended(saga))
    assert events.ended(saga)["outcome"] == "compensated"
    for text in (saga.head.rationale, saga.head.reason, saga.steps[0].sentence, "4471"):
        assert text
        assert text not in said


def test_an_undo_that_met_a_business_situation_is_named() -> None:
    bench = ran(s1="refuse")
    step = bench.step(0)
    assert step.undo is not None
    noticed = step.undo.model_copy(update={"notice": "Somebody else took the last unit."})
    bench.put(step, step.model_copy(update={"undo": noticed}))
    event = events.ended(bench.saga)
    assert event["noticed"] == ["un_reserve"]
    assert "last unit" not in json.dumps(event)


@pytest.mark.parametrize("trouble", [{}, {"s1": "refuse"}], ids=["completed", "compensated"])
def test_a_saga_that_is_over_is_told_of_once_where_nothing_dies(trouble: dict[str, str]) -> None:
    bench = ran(**trouble)
    assert [saga.head.saga_id for saga in told(bench)] == [SAGA]
    assert told(bench) == []


def test_a_saga_that_a_person_has_is_not() -> None:
    bench = ran(s4="refuse")
    assert bench.step(4).case is not None
    assert told(bench) == []


def test_whoever_dies_after_telling_tells_it_again() -> None:
    bench = ran()

    def die(_: Saga) -> None:
        raise Killed

    with pytest.raises(Killed):
        told(bench, die)
    assert bench.head.due_at is not None
    assert len(told(bench)) == 1


def test_it_goes_to_our_bus_under_our_name() -> None:
    bus = Bus()
    EventBridgeEvents(bus, bus="sagaplane-test").ended(ran().saga)  # type: ignore[arg-type]
    [entry] = bus.entries
    assert (entry["EventBusName"], entry["Source"]) == ("sagaplane-test", "sagaplane")
    assert entry["DetailType"] == "Saga ended"
    assert json.loads(entry["Detail"])["saga_id"] == SAGA


def test_an_event_that_the_bus_did_not_take_is_published_again() -> None:
    bench = ran()
    failing = EventBridgeEvents(Bus(failed=1), bus="sagaplane-test")  # type: ignore[arg-type]
    with pytest.raises(NotPublished, match="ThrottlingException"):
        told(bench, failing.ended)
    assert bench.head.forgotten_at is None
    assert len(told(bench)) == 1
