"""Stopping a saga because a person says so: before the boundary it compensates, after it there is nothing to stop."""

from __future__ import annotations

from dataclasses import dataclass

from functions.domain.ledger import head as heads
from functions.domain.ledger.records import Attention, Saga
from functions.ports import Callbacks, Clock, Stale, Store
from functions.usecases.begin_compensation import turn
from functions.usecases.decide_approval import answer
from functions.usecases.errors import StepBarred
from functions.usecases.records import changed, read_approval, the_saga

TRIES = 20


@dataclass(frozen=True, slots=True)
class Cancelled:
    """The saga compensates, or has already turned."""


@dataclass(frozen=True, slots=True)
class TooLate:
    """Why it can not be stopped."""

    why: str


def cancel_saga(
    store: Store, clock: Clock, callbacks: Callbacks, saga_id: str, *, person: str
) -> Cancelled | TooLate:
    """Turn the saga; its waiting machine is told, and a new driver takes over what is owed."""
    saga = the_saga(store, saga_id)
    if saga.head.outcome is not None:
        return TooLate(f"The saga has ended: {saga.head.outcome.value}.")
    try:
        turn(store, clock, saga_id, lambda *_: f"cancelled by {person}")
    except StepBarred:
        return TooLate("The saga is at its point of no return, or past it.")
    _tell_the_machine(store, callbacks, saga)
    _drive(store, clock, saga_id)
    return Cancelled()


def _tell_the_machine(store: Store, callbacks: Callbacks, saga: Saga) -> None:
    for step in saga.steps:
        approval = read_approval(store, step.approval)
        if approval is not None:
            answer(store, callbacks, approval)


def _drive(store: Store, clock: Clock, saga_id: str) -> None:
    """A running driver meets the bars by itself; one that never started, or has ended, is asked for."""
    for _ in range(TRIES):
        head = the_saga(store, saga_id).head
        if head.outcome is not None or head.epoch > 0 or head.attention is not Attention.NONE:
            return
        try:
            store.write([changed(head, heads.want(head, "start", now=clock.now()))])
        except Stale:
            continue
        return
