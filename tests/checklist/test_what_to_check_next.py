"""Seed two, "What to check next": what has to be true before an agent of several steps is shipped, one test an item."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from pydantic import BaseModel

from functions.aws.imports import ImportedAdapters
from functions.catalogues.environments import arguments as environments
from functions.catalogues.environments.catalogue import CATALOGUE as ENVIRONMENTS
from functions.catalogues.fulfilment.catalogue import CATALOGUE as FULFILMENT
from functions.domain.calls import Call
from functions.domain.catalogue import Kind, Operation
from functions.domain.ledger.records import StepRecord
from functions.domain.outcome import Applied, Receipt
from functions.sandbox.faults import Trouble
from tests.checklist.deaths import DONE, UNDONE, begin, die_at, reject
from tests.sagas import lambdas, shopfront
from tests.sagas.lambdas import AWS
from tests.sagas.orders import enter, plan
from tests.sagas.shopfront import Asked
from tests.sagas.stage import OPERATOR, Stage, agent, person
from tests.unit.aws_stage import aws_account

TABLES = "dynamodb"
"""What is durable is looked at where it would be."""


def asked(operation: Operation, call: Call) -> Receipt:
    """What an adapter says of a key: the receipt of an effect that exists."""
    credential = shopfront.token(operation.authority.credential or "")
    outcome = ImportedAdapters().resolve(operation.adapter)(replace(call, credential=credential))
    assert isinstance(outcome, Applied), outcome
    return outcome.receipt


def test_every_tool_adapter_of_fulfilment_reports_stable_resource_identifiers(stage: Stage) -> None:
    """The effect's name is the same however often the same key is sent, and when the key is only asked about."""
    enter(stage, amount="99.00")
    saga = stage.saga(stage.run(plan(amount="99.00")))
    receipts = {s.name: s.forward.receipt for s in saga.steps if s.forward.receipt}
    assert receipts.keys() == {step.name for step in FULFILMENT.steps}
    for record in saga.steps:
        step = FULFILMENT.step(record.name)
        assert step is not None
        assert step.settlement.status is not None
        call = Call(
            key=record.forward.key,
            credential="",
            timeout=2,
            arguments=step.arguments.model_validate_json(record.arguments),
            results=receipts,
        )
        for operation in (step.run, step.settlement.status):
            assert asked(operation, call).resource == receipts[record.name].resource
    assert len({receipt.resource for receipt in receipts.values()}) == len(receipts)


ENVIRONMENT: Mapping[str, BaseModel] = {
    "create_environment": environments.CreateEnvironment(environment="trial", purpose="test"),
    "grant_access": environments.GrantAccess(team="payments", access="read"),
    "publish_instruction": environments.PublishInstruction(
        audience="team", title="Move over", text="Use the new one."
    ),
    "register_environment": environments.RegisterEnvironment(keep_for_days=30),
    "notify_team": environments.NotifyTeam(message="environment_ready"),
}


def test_every_tool_adapter_of_environments_reports_stable_resource_identifiers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    receipts: dict[str, Receipt] = {}
    assert ENVIRONMENT.keys() == {step.name for step in ENVIRONMENTS.steps}
    with aws_account(monkeypatch):
        for index, step in enumerate(ENVIRONMENTS.steps):
            call = Call(
                key=f"saga-1:{index}:do",
                credential="",
                timeout=8,
                arguments=ENVIRONMENT[step.name],
                results=dict(receipts),
            )
            receipts[step.name] = asked(step.run, call)
            for operation in filter(None, (step.run, step.settlement.status)):
                assert asked(operation, call).resource == receipts[step.name].resource
    assert len({receipt.resource for receipt in receipts.values()}) == len(receipts)


def test_every_completed_side_effect_has_a_durable_compensation_record(stage: Stage) -> None:
    """Looked at in the table each time that the shop is about to be asked for the next effect."""
    enter(stage, amount="99.00")
    found: dict[str, tuple[StepRecord, ...]] = {}

    def look(made: Asked) -> None:
        if made.operation in DONE:
            saga_id = stage.machines.invocations[-1].payload["saga_id"]
            found[made.operation] = stage.saga(saga_id).steps

    stage.shop.before.append(look)
    stage.run(plan(amount="99.00"))
    assert list(found) == DONE
    for index, steps in enumerate(found.values()):
        for step in steps[:index]:
            assert step.forward.receipt is not None
        for step in steps[: min(index, 2)]:
            undo, receipt = step.undo, step.forward.receipt
            assert undo is not None
            assert receipt is not None
            assert receipt.resource in (undo.inputs or {}).values()
            assert undo.condition == receipt.version
        # What undoes it, under which key and authority, was written before the call itself.
        undo = steps[index].undo
        assert (undo is None) == (steps[index].kind is not Kind.COMPENSABLE)
        if undo is not None:
            assert undo.key == f"{steps[index].saga_id}:{index}:undo"
            assert undo.operation in {"release_stock", "void_authorization"}
            assert undo.authority.credential in {"inventory", "payments"}


@pytest.mark.parametrize("moment", ["reserve", "authorize", "while people think"])
def test_compensation_authority_survives_the_initiating_session(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """The agent's client is deleted in mid-saga, and its token opens nothing any more: every undo still succeeds."""
    enter(stage)

    def delete_the_agent(made: Asked | None) -> None:
        if made is None or made.operation == moment:
            monkeypatch.setitem(stage.functions["agent-api"].environment, "AGENTS", "{}")
            for function in stage.functions.values():
                function.start_cold()

    stage.shop.before.append(delete_the_agent)
    saga_id = str(stage.submit(plan()).body["saga_id"])
    recorded = [s.undo.authority for s in stage.saga(saga_id).steps if s.undo]
    stage.deliver()
    stage.rest()
    delete_the_agent(None)
    for path in (f"/sagas/{saga_id}", "/requests/req-4471", "/catalogues/fulfilment"):
        assert stage.call(agent(), "GET", path).status == 403
        assert stage.call(None, "GET", path).status == 401
    assert stage.submit(plan()).status == 403

    reject(stage, saga_id)
    assert stage.status(saga_id) == "compensated"
    assert stage.shop.books() == UNDONE
    assert [s.undo.authority for s in stage.saga(saga_id).steps if s.undo] == recorded
    used = {a.authorization for op in ("void", "release") for a in stage.shop.calls(op)}
    assert used == {f"Bearer {shopfront.token(a.credential or '')}" for a in recorded}


def test_nothing_that_undoes_is_told_of_any_agent(stage: Stage) -> None:
    told = {name for name, function in stage.functions.items() if "AGENTS" in function.environment}
    assert told == {"agent-api"}


def test_each_undo_has_a_stable_idempotency_key(stage: Stage) -> None:
    """Admitted, refused, dead, out of budget, retried by a person: the key of the first moment is that of all others."""
    enter(stage)
    saga_id = str(stage.submit(plan()).body["saga_id"])
    keys = [s.undo.key for s in stage.saga(saga_id).steps if s.undo]
    assert keys == [f"{saga_id}:0:undo", f"{saga_id}:1:undo"]
    stage.deliver()
    stage.rest()
    stage.shop.kill_caller("void", done=True)
    stage.shop.kill_caller("release", done=False)
    stage.shop.trouble(Trouble.ERROR_503, operation="release", times=4)
    reject(stage, saga_id)
    stage.settle(stage.open_case().id, "retry")
    assert stage.status(saga_id) == "compensated"
    assert {a.key for a in stage.shop.calls("release")} == {keys[0]}
    assert {a.key for a in stage.shop.calls("void")} == {keys[1]}
    assert len(stage.shop.calls("release")) == 6
    assert [s.undo.key for s in stage.saga(saga_id).steps if s.undo] == keys
    assert stage.shop.books() == UNDONE


def test_the_pivot_is_visible_in_both_definition_and_run_state(stage: Stage) -> None:
    enter(stage, amount="99.00")
    told: dict[str, str] = {}

    def look(made: Asked) -> None:
        if made.operation in DONE:
            saga_id = stage.machines.invocations[-1].payload["saga_id"]
            told[made.operation] = stage.call(agent(), "GET", f"/sagas/{saga_id}").body["pivot"]

    stage.shop.before.append(look)
    saga_id = stage.run(plan(amount="99.00"))
    assert told == {
        "reserve": "ahead",
        "authorize": "ahead",
        "capture": "crossing",
        "ship": "crossed",
        "send": "crossed",
    }
    machine = stage.sfn.describe_state_machine(stateMachineArn=stage.saga(saga_id).head.machine)
    states = json.loads(machine["definition"])["States"]
    marked = [
        name
        for name, state in states.items()
        if "pivot is the boundary" in state.get("Comment", "")
    ]
    assert marked == ["2 capture_payment"]
    kinds = {
        s["name"]: s["kind"] for s in stage.call(agent(), "GET", f"/sagas/{saga_id}").body["steps"]
    }
    assert [name for name, kind in kinds.items() if kind == "pivot"] == ["capture_payment"]


@pytest.mark.parametrize("operation", ["ship", "send"])
def test_post_pivot_work_has_bounded_retries(stage: Stage, operation: str) -> None:
    enter(stage, amount="99.00")
    stage.shop.trouble(Trouble.ERROR_503, operation=operation, times=99)
    saga_id = stage.run(plan(amount="99.00"))
    step = stage.saga(saga_id).steps[DONE.index(operation)]
    declared = FULFILMENT.step(step.name)
    assert declared is not None
    assert step.forward.attempts == declared.retry.attempts
    for _ in range(3):
        stage.later(days=1)
    assert len(stage.shop.calls(operation)) == declared.retry.attempts
    assert stage.status(saga_id) == "awaiting_manual_resolution"
    assert stage.executions() == {f"{saga_id}-1": "SUCCEEDED"}


def test_checkpoints_survive_restarts(stage: Stage) -> None:
    """The void has been done; everything dies in the release. Whoever goes on, goes on at the release."""
    enter(stage)
    saga_id = begin(stage, plan())
    die_at(stage, "release", done=False)
    reject(stage, saga_id, rescuing=False)
    checkpoint = stage.saga(saga_id).steps[1]
    assert checkpoint.undo is not None
    assert checkpoint.undo.state.value == "succeeded"
    for function in stage.functions.values():
        function.start_cold()
    stage.rest()
    assert stage.status(saga_id) == "compensated"
    assert stage.saga(saga_id).steps[1] == checkpoint
    assert len(stage.shop.calls("void")) == 1
    assert stage.shop.books() == UNDONE


@pytest.mark.parametrize(("operation", "then"), [("release", "compensated"), ("ship", "completed")])
def test_an_owned_manual_queue_can_finish_obligations_automation_cannot(
    stage: Stage, operation: str, then: str
) -> None:
    """An undo, or a step behind the pivot: its case is in the queue, its owners alone can take it, and it ends the saga."""
    undoing = operation == "release"
    amount = "180.00" if undoing else "99.00"
    enter(stage, amount=amount)
    stage.shop.trouble(Trouble.ERROR_503, operation=operation, times=99)
    saga_id = stage.run(plan(amount=amount))
    if undoing:
        reject(stage, saga_id)
    case = stage.open_case()
    assert case.group == FULFILMENT.operators
    assert stage.notices("cases") == [f'{{"case": "{case.id}"}}']
    queue = AWS.client("sqs").get_queue_attributes(
        QueueUrl=lambdas.queue_url(lambdas.CASES_QUEUE), AttributeNames=["RedrivePolicy"]
    )
    assert "deadLetterTargetArn" in queue["Attributes"]["RedrivePolicy"]

    outsider = person("somebody", "other-operators", "tenant.acme")
    assert stage.call(outsider, "POST", f"/cases/{case.id}/claim").status == 404
    told: Any = stage.call(OPERATOR, "GET", f"/cases/{case.id}").body
    assert told["evidence"]["undo" if undoing else "forward"]["key"].startswith(saga_id)
    assert stage.settle(case.id, "done").status == 200
    assert stage.status(saga_id) == then
    assert operation not in stage.shop.books()
