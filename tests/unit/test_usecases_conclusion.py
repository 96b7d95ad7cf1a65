"""What the record of an answer changes beside the step, and what it leaves alone."""

from __future__ import annotations

from functions.domain.ledger.records import StepRecord, UndoState
from functions.domain.outcome import Applied, Receipt
from functions.usecases.conclusion import conclude_forward
from functions.usecases.run_step import run_step
from tests.unit.kernel import Bench


def done(*indexes: int) -> Bench:
    bench = Bench()
    bench.admit()
    for index in indexes:
        run_step(bench.world_at(index), bench.ref(index))
    return bench


def with_undo(bench: Bench, index: int, state: UndoState) -> StepRecord:
    step = bench.step(index)
    assert step.undo is not None
    bench.put(step, step.model_copy(update={"undo": step.undo.model_copy(update={"state": state})}))
    return bench.step(index)


def reported(bench: Bench, step: StepRecord, resource: str) -> StepRecord:
    """A worker of long ago reports an effect of its own."""
    conclude_forward(
        bench.world_at(step.index),
        step,
        bench.head,
        lambda *_: None,
        Applied(receipt=Receipt(resource=resource)),
    )
    return bench.step(step.index)


def test_a_second_effect_wakes_no_undo_that_is_settled_for_the_first() -> None:
    bench = done(0)
    after = reported(bench, with_undo(bench, 0, UndoState.RESOLVED), "do-77")
    assert after.undo is not None
    assert after.undo.state is UndoState.RESOLVED
    assert (after.doubled, bench.head.wanted) == (True, "case")
    assert after.late == "a second effect was reported: do-77, besides do-1"


def test_the_same_effect_once_more_changes_nothing() -> None:
    bench = done(0)
    before, head = bench.step(0), bench.head
    assert reported(bench, before, "do-1") == before
    assert bench.head == head


def test_a_step_that_says_nothing_about_its_saga_writes_no_head() -> None:
    bench = done(0, 1, 2)
    head = bench.head
    run_step(bench.world_at(3), bench.ref(3))
    assert bench.step(3).forward.receipt is not None
    assert bench.head == head
