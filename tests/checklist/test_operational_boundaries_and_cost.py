"""Seed two, "Operational boundaries and cost": recovery is tested at every boundary.

"The expected result is not merely a stopped worker": each test reads, at the moment of death, the durable state from which
automation or an authorised person goes on, and then lets them.
"""

from __future__ import annotations

from functools import partial

import pytest

from functions.catalogues.fulfilment.catalogue import CATALOGUE
from functions.domain.ledger.records import Intent
from functions.sandbox.faults import Trouble
from tests.checklist.deaths import (
    DONE,
    UNDONE,
    UNDOS,
    begin,
    die,
    die_at,
    reject,
    who_goes_on,
)
from tests.sagas import lambdas, shopfront
from tests.sagas.lambdas import AWS
from tests.sagas.orders import enter, plan
from tests.sagas.stage import Stage

CHEAP = plan(amount="99.00")
"""Nobody is asked about it."""


@pytest.mark.parametrize("operation", DONE)
def test_before_the_external_call(stage: Stage, operation: str) -> None:
    enter(stage, amount="99.00")
    die_at(stage, operation, done=False)
    saga_id = begin(stage, CHEAP)
    forward = stage.saga(saga_id).steps[DONE.index(operation)].forward
    assert (forward.state.value, forward.attempts, forward.receipt) == ("started", 1, None)
    assert operation not in stage.shop.books()
    assert who_goes_on(stage, saga_id) == "a driver"
    stage.rest()
    assert stage.status(saga_id) == "completed"
    assert stage.shop.books() == DONE


@pytest.mark.parametrize("operation", DONE)
def test_after_the_call_but_before_its_result_is_recorded(stage: Stage, operation: str) -> None:
    enter(stage, amount="99.00")
    die_at(stage, operation, done=True)
    saga_id = begin(stage, CHEAP)
    forward = stage.saga(saga_id).steps[DONE.index(operation)].forward
    assert (forward.state.value, forward.attempts, forward.receipt) == ("started", 1, None)
    assert stage.shop.keys(operation) == [forward.key]
    assert who_goes_on(stage, saga_id) == "a driver"
    stage.rest()
    assert stage.status(saga_id) == "completed"
    assert stage.shop.books() == DONE


def test_after_the_compensation_starts(stage: Stage) -> None:
    enter(stage)
    saga_id = begin(stage, plan())
    stage.when("begin-compensation 2", partial(die, stage), after=True)
    reject(stage, saga_id, rescuing=False)
    saga = stage.saga(saga_id)
    assert saga.head.direction.value == "compensating"
    assert [s.undo.state.value for s in saga.steps if s.undo] == ["pending", "pending"]
    assert [s.forward.barred for s in saga.steps] == [False, False, True, True, True]
    assert who_goes_on(stage, saga_id) == "a driver"
    stage.rest()
    assert stage.status(saga_id) == "compensated"
    assert stage.shop.books() == UNDONE


@pytest.mark.parametrize("operation", UNDOS)
def test_after_the_undo_succeeds_but_before_its_checkpoint(stage: Stage, operation: str) -> None:
    enter(stage)
    saga_id = begin(stage, plan())
    die_at(stage, operation, done=True)
    reject(stage, saga_id, rescuing=False)
    undo = undo_of(stage, saga_id, operation)
    assert (undo.state.value, undo.attempts) == ("running", 1)  # type: ignore[attr-defined]
    assert stage.shop.keys(operation) == [undo.key]
    assert who_goes_on(stage, saga_id) == "a driver"
    stage.rest()
    assert stage.status(saga_id) == "compensated"
    assert stage.shop.books() == UNDONE


def undo_of(stage: Stage, saga_id: str, operation: str) -> Intent:
    undo = stage.saga(saga_id).steps[UNDOS[operation]].undo
    assert undo is not None
    return undo


def expire(stage: Stage, service: str, *, renewed: bool) -> None:
    """A target no longer takes its credential; `renewed` says whether the secret holds another one by then."""
    stage.shop.refuse(shopfront.token(service))
    stage.shop.accept("the-new-credential", service)
    if renewed:
        renew(service)


def renew(service: str) -> None:
    AWS.client("secretsmanager").put_secret_value(
        SecretId=f"{lambdas.SECRET_PREFIX}/{CATALOGUE.name}/{service}",
        SecretString="the-new-credential",
    )


@pytest.mark.parametrize("service", ["payments", "inventory"])
def test_at_credential_expiry_a_renewed_one_is_found_by_its_reference(
    stage: Stage, service: str
) -> None:
    enter(stage)
    saga_id = begin(stage, plan())
    expire(stage, service, renewed=True)
    reject(stage, saga_id)
    assert stage.status(saga_id) == "compensated"
    assert stage.shop.books() == UNDONE


@pytest.mark.parametrize(("service", "operation"), [("payments", "void"), ("inventory", "release")])
def test_at_credential_expiry_an_undo_stops_and_nothing_else_is_tried(
    stage: Stage, service: str, operation: str
) -> None:
    enter(stage)
    saga_id = begin(stage, plan())
    expire(stage, service, renewed=False)
    reject(stage, saga_id)
    undo = undo_of(stage, saga_id, operation)
    assert undo.history[-1].cause == "authority"
    assert {a.authorization for a in stage.shop.calls(operation)} == {
        f"Bearer {shopfront.token(service)}"
    }
    assert (who_goes_on(stage, saga_id), stage.open_case().cause.value) == (
        "a person",
        "authority_lost",
    )
    renew(service)
    stage.settle(stage.open_case().id, "retry")
    assert stage.status(saga_id) == "compensated"
    assert stage.shop.books() == UNDONE


@pytest.mark.parametrize(
    ("operation", "then", "books"),
    [
        ("authorize", "compensated", ["reserve", "release"]),
        ("capture", "compensated", UNDONE),
        ("ship", "awaiting_manual_resolution", DONE[:3]),
    ],
)
def test_at_retry_exhaustion_of_a_step(
    stage: Stage, operation: str, then: str, books: list[str]
) -> None:
    enter(stage, amount="99.00")
    stage.shop.trouble(Trouble.ERROR_503, operation=operation, times=99)
    saga_id = stage.run(CHEAP)
    forward = stage.saga(saga_id).steps[DONE.index(operation)].forward
    assert forward.attempts == forward.budget == len(stage.shop.calls(operation))
    assert stage.status(saga_id) == then
    assert stage.shop.books() == books
    if then == "awaiting_manual_resolution":
        assert who_goes_on(stage, saga_id) == "a person"


@pytest.mark.parametrize("operation", UNDOS)
def test_at_retry_exhaustion_of_an_undo(stage: Stage, operation: str) -> None:
    enter(stage)
    saga_id = begin(stage, plan())
    stage.shop.trouble(Trouble.ERROR_503, operation=operation, times=5)
    reject(stage, saga_id)
    undo = undo_of(stage, saga_id, operation)
    assert undo.attempts == undo.budget == len(stage.shop.calls(operation)) == 5
    assert stage.status(saga_id) == "compensation_blocked"
    assert who_goes_on(stage, saga_id) == "a person"
    stage.settle(stage.open_case().id, "retry")
    assert stage.status(saga_id) == "compensated"
    assert stage.shop.books() == UNDONE


def test_on_the_near_side_of_the_pivot_a_failure_undoes(stage: Stage) -> None:
    """The record of a pivot that was not reached is the same as that of one that was: only asking tells them apart."""
    enter(stage, amount="99.00")
    die_at(stage, "capture", done=False)
    saga_id = begin(stage, CHEAP)
    assert (stage.saga(saga_id).head.pivot.value, stage.shop.books()) == ("crossing", DONE[:2])
    stage.shop.trouble(Trouble.DECLINE, operation="capture")
    stage.rest()
    assert stage.status(saga_id) == "compensated"
    assert stage.shop.books() == UNDONE


def test_on_the_far_side_of_the_pivot_a_failure_is_a_persons_and_nothing_is_undone(
    stage: Stage,
) -> None:
    enter(stage, amount="99.00")
    die_at(stage, "capture", done=True)
    stage.shop.trouble(Trouble.DECLINE, operation="ship")
    saga_id = begin(stage, CHEAP)
    assert (stage.saga(saga_id).head.pivot.value, stage.shop.books()) == ("crossing", DONE[:3])
    stage.rest()
    assert stage.saga(saga_id).head.pivot.value == "crossed"
    assert who_goes_on(stage, saga_id) == "a person"
    assert stage.shop.calls("void") == stage.shop.calls("release") == []
    stage.settle(stage.open_case().id, "retry")
    assert stage.status(saga_id) == "completed"
    assert stage.shop.books() == DONE
