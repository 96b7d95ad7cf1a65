"""The outside world: it counts effects, and is as forgetful, late and unhelpful as its kind of target may be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from functions.domain.calls import Call
from functions.domain.catalogue import Settlement
from functions.domain.keys import undo_key
from functions.domain.outcome import (
    Applied,
    Finding,
    NotApplied,
    NotFound,
    Outcome,
    Receipt,
    RefusalCause,
    Refused,
    Tombstoned,
    Unknown,
    UnknownCause,
)
from functions.usecases.world import millis

SAGA = "s4471"
Side = Literal["do", "undo"]
Command = tuple[int, Side]
"""A step's effect, or its undoing by whichever action."""
ANY = ""
"""Parameters of a key that a person has used: whatever we send under it is the same intent."""


@dataclass(slots=True)
class Effect:
    """One mutation. `hand`: a person made it, by means of their own."""

    command: Command
    resource: str
    at: int
    hand: bool = False


@dataclass(slots=True)
class Known:
    """What a target remembers under a key."""

    parameters: str
    receipt: Receipt
    until: int | None


@dataclass(slots=True)
class Behaviour:
    """How the target of one command behaves; counts run down with every call."""

    settlement: Settlement
    refuses: bool = False
    unavailable: int = 0
    conflicts: bool = False


@dataclass(slots=True)
class Target:
    """All targets of one saga's steps. Each call is decided at once and whole: key and mutation are one."""

    now: Callable[[], int]
    changed: Callable[[Effect], None]
    behaviours: dict[Command, Behaviour] = field(default_factory=dict)
    effects: dict[Command, list[Effect]] = field(default_factory=dict)
    known: dict[str, Known] = field(default_factory=dict)
    tags: dict[str, Receipt] = field(default_factory=dict)
    """Effects by our tag, for status queries: kept also where no key protects from a repeat."""
    tombstones: set[str] = field(default_factory=set)
    versions: dict[str, int] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    _number: int = 0

    def exists(self, index: int) -> bool:
        """Whether the step's effect is there now."""
        return any(e.resource not in self.gone for e in self.effects.get((index, "do"), ()))

    def count(self, command: Command) -> int:
        """How many mutations a command has made."""
        return len(self.effects.get(command, ()))

    def run(self, command: Command, call: Call) -> Outcome:
        """Decide a run or an undo that has arrived."""
        behaviour = self._behaviour(command, call)
        if call.key in self.tombstones:
            return Refused(reason="this key has been cancelled")
        known = self._remembered(call.key)
        if known is not None:
            if known.parameters not in {ANY, _parameters(call)}:
                return Unknown(reason="other parameters", cause=UnknownCause.KEY_CONFLICT)
            return Applied(receipt=known.receipt)
        if behaviour.conflicts:
            return Unknown(reason="other parameters", cause=UnknownCause.KEY_CONFLICT)
        if behaviour.unavailable > 0:
            behaviour.unavailable -= 1
            return NotApplied(reason="busy, try again")
        if behaviour.refuses:
            return Refused(reason="no")
        return self._effect(command, call)

    def _behaviour(self, command: Command, call: Call) -> Behaviour:
        """What is called in place of an undo is another endpoint, which works."""
        index, side = command
        declared = self.behaviours[command]
        in_its_place = side == "undo" and call.key != undo_key(SAGA, index)
        return Behaviour(declared.settlement) if in_its_place else declared

    def _effect(self, command: Command, call: Call) -> Outcome:
        index, side = command
        if side == "undo":
            receipt = call.receipt
            resource = receipt.resource if receipt is not None else "nothing"
            if call.condition is not None and str(self.versions.get(resource)) != call.condition:
                return Refused(reason="it has moved on", cause=RefusalCause.PRECONDITION)
            made = Receipt(resource=resource)
        else:
            self._number += 1
            made = Receipt(resource=f"{index}-{self._number}", version="1")
            self.versions[made.resource] = 1
        self._made(command, made.resource)
        self._remember(command, call.key, _parameters(call), made)
        return Applied(receipt=made)

    def _remember(self, command: Command, key: str, parameters: str, made: Receipt) -> None:
        self.tags[key] = made
        kept = self.behaviours[command].settlement.keys_kept_for
        if kept is not None:
            until = self.now() + millis(kept)
            self.known[key] = Known(parameters, made, until)

    def status(self, call: Call) -> Finding:
        """Our key, or our tag, and nothing else."""
        found = self.tags.get(call.key)
        if found is not None:
            return Applied(receipt=found)
        return Tombstoned() if call.key in self.tombstones else NotFound()

    def tombstone(self, call: Call) -> Finding:
        """Make the key unusable, or say what it has done."""
        found = self.tags.get(call.key)
        if found is not None:
            return Applied(receipt=found)
        self.tombstones.add(call.key)
        return Tombstoned()

    def by_hand(self, index: int, side: Side, key: str) -> None:
        """A person does it, under the same key where the target has keys."""
        command: Command = (index, side)
        if side == "undo":
            for effect in list(self.effects.get((index, "do"), ())):
                if effect.resource not in self.gone:
                    self._made(command, effect.resource, hand=True)
                    self._remember(command, key, ANY, Receipt(resource=effect.resource))
            return
        self._number += 1
        made = Receipt(resource=f"{index}-{self._number}-hand", version="1")
        self.versions[made.resource] = 1
        self._made(command, made.resource, hand=True)
        self._remember(command, key, ANY, made)

    def move_on(self, index: int) -> None:
        """Somebody else changes what the step made."""
        for effect in self.effects.get((index, "do"), ()):
            self.versions[effect.resource] += 1

    def _made(self, command: Command, resource: str, *, hand: bool = False) -> None:
        effect = Effect(command, resource, self.now(), hand)
        self.effects.setdefault(command, []).append(effect)
        if command[1] == "undo":
            self.gone.add(resource)
        self.changed(effect)

    def _remembered(self, key: str) -> Known | None:
        known = self.known.get(key)
        if known is None or (known.until is not None and self.now() >= known.until):
            return None
        return known


def command_of(call: Call) -> Command:
    """Which command a call is for: its key says so."""
    index, side = call.key.split(":")[1:3]
    return int(index), "undo" if side == "undo" else "do"


def _parameters(call: Call) -> str:
    if call.arguments is not None:
        return repr(call.arguments) + repr(sorted(call.results))
    return repr(sorted(call.inputs.items()))


def denied() -> Refused:
    """401: this credential is not, or no longer, accepted."""
    return Refused(reason="unauthorized", cause=RefusalCause.AUTHORITY)
