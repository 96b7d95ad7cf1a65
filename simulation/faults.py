"""What may happen to a process, wherever it is: it dies, is not heard, comes twice, comes late, may do nothing."""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from functions.usecases.records import read_saga
from functions.usecases.world import GRACE
from simulation.scheduler import Verdict, Worker
from simulation.target import SAGA

if TYPE_CHECKING:
    from simulation.world import World


class Fault(StrEnum):
    """The columns."""

    CRASH = "crash"
    LOST = "lost answer"
    DUPLICATE = "duplicate delivery"
    ZOMBIE = "zombie"
    DENIAL = "denial"


NEARLY = timedelta(seconds=2)
"""How long before the end of its function's life a stalled process goes on."""
WELL_AFTER = timedelta(seconds=9)
"""How long after its lease has lapsed a zombie wakes, while the next attempt is at work."""
LONG = 40
LATER = 30
MANY_MINUTES = 30 * 60
DENIED_FOR = 10 * 60_000
STEPWISE = frozenset({"run", "settle", "undo", "gate", "begin", "case"})
CALLERS = frozenset({"run", "settle", "undo"})
VARIANTS: dict[Fault, tuple[str, ...]] = {
    Fault.CRASH: ("",),
    Fault.LOST: ("",),
    Fault.DUPLICATE: ("at once", "later", "of an earlier call"),
    Fault.ZOMBIE: ("within its lease", "beyond its lease"),
    Fault.DENIAL: ("", "of everything"),
}


def strike(world: World, worker: Worker, fault: Fault, variant: str) -> Verdict:
    """Let a fault happen to a worker, where it is."""
    scheduler = world.scheduler
    match fault:
        case Fault.CRASH:
            scheduler.crash(worker)
        case Fault.LOST:
            return "lost"
        case Fault.DUPLICATE if variant == "at once":
            scheduler.duplicate(worker)
            scheduler.pause(0)
        case Fault.DUPLICATE if variant == "of an earlier call":
            scheduler.duplicate(_earlier(world, worker))
            scheduler.pause(0)
        case Fault.DUPLICATE:
            scheduler.duplicate(worker, (wakes_after(world, worker) + LATER) * 1000)
        case Fault.ZOMBIE:
            within = variant == "within its lease"
            seconds = _within_life(world, worker) if within else wakes_after(world, worker)
            if worker.role not in STEPWISE:
                seconds = MANY_MINUTES
            give_up(world, worker, seconds)
        case Fault.DENIAL if worker.role in CALLERS and variant == "":
            world.credentials.revoke(credential_of(world, worker))
        case Fault.DENIAL if variant == "":
            return "denied"
        case Fault.DENIAL:
            world.denied[worker.role] = world.now() + DENIED_FOR
    return None


def _earlier(world: World, worker: Worker) -> Worker:
    """The first invocation of the same step that has ended, or this one where there is none."""
    ended = (w for w in world.scheduler.workers if w.dead and w.role in CALLERS)
    return next((w for w in ended if w.index == worker.index), worker)


def wakes_after(world: World, worker: Worker) -> int:
    """Seconds after which a zombie wakes: its lease has lapsed, and the next attempt is at work."""
    if worker.index is None or worker.role not in CALLERS:
        return LONG
    step = world.play.steps[worker.index]
    life = step.undo_function_timeout if worker.role == "undo" else step.function_timeout
    after = int(((life or step.function_timeout) + GRACE + WELL_AFTER).total_seconds())
    return max(LONG, after) if worker.role == "settle" else after


def _within_life(world: World, worker: Worker) -> int:
    """Seconds that a function may stall and still make a call."""
    step = world.play.steps[worker.index or 0]
    return int((step.function_timeout - NEARLY).total_seconds())


def give_up(world: World, worker: Worker, seconds: int) -> None:
    """Make a zombie of a worker: nobody waits for it, nobody kills it, and it comes back."""
    worker.unkilled = True
    world.scheduler.let_go(worker, "Lambda.SdkClientException")
    world.scheduler.pause(seconds * 1000)


def credential_of(world: World, worker: Worker) -> str:
    """The name of the credential that a worker works with: for an undo, the one that its record names by now."""
    index = worker.index or 0
    if worker.role == "undo":
        return str(world.watch.step(index)["undo"]["authority"]["credential"])
    return world.play.credential(index)


def second_driver(world: World) -> None:
    """Start another execution, whatever the first one is doing."""

    def work() -> str:
        saga = read_saga(world.store, SAGA)
        return world.drive(saga) if saga is not None and saga.head.outcome is None else "ended"

    world.scheduler.spawn("starter", None, work)
