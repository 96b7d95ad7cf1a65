"""The forward command at its edges: who holds a lease, what a settling leaves alone, what completes an undo."""

from __future__ import annotations

import pytest

from functions.domain.ledger import forward
from functions.domain.ledger.forward import Answered, Busy, Proceed
from functions.domain.ledger.records import ForwardState
from functions.domain.outcome import RefusalCause, Refused
from tests.unit.ledger import DIGEST, HOLDS, INPUTS, LEASE, NOW, ONE, step

S = ForwardState


@pytest.mark.parametrize("state", [S.STARTED, S.UNKNOWN])
def test_whoever_calls_or_asks_is_waited_for_by_callers_and_askers_alike(state: S) -> None:
    held = step(state=state, unsettled=True, lease_until=NOW + HOLDS, fence=1)
    claimed = forward.claim(held, now=NOW, lease=LEASE, digest=DIGEST, by="saga-1-2", settled=True)
    asked = forward.settle_claim(held, now=NOW, lease=LEASE, by="saga-1-2")
    assert claimed == asked == Busy(NOW + HOLDS)


def test_a_completed_step_answers_with_its_receipt_whoever_holds_a_lease() -> None:
    done = step(state=S.COMPLETED, receipt=ONE, lease_until=NOW + HOLDS)
    claimed = forward.claim(done, now=NOW, lease=LEASE, digest=DIGEST, by="saga-1-2")
    asked = forward.settle_claim(done, now=NOW, lease=LEASE, by="saga-1-2")
    assert claimed == asked == Answered(ONE)


def test_asking_leaves_the_digest_that_the_call_was_made_with() -> None:
    called = step(state=S.UNKNOWN, unsettled=True, digest="e" * 64)
    asked = forward.settle_claim(called, now=NOW, lease=LEASE, by="saga-1-1")
    assert isinstance(asked, Proceed)
    assert asked.record.forward.digest == "e" * 64


def test_an_undo_whose_inputs_could_not_be_made_gets_no_condition_either() -> None:
    started = step(state=S.STARTED, attempts=1, fence=1)
    made = forward.complete(started, ONE, now=NOW, undo_inputs=INPUTS).undo
    not_made = forward.complete(started, ONE, now=NOW, undo_inputs=None).undo
    assert made is not None
    assert not_made is not None
    assert (made.inputs, made.condition) == (INPUTS, "1")
    assert (not_made.inputs, not_made.condition) == (None, None)


def test_what_the_target_said_when_asked_is_kept_with_its_cause_and_its_words() -> None:
    asked = forward.settle_claim(
        step(state=S.UNKNOWN, unsettled=True), now=NOW, lease=LEASE, by="saga-1-1"
    )
    assert isinstance(asked, Proceed)
    said = Refused(reason="401", cause=RefusalCause.AUTHORITY)
    after = forward.conclude_settling(
        asked.record, 1, said, now=NOW + 1, asked_at=NOW, settles_after=None
    )
    assert after is not None
    [entry] = after.forward.history
    assert (entry.outcome, entry.cause, entry.reason) == ("refused", "authority", "401")
