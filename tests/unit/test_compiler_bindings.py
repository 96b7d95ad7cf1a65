"""A catalogue bound to its functions."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from functions.catalogues.fulfilment.catalogue import (
    AUTHORIZE_PAYMENT,
    CAPTURE_PAYMENT,
    CATALOGUE,
)
from functions.usecases.world import GRACE
from statemachines.bindings import LEASE_GRACE, StepBinding, bindings_for

BOUND = bindings_for(
    CATALOGUE,
    lambda step, side: f"arn:{step}:{side}",
    begin="arn:begin",
    finish="arn:finish",
    gate="arn:gate",
    open_case="arn:case",
    control_timeout=30,
    gate_timeout=3_600,
    role="arn:role",
)


def seconds(*durations: timedelta) -> float:
    return sum(durations, timedelta()).total_seconds()


def test_every_step_of_the_catalogue_is_bound() -> None:
    assert BOUND.steps.keys() == {step.name for step in CATALOGUE.steps}


def test_a_compensable_step_is_bound_to_two_functions_with_budgets_of_their_own() -> None:
    bound, undo = BOUND.steps["authorize_payment"], AUTHORIZE_PAYMENT.undo
    assert undo is not None
    assert (bound.run, bound.undo) == ("arn:authorize_payment:run", "arn:authorize_payment:undo")
    assert (bound.run_retry, bound.undo_retry) == (AUTHORIZE_PAYMENT.retry, undo.retry)


def test_a_step_without_undo_asks_for_no_undo_function() -> None:
    bound = BOUND.steps["capture_payment"]
    assert bound == StepBinding(
        run="arn:capture_payment:run",
        undo=None,
        run_timeout=int(CAPTURE_PAYMENT.function_timeout.total_seconds()),
        undo_timeout=None,
        run_retry=CAPTURE_PAYMENT.retry,
        undo_retry=None,
        run_wait=bound.run_wait,
        undo_wait=0,
    )


def test_a_run_waits_for_its_lease_and_for_a_late_effect() -> None:
    settles = CAPTURE_PAYMENT.settlement.settles_after
    lease = CAPTURE_PAYMENT.function_timeout + LEASE_GRACE
    assert BOUND.steps["capture_payment"].run_wait >= seconds(lease, settles)


def test_an_undo_waits_for_the_forward_call_to_settle_and_then_for_its_own() -> None:
    bound, undo = BOUND.steps["authorize_payment"], AUTHORIZE_PAYMENT.undo
    timeout = AUTHORIZE_PAYMENT.undo_function_timeout
    assert undo is not None
    assert timeout is not None
    assert bound.undo_timeout == timeout.total_seconds()
    own = seconds(timeout, LEASE_GRACE, undo.settlement.settles_after)
    assert bound.undo_wait >= bound.run_wait + own


def test_a_machine_waits_out_the_same_grace_that_the_ledger_grants() -> None:
    assert LEASE_GRACE >= GRACE


@pytest.mark.parametrize("field", ["begin", "finish", "gate", "open_case", "role"])
def test_the_control_functions_and_the_role_are_taken_as_given(field: str) -> None:
    given: Any = getattr(BOUND, field)
    assert given == {"open_case": "arn:case"}.get(field, f"arn:{field}")
