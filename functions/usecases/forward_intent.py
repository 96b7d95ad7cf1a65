"""One step's effect, to be done once: the claim, the call's record, and what they mean for the saga's head."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, assert_never

from functions.domain.calls import Call
from functions.domain.catalogue import Kind
from functions.domain.keys import digest, forward_key
from functions.domain.ledger import forward
from functions.domain.ledger.records import Head, Pivot, Saga, StepRecord
from functions.domain.outcome import Receipt, Unknown, UnknownCause
from functions.ports import Change, Replay, Stale
from functions.usecases import boundary, errors, settle_step
from functions.usecases.conclusion import conclude_forward
from functions.usecases.records import changed, current, parsed, step_key, the_saga
from functions.usecases.targets import OUTCOME
from functions.usecases.world import StepRef, StepWorld

TRIES = 10
STOPS: Mapping[forward.Stop, type[errors.StepError]] = {
    forward.Stop.BARRED: errors.StepBarred,
    forward.Stop.CASE_OPEN: errors.CaseOpen,
    forward.Stop.REFUSED: errors.StepRefused,
    forward.Stop.BUDGET_SPENT: errors.BudgetSpent,
    forward.Stop.KEY_CONFLICT: errors.KeyConflict,
    forward.Stop.PERSON_NEEDED: errors.PersonNeeded,
}


class ForwardIntent:
    """The forward command of one step, as Powertools idempotency drives it (`ports.Intent`)."""

    def __init__(self, world: StepWorld, ref: StepRef) -> None:
        self.world = world
        self.ref = ref
        self.key = forward_key(ref.saga_id, ref.index)
        self.head: Head | None = None
        self.results: dict[str, Receipt] = {}
        self._record: StepRecord | None = None
        self._fence = 0

    @property
    def record(self) -> StepRecord:
        """The step as last read or written."""
        if self._record is None:
            raise LookupError("the step has not been read")
        return self._record

    def claim(self) -> Replay | None:
        """Take the claim; without any read where the record is untouched and nothing is bound to it."""
        if self._claim_fresh():
            return None
        if self._record is None or self.world.step.requires or self.record.boundary:
            self._read()
        safe_to_repeat = False
        for _ in range(TRIES):
            decision = self._decide(settled=safe_to_repeat)
            match decision:
                case forward.Answered(receipt=receipt):
                    return Replay({"kind": "applied", "receipt": receipt.model_dump(mode="json")})
                case forward.Busy(until=until):
                    raise errors.StillRunning(f"{self.key} is claimed until {until}")
                case forward.Stopped(why=why):
                    raise STOPS[why](f"{self.key}: {why.value}")
                case forward.SettleFirst():
                    safe_to_repeat = self._settle()
                case forward.Proceed(record=claimed):
                    if self._write_claim(claimed):
                        return None
                case _:
                    assert_never(decision)
        raise errors.StillRunning(f"{self.key}: too many writers at once")

    def call(self) -> Call:
        """The call to make under the claim."""
        arguments = self.world.step.arguments.model_validate_json(self.record.arguments)
        return Call(
            key=self.key,
            credential="",
            timeout=self.world.step.call_timeout.total_seconds(),
            arguments=arguments,
            results=self.results,
        )

    def conclude(self, answer: Mapping[str, Any]) -> None:
        """Record what the call answered."""
        outcome = OUTCOME.validate_python(answer, strict=False)
        self._record = conclude_forward(
            self.world,
            self.record,
            self.head,
            lambda record, now, inputs: forward.conclude(
                record, self._fence, outcome, now=now, undo_inputs=inputs
            ),
            outcome,
        )

    def broke(self) -> None:
        """The call ended without an answer."""
        unknown = Unknown(reason="the call was broken off", cause=UnknownCause.UNPLANNED)
        self.conclude(unknown.model_dump(mode="json"))

    def _claim_fresh(self) -> bool:
        step = self.world.step
        if step.requires or step.kind is Kind.PIVOT:
            return False
        fields = forward.fresh_claim(
            now=self.world.clock.now(), lease=self.world.lease, by=self.ref.execution
        )
        change = Change(
            key=step_key(self.ref.saga_id, self.ref.index),
            set=fields,
            expect={"version": 0, "boundary": False, "name": step.name},
        )
        try:
            [written] = self.world.store.write([change])
        except Stale as stale:
            self._record = current(StepRecord, stale.current, change.key)
            self._check_name()
            return False
        self._record = parsed(StepRecord, written)
        self._check_name()
        self._fence = 1
        return True

    def _check_name(self) -> None:
        if self._record is None or self._record.name != self.world.step.name:
            raise errors.BadRequest(f"{self.key} is no {self.world.step.name}")

    def _read(self) -> Saga:
        saga = the_saga(self.world.store, self.ref.saga_id)
        if self.ref.index >= len(saga.steps):
            raise errors.BadRequest(f"{self.key}: there is no such step")
        self.head, self._record = saga.head, saga.steps[self.ref.index]
        self._check_name()
        self.results = {}
        for name, index in self.record.requires.items():
            receipt = saga.steps[index].forward.receipt
            if receipt is not None:
                self.results[name] = receipt
        return saga

    def _decide(self, *, settled: bool) -> forward.ClaimDecision:
        return forward.claim(
            self.record,
            now=self.world.clock.now(),
            lease=self.world.lease,
            digest=self.digest,
            by=self.ref.execution,
            settled=settled,
        )

    @property
    def digest(self) -> str:
        """Of the arguments as recorded, with the results bound to them."""
        arguments = json.loads(self.record.arguments)
        if not self.record.requires:
            return digest(arguments)
        bound = {name: receipt.model_dump(mode="json") for name, receipt in self.results.items()}
        return digest({"arguments": arguments, "results": bound})

    def _settle(self) -> bool:
        """Find out about an earlier call. True: not known yet, but a repeat under our key is safe."""
        settled = settle_step.settle(self.world, self.ref, self.record, self.head, undoing=False)
        self._record, self.head = settled.record, settled.head
        return settled.safe_to_repeat

    def _start(self) -> boundary.Start:
        return boundary.Start(self.world, self.ref, self.record, self.results, self.digest)

    def _write_claim(self, claimed: StepRecord) -> bool:
        changes = [changed(self.record, claimed)]
        if set(self.record.requires) - set(self.results):
            raise errors.StepBarred(f"{self.key}: a required step has no receipt")
        if self.record.boundary:
            head = self.head or self._read().head
            if head.pivot is Pivot.AHEAD:
                changes += boundary.first_start(self._start(), head)
        try:
            written = self.world.store.write(changes)
        except Stale:
            self._read()
            return False
        self._record = (
            parsed(StepRecord, written[0])
            if written
            else claimed.model_copy(update={"version": claimed.version + 1})
        )
        if self.head is not None and len(changes) > 1:
            self.head = boundary.after_start(self.head, self.world.clock.now())
        self._fence = claimed.forward.fence
        return True
