"""How a run is led to a boundary, and what has gone wrong by then."""

from __future__ import annotations

from collections.abc import Callable

from simulation.faults import STEPWISE, credential_of, give_up, second_driver, wakes_after
from simulation.interpreter import Status
from simulation.scheduler import Verdict, Worker
from simulation.target import Side
from simulation.world import World

Begin = Callable[[World, int], None]
"""Makes a run lead to a step's boundary."""
Act = Callable[[World, Worker], Verdict]
"""What befalls whoever is there."""
NEVER = 1_000


def refused(world: World, index: int) -> None:
    """The target says no to this step."""
    world.target.behaviours[index, "do"].refuses = True


def turned(world: World, index: int) -> None:
    """The saga has to undo this step: its boundary is refused, or a person stops it in its last step."""
    edge = world.play.boundary
    if edge is not None:
        refused(world, edge)
        return
    last = len(world.play.steps) - 1
    _ = index

    def cancels(_worker: Worker) -> Verdict:
        world.people.cancels()
        world.scheduler.pause(0)
        return None

    world.scheduler.arm(("run", last, "record:before"), cancels)


def attempts(world: World, index: int) -> int:
    """The budget of the step."""
    return world.play.steps[index].retry.attempts


def undo_attempts(world: World, index: int) -> int:
    """The budget of its undo."""
    undo = world.play.steps[index].undo
    return undo.retry.attempts if undo is not None else 0


def nearly_spent(world: World, index: int) -> None:
    """All attempts but the last one do nothing."""
    world.target.behaviours[index, "do"].unavailable = world.play.steps[index].retry.attempts - 1


def undo_nearly_spent(world: World, index: int) -> None:
    """All attempts at the undo but the last one do nothing."""
    turned(world, index)
    world.target.behaviours[index, "undo"].unavailable = undo_attempts(world, index) - 1


def undo_refused(world: World, index: int) -> None:
    """The undo is refused: a person has to do it."""
    turned(world, index)
    world.target.behaviours[index, "undo"].refuses = True


def undo_unauthorised(world: World, index: int) -> None:
    """The undo's own principal has lost its authority."""
    turned(world, index)
    undo = world.play.steps[index].undo
    if undo is not None:
        world.credentials.revoke(undo.run.authority.credential or "")


def unavailable(side: Side) -> Begin:
    """The target is never there."""

    def begin(world: World, index: int) -> None:
        if side == "undo":
            turned(world, index)
        world.target.behaviours[index, side].unavailable = NEVER

    return begin


def conflicts(side: Side) -> Begin:
    """The target holds the key with other parameters."""

    def begin(world: World, index: int) -> None:
        if side == "undo":
            turned(world, index)
        world.target.behaviours[index, side].conflicts = True

    return begin


def says(role: str, phase: str, verdict: str) -> Begin:
    """Disturb the first call of this kind."""

    def begin(world: World, index: int) -> None:
        place = index if role in STEPWISE else None
        world.scheduler.arm((role, place, phase), lambda _: verdict)

    return begin


def both(*begins: Begin) -> Begin:
    """One after the other."""

    def begin(world: World, index: int) -> None:
        for each in begins:
            each(world, index)

    return begin


def lands_late(world: World, index: int) -> None:
    """The request stays under way as long as its target declares; where its key gets a tombstone, much longer."""
    settlement = world.play.steps[index].settlement
    edge = world.play.boundary
    cancelled = settlement.tombstone is not None and (edge is None or index <= edge)
    late = 600_000 if cancelled else world.play.latest((index, "do"))
    world.scheduler.arm(("run", index, "call:before"), lambda _: f"delayed {late}")


def zombie_refused(role: str) -> Begin:
    """The first call did nothing; its process stalls before it can say so, and wakes during the next attempt."""

    def begin(world: World, index: int) -> None:
        side: Side = "undo" if role == "undo" else "do"
        world.target.behaviours[index, side].unavailable = 1
        world.scheduler.arm((role, index, "call:after"), lambda worker: lapsed(world, worker))

    return begin


def unknown_and_cancelled(world: World, index: int) -> None:
    """The call is still under way when a person stops the saga: its undo has to find out."""

    def act(_: Worker) -> Verdict:
        world.people.cancels()
        world.scheduler.pause(0)
        return None

    lands_late(world, index)
    world.scheduler.arm(("run", index, "call:silence"), act)


def undo_lands_late(world: World, index: int) -> None:
    """The undo's request stays under way as long as its target declares."""
    turned(world, index)
    latest = world.play.latest((index, "undo"))
    world.scheduler.arm(("undo", index, "call:before"), lambda _: f"delayed {latest}")


def unknown_and_given_up(verdict: str | None = None) -> Begin:
    """Nobody knows what the boundary's call did, and its function may not ask: settling has to find out.

    Without a verdict the call stays under way as long as its target declares.
    """

    def begin(world: World, index: int) -> None:
        def revoke(worker: Worker) -> Verdict:
            world.credentials.revoke(credential_of(world, worker))
            return None

        def restore(_: Worker) -> Verdict:
            world.credentials.restore()
            return None

        said = verdict or f"delayed {world.play.latest((index, 'do'))}"
        world.scheduler.arm(("run", index, "call:before"), lambda _: said)
        world.scheduler.arm(("run", index, "call:silence"), revoke)
        world.scheduler.arm(("settle", index, "read"), restore)

    return begin


def forgotten(side: Side) -> Begin:
    """An effect that nobody knows of, an authority that is lost, and people who come when the key is forgotten."""

    def begin(world: World, index: int) -> None:
        role = "undo" if side == "undo" else "run"
        if side == "undo":
            turned(world, index)

        def act(worker: Worker) -> Verdict:
            world.credentials.revoke(credential_of(world, worker))
            return None

        world.scheduler.arm((role, index, "call:after"), lambda _: "lost")
        world.scheduler.arm((role, index, "call:silence"), act)
        world.people.told = False

    return begin


def closes(world: World, index: int) -> None:
    """While people think, the precondition ceases to hold."""

    def act(_: Worker) -> Verdict:
        world.open = False
        return None

    world.scheduler.arm(("gate", index, "token:after"), act)


def leaves(world: World, _: int) -> None:
    """Whoever has just agreed is taken out of the approvers' group."""

    def act(_: Worker) -> Verdict:
        world.directory.members["ann"] = frozenset()
        return None

    world.scheduler.arm(("approver", None, "answer:before"), act)


def cancels(world: World, index: int) -> None:
    """While people think, somebody cancels."""

    def act(_: Worker) -> Verdict:
        world.people.cancels()
        return None

    world.scheduler.arm(("gate", index, "token:after"), act)


def stream(*delays: int) -> Begin:
    """When the stream delivers."""

    def begin(world: World, _: int) -> None:
        world.stream = list(delays)

    return begin


def races(world: World, _: int) -> None:
    """The first to decide is slow to write."""

    def act(_: Worker) -> Verdict:
        world.scheduler.pause(0)
        return None

    world.scheduler.arm(("approver", None, "decision:before"), act)


# What has gone wrong already


def ends(status: Status) -> Act:
    """Its execution is over."""

    def act(world: World, _: Worker) -> Verdict:
        for execution in list(world.machines.executions.values()):
            execution.end(status)
        return None

    return act


def deleted(world: World, _: Worker) -> Verdict:
    """Somebody has deleted the machines."""
    world.machines.delete()
    return None


def second(world: World, _: Worker) -> Verdict:
    """A second driver has been started."""
    second_driver(world)
    return None


def lapsed(world: World, worker: Worker) -> Verdict:
    """It is given up, and wakes when its lease has lapsed."""
    give_up(world, worker, wakes_after(world, worker))
    return None


def revoked(world: World, worker: Worker) -> Verdict:
    """Its credential has been revoked."""
    world.credentials.revoke(credential_of(world, worker))
    return None


def expired(world: World, worker: Worker) -> Verdict:
    """Its credential has been renewed, and what is cached is no longer accepted."""
    world.credentials.expire(credential_of(world, worker))
    return None


def moved_on(world: World, worker: Worker) -> Verdict:
    """Somebody else has changed what the step made."""
    world.target.move_on(worker.index or 0)
    return None
