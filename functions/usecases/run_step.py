"""One step's effect: claim, call, record; or the answer from the ledger."""

from __future__ import annotations

from functions.usecases.answers import told
from functions.usecases.errors import StepBarred
from functions.usecases.forward_intent import ForwardIntent
from functions.usecases.world import StepRef, StepWorld


def run_step(world: StepWorld, ref: StepRef) -> dict[str, str]:
    """Run step `ref`. Returns once its receipt, with its compensation record, is durable.

    Raises the errors of `usecases/errors.py`; each says what the machine should do, and the ledger says why.
    """
    intent = ForwardIntent(world, ref)
    answer = world.once(
        intent, lambda: world.targets.act(world.step.run, intent.call()).model_dump(mode="json")
    )
    said = told(answer, intent.key)
    if intent.record.forward.barred:
        # The saga turned while the call was on its way: its effect is recorded, and owed.
        raise StepBarred(f"{intent.key}: the saga has turned")
    return said
