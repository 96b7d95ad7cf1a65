"""Cases over the API: how they change hands, what is written into them, and what takes two people."""

from __future__ import annotations

from typing import Any

import pytest

from functions.domain.cases import Case
from functions.sandbox import asks
from tests.sagas.callers import OPERATOR, Answer, Caller, agent, person
from tests.sagas.orders import enter, plan
from tests.sagas.stage import Stage

TABLES = "memory"

GROUPS = ("fulfilment-operators", "tenant.acme")
SECOND = person("operator-2", *GROUPS)
THIRD = person("operator-3", *GROUPS)
STRANGER = person("operator-9", "fulfilment-operators", "tenant.globex")
ACCEPT = {"resolution": "accept", "reason": "The customer keeps the lamp."}


@pytest.fixture
def case(stage: Stage) -> Case:
    """The release of a reservation that has moved on."""
    enter(stage)
    saga_id = stage.run(plan())
    receipt = stage.saga(saga_id).steps[0].forward.receipt
    assert receipt is not None
    stage.shop.scene.change(asks.Change(kind="reservation", id=receipt.resource))
    stage.decide(saga_id, {"decision": "reject", "reason": "no"})
    return stage.open_case()


def on(stage: Stage, case: Case, what: str, body: Any = None, who: Caller = OPERATOR) -> Answer:
    return stage.call(who, "POST", f"/cases/{case.id}/{what}", body)


def seen(stage: Stage, case: Case, who: Caller = OPERATOR) -> Any:
    return stage.call(who, "GET", f"/cases/{case.id}").body


def answer(stage: Stage, case: Case, said: str, who: Caller, **more: str) -> Answer:
    found = seen(stage, case)["proposal"]
    number = found["proposal_id"] if found else f"{case.id}-p9"
    body = {"proposal_id": number, "answer": said, **more}
    return on(stage, case, "proposal/answer", body, who)


# Hands


def test_a_claim_is_renewed_and_given_back(stage: Stage, case: Case) -> None:
    assert on(stage, case, "renewal").codes == ["not_claimed"]
    until = on(stage, case, "claim").body["claimed_until"]
    assert on(stage, case, "renewal").body["claimed_until"] > until
    assert on(stage, case, "claim", who=SECOND).codes == ["claim_conflict"]
    assert on(stage, case, "release", {"note": "x"}, SECOND).codes == ["not_claimed"]
    assert on(stage, case, "release", {"note": "off"}).body["claimed_by"] is None
    assert on(stage, case, "claim", who=SECOND).body["claimed_by"] == "operator-2"


def test_a_case_is_handed_to_a_member_who_finds_it_on_the_own_list(
    stage: Stage, case: Case
) -> None:
    on(stage, case, "claim")
    stage.call(SECOND, "GET", "/cases")
    handed = on(stage, case, "handover", {"to": "operator-2", "note": "You know the carrier."})
    assert (handed.status, handed.body["claimed_by"]) == (200, "operator-2")
    [line] = stage.call(SECOND, "GET", "/cases").body["cases"]
    assert (line["claimed_by"], line["handed_over_by"]) == ("operator-2", "operator-1")
    assert on(stage, case, "renewal").codes == ["not_claimed"]
    assert on(stage, case, "renewal", who=SECOND).status == 200


def test_a_case_is_handed_to_nobody_outside_its_group_and_tenant(stage: Stage, case: Case) -> None:
    on(stage, case, "claim")
    for who in (SECOND, STRANGER):
        stage.call(who, "GET", "/cases")
    stage.pool.revoke("operator-2", "fulfilment-operators")
    for to in ("nobody", "operator-1", "operator-2", "operator-9"):
        refused = on(stage, case, "handover", {"to": to})
        assert (refused.status, refused.codes) == (422, ["not_a_member"])
    assert seen(stage, case)["claimed_by"] == "operator-1"


def test_what_was_attempted_and_found_is_shown_to_the_next_person_with_the_same_key(
    stage: Stage, case: Case
) -> None:
    said = {"kind": "attempted", "text": "I release it by hand.", "facts": {"ticket": "77"}}
    assert on(stage, case, "observations", said).codes == ["not_claimed"]
    on(stage, case, "claim")
    on(stage, case, "observations", said)
    assert on(stage, case, "observations", {"text": "It is gone."}, SECOND).status == 200
    stage.clock.pass_(16 * 60)
    on(stage, case, "claim", who=SECOND)
    told = seen(stage, case, SECOND)
    assert (told["attempted"]["who"], told["attempted"]["text"]) == ("operator-1", said["text"])
    assert told["attempted"]["facts"] == {"ticket": "77"}
    assert told["evidence"]["undo"]["key"] == f"{case.saga_id}:0:undo"
    kept = [(e["who"], e["what"]) for e in told["events"]]
    assert kept == [
        ("operator-1", "claimed"),
        ("operator-1", "attempted"),
        ("operator-2", "observed"),
        ("operator-2", "claimed"),
    ]


@pytest.mark.parametrize(
    "body",
    [
        {"text": ""},
        {"text": "x" * 501},
        {"text": "x", "facts": {"a": "x" * 301}},
        {"text": "x", "facts": {str(n): "x" for n in range(11)}},
        {"text": "x", "kind": "proposed"},
    ],
)
def test_what_is_written_into_a_case_is_bounded(
    stage: Stage, case: Case, body: dict[str, Any]
) -> None:
    assert on(stage, case, "observations", body).status == 422
    assert seen(stage, case)["events"] == []


# Two people


def test_the_case_says_which_ways_take_two_and_what_has_to_be_said(
    stage: Stage, case: Case
) -> None:
    ways = {way["resolution"]: way for way in seen(stage, case)["ways"]}
    assert {name: way["people"] for name, way in ways.items()} == {
        "retry": 1,
        "done": 1,
        "accept": 2,
    }
    assert ways["accept"]["inputs"] == [{"name": "reason", "required": True, "choices": None}]


def test_an_effect_is_accepted_by_two_people_and_the_saga_resolved_manually(
    stage: Stage, case: Case
) -> None:
    alone = {"resolution": "accept", "evidence": "x"}
    assert on(stage, case, "proposal", ACCEPT).codes == ["not_claimed"]
    on(stage, case, "claim")
    assert on(stage, case, "resolution", alone).codes == ["another_person_needed"]
    assert on(stage, case, "proposal", ACCEPT).body["proposal"]["by"] == "operator-1"
    assert on(stage, case, "proposal", ACCEPT).codes == ["proposal_open"]
    assert stage.call(SECOND, "GET", "/cases").body["cases"][0]["proposed"] == "accept"
    assert answer(stage, case, "confirm", OPERATOR).codes == ["another_person_needed"]
    assert answer(stage, case, "withdraw", SECOND).codes == ["not_your_proposal"]
    assert answer(stage, case, "refuse", SECOND).codes == ["missing_field"]
    done = answer(stage, case, "confirm", SECOND)
    assert (done.status, done.body["resolution"]) == (200, "accept")
    assert answer(stage, case, "confirm", SECOND).codes == ["case_closed"]
    stage.deliver()
    stage.rest()
    assert stage.status(case.saga_id or "") == "resolved_manually"
    assert stage.shop.books() == ["reserve", "authorize", "void"]
    told = seen(stage, case)["events"][-1]
    assert (told["who"], told["facts"]["proposed_by"]) == ("operator-2", "operator-1")


def test_a_refused_or_withdrawn_proposal_leaves_everything_as_it_was(
    stage: Stage, case: Case
) -> None:
    on(stage, case, "claim")
    on(stage, case, "proposal", ACCEPT)
    refused = answer(stage, case, "refuse", SECOND, reason="Finance wants it back.")
    assert (refused.status, refused.body["proposal"]) == (200, None)
    on(stage, case, "proposal", ACCEPT)
    assert answer(stage, case, "withdraw", OPERATOR).body["proposal"] is None
    assert answer(stage, case, "confirm", SECOND).codes == ["no_proposal"]
    assert stage.status(case.saga_id or "") == "compensation_blocked"


def test_nobody_confirms_while_a_third_person_works_on_the_case(stage: Stage, case: Case) -> None:
    on(stage, case, "claim")
    on(stage, case, "proposal", ACCEPT)
    stage.clock.pass_(16 * 60)
    on(stage, case, "claim", who=THIRD)
    assert answer(stage, case, "confirm", SECOND).codes == ["claim_conflict"]
    assert answer(stage, case, "confirm", THIRD).status == 200


def test_only_what_the_case_allows_is_proposed(stage: Stage, case: Case) -> None:
    on(stage, case, "claim")
    for resolution in ("done", "retry_with_alternate", "reopen"):
        refused = on(stage, case, "proposal", {**ACCEPT, "resolution": resolution})
        assert refused.codes == ["resolution_not_allowed"]
        assert refused.body["problems"][0]["allowed"] == ["accept"]
    named = on(stage, case, "proposal", {**ACCEPT, "alternate": "administrator"})
    assert named.codes == ["not_one_of"]


@pytest.mark.parametrize(
    "what", ["renewal", "release", "handover", "observations", "proposal", "proposal/answer"]
)
def test_agents_and_people_of_another_tenant_do_nothing_about_a_case(
    stage: Stage, case: Case, what: str
) -> None:
    bodies: dict[str, Any] = {
        "handover": {"to": "operator-2"},
        "observations": {"text": "x"},
        "proposal": ACCEPT,
        "proposal/answer": {"proposal_id": "x", "answer": "confirm"},
    }
    body = bodies.get(what, {})
    assert on(stage, case, what, body, agent()).status == 403
    assert on(stage, case, what, body, STRANGER).status == 404
    assert seen(stage, case)["events"] == []


# Requests


def test_an_escalated_request_is_given_back_to_its_agent(stage: Stage) -> None:
    bad = plan() | {"steps": plan()["steps"][::-1]}
    for _ in range(3):
        stage.call(agent(), "POST", "/plans", bad)
    stage.deliver()
    case = stage.open_case()
    on(stage, case, "claim")
    said = {"resolution": "reopen", "evidence": "The customer has told us more."}
    assert on(stage, case, "resolution", said).codes == ["missing_field"]
    assert on(stage, case, "resolution", {**said, "attempts": 11}).status == 422
    assert stage.call(agent(), "POST", "/plans", plan()).codes == ["request_escalated"]
    assert on(stage, case, "resolution", {**said, "attempts": 2}).status == 200
    enter(stage)
    assert stage.call(agent(), "POST", "/plans", plan()).status == 201
