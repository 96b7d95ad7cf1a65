"""One step's compensation: settle the forward call, wait for what comes before, claim, call, checkpoint."""

from __future__ import annotations

from functions.usecases.answers import told
from functions.usecases.undo_intent import UndoIntent
from functions.usecases.world import StepRef, StepWorld


def undo_step(world: StepWorld, ref: StepRef) -> dict[str, str]:
    """Undo step `ref`, or find that nothing is owed, or that another undo has to come first.

    Waiting is no failure: what it waits for has a case, and this branch goes on when that is settled.
    """
    intent = UndoIntent(world, ref)
    answer = world.once(
        intent,
        lambda: intent.act().model_dump(mode="json"),
    )
    if answer["kind"] in {"settled", "waiting"}:
        return {"key": intent.key, "outcome": str(answer["kind"])}
    return told(answer, intent.key, undoing=True)
