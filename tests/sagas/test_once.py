"""The same thing twice: deliveries, requests, decisions, claims. One effect, one saga, one answer."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any

import pytest

from functions.sandbox.faults import Trouble
from functions.usecases.admission import Actor
from functions.usecases.submit_plan import Admitted, Intake, Rejected, submit_plan
from tests.sagas.lambdas import AWS, ApiCall, Invocation
from tests.sagas.orders import enter, plan
from tests.sagas.stage import APPROVER, OPERATOR, Stage, person

DONE = ["reserve", "authorize", "capture", "ship", "send"]
STEPS = [
    "reserve_stock-run 0 run",
    "authorize_payment-run 1 run",
    "capture_payment-run 2 run",
    "create_shipment-run 3 run",
    "send_confirmation-run 4 run",
]


def deliver_again(stage: Stage, made: Invocation) -> None:
    """Lambda's at-least-once: the same event reaches the function once more."""
    stage.functions[made.function](made.payload)


@pytest.mark.parametrize("call", STEPS)
def test_a_task_that_is_delivered_twice_has_one_effect(stage: Stage, call: str) -> None:
    enter(stage, amount="99.00")
    again: list[Any] = []
    stage.when(call, lambda m: again.append(stage.functions[m.function](m.payload)), after=True)
    saga_id = stage.run(plan(amount="99.00"))
    index = STEPS.index(call)
    assert again == [{"key": f"{saga_id}:{index}:do", "outcome": "applied"}]
    assert stage.status(saga_id) == "completed"
    assert stage.shop.books() == DONE
    assert all(s.forward.attempts == 1 for s in stage.saga(saga_id).steps)


@pytest.mark.parametrize("call", ["authorize_payment-undo 1", "reserve_stock-undo 0"])
def test_an_undo_that_is_delivered_twice_has_one_effect(stage: Stage, call: str) -> None:
    enter(stage)
    saga_id = stage.run(plan())
    stage.when(call, lambda m: deliver_again(stage, m), after=True)
    stage.decide(saga_id, {"decision": "reject", "reason": "no"})
    assert stage.status(saga_id) == "compensated"
    assert stage.shop.books() == ["reserve", "authorize", "void", "release"]
    assert len(stage.shop.calls("void")) == len(stage.shop.calls("release")) == 1


@pytest.mark.parametrize("operation", ["reserve", "authorize", "capture", "ship", "send"])
def test_a_task_that_is_delivered_while_its_call_is_under_way_is_told_to_wait(
    stage: Stage, operation: str
) -> None:
    enter(stage, amount="99.00")
    told: list[str] = []

    def meanwhile(asked: Any) -> None:
        if asked.operation == operation and not told:
            told.append("")
            made = stage.machines.invocations[-1]
            answer = stage.machines.invoke(made.as_parameters())
            told[0] = answer["Payload"]["errorType"]

    stage.shop.before.append(meanwhile)
    saga_id = stage.run(plan(amount="99.00"))
    assert told == ["StillRunning"]
    assert stage.status(saga_id) == "completed"
    assert stage.shop.books() == DONE
    assert len(stage.shop.calls(operation)) == 1


def instead_of_idempotency(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, once: Callable[..., Any]
) -> None:
    """Put something else where Powertools idempotency stands around the first step."""
    wiring = stage.functions["fulfilment-reserve_stock-run"].module("wiring")
    monkeypatch.setattr(wiring, "once", once)


def test_without_the_decorator_nothing_is_called_at_all(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Idempotency is no decoration: the call is made from what the claim has read."""
    instead_of_idempotency(stage, monkeypatch, lambda _, call: call())
    enter(stage, amount="99.00")
    saga_id = stage.run(plan(amount="99.00"))
    assert stage.status(saga_id) == "compensated"
    assert stage.shop.calls("reserve") == []


def test_without_the_claim_a_second_delivery_is_a_second_call(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unclaimed(intent: Any, call: Callable[[], Any]) -> Any:
        intent._read()
        return call()

    instead_of_idempotency(stage, monkeypatch, unclaimed)
    enter(stage, amount="99.00")
    stage.when("reserve_stock-run 0 run", lambda m: deliver_again(stage, m), after=True)
    stage.run(plan(amount="99.00"))
    assert len(stage.shop.calls("reserve")) == 2


def test_five_posts_of_one_plan_at_once_make_one_saga(stage: Stage) -> None:
    """An execution's name is no idempotency (moto issue 9394): the ledger decides."""
    enter(stage)
    answers = at_once(stage, [plan()] * 5)
    admitted = [a for a in answers if isinstance(a, Admitted)]
    assert len(admitted) == 5
    assert len({a.saga_id for a in admitted}) == 1
    assert [a.fresh for a in admitted].count(True) == 1
    stage.deliver()
    stage.rest()
    assert len(stage.executions()) == 1


def test_five_different_plans_for_one_request_at_once_make_one_saga_and_four_refusals(
    stage: Stage,
) -> None:
    enter(stage)
    answers = at_once(stage, [plan(rationale=f"reason {n}") for n in range(5)])
    assert sum(isinstance(a, Admitted) for a in answers) == 1
    refused = [a for a in answers if isinstance(a, Rejected)]
    assert {p.code for a in refused for p in a.problems} == {"plan_conflict"}


def at_once(stage: Stage, plans: list[dict[str, Any]]) -> list[Admitted | Rejected]:
    """All of them read before any of them writes."""
    module = stage.functions["agent-api"].module("agent_api")
    intake: Intake = module._intake()
    actor = Actor("acme", "support-agent", "agent", "support-lead")
    barrier = threading.Barrier(len(plans))
    waited = threading.local()
    answers: list[Admitted | Rejected] = []

    def meet(call: ApiCall) -> None:
        if call.operation == "dynamodb:TransactWriteItems" and not hasattr(waited, "met"):
            waited.met = True
            barrier.wait(timeout=5)

    AWS.before.append(meet)
    threads = [
        threading.Thread(
            target=lambda body: answers.append(submit_plan(intake, actor, body)),
            args=(json.dumps(each).encode(),),
        )
        for each in plans
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    AWS.before.remove(meet)
    return answers


def test_the_same_plan_again_is_the_same_saga_and_another_one_is_refused(stage: Stage) -> None:
    enter(stage)
    first = stage.submit(plan())
    again = stage.submit(plan())
    other = stage.submit(plan(rationale="Another reason."))
    assert (first.status, again.status, other.status) == (201, 200, 409)
    assert first.body == again.body
    assert other.codes == ["plan_conflict"]
    assert other.body["saga_id"] == first.body["saga_id"]
    stage.deliver()
    stage.rest()
    assert stage.submit(plan()).body["saga_id"] == first.body["saga_id"]


def test_a_decision_is_counted_once_and_another_one_after_it_is_refused(stage: Stage) -> None:
    enter(stage)
    saga_id = stage.run(plan())
    said = {"decision": "approve"}
    assert stage.decide(saga_id, said).status == 200
    assert stage.decide(saga_id, said).status == 200
    other = person("approver-2", "fulfilment-approvers", "tenant.acme")
    no = stage.decide(saga_id, {"decision": "reject", "reason": "too late"}, other)
    assert (no.status, no.codes) == (409, ["already_decided"])
    assert no.body["saga_id"] == saga_id
    changed = stage.decide(saga_id, {"decision": "reject", "reason": "my mind"}, APPROVER)
    assert (changed.status, changed.codes) == (409, ["already_decided"])
    assert stage.shop.books() == DONE


def test_a_decision_after_the_deadline_counts_for_nothing_even_before_the_sweep(
    stage: Stage,
) -> None:
    """Late answers to a task that timed out: localstack issue 8246."""
    enter(stage)
    saga_id = stage.run(plan())
    stage.clock.pass_(25 * 3600)
    late = stage.approve(saga_id)
    assert (late.status, late.codes) == (410, ["approval_expired"])
    stage.later(minutes=1)
    assert stage.status(saga_id) == "compensated"
    assert "capture" not in stage.shop.books()


def test_two_operators_do_not_work_on_one_case(stage: Stage) -> None:
    enter(stage, amount="99.00")
    stage.shop.trouble(Trouble.ERROR_503, operation="ship", times=4)
    stage.run(plan(amount="99.00"))
    case = stage.open_case()
    other = person("operator-2", "fulfilment-operators", "tenant.acme")
    assert stage.call(OPERATOR, "POST", f"/cases/{case.id}/claim").status == 200
    taken = stage.call(other, "POST", f"/cases/{case.id}/claim")
    assert (taken.status, taken.codes) == (409, ["claim_conflict"])
    said = {"resolution": "retry"}
    not_mine = stage.call(other, "POST", f"/cases/{case.id}/resolution", said)
    assert (not_mine.status, not_mine.codes) == (409, ["not_claimed"])
    stage.clock.pass_(16 * 60)
    assert stage.call(other, "POST", f"/cases/{case.id}/claim").status == 200
    assert stage.call(other, "POST", f"/cases/{case.id}/resolution", said).status == 200
    again = stage.call(other, "POST", f"/cases/{case.id}/resolution", said)
    assert (again.status, again.codes) == (409, ["case_closed"])
