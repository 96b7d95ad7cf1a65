"""The fulfilment catalogue: what it declares, what its arguments take, and what an order must be."""

from __future__ import annotations

import importlib
import inspect
import subprocess
import sys
import typing
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from functions.catalogues.fulfilment.catalogue import CATALOGUE
from functions.catalogues.fulfilment.facts import Line, Order
from functions.domain.calls import Call, FactCall
from functions.domain.catalogue import Kind, Operation
from functions.domain.outcome import Finding, Outcome, Receipt
from functions.domain.policy import Question, Verdict
from functions.sandbox.api import MUTATIONS
from functions.sandbox.faults import LONGEST

NOON = datetime(2026, 10, 18, 12, tzinfo=UTC)
STEPS = {step.name: step for step in CATALOGUE.steps}
ARGUMENTS: dict[str, dict[str, Any]] = {
    "reserve_stock": {"order_id": "4471", "warehouse": "B", "sku": "LAMP-1", "quantity": 1},
    "authorize_payment": {"order_id": "4471", "amount": "180.00", "currency": "EUR"},
    "capture_payment": {"order_id": "4471", "amount": "180.00", "currency": "EUR"},
    "create_shipment": {"order_id": "4471", "warehouse": "B"},
    "send_confirmation": {"order_id": "4471", "template": "order_shipped"},
}


def order(**changes: Any) -> Order:
    return Order(
        **{
            "order_id": "4471",
            "status": "open",
            "shipped": False,
            "lines": (Line(sku="LAMP-1", quantity=2), Line(sku="DESK-9", quantity=1)),
            "amount": "180.00",
            "currency": "EUR",
            "tier": "standard",
            "cutoff_at": NOON + timedelta(days=1),
            **changes,
        }
    )


def violations(step: str, fact: Order | None, **changes: Any) -> list[tuple[str, str | None]]:
    arguments = STEPS[step].arguments.model_validate(ARGUMENTS[step] | changes)
    return [
        (violation.code, violation.argument)
        for name in STEPS[step].preconditions
        for violation in CATALOGUE.precondition(name).check(arguments, fact)
    ]


# What is declared


def test_the_five_steps_of_the_worked_example_are_there_with_their_kinds_and_undos() -> None:
    assert [(s.name, s.kind, s.undo.name if s.undo else None) for s in CATALOGUE.steps] == [
        ("reserve_stock", Kind.COMPENSABLE, "release_stock"),
        ("authorize_payment", Kind.COMPENSABLE, "void_authorization"),
        ("capture_payment", Kind.PIVOT, None),
        ("create_shipment", Kind.RETRIABLE, None),
        ("send_confirmation", Kind.RETRIABLE, None),
    ]
    assert CATALOGUE.step("apply_goodwill_credit") is None


def test_a_capture_needs_its_authorization_and_a_shipment_its_reservation() -> None:
    assert {s.name: s.requires for s in CATALOGUE.steps if s.requires} == {
        "capture_payment": ("authorize_payment",),
        "create_shipment": ("reserve_stock",),
    }


def test_reading_the_catalogue_loads_neither_adapters_nor_an_http_client() -> None:
    code = (
        "import sys, functions.catalogues.fulfilment.catalogue; "
        "bad = {'urllib3', 'boto3', 'functions.catalogues.http', 'functions.catalogues.fulfilment.adapters'};"
        "print(sorted(bad & set(sys.modules)))"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"


def test_its_version_is_the_same_in_another_process() -> None:
    code = (
        "from functions.catalogues.fulfilment.catalogue import CATALOGUE; print(CATALOGUE.version)"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == CATALOGUE.version


def references() -> Iterator[tuple[str, str, str]]:
    """Every reference, as (what it is for, reference, shape)."""

    def of(operation: Operation | None, what: str, shape: str) -> Iterator[tuple[str, str, str]]:
        if operation is not None:
            yield what, operation.adapter, shape

    for step in CATALOGUE.steps:
        yield from of(step.run, f"{step.name} run", "act")
        settlements = [(step.name, step.settlement)]
        if step.undo:
            yield from of(step.undo.run, f"{step.undo.name} run", "act")
            settlements.append((step.undo.name, step.undo.settlement))
        for name, settlement in settlements:
            yield from of(settlement.status, f"{name} status", "inquire")
            yield from of(settlement.tombstone, f"{name} tombstone", "inquire")
    for fact in CATALOGUE.facts:
        yield from of(fact.read, f"{fact.name} read", "fact")
    yield "policy", CATALOGUE.policy, "policy"


@pytest.mark.parametrize(
    ("reference", "shape"), [pytest.param(ref, shape, id=what) for what, ref, shape in references()]
)
def test_every_reference_leads_to_a_function_of_the_right_shape(reference: str, shape: str) -> None:
    module, _, name = reference.partition(":")
    function = getattr(importlib.import_module(module), name)
    hints = typing.get_type_hints(function, include_extras=True)
    answer = hints.pop("return")
    takes, gives = {
        "act": (Call, Outcome),
        "inquire": (Call, Finding),
        "fact": (FactCall, Order | None),
        "policy": (Question, Verdict),
    }[shape]
    assert list(hints.values()) == [takes]
    assert len(inspect.signature(function).parameters) == 1
    assert answer == gives


def test_every_operation_names_one_service_as_credential_and_one_thing_it_does_as_scope() -> None:
    done = {f"{mutation.service}:{mutation.operation}" for mutation in MUTATIONS}
    asked = {
        operation.authority.scope
        for step in CATALOGUE.steps
        for operation in (step.run, step.undo.run if step.undo else None)
        if operation
    }
    assert asked == done
    for step in CATALOGUE.steps:
        for operation in (step.run, step.settlement.status, step.settlement.tombstone):
            assert operation is not None
            assert operation.authority.scope.partition(":")[0] == operation.authority.credential


def test_an_undo_is_asked_for_with_no_more_than_its_own_scope() -> None:
    scopes = {s.undo.name: s.undo.run.authority.scope for s in CATALOGUE.steps if s.undo}
    assert scopes == {
        "release_stock": "inventory:release",
        "void_authorization": "payments:void",
    }


def test_nothing_lands_at_the_shop_after_a_call_counts_as_settled() -> None:
    for step in CATALOGUE.steps:
        assert step.call_timeout + step.settlement.settles_after > timedelta(seconds=LONGEST)


def test_what_an_undo_needs_is_fixed_from_the_receipt() -> None:
    receipt = Receipt(resource="reservation-1", version="1")
    arguments = STEPS["reserve_stock"].arguments.model_validate(ARGUMENTS["reserve_stock"])
    undo = STEPS["reserve_stock"].undo
    assert undo is not None
    assert undo.fixed_inputs(arguments, receipt) == {
        "reservation_id": "reservation-1",
        "order_id": "4471",
    }


@pytest.mark.parametrize("name", STEPS)
def test_a_person_reads_a_whole_sentence(name: str) -> None:
    step = STEPS[name]
    read = step.sentence.format(**ARGUMENTS[name])
    assert "4471" in read
    assert "{" not in read
    if step.undo:
        assert "4471" in step.undo.sentence.format(**ARGUMENTS[name])


# What arguments are taken


@pytest.mark.parametrize("name", STEPS)
def test_sound_arguments_are_taken(name: str) -> None:
    assert STEPS[name].arguments.model_validate_json(
        STEPS[name].arguments.model_validate(ARGUMENTS[name]).model_dump_json()
    )


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("reserve_stock", {"quantity": 0}),
        ("reserve_stock", {"quantity": 1001}),
        ("reserve_stock", {"quantity": "1"}),
        ("reserve_stock", {"quantity": True}),
        ("reserve_stock", {"quantity": 1.0}),
        ("reserve_stock", {"warehouse": "D"}),
        ("reserve_stock", {"sku": "lamp"}),
        ("reserve_stock", {"sku": "L" * 33}),
        ("reserve_stock", {"order_id": 4471}),
        ("reserve_stock", {"order_id": "4471/../1"}),
        ("reserve_stock", {"order_id": "4471\n"}),
        ("reserve_stock", {"order_id": ""}),
        ("reserve_stock", {"note": "credit me 500"}),
        ("authorize_payment", {"amount": 180}),
        ("capture_payment", {"amount": "180"}),
        ("capture_payment", {"amount": "100000000.00"}),
        ("capture_payment", {"currency": "eur"}),
        ("create_shipment", {"warehouse": ""}),
        ("send_confirmation", {"template": "Dear customer, you get 500"}),
    ],
)
def test_other_arguments_are_refused(name: str, changes: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        STEPS[name].arguments.model_validate(ARGUMENTS[name] | changes)


@pytest.mark.parametrize("name", STEPS)
def test_no_argument_may_be_left_out(name: str) -> None:
    for argument in ARGUMENTS[name]:
        given = {k: v for k, v in ARGUMENTS[name].items() if k != argument}
        with pytest.raises(ValidationError):
            STEPS[name].arguments.model_validate(given)


# What an order must be


@pytest.mark.parametrize("name", STEPS)
def test_what_is_true_of_an_open_order_violates_nothing(name: str) -> None:
    assert violations(name, order()) == []


@pytest.mark.parametrize("name", STEPS)
def test_an_order_that_does_not_exist_is_said_once(name: str) -> None:
    assert violations(name, None) == [("order_not_found", "order_id")]


@pytest.mark.parametrize(
    "name", ["reserve_stock", "authorize_payment", "capture_payment", "create_shipment"]
)
def test_an_order_that_shipped_or_was_cancelled_can_no_longer_be_changed(name: str) -> None:
    assert violations(name, order(shipped=True)) == [("order_shipped", "order_id")]
    assert violations(name, order(status="cancelled")) == [("order_cancelled", "order_id")]


@pytest.mark.parametrize("name", ["authorize_payment", "capture_payment"])
def test_amount_and_currency_are_what_the_order_says(name: str) -> None:
    assert violations(name, order(), amount="500.00") == [("amount_not_of_order", "amount")]
    assert violations(name, order(), amount="179.99") == [("amount_not_of_order", "amount")]
    assert violations(name, order(), currency="USD") == [("currency_not_of_order", "currency")]
    assert violations(name, order(amount="500.00")) == [("amount_not_of_order", "amount")]


def test_only_what_was_ordered_is_reserved() -> None:
    assert violations("reserve_stock", order(), quantity=2) == []
    assert violations("reserve_stock", order(), quantity=3) == [("more_than_ordered", "quantity")]
    assert violations("reserve_stock", order(), sku="CHAIR") == [("sku_not_on_order", "sku")]
    twice = order(lines=(Line(sku="LAMP-1", quantity=2), Line(sku="LAMP-1", quantity=1)))
    assert violations("reserve_stock", twice, quantity=3) == []


def test_a_hint_says_what_the_order_says() -> None:
    arguments = STEPS["capture_payment"].arguments.model_validate(
        ARGUMENTS["capture_payment"] | {"amount": "500.00"}
    )
    (violation,) = CATALOGUE.precondition("payment_of_order").check(arguments, order())
    assert "180.00 EUR" in violation.hint


def test_an_order_with_an_inexact_total_is_no_fact() -> None:
    for amount in (180, "180", "1e2"):
        with pytest.raises(ValidationError):
            order(amount=amount)


def test_checks_are_about_arguments_of_an_order() -> None:
    class Stray(BaseModel):
        pass

    with pytest.raises(TypeError):
        CATALOGUE.precondition("order_exists").check(Stray(), None)
