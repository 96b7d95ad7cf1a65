"""A bench that cannot say no proves nothing: its accounts are held against sagas and books that are wrong."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.kill.account import Account
from benchmarks.safety.count import Count, Knows
from functions.catalogues.fulfilment.catalogue import CATALOGUE
from functions.catalogues.fulfilment.facts import Order
from functions.domain.ledger import head as heads
from functions.domain.ledger.records import (
    ForwardState,
    Saga,
    SagaOutcome,
    StepRecord,
    UndoState,
)
from functions.domain.outcome import Receipt
from functions.domain.plan import Plan
from functions.domain.validation import Validated, check_facts, check_static
from functions.usecases.admission import Actor, admit
from infra.local.demo.plans import plan, steps

DID = {0: "reserve", 1: "authorize", 2: "capture", 3: "ship", 4: "send"}
UNDID = {0: "release", 1: "void"}


@pytest.fixture(scope="module")
def admitted() -> Saga:
    wished = Plan.model_validate(plan("r-1", steps("7", "90.00")), strict=False)
    order = Order.model_validate(
        {
            "order_id": "7",
            "status": "open",
            "shipped": False,
            "amount": "90.00",
            "currency": "EUR",
            "lines": [{"sku": "LAMP-1", "quantity": 1}],
            "tier": "standard",
            "cutoff_at": "2027-01-01T00:00:00Z",
        },
        strict=False,
    )
    static = check_static(wished, CATALOGUE)
    verdict = check_facts(static, {read.key: order for read in static.reads})
    assert isinstance(verdict, Validated), verdict
    actor = Actor(tenant="acme", name="support", kind="agent")
    made = admit(verdict, saga_id="saga-1", actor=actor, plan_digest="d", now=1)
    return Saga(head=made.head, steps=made.steps)


def done(step: StepRecord) -> StepRecord:
    receipt = Receipt(resource=f"{step.name}-1")
    forward = step.forward.model_copy(
        update={"state": ForwardState.COMPLETED, "receipt": receipt, "attempts": 1}
    )
    return step.model_copy(update={"forward": forward})


def undone(step: StepRecord, state: UndoState = UndoState.SUCCEEDED) -> StepRecord:
    assert step.undo is not None
    return step.model_copy(update={"undo": step.undo.model_copy(update={"state": state})})


def entry(saga: Saga, index: int, operation: str, **changes: Any) -> dict[str, Any]:
    step = saga.steps[index]
    key = step.undo.key if operation in UNDID.values() and step.undo else step.forward.key
    return {"operation": operation, "key": key, "resource": f"{step.name}-1", **changes}


def completed(saga: Saga) -> Saga:
    head = heads.complete(saga.head.model_copy(update={"direction": "finishing"}), now=2)
    return Saga(head=head, steps=tuple(done(s) for s in saga.steps))


def compensated(saga: Saga) -> Saga:
    head = saga.head.model_copy(update={"outcome": SagaOutcome.COMPENSATED})
    turned = [undone(done(step)) for step in saga.steps[:2]]
    return Saga(head=head, steps=(*turned, *saga.steps[2:]))


def turned_back(saga: Saga) -> list[dict[str, Any]]:
    forward = [entry(saga, 0, "reserve"), entry(saga, 1, "authorize")]
    return [*forward, entry(saga, 1, "void"), entry(saga, 0, "release")]


def account(saga: Saga, books: list[dict[str, Any]]) -> Account:
    made = Account()
    made.add(saga, books)
    return made


def test_a_completed_saga_with_each_effect_once_is_in_order(admitted: Saga) -> None:
    books = [entry(admitted, i, name) for i, name in DID.items()]
    made = account(completed(admitted), books)
    assert made.clean
    assert (made.sagas, made.effects, made.ends) == (1, 5, {"completed": 1})


def test_a_compensated_saga_with_each_effect_undone_is_in_order(admitted: Saga) -> None:
    assert account(compensated(admitted), turned_back(admitted)).clean


def test_a_second_effect_is_a_duplicate_whatever_its_key(admitted: Saga) -> None:
    books = [*turned_back(admitted), entry(admitted, 0, "reserve", key="another key")]
    assert account(compensated(admitted), books).duplicates == ["saga-1: reserve 2 times"]


def test_an_effect_that_nobody_undid_is_lost(admitted: Saga) -> None:
    books = [e for e in turned_back(admitted) if e["operation"] != "void"]
    assert [w.split(": ")[1] for w in account(compensated(admitted), books).lost] == [
        "authorize happened and was not undone, and the saga is compensated"
    ]


def test_an_effect_that_the_ledger_does_not_know_is_lost(admitted: Saga) -> None:
    saga = compensated(admitted)
    books = [*turned_back(admitted), entry(admitted, 2, "capture")]
    assert any("the ledger says prepared" in w for w in account(saga, books).lost)


def test_a_completed_saga_without_one_of_its_effects_is_lost_work(admitted: Saga) -> None:
    books = [entry(admitted, i, name) for i, name in DID.items() if name != "send"]
    assert account(completed(admitted), books).lost == ["saga-1: completed without send"]


def test_a_saga_that_does_not_rest_is_lost(admitted: Saga) -> None:
    assert account(admitted, []).lost == ["saga-1: does not rest: admitted"]


def test_what_a_person_has_settled_is_not_lost(admitted: Saga) -> None:
    saga = compensated(admitted)
    by_hand = (saga.steps[0], undone(saga.steps[1], UndoState.RESOLVED), *saga.steps[2:])
    books = [e for e in turned_back(admitted) if e["operation"] != "void"]
    assert not account(saga.model_copy(update={"steps": by_hand}), books).lost


def test_an_undo_after_the_capture_is_illegal(admitted: Saga) -> None:
    books = [entry(admitted, i, name) for i, name in DID.items()]
    made = account(completed(admitted), [*books, entry(admitted, 0, "release")])
    assert made.illegal == ["saga-1: captured, and release"]


def test_undoing_in_the_wrong_order_is_illegal(admitted: Saga) -> None:
    books = turned_back(admitted)
    books[2], books[3] = books[3], books[2]
    [wrong] = account(compensated(admitted), books).illegal
    assert wrong.endswith("released before the authorisation was voided")


def test_a_receipt_that_names_another_effect_is_illegal(admitted: Saga) -> None:
    books = turned_back(admitted)
    books[0]["resource"] = "reservation-of-somebody-else"
    assert any("the books do not" in w for w in account(compensated(admitted), books).illegal)


def test_effects_under_no_key_of_the_saga_are_illegal(admitted: Saga) -> None:
    books = turned_back(admitted)
    books[0]["key"] = "somebody-else:0:do"
    assert any("no key of this saga" in w for w in account(compensated(admitted), books).illegal)


def test_a_contestant_is_counted_by_the_targets_books_and_its_own_records() -> None:
    books = {"a": 2, "b": 1, "c": 1, "d": 1, "e": 0, "another line's": 7}
    records = {
        "a": Knows.DONE,
        "b": Knows.NOTHING,
        "c": Knows.CASE,
        "d": Knows.UNDONE,
        "e": Knows.NOTHING,
    }
    count = Count.of("some", books, records, 1.0)
    assert (count.effects, count.duplicates, count.lost, count.cases) == (5, 1, 1, 1)
    assert count.per_1000(count.duplicates) == "200"
