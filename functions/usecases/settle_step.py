"""Finding out what became of a call whose outcome nobody knows, before anything follows from it.

Three things settle a step: an Applied for our key, an authoritative answer by our key, or a tombstone. "Not there"
alone counts only once a late effect has become impossible (seed two, "unknown outcomes").
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from functions.domain.calls import Call
from functions.domain.catalogue import Operation
from functions.domain.keys import forward_key
from functions.domain.ledger import forward
from functions.domain.ledger import head as heads
from functions.domain.ledger.keeping import key_protects
from functions.domain.ledger.records import ForwardState, Head, Pivot, StepRecord
from functions.domain.outcome import NotFound, RefusalCause, Refused
from functions.ports import Stale
from functions.usecases import errors
from functions.usecases.conclusion import conclude_forward
from functions.usecases.records import changed, the_saga
from functions.usecases.world import StepRef, StepWorld, millis

TRIES = 10


@dataclass(frozen=True, slots=True)
class Settled:
    """The record and the head after settling. `safe_to_repeat`: still unknown, but our key protects a repeat."""

    record: StepRecord
    head: Head | None
    safe_to_repeat: bool = False


def settle(
    world: StepWorld, ref: StepRef, record: StepRecord, head: Head | None, *, undoing: bool
) -> Settled:
    """Settle the forward command of a step, or raise why that can not be done now.

    Going forward asks for the status; undoing puts a tombstone on the key first, where the target has one, so that a
    call that is still on its way can not land. Raises CaseOpen, StillRunning, NotSettledYet, OutcomeUnknown,
    AuthorityLost, PersonNeeded.
    """
    if record.case is not None:
        raise errors.CaseOpen(record.case)
    _ask_later_if_too_early(world, record, undoing=undoing)
    decision = forward.settle_claim(
        record, now=world.clock.now(), lease=world.lease, by=ref.execution
    )
    match decision:
        case forward.Answered():
            return Settled(record, head)
        case forward.Busy(until=until):
            raise errors.StillRunning(f"{record.forward.key} is claimed until {until}")
        case forward.Proceed(record=claimed):
            question = _question(world, undoing=undoing)
            if question is None:
                return _without_asking(world, record, head, undoing=undoing)
            try:
                world.store.write([changed(record, claimed)])
            except Stale:
                # Whoever was faster may have settled it, or barred it: the caller decides anew.
                saga = the_saga(world.store, ref.saga_id)
                return Settled(saga.steps[ref.index], saga.head)
            written = claimed.model_copy(update={"version": record.version + 1})
            return _found_out(world, written, head, question, undoing=undoing)
        case forward.Stopped() | forward.SettleFirst():
            raise errors.PersonNeeded(f"{record.forward.key}: asked often enough")
        case _:
            assert_never(decision)


def _question(world: StepWorld, *, undoing: bool) -> Operation | None:
    """What the target can be asked by our key: with a tombstone only when nothing is to follow from the call any more."""
    settlement = world.step.settlement
    return (settlement.tombstone if undoing else None) or settlement.status


def _without_asking(
    world: StepWorld, record: StepRecord, head: Head | None, *, undoing: bool
) -> Settled:
    """Nobody can be asked: a repeat is safe while the key protects it, and everything else is for a person."""
    if undoing or not _key_protects(world, record):
        raise errors.PersonNeeded(f"{record.forward.key}: the target can not be asked")
    return Settled(record, head, safe_to_repeat=True)


def _found_out(
    world: StepWorld,
    claimed: StepRecord,
    head: Head | None,
    question: Operation,
    *,
    undoing: bool,
) -> Settled:
    asked_at = world.clock.now()
    finding = world.targets.inquire(question, _call(world, claimed))
    by_person = _by_person(world, undoing=undoing)
    settles_after = None if by_person else millis(world.step.settlement.settles_after)
    record = conclude_forward(
        world,
        claimed,
        head,
        lambda record, now, inputs: forward.conclude_settling(
            record,
            claimed.forward.fence,
            finding,
            now=now,
            asked_at=asked_at,
            settles_after=settles_after,
            undo_inputs=inputs,
        ),
        finding,
    )
    if head is not None:
        head = the_saga(world.store, record.saga_id).head
    if not forward.is_unsettled(record.forward):
        return Settled(record, head)
    if isinstance(finding, Refused) and finding.cause is RefusalCause.AUTHORITY:
        raise errors.AuthorityLost(f"{record.forward.key}: may not ask what became of it")
    if not undoing and _key_protects(world, record):
        return Settled(record, head, safe_to_repeat=True)
    if by_person:
        raise errors.PersonNeeded(f"{record.forward.key}: a person finds out")
    if isinstance(finding, NotFound):
        raise errors.NotSettledYet(f"{record.forward.key}: a late effect is still possible")
    raise errors.OutcomeUnknown(f"{record.forward.key}: the target did not say")


def _by_person(world: StepWorld, *, undoing: bool) -> bool:
    """Where a person reconciles, no absence lets a machine call again. Undoing it calls nothing again."""
    return not undoing and world.step.settlement.reconcile == "person"


def _call(world: StepWorld, record: StepRecord) -> Call:
    return Call(
        key=forward_key(record.saga_id, record.index),
        credential="",
        timeout=world.step.call_timeout.total_seconds(),
        arguments=world.step.arguments.model_validate_json(record.arguments),
    )


def _key_protects(world: StepWorld, record: StepRecord) -> bool:
    return key_protects(
        record.forward, world.step.settlement, now=world.clock.now(), call=world.lease.call
    )


def _ask_later_if_too_early(world: StepWorld, record: StepRecord, *, undoing: bool) -> None:
    """Not there, and still too early to believe it: asking again would only use up how often one may ask."""
    last = record.forward.history[-1:]
    if not any(e.outcome == "not_found" for e in last):
        return
    needs_no_absence = (
        world.step.settlement.tombstone is not None if undoing else _key_protects(world, record)
    )
    if needs_no_absence or _by_person(world, undoing=undoing):
        return
    settles = forward.settles_at(record.forward, millis(world.step.settlement.settles_after))
    if world.clock.now() < settles:
        raise errors.NotSettledYet(f"{record.forward.key}: asked again from {settles} on")


def settle_boundary(world: StepWorld, ref: StepRef) -> None:
    """After the boundary's Task has given up: on if the effect exists, DidNotHappen if it never will.

    Raises also what `settle` raises; then a person settles it.
    """
    for _ in range(TRIES):
        saga = the_saga(world.store, ref.saga_id)
        record = saga.steps[ref.index]
        if record.name != world.step.name:
            raise errors.BadRequest(f"{record.forward.key} is no {world.step.name}")
        if ref.epoch < saga.head.epoch:
            raise errors.Superseded(f"{ref.saga_id}: driver {ref.epoch} of {saga.head.epoch}")
        if record.forward.state is ForwardState.COMPLETED:
            if record.forward.barred:
                # An effect that came after the turn: a person has it, and the saga goes on backwards.
                raise errors.DidNotHappen(f"{record.forward.key}: the saga had turned before")
            return
        if forward.is_unsettled(record.forward):
            settle(world, ref, record, saga.head, undoing=True)
            continue
        _give_up(world, record, saga.head)
        return
    raise errors.StillRunning(f"{ref.saga_id}: step {ref.index} keeps changing")


def _give_up(world: StepWorld, record: StepRecord, head: Head) -> None:
    if record.case is not None:
        raise errors.CaseOpen(record.case)
    if head.pivot is Pivot.CROSSING:
        back = heads.step_back(head, now=world.clock.now())
        try:
            # Together with the record, unchanged: nobody may claim it between its settling and this.
            world.store.write([changed(record, record), changed(head, back)])
        except Stale as stale:
            raise errors.StillRunning(f"{head.saga_id} keeps changing") from stale
    raise errors.DidNotHappen(f"{record.forward.key}: there is no effect, and there will be none")
