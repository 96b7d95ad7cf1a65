"""One step at its target: what a team tells the checks about it, and how they make calls."""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import BaseModel

from functions.domain.calls import Call
from functions.domain.catalogue import Operation, Step, Undo
from functions.domain.keys import forward_key, undo_key
from functions.domain.outcome import Receipt


class PromiseBroken(AssertionError):
    """A target does not keep a promise; the message says what was seen instead."""


def imported(reference: str) -> Callable[[Call], Any]:
    """The function behind `package.module:function`."""
    module, _, name = reference.partition(":")
    found: Callable[[Call], Any] = getattr(importlib.import_module(module), name)
    return found


def _open_to_all(_: str) -> str:
    return ""


_NUMBERS = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Bench:
    """One step at its target, which holds no effect of it yet.

    `arguments` are accepted by the target and so are `changed`, which ask for something else. `effects` and `undone`
    count, in the target's own books, how often the step and its undo have taken effect. `disturb` changes the resource
    of a receipt as somebody else would. `credential` gives the value of a credential by name, `role` is
    the ARN of the role that the undo takes on. `results` are receipts of the steps that this one requires. Set `remembers_parameters=False` for a target that takes a key with other parameters
    for a repeat: then nobody will ever be told of a mix-up.
    """

    step: Step
    arguments: BaseModel
    changed: BaseModel
    effects: Callable[[], int]
    undone: Callable[[], int] = lambda: 0
    disturb: Callable[[Receipt], None] = lambda _: None
    credential: Callable[[str], str] = _open_to_all
    role: str = ""
    results: Mapping[str, Receipt] = field(default_factory=dict)
    remembers_parameters: bool = True
    resolve: Callable[[str], Callable[[Call], Any]] = imported
    saga: str = field(default_factory=lambda: f"conformance-{next(_NUMBERS)}")

    def call(self, index: int = 0) -> Call:
        """A forward call under the key of step `index`."""
        seconds = self.step.call_timeout.total_seconds()
        return Call(
            key=forward_key(self.saga, index),
            credential="",
            timeout=seconds,
            arguments=self.arguments,
            results=self.results,
        )

    def undo_call(self, receipt: Receipt) -> Call:
        """The undo of what the receipt names, with the inputs that the catalogue fixes."""
        undo = self.undo
        return Call(
            key=undo_key(self.saga, 0),
            credential="",
            timeout=undo.call_timeout.total_seconds(),
            role=self.role,
            inputs=undo.fixed_inputs(self.arguments, receipt),
            receipt=receipt,
            condition=receipt.version,
        )

    @property
    def undo(self) -> Undo:
        """The step's undo. Raises LookupError where it has none."""
        if self.step.undo is None:
            raise LookupError(f"{self.step.name} has no undo")
        return self.step.undo

    def ask(self, operation: Operation | None, call: Call, credential: str | None = None) -> Any:
        """Make a call with the operation's own credential. An adapter that raises has broken its first promise."""
        if operation is None:
            raise LookupError("the catalogue declares no such operation")
        name = operation.authority.credential
        given = credential if credential is not None else self.credential(name) if name else ""
        try:
            return self.resolve(operation.adapter)(replace(call, credential=given))
        except Exception as error:
            raise PromiseBroken(
                f"{operation.adapter} raised {type(error).__name__}: {error}. An expected outcome is a value."
            ) from error

    def run(self, call: Call) -> Any:
        """The step's run."""
        return self.ask(self.step.run, call)
