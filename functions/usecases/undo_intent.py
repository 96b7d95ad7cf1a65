"""One step's compensation, to be done once: a command of its own, with its own key, budget and history."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, assert_never

from functions.domain.calls import Call
from functions.domain.catalogue import Operation, OtherAction, Settlement
from functions.domain.catalogue import Undo as UndoEntry
from functions.domain.keys import undo_key
from functions.domain.ledger import forward, undo
from functions.domain.ledger import head as heads
from functions.domain.ledger.keeping import key_protects
from functions.domain.ledger.records import Saga, StepRecord, Undo
from functions.domain.ledger.undo_authority import authorised, declared, under
from functions.domain.outcome import (
    Finding,
    NotFound,
    Outcome,
    RefusalCause,
    Refused,
    Unknown,
    UnknownCause,
)
from functions.ports import Change, Replay, Stale
from functions.usecases import errors, settle_step
from functions.usecases.forward_intent import STOPS
from functions.usecases.records import changed, read_step, the_saga
from functions.usecases.targets import OUTCOME
from functions.usecases.world import StepRef, StepWorld, millis

TRIES = 10
UNDO_STOPS: Mapping[forward.Stop, type[errors.StepError]] = {
    **STOPS,
    forward.Stop.BARRED: errors.Superseded,
    forward.Stop.REFUSED: errors.UndoBlocked,
}


class UndoIntent:
    """The undo command of one step, as Powertools idempotency drives it (`ports.Intent`).

    `key` names the command. What the target is asked under is the key of the record: another one where two people have
    agreed to another action.
    """

    def __init__(self, world: StepWorld, ref: StepRef) -> None:
        if world.step.undo is None:
            raise errors.BadRequest(f"{world.step.name} has no undo")
        self.world = world
        self.ref = ref
        self.key = undo_key(ref.saga_id, ref.index)
        self.entry: UndoEntry = world.step.undo
        self._claimed: StepRecord | None = None

    @property
    def claimed(self) -> StepRecord:
        """The record under whose claim the call is made."""
        if self._claimed is None:
            raise LookupError(f"{self.key} has not been claimed")
        return self._claimed

    def act(self) -> Outcome:
        """Make the call under the authority that the claimed record names; refused where that one is not declared."""
        command = self._of(self.claimed)
        operation = self._under(self._declared(command).run, command)
        if isinstance(operation, Refused):
            return operation
        return self.world.targets.act(operation, self.call())

    def claim(self) -> Replay | None:
        """Take the claim; settle what has to be settled first; wait where the order says so."""
        safe_to_repeat = False
        for _ in range(TRIES):
            saga = self._read()
            decision = undo.claim(
                saga,
                self.ref.index,
                now=self.world.clock.now(),
                lease=self.world.undo_lease,
                by=self.ref.execution,
                settled=safe_to_repeat,
            )
            match decision:
                case undo.Undone():
                    return Replay({"kind": "settled"})
                case undo.Waiting(on=on):
                    return Replay({"kind": "waiting", "on": list(on)})
                case undo.NotNeeded(record=record):
                    self._write(saga, record)
                case undo.SettleForward():
                    record = saga.steps[self.ref.index]
                    settle_step.settle(self.world, self.ref, record, saga.head, undoing=True)
                case forward.SettleFirst():
                    safe_to_repeat = self._settle(saga)
                case forward.Busy(until=until):
                    raise errors.StillRunning(f"{self.key} is claimed until {until}")
                case forward.Stopped(why=why):
                    raise UNDO_STOPS[why](f"{self.key}: {why.value}")
                case undo.UndoProceed(record=record):
                    if self._write(saga, record):
                        self._claimed = record.model_copy(update={"version": record.version + 1})
                        return None
                case _:
                    assert_never(decision)
        raise errors.StillRunning(f"{self.key}: too many writers at once")

    def call(self) -> Call:
        """The call to make under the claim: fixed inputs, the receipt, and the version it must still have."""
        return self._call(self.claimed)

    def conclude(self, answer: Mapping[str, Any]) -> None:
        """Record what the call answered: the checkpoint of recovery."""
        outcome = OUTCOME.validate_python(answer, strict=False)
        fence = self._of(self.claimed).fence
        self._record(self.claimed, lambda r, now: undo.conclude(r, fence, outcome, now=now))

    def broke(self) -> None:
        """The call ended without an answer."""
        unknown = Unknown(reason="the call was broken off", cause=UnknownCause.UNPLANNED)
        self.conclude(unknown.model_dump(mode="json"))

    def _read(self) -> Saga:
        saga = the_saga(self.world.store, self.ref.saga_id)
        if self.ref.index >= len(saga.steps):
            raise errors.BadRequest(f"{self.key}: there is no such step")
        if saga.steps[self.ref.index].name != self.world.step.name:
            raise errors.BadRequest(f"{self.key} is no {self.world.step.name}")
        return saga

    def _of(self, record: StepRecord) -> Undo:
        if record.undo is None:
            raise LookupError(f"{self.key} is the key of no undo")
        return record.undo

    def _found(self, command: Undo) -> UndoEntry | OtherAction | None:
        return declared(self.world.catalogue.name, self.world.step.name, self.entry, command)

    def _declared(self, command: Undo) -> UndoEntry | OtherAction:
        """What is to be done; where it is declared no more, nothing is called for the undo that still is."""
        return self._found(command) or self.entry

    def _settlement(self, command: Undo) -> Settlement:
        return self._declared(command).settlement

    def _under(self, operation: Operation, command: Undo) -> Operation | Refused:
        if command.replaced:
            return operation if self._found(command) else self._undeclared(command.operation)
        recorded = command.authority
        catalogue, step = self.world.catalogue.name, self.world.step.name
        authority = authorised(catalogue, step, self.entry, recorded)
        if authority is None:
            return self._undeclared(str(recorded.alternate))
        return under(operation, self.entry.run.authority, authority)

    def _undeclared(self, name: str) -> Refused:
        reason = f"{name} is nothing that is declared so for {self.entry.name}"
        return Refused(reason=reason, cause=RefusalCause.AUTHORITY)

    def _write(self, saga: Saga, after: StepRecord) -> bool:
        try:
            self.world.store.write([changed(saga.steps[self.ref.index], after)])
        except Stale:
            return False
        return True

    def _call(self, record: StepRecord) -> Call:
        command = self._of(record)
        return Call(
            key=command.key,
            credential="",
            timeout=self.entry.call_timeout.total_seconds(),
            inputs=command.inputs or {},
            receipt=record.forward.receipt,
            condition=command.condition,
        )

    def _record(
        self,
        record: StepRecord,
        transition: Callable[[StepRecord, int], StepRecord | None],
    ) -> StepRecord:
        for _ in range(TRIES):
            after = transition(record, self.world.clock.now())
            if after is None:
                return record
            try:
                self.world.store.write([changed(record, after), *self._told(record, after)])
            except Stale:
                record = read_step(self.world.store, self.ref.saga_id, self.ref.index)
                continue
            return after
        raise Stale({})

    def _told(self, record: StepRecord, after: StepRecord) -> list[Change]:
        """An effect that came too late wants a case: in the same write, or nobody would look."""
        if after.late == record.late:
            return []
        head = the_saga(self.world.store, self.ref.saga_id).head
        wanted = heads.want(head, head.wanted or "case", now=self.world.clock.now())
        return [changed(head, wanted)]

    def _settle(self, saga: Saga) -> bool:
        """Find out about an earlier undo call. True: not known yet, but a repeat under our key is safe."""
        record = saga.steps[self.ref.index]
        settlement = self._settlement(self._of(record))
        if settlement.status is None:
            return self._safe_without_asking(record)
        self._ask_later_if_too_early(self._of(record))
        decision = undo.settle_claim(
            record,
            now=self.world.clock.now(),
            lease=self.world.undo_lease,
            by=self.ref.execution,
        )
        if isinstance(decision, forward.Stopped):
            raise errors.PersonNeeded(f"{self.key}: asked often enough")
        if not isinstance(decision, undo.UndoProceed):
            raise errors.StillRunning(f"{self.key} keeps changing")
        if not self._write(saga, decision.record):
            return False
        claimed = decision.record.model_copy(update={"version": record.version + 1})
        asked_at = self.world.clock.now()
        command = self._of(claimed)
        status = self._under(settlement.status, command)
        if isinstance(status, Refused):
            finding: Finding = status
        else:
            finding = self.world.targets.inquire(status, self._call(claimed))
        fence = command.fence
        by_person = settlement.reconcile == "person"
        after_ms = None if by_person else millis(settlement.settles_after)
        settled = self._record(
            claimed,
            lambda r, now: undo.conclude_settling(
                r, fence, finding, now=now, asked_at=asked_at, settles_after=after_ms
            ),
        )
        return self._what_now(settled, finding)

    def _what_now(self, record: StepRecord, finding: Finding) -> bool:
        command = self._of(record)
        if not undo.undo_unsettled(command):
            return False
        if isinstance(finding, Refused) and finding.cause is RefusalCause.AUTHORITY:
            raise errors.AuthorityLost(f"{self.key}: may not ask what became of it")
        if self._key_protects(command):
            return True
        if self._settlement(command).reconcile == "person":
            raise errors.PersonNeeded(f"{self.key}: a person finds out")
        if isinstance(finding, NotFound):
            raise errors.NotSettledYet(f"{self.key}: a late effect is still possible")
        raise errors.OutcomeUnknown(f"{self.key}: the target did not say")

    def _ask_later_if_too_early(self, command: Undo) -> None:
        last = command.history[-1:]
        if not any(e.outcome == "not_found" for e in last):
            return
        settlement = self._settlement(command)
        if self._key_protects(command) or settlement.reconcile == "person":
            return
        settles = forward.settles_at(command, millis(settlement.settles_after))
        if self.world.clock.now() < settles:
            raise errors.NotSettledYet(f"{self.key}: asked again from {settles} on")

    def _safe_without_asking(self, record: StepRecord) -> bool:
        if self._key_protects(self._of(record)):
            return True
        raise errors.PersonNeeded(f"{self.key}: the target can not be asked")

    def _key_protects(self, command: Undo) -> bool:
        settlement, call = self._settlement(command), self.world.undo_lease.call
        return key_protects(command, settlement, now=self.world.clock.now(), call=call)
