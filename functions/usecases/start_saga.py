"""Driving a saga: compile its shape, make the machine if it is not there, start an execution, remember the driver.

The head is written before the execution starts: whoever wins that write drives, and a start that is lost is made again
under the same name. Everything is read from the ledger, so starting and resuming are one thing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from functions.domain.ledger import head as heads
from functions.domain.ledger.records import Head, Saga
from functions.domain.ledger.recovery import can_be_driven, is_over
from functions.domain.shape import Shape, ShapeStep
from functions.ports import JSON, Clock, MachineGone, Machines, NoMachine, Notices, Stale, Store
from functions.usecases.open_case import open_late_case, open_saga_case
from functions.usecases.records import changed, read_saga
from functions.usecases.retention import keep, retain

LOOK_AGAIN = 5 * 60 * 1000
START_AGAIN = 30 * 1000


class Compile(Protocol):
    """From a shape to a verified machine: its name and its definition."""

    def __call__(self, shape: Shape) -> tuple[str, Mapping[str, JSON]]:
        """The machine of this shape, with the functions of this deployment. Raises NoMachine."""


Ended = Callable[[Saga], None]
"""Tells other systems that a saga is over; may be told more than once."""


def nobody(_: Saga) -> None:
    """Where nobody is told."""


def shape_of(saga: Saga) -> Shape:
    """The shape of an admitted plan, from the ledger alone."""
    return Shape(
        catalogue=saga.head.catalogue,
        catalogue_version=saga.head.catalogue_version,
        steps=tuple(
            ShapeStep(
                name=step.name,
                kind=step.kind,
                undo_waits_for=frozenset(step.undo.waits_for if step.undo else ()),
            )
            for step in saga.steps
        ),
    )


def attend_to(
    store: Store,
    clock: Clock,
    machines: Machines,
    notices: Notices,
    compiled: Compile,
    saga_id: str,
    ended: Ended = nobody,
) -> str:
    """Do what a saga's head asks for: start, resume, open the case of a late effect. Safe to repeat at any moment.

    Answers what was done, in one word, for the log.
    """
    saga = read_saga(store, saga_id)
    if saga is None:
        return "unknown"
    if not is_over(saga):
        saga = keep(store, saga)
        if saga is None:
            return "raced"
    for step in saga.steps:
        if step.late is not None and step.case is None:
            open_late_case(store, clock, notices, saga, step)
            return "case"
    if saga.head.wanted != "resume" and not can_be_driven(saga):
        return _let_rest(store, clock, ended, saga)
    try:
        if saga.head.wanted in {None, "case"}:
            return _check_driver(store, clock, machines, notices, compiled, saga)
        return drive(store, clock, machines, notices, compiled, saga)
    except NoMachine as none:
        open_saga_case(store, clock, notices, saga, why=str(none)[:500])
        return "case"


def _let_rest(store: Store, clock: Clock, ended: Ended, saga: Saga) -> str:
    head = saga.head
    if is_over(saga) and head.forgotten_at is None:
        # Told first, so that it is told at least once: the mark is what ends being due.
        ended(saga)
        return "retained" if retain(store, saga, until=clock.now() + head.retain_for) else "raced"
    if head.due_at is not None:
        try:
            store.write([changed(head, heads.rest(head))])
        except Stale:
            return "raced"
    return "nothing"


def drive(
    store: Store, clock: Clock, machines: Machines, notices: Notices, compiled: Compile, saga: Saga
) -> str:
    """Start the next execution of a saga, or hand it to a person when automation has tried often enough.

    Raises NoMachine.
    """
    head = saga.head
    if head.drivers_left <= 0:
        open_saga_case(store, clock, notices, saga)
        return "case"
    now = clock.now()
    machine = head.machine
    if machine is None:
        name, definition = compiled(shape_of(saga))
        machine = machines.ensure(name, definition)
    execution = f"{head.saga_id}-{head.epoch + 1}"
    driven = heads.driven(
        head, machine=machine, execution=execution, now=now, look_again=now + START_AGAIN
    )
    try:
        store.write([changed(head, driven)])
    except Stale:
        return "raced"
    written = driven.model_copy(update={"version": head.version + 1})
    return _start(
        store, machines, compiled, Saga(head=written, steps=saga.steps), machine, execution
    )


def _start(
    store: Store,
    machines: Machines,
    compiled: Compile,
    saga: Saga,
    machine: str,
    execution: str,
) -> str:
    head = saga.head
    try:
        machines.start(machine, execution, head.saga_id)
    except MachineGone:
        # Deleted from outside: the ledger has the shape, so it is made again.
        name, definition = compiled(shape_of(saga))
        remade = machines.ensure(name, definition)
        machines.start(remade, execution, head.saga_id)
        if remade != machine:
            _remember(store, head, remade)
    return "started"


def _remember(store: Store, driven: Head, machine: str) -> None:
    try:
        store.write([changed(driven, driven.model_copy(update={"machine": machine}))])
    except Stale:
        # The execution runs; whoever looks for it under the old machine makes and finds the new one again.
        return


def _check_driver(
    store: Store, clock: Clock, machines: Machines, notices: Notices, compiled: Compile, saga: Saga
) -> str:
    head = saga.head
    if head.machine is None or head.execution is None:
        return drive(store, clock, machines, notices, compiled, saga)
    state = machines.driver(head.machine, head.execution)
    if state == "running":
        try:
            store.write([changed(head, heads.look_again(head, at=clock.now() + LOOK_AGAIN))])
        except Stale:
            return "raced"
        return "running"
    if state == "absent":
        return _start(store, machines, compiled, saga, head.machine, head.execution)
    return drive(store, clock, machines, notices, compiled, saga)
