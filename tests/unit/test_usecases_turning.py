"""Why a saga turned, in the words of whoever decided it, and what the turn leaves alone."""

from __future__ import annotations

import pytest

from functions.domain.approvals import ApprovalState
from functions.domain.ledger.records import Direction, Pivot
from functions.usecases import errors
from functions.usecases.begin_compensation import begin_compensation
from tests.unit.kernel import Bench
from tests.unit.test_usecases_boundary import (
    PIVOT,
    asked,
    at_the_pivot,
    decide,
    pivot,
    settled,
    the_approval,
)


def begin(bench: Bench, index: int) -> str | None:
    begin_compensation(bench.store, bench.clock, bench.ref(index))
    return bench.head.reason


def test_a_step_that_never_reported_is_said_to_have_not() -> None:
    bench = Bench()
    bench.admit()
    assert begin(bench, 0) == "reserve did not report"


def test_a_step_that_gave_no_reason_is_said_to_have_given_none() -> None:
    bench = at_the_pivot()
    bench.target.trouble(bench.key(PIVOT), "busy")
    assert pivot(bench) == "NotAppliedYet"
    entry = bench.step(PIVOT).forward.history[-1].model_copy(update={"reason": None})
    record = bench.step(PIVOT)
    forward = record.forward.model_copy(update={"history": (entry,)})
    bench.put(record, record.model_copy(update={"forward": forward}))
    assert settled(bench) == "DidNotHappen"
    assert begin(bench, PIVOT) == "charge was not_applied: no reason given"


def test_an_attempt_that_is_still_silent_does_not_hide_what_the_one_before_said() -> None:
    bench = at_the_pivot()
    bench.target.trouble(bench.key(PIVOT), "busy")
    pivot(bench)
    assert settled(bench) == "DidNotHappen"
    record = bench.step(PIVOT)
    silent = record.forward.history[-1].model_copy(
        update={"fence": 9, "outcome": None, "ended_at": None, "reason": None}
    )
    forward = record.forward.model_copy(update={"history": (*record.forward.history, silent)})
    bench.put(record, record.model_copy(update={"forward": forward}))
    assert begin(bench, PIVOT) == "charge was not_applied: 503"


def test_a_rejection_is_the_reason_only_at_the_step_that_was_rejected() -> None:
    bench = at_the_pivot()
    asked(bench)
    decide(bench, decision="reject")
    assert begin(bench, 0) == "reserve was applied: no reason given"


def test_a_rejection_is_the_reason_of_its_own_step() -> None:
    bench = at_the_pivot()
    asked(bench)
    decide(bench, decision="reject")
    assert begin(bench, PIVOT) == "charge: rejected by an approver: no reason given"


def test_an_approval_that_was_given_and_not_denied_is_no_reason_and_is_closed() -> None:
    bench = at_the_pivot()
    asked(bench)
    decide(bench)
    assert begin(bench, PIVOT) == "charge did not report"
    assert the_approval(bench).state is ApprovalState.CLOSED


def test_an_approval_that_was_used_stays_used_when_the_boundary_steps_back() -> None:
    bench = at_the_pivot()
    asked(bench)
    decide(bench)
    bench.target.trouble(bench.key(PIVOT), "silent")
    assert pivot(bench) == "OutcomeUnknown"
    assert settled(bench) == "DidNotHappen"
    assert bench.head.pivot is Pivot.AHEAD
    begin(bench, PIVOT)
    assert bench.head.direction is Direction.COMPENSATING
    assert the_approval(bench).state is ApprovalState.CONSUMED


def test_a_step_that_the_saga_does_not_have_turns_nothing() -> None:
    bench = Bench()
    bench.admit()
    with pytest.raises(errors.BadRequest, match="there is no step 9"):
        begin(bench, 9)
    assert bench.head.direction is Direction.FORWARD
