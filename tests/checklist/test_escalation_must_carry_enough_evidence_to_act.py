"""Seed two, "Escalation must carry enough evidence to act": what the next person needs, and that acting twice is acting once."""

from __future__ import annotations

import pytest

from functions.aws.imports import ImportedAdapters
from functions.catalogues.fulfilment.catalogue import CATALOGUE
from functions.domain.calls import Call
from functions.domain.ledger.records import StepRecord
from functions.domain.outcome import Applied
from functions.sandbox.faults import Trouble
from tests.checklist.deaths import DONE, UNDONE, begin, reject
from tests.sagas import shopfront
from tests.sagas.orders import enter, plan
from tests.sagas.stage import OPERATOR, Stage, person


def test_the_case_of_an_undo_without_authority_has_all_that_a_person_needs(stage: Stage) -> None:
    enter(stage)
    saga_id = begin(stage, plan())
    receipt = stage.saga(saga_id).steps[0].forward.receipt
    assert receipt is not None
    stage.shop.refuse(shopfront.token("inventory"))
    reject(stage, saga_id)
    told = stage.call(OPERATOR, "GET", f"/cases/{stage.open_case().id}").body
    evidence = told["evidence"]
    assert (evidence["workflow"], evidence["step"]["index"]) == (saga_id, 0)
    assert evidence["forward"]["receipt"]["resource"] == receipt.resource
    assert (evidence["undo"]["operation"], evidence["undo"]["key"]) == (
        "release_stock",
        f"{saga_id}:0:undo",
    )
    assert len(evidence["arguments_digest"]) == 64
    assert {"step": "reserve_stock", "resource": receipt.resource} in evidence["exists"]
    assert evidence["undo"]["authority"]["credential"] == "inventory"
    last = evidence["undo"]["history"][-1]
    assert (last["outcome"], last["cause"]) == ("refused", "authority")
    assert last["reason"] in told["why"]
    assert receipt.resource in told["obligation"]
    assert "release_stock" in told["obligation"]
    assert shopfront.token("inventory") not in str(told)


@pytest.mark.parametrize("operation", ["release", "ship"])
def test_what_was_done_by_hand_and_not_recorded_is_found_and_not_done_again(
    stage: Stage, operation: str
) -> None:
    """The first operator acts at the target, under the key that the case shows, and is never heard of again."""
    undoing = operation == "release"
    amount = "180.00" if undoing else "99.00"
    enter(stage, amount=amount)
    stage.shop.trouble(Trouble.ERROR_503, operation=operation, times=5 if undoing else 4)
    saga_id = begin(stage, plan(amount=amount))
    if undoing:
        reject(stage, saga_id)
    case = stage.open_case()
    assert stage.call(OPERATOR, "POST", f"/cases/{case.id}/claim").status == 200
    assert isinstance(by_hand(stage, saga_id, 0 if undoing else 3), Applied)

    stage.clock.pass_(16 * 60)
    stage.settle(case.id, "retry", person("operator-2", *GROUPS))
    assert stage.status(saga_id) == ("compensated" if undoing else "completed")
    assert stage.shop.books() == (UNDONE if undoing else DONE)


GROUPS = ("fulfilment-operators", "tenant.acme")


def by_hand(stage: Stage, saga_id: str, index: int) -> object:
    """The step's own call, or its undo's, made by a person with what the case shows."""
    saga = stage.saga(saga_id)
    record: StepRecord = saga.steps[index]
    step = CATALOGUE.step(record.name)
    assert step is not None
    if record.undo is not None:
        assert step.undo is not None
        call = Call(
            key=record.undo.key,
            credential=shopfront.token("inventory"),
            timeout=2,
            inputs=record.undo.inputs or {},
            receipt=record.forward.receipt,
            condition=record.undo.condition,
        )
        return ImportedAdapters().resolve(step.undo.run.adapter)(call)
    receipts = {s.name: s.forward.receipt for s in saga.steps if s.forward.receipt}
    call = Call(
        key=record.forward.key,
        credential=shopfront.token("shipping"),
        timeout=2,
        arguments=step.arguments.model_validate_json(record.arguments),
        results=receipts,
    )
    return ImportedAdapters().resolve(step.run.adapter)(call)
