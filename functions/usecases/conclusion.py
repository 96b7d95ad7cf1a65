"""The write that records what became of a call, with what it means for the head, in one transaction where it can be.

A receipt is never dropped: if the head's part loses, the step's part is written alone and the head is left to whoever
changed it.
"""

from __future__ import annotations

from collections.abc import Callable

from pydantic import ConfigDict, TypeAdapter

from functions.domain.catalogue import Kind
from functions.domain.ledger import head as heads
from functions.domain.ledger import undo as undos
from functions.domain.ledger.records import (
    Direction,
    ForwardState,
    Head,
    Pivot,
    StepRecord,
    UndoState,
)
from functions.domain.outcome import Applied, Receipt
from functions.ports import Change, Key, Stale, Table
from functions.usecases.records import HEAD, changed, saga_pk, the_saga
from functions.usecases.world import StepWorld

TRIES = 20
_INPUTS = TypeAdapter(dict[str, str], config=ConfigDict(strict=True))
Transition = Callable[[StepRecord, int, dict[str, str] | None], StepRecord | None]


def conclude_forward(
    world: StepWorld,
    record: StepRecord,
    head: Head | None,
    transition: Transition,
    answer: object,
) -> StepRecord:
    """Write the record that `transition` makes of `record`; answers the record as it is afterwards.

    `head` is the head as last read, or None where this function has not read it. `transition` is asked again with the
    record as it is by then whenever somebody else wrote first.
    """
    applied = answer if isinstance(answer, Applied) else None
    for _ in range(TRIES):
        now = world.clock.now()
        after = transition(record, now, _undo_inputs(world, record, applied))
        late = _late(record, after, applied, head)
        if late is not None:
            after = _marked(record, after, late)
        if after is None:
            return record
        try:
            world.store.write([changed(record, after), *_head_changes(after, head, now, late)])
        except Stale:
            saga = the_saga(world.store, record.saga_id)
            head, record = saga.head, saga.steps[record.index]
            continue
        return after.model_copy(update={"version": record.version + 1})
    raise Stale({})


def _late(
    before: StepRecord, after: StepRecord | None, applied: Applied | None, head: Head | None
) -> str | None:
    """What is wrong with an effect that arrives this late, if something is: a person has to know."""
    if applied is None:
        return None
    if after is not None:
        if before.undo is not None and before.undo.state in _ANSWERED_FOR:
            return "the effect arrived after its undo was found not to be needed"
        if before.boundary and head is not None and head.direction is Direction.COMPENSATING:
            return "the effect of the point of no return arrived after the saga had turned"
        return None
    receipt = before.forward.receipt
    if receipt is None or same_effect(receipt, applied.receipt):
        return None
    late = f"a second effect was reported: {applied.receipt.resource}, besides {receipt.resource}"
    return None if before.late is not None and late in before.late else late


_ANSWERED_FOR = frozenset({UndoState.NOT_NEEDED, UndoState.RESOLVED})
"""Nothing was owed, or a person has said so, while the effect was not known."""


def _marked(record: StepRecord, completed: StepRecord | None, late: str) -> StepRecord:
    after = completed or record
    marks: dict[str, object] = {"late": late[:500], "doubled": completed is None}
    if record.late is not None:
        # What was noted before is still somebody's to look at, and says whether the undo may go on meanwhile.
        marks = {"late": f"{record.late}; {late}"[:500]}
    if completed is not None and after.undo is not None and after.undo.state in _ANSWERED_FOR:
        after = undos.reawaken(after)
    return after.model_copy(update=marks)


def same_effect(one: Receipt, other: Receipt) -> bool:
    """Whether two receipts name the same effect."""
    return one.resource == other.resource


def _undo_inputs(
    world: StepWorld, record: StepRecord, applied: Applied | None
) -> dict[str, str] | None:
    """The undo's inputs; None also where the catalogue's own code can not make them: a receipt is never lost for that."""
    undo = world.step.undo
    if applied is None or undo is None:
        return None
    arguments = world.step.arguments.model_validate_json(record.arguments)
    make, receipt = undo.fixed_inputs, applied.receipt
    try:
        return _INPUTS.validate_python(dict(make(arguments, receipt)))
    except Exception:  # noqa: BLE001 - whatever it raises, the effect exists; without inputs a person undoes it
        return None


def _head_changes(after: StepRecord, head: Head | None, now: int, late: str | None) -> list[Change]:
    if head is not None:
        next_head = _next_head(after, head, now)
        if late is not None:
            next_head = heads.want(next_head, "case", now=now)
        return [changed(head, next_head)] if next_head != head else []
    # Who starts the boundary has read the head.
    if not after.last or after.forward.state is not ForwardState.COMPLETED:
        return []
    finishing = after.kind is Kind.RETRIABLE
    return [
        Change(
            key=Key(Table.LEDGER, saga_pk(after.saga_id), HEAD),
            set=heads.completion_fields(after.saga_id, now),
            expect=heads.completion_guard(finishing=finishing),
        )
    ]


def _next_head(after: StepRecord, head: Head, now: int) -> Head:
    done = after.forward.state is ForwardState.COMPLETED
    if after.boundary and done and heads.may_be_crossed(head):
        return heads.crossed(head, now=now, last=after.last)
    if after.boundary and head.pivot is Pivot.CROSSING:
        if after.forward.state is ForwardState.REFUSED:
            return heads.step_back(head, now=now)
    elif after.last and done and _may_complete(head):
        return heads.complete(head, now=now)
    return head


def _may_complete(head: Head) -> bool:
    forward_only = head.direction is Direction.FORWARD and head.pivot is Pivot.NONE
    finishing = head.direction is Direction.FINISHING
    return head.outcome is None and (forward_only or finishing)
