"""What was owed and what was done: the shop's own books, held against the ledger."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from functions.domain.ledger.records import ForwardState, Saga, StepRecord, UndoState
from functions.domain.ledger.status import FINAL, Status, status

_FORWARD = {
    "reserve_stock": "reserve",
    "authorize_payment": "authorize",
    "capture_payment": "capture",
    "create_shipment": "ship",
    "send_confirmation": "send",
}
_UNDO = {"reserve_stock": "release", "authorize_payment": "void"}
Entry = Mapping[str, Any]


@dataclass(slots=True)
class Account:
    """All sagas together. The three lists say in words what is wrong."""

    sagas: int = 0
    effects: int = 0
    unreported: int = 0
    """Claims that nobody reported on: their process died between the claim and its record, before the effect or after."""
    duplicates: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    illegal: list[str] = field(default_factory=list)
    ends: Counter[str] = field(default_factory=Counter)

    @property
    def clean(self) -> bool:
        """Whether nothing is wrong."""
        return not (self.duplicates or self.lost or self.illegal)

    def add(self, saga: Saga, books: Iterable[Entry]) -> None:
        """One saga, and everything in the shop's books about its order, whatever key it was entered under."""
        entries = list(books)
        self.sagas += 1
        self.effects += len(entries)
        self.ends[status(saga).value] += 1
        commands = [c for s in saga.steps for c in (s.forward, s.undo) if c is not None]
        self.unreported += sum(e.outcome is None for c in commands for e in c.history)
        done = Counter(entry["operation"] for entry in entries)
        self.duplicates += [
            f"{saga.head.saga_id}: {operation} {times} times"
            for operation, times in done.items()
            if times > 1
        ]
        self.lost += [f"{saga.head.saga_id}: {what}" for what in _lost(saga, entries)]
        self.illegal += [f"{saga.head.saga_id}: {what}" for what in _illegal(saga, entries)]


def _lost(saga: Saga, entries: list[Entry]) -> Iterator[str]:
    """Effects that no completed saga holds, nobody undid, and nobody has in hand; and work that was left undone."""
    end = status(saga)
    if end not in FINAL:
        yield f"does not rest: {end}"
    done = {entry["operation"] for entry in entries}
    for step in saga.steps:
        name = _FORWARD[step.name]
        happened = name in done
        if end is Status.COMPLETED and not happened:
            yield f"completed without {name}"
        if happened and step.forward.state is not ForwardState.COMPLETED:
            yield f"{name} happened, and the ledger says {step.forward.state}"
        if happened and end is not Status.COMPLETED and not _undone(step, done):
            yield f"{name} happened and was not undone, and the saga is {end}"


def _undone(step: StepRecord, done: set[str]) -> bool:
    undo = step.undo
    if undo is None:
        return False
    by_person = undo.state in {UndoState.RESOLVED, UndoState.ACCEPTED}
    return by_person or (undo.state is UndoState.SUCCEEDED and _UNDO[step.name] in done)


def _illegal(saga: Saga, entries: list[Entry]) -> Iterator[str]:
    """What must never be, whatever was killed: receipts that name something else, an undo after the capture."""
    by_operation = {entry["operation"]: entry for entry in entries}
    for step in saga.steps:
        entry, receipt = by_operation.get(_FORWARD[step.name]), step.forward.receipt
        if receipt is not None and (entry is None or entry["resource"] != receipt.resource):
            yield f"the receipt of {step.name} names {receipt.resource}, the books do not"
        if step.forward.attempts > step.forward.budget:
            yield f"{step.name}: {step.forward.attempts} attempts of {step.forward.budget}"
    undone = [name for name in _UNDO.values() if name in by_operation]
    if "capture" in by_operation and undone:
        yield f"captured, and {', '.join(undone)}"
    if "release" in by_operation and "void" in by_operation:
        order = [e["operation"] for e in entries if e["operation"] in {"void", "release"}]
        if order.index("void") > order.index("release"):
            yield "released before the authorisation was voided"
    yield from _foreign(saga, entries)


def _foreign(saga: Saga, entries: list[Entry]) -> Iterator[str]:
    keys = {step.forward.key for step in saga.steps}
    keys |= {step.undo.key for step in saga.steps if step.undo is not None}
    for entry in entries:
        if entry["key"] not in keys:
            yield f"{entry['operation']} under {entry['key']}, which is no key of this saga"
