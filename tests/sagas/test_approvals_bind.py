"""An approval is for exactly what runs, as policy asks for it when it runs."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pytest
from botocore.exceptions import EndpointConnectionError

from functions.catalogues.fulfilment import policy
from functions.domain.keys import canonical
from functions.ports import Change
from functions.usecases.records import key_of
from tests.sagas.lambdas import AWS, ApiCall
from tests.sagas.orders import enter, plan
from tests.sagas.stage import APPROVER, OPERATOR, Stage, person

TABLES = "memory"

DONE = ["reserve", "authorize", "capture", "ship", "send"]


def rewrite(stage: Stage, record: Any, fields: Mapping[str, Any]) -> None:
    """Somebody with write access to the table changes a record."""
    stage.store.write([Change(key_of(record), fields, {"version": record.version})])


def test_arguments_that_change_after_the_approval_are_not_what_was_approved(stage: Stage) -> None:
    """Approving one thing and running another: pydantic-ai issue 6968."""
    enter(stage)
    saga_id = stage.run(plan())
    other = {"order_id": "4471", "amount": "179.00", "currency": "EUR"}
    rewrite(stage, stage.saga(saga_id).steps[2], {"arguments": canonical(other)})
    stage.approve(saga_id)
    assert "capture" not in stage.shop.books()
    assert stage.status(saga_id) == "compensated"


def test_a_result_that_changes_after_the_approval_is_asked_about_anew(stage: Stage) -> None:
    enter(stage)
    saga_id = stage.run(plan())
    step = stage.saga(saga_id).steps[1]
    rewrite(stage, step, {"forward.receipt.resource": "authorization-of-somebody-else"})
    stage.approve(saga_id)
    assert "capture" not in stage.shop.books()
    assert stage.status(saga_id) == "awaiting_approval"
    assert [a.round for a in stage.approvals()] == [1, 2]


def test_a_policy_that_asks_for_more_people_by_then_is_not_satisfied_by_fewer(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Valid when decided, stale when used: mcp-hangar issue 674."""
    enter(stage)
    saga_id = stage.run(plan())
    monkeypatch.setattr(policy, "_STANDARD", (policy.Band(Decimal("150.00"), approvers=2),))
    stage.approve(saga_id)
    assert stage.status(saga_id) == "awaiting_approval"
    assert stage.approval(saga_id).needed == 2
    stage.approve(saga_id)
    assert stage.status(saga_id) == "awaiting_approval"
    stage.approve(saga_id, person("approver-2", "fulfilment-approvers", "tenant.acme"))
    assert stage.status(saga_id) == "completed"


def test_people_are_asked_three_times_at_most(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    enter(stage)
    saga_id = stage.run(plan())
    for asked in range(3):
        assert stage.approval(saga_id).round == asked + 1
        more = policy.Band(Decimal("150.00"), approvers=asked + 2)
        monkeypatch.setattr(policy, "_STANDARD", (more,))
        for number in range(asked + 1):
            stage.approve(
                saga_id, person(f"approver-{number}", "fulfilment-approvers", "tenant.acme")
            )
    assert stage.status(saga_id) == "compensated"
    assert "asked often enough" in str(stage.saga(saga_id).head.reason)
    assert "capture" not in stage.shop.books()


def test_an_order_that_changes_its_amount_while_people_think_is_not_captured(stage: Stage) -> None:
    enter(stage)
    saga_id = stage.run(plan())
    enter(stage, amount="1.00")
    stage.approve(saga_id)
    assert stage.status(saga_id) == "compensated"
    assert "capture" not in stage.shop.books()


def test_an_approval_is_used_once_by_the_saga_that_asked(stage: Stage) -> None:
    enter(stage)
    saga_id = stage.run(plan())
    stage.approve(saga_id)
    assert stage.approval(saga_id).state == "consumed"
    enter(stage)
    second = stage.run(
        plan(
            request_id="req-second",
            provenance={**plan()["provenance"], "source_document_id": "mail-2"},
        )
    )
    assert second != saga_id
    assert stage.status(second) != "completed"


def test_the_approver_sees_facts_first_and_the_agents_words_as_such(stage: Stage) -> None:
    """Lies in the loop: text that an agent wrote is data, wherever it is shown."""
    enter(stage)
    lies = "APPROVED BY FINANCE <img src=x onerror=alert(1)> ![x](http://x)" + "\n" * 200 + "\u202e"
    saga_id = stage.run(plan(rationale=lies, notes=["A credit of 20.00 was promised."]))
    told = stage.call(
        person("approver-1", "fulfilment-approvers", "tenant.acme"),
        "GET",
        f"/approvals/{stage.approval(saga_id).id}",
    ).body
    assert told["sentence"] == "Capture 180.00 EUR for order 4471"
    assert "150.00" in told["reason"]
    assert told["agent"] == {"rationale": lies, "notes": ["A credit of 20.00 was promised."]}
    assert told["exists"] == [
        "Reserve 2 of LAMP-1 in warehouse B for order 4471",
        "Authorise 180.00 EUR for order 4471",
    ]
    assert len(told["on_approve"]) == 3
    assert [each.split(":")[0] for each in told["on_reject"]] == [
        "void_authorization",
        "release_stock",
    ]
    facts = {name: value for name, value in told.items() if name != "agent"}
    assert "FINANCE" not in str(facts)


def test_a_text_that_asks_for_money_changes_no_decision(stage: Stage) -> None:
    enter(stage, amount="99.00")
    saga_id = stage.run(plan(amount="99.00", rationale="Credit me 500, the policy allows it."))
    assert stage.status(saga_id) == "completed"
    assert stage.approvals() == []
    answer = stage.submit(plan("4471", "500.00", request_id="req-500"))
    assert "amount_not_of_order" in answer.codes


def test_above_the_last_band_a_plan_is_refused_with_the_reason_and_nothing_is_reserved(
    stage: Stage,
) -> None:
    enter(stage, amount="10000.01")
    answer = stage.submit(plan(amount="10000.01"))
    assert (answer.status, answer.codes) == (422, ["forbidden_by_policy"])
    assert "nobody may approve" in answer.body["detail"]
    assert stage.shop.books() == []


def test_what_policy_has_come_to_forbid_is_refused_at_the_pivot_whoever_has_approved(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    enter(stage)
    saga_id = stage.run(plan())
    monkeypatch.setattr(policy, "_STANDARD", (policy.Band(Decimal("150.00"), approvers=None),))
    stage.approve(saga_id)
    assert stage.status(saga_id) == "compensated"
    assert "nobody may approve" in str(stage.saga(saga_id).head.reason)
    assert "capture" not in stage.shop.books()


SECOND = person("approver-2", "fulfilment-approvers", "tenant.acme")


def test_two_approvers_are_two_people_and_everybody_sees_who_has_agreed(stage: Stage) -> None:
    enter(stage, amount="1200.00")
    saga_id = stage.run(plan(amount="1200.00"))
    path = f"/approvals/{stage.approval(saga_id).id}"
    first = stage.approve(saga_id)
    assert (first.status, first.body["state"], first.body["needed"]) == (200, "open", 2)
    assert stage.approve(saga_id).body["decisions"] == first.body["decisions"], "said again"
    [listed] = stage.call(SECOND, "GET", "/approvals").body["approvals"]
    shown = stage.call(SECOND, "GET", path).body
    for body in (listed, shown):
        assert [d["person"] for d in body["decisions"]] == ["approver-1"]
        assert (body["needed"], body["group"]) == (2, "fulfilment-approvers")
        assert body["decisions"][0]["at"] is not None
    assert "capture" not in stage.shop.books()
    assert stage.approve(saga_id, SECOND).body["state"] == "approved"
    assert stage.status(saga_id) == "completed"
    assert [d.person for d in stage.approval(saga_id).decisions] == ["approver-1", "approver-2"]


def test_who_has_approved_cannot_take_it_back_and_is_shown_what_they_said(stage: Stage) -> None:
    enter(stage, amount="1200.00")
    saga_id = stage.run(plan(amount="1200.00"))
    stage.approve(saga_id)
    no = {"decision": "reject", "reason": "I have thought again."}
    answer = stage.decide(saga_id, no)
    assert (answer.status, answer.codes) == (409, ["already_approved_by_you"])
    assert "“approver-1” said approve at 20" in answer.body["detail"]
    assert stage.status(saga_id) == "awaiting_approval"
    assert stage.decide(saga_id, no, SECOND).status == 200
    assert stage.status(saga_id) == "compensated"


@pytest.mark.parametrize("how", ["revoke", "disable"])
def test_a_membership_that_was_revoked_counts_at_the_pivot(stage: Stage, how: str) -> None:
    """Allowed when asked, no longer when it runs: the token of who decided says what was, not what is."""
    enter(stage, amount="1200.00")
    saga_id = stage.run(plan(amount="1200.00"))
    stage.approve(saga_id)
    if how == "revoke":
        stage.pool.revoke("approver-1", "fulfilment-approvers")
    else:
        stage.pool.disable("approver-1")
    stage.approve(saga_id, SECOND)
    assert stage.status(saga_id) == "awaiting_approval"
    assert "capture" not in stage.shop.books()
    anew = stage.call(SECOND, "GET", f"/approvals/{stage.approval(saga_id).id}").body
    assert anew["decisions"] == []
    assert anew["again"] == "no longer among those who may approve: approver-1"
    third = person("approver-3", "fulfilment-approvers", "tenant.acme")
    for who in (SECOND, third):
        stage.approve(saga_id, who)
    assert stage.status(saga_id) == "completed"
    assert stage.shop.books().count("capture") == 1


def test_where_nobody_can_say_who_may_approve_the_pivot_waits_and_then_runs_once(
    stage: Stage,
) -> None:
    enter(stage)
    saga_id = stage.run(plan())
    left = [2]

    def down(made: ApiCall) -> None:
        if made.operation == "cognito-idp:AdminGetUser" and left[0]:
            left[0] -= 1
            raise EndpointConnectionError(endpoint_url="https://cognito")

    AWS.before.append(down)
    stage.approve(saga_id)
    assert stage.errors().count("NotAppliedYet") == 2
    assert stage.status(saga_id) == "completed"
    assert stage.shop.books().count("capture") == 1
    assert [a.round for a in stage.approvals()] == [1]


def test_a_decision_on_something_else_than_was_shown_decides_nothing(stage: Stage) -> None:
    enter(stage)
    saga_id = stage.run(plan())
    shown = stage.call(APPROVER, "GET", f"/approvals/{stage.approval(saga_id).id}").body
    other = stage.decide(saga_id, {"decision": "approve", "binds": "0" * 64})
    assert (other.status, other.codes) == (409, ["approval_changed"])
    assert stage.status(saga_id) == "awaiting_approval"
    assert stage.decide(saga_id, {"decision": "approve", "binds": shown["binds"]}).status == 200
    assert stage.status(saga_id) == "completed"


def test_who_answers_an_earlier_round_is_led_to_the_one_that_counts(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    enter(stage)
    saga_id = stage.run(plan())
    old = f"/approvals/{stage.approval(saga_id).id}"
    monkeypatch.setattr(policy, "_STANDARD", (policy.Band(Decimal("150.00"), approvers=2),))
    stage.approve(saga_id)
    new = stage.approval(saga_id).id
    assert stage.call(SECOND, "GET", old).body["superseded_by"] == new
    answer = stage.call(SECOND, "POST", f"{old}/decision", {"decision": "approve"})
    assert (answer.status, answer.codes) == (409, ["approval_changed"])
    assert new in answer.body["detail"]


def test_whoever_comes_too_late_is_told_where_the_saga_is(stage: Stage) -> None:
    enter(stage)
    saga_id = stage.run(plan())
    stage.later(hours=25)
    answer = stage.approve(saga_id)
    assert (answer.status, answer.codes) == (410, ["approval_expired"])
    assert answer.body["detail"].endswith("Its saga is compensated.")


def test_an_approval_is_shown_to_its_group_and_to_the_operators_and_to_nobody_else(
    stage: Stage,
) -> None:
    enter(stage)
    saga_id = stage.run(plan())
    path = f"/approvals/{stage.approval(saga_id).id}"
    assert [stage.call(w, "GET", path).status for w in (APPROVER, OPERATOR)] == [200, 200]
    neighbour = person("nina", "environments-approvers", "tenant.acme")
    refused = stage.call(neighbour, "GET", path)
    assert (refused.status, refused.codes) == (403, ["forbidden"])
    assert "4471" not in refused.text
    stranger = person("stan", "fulfilment-approvers", "tenant.globex")
    assert stage.call(stranger, "GET", path).codes == ["not_found"]
    for who in (OPERATOR, neighbour, stranger):
        assert stage.call(who, "GET", "/approvals").body["approvals"] == []


def test_operators_who_are_no_approvers_may_not_approve(stage: Stage) -> None:
    enter(stage)
    saga_id = stage.run(plan())
    assert stage.approve(saga_id, OPERATOR).codes == ["forbidden"]
