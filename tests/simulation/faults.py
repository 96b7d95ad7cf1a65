"""The crash matrix's rows and columns: where a process may be, and what may happen to it there.

A boundary names one moment of one command, how a run is brought there, and, where the boundary is itself a misfortune, what
has gone wrong already. A fault is what happens to whoever is there. A cell that cannot exist has a reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from tests.simulation import catalogue
from tests.simulation.chaos import LATEST, credential_of, give_up, second_driver
from tests.simulation.scenario import Scenario
from tests.simulation.scheduler import Place, Verdict, Worker
from tests.simulation.target import Side
from tests.simulation.world import World


class Fault(StrEnum):
    """The columns."""

    CRASH = "crash"
    LOST = "lost answer"
    DUPLICATE = "duplicate delivery"
    ZOMBIE = "zombie"
    DENIAL = "denial"


Act = Callable[[World, Worker], Verdict]
LEASE = 40_000
"""Milliseconds by which every lease has lapsed."""
SHORT = 14
"""Seconds that a function may stall and still make a call: just within its life, well beyond `settles_after`."""
LONG = {"run": 30, "undo": 36}
"""Seconds after which a zombie wakes: its lease has lapsed, and the next attempt is at work."""
MANY_MINUTES = 30 * 60
DENIED_FOR = 10 * 60_000


@dataclass(frozen=True, slots=True)
class Boundary:
    """One row.

    `places` says for which steps of a plan it exists, `here` where a worker then is (and for the how manieth time).
    `begin` makes the run lead there, `already` is what has gone wrong by then. `impossible` has a reason for each cell
    that cannot exist; `is_itself` names the fault that the boundary already is. `targets` are the kinds of target for
    which it exists.
    """

    group: str
    name: str
    places: Callable[[str], Iterator[int]]
    here: Callable[[int], Place]
    nth: int = 1
    begin: Callable[[World, int], None] | None = None
    already: Act | None = None
    scenario: dict[str, object] = field(default_factory=dict)
    is_itself: Fault | None = None
    impossible: dict[Fault, str] = field(default_factory=dict)
    targets: tuple[str, ...] = catalogue.TARGETS

    @property
    def title(self) -> str:
        """Its name in the table."""
        return f"{self.group}: {self.name}"


# Which steps


def every(kinds: str) -> Iterator[int]:
    """All steps."""
    yield from range(len(kinds))


def compensable(kinds: str) -> Iterator[int]:
    """Steps that can be undone."""
    yield from (i for i, kind in enumerate(kinds) if kind == "c")


def turning(kinds: str) -> Iterator[int]:
    """Steps whose failure turns the saga: up to the boundary."""
    edge = Scenario(kinds, ()).boundary
    yield from range(len(kinds) if edge is None else edge + 1)


def boundary(kinds: str) -> Iterator[int]:
    """The boundary."""
    edge = Scenario(kinds, ()).boundary
    if edge is not None:
        yield edge


def pivot(kinds: str) -> Iterator[int]:
    """The pivot."""
    if "p" in kinds:
        yield kinds.index("p")


def beyond(kinds: str) -> Iterator[int]:
    """Steps beyond the boundary."""
    edge = Scenario(kinds, ()).boundary
    yield from range(len(kinds) if edge is None else edge + 1, len(kinds))


def first(_: str) -> Iterator[int]:
    """The saga as a whole."""
    yield 0


# How a run is led there


def refused(world: World, index: int) -> None:
    """The target says no to this step."""
    world.target.behaviours[index, "do"].refuses = True


def turned(world: World, index: int) -> None:
    """The saga has to undo this step: its boundary is refused, or a person stops it in its last step."""
    edge = world.scenario.boundary
    if edge is not None:
        refused(world, edge)
        return
    last = len(world.scenario.kinds) - 1
    _ = index

    def cancels(_worker: Worker) -> Verdict:
        world.people.cancels()
        world.scheduler.pause(0)
        return None

    world.scheduler.arm(("run", last, "record:before"), cancels)


def nearly_spent(world: World, index: int) -> None:
    """All attempts but the last one do nothing."""
    world.target.behaviours[index, "do"].unavailable = catalogue.BUDGET - 1


def undo_nearly_spent(world: World, index: int) -> None:
    """All attempts at the undo but the last one do nothing."""
    turned(world, index)
    world.target.behaviours[index, "undo"].unavailable = catalogue.BUDGET - 1


def undo_refused(world: World, index: int) -> None:
    """The undo is refused: a person has to do it."""
    turned(world, index)
    world.target.behaviours[index, "undo"].refuses = True


def says(role: str, phase: str, verdict: str) -> Callable[[World, int], None]:
    """Disturb the first call of this kind."""

    def begin(world: World, index: int) -> None:
        place = index if role in STEPWISE else None
        world.scheduler.arm((role, place, phase), lambda _: verdict)

    return begin


def both(*begins: Callable[[World, int], None]) -> Callable[[World, int], None]:
    """One after the other."""

    def begin(world: World, index: int) -> None:
        for each in begins:
            each(world, index)

    return begin


def lands_late(world: World, index: int) -> None:
    """The request stays under way as long as its target declares; where its key gets a tombstone, much longer."""
    settlement = world.catalogue.steps[index].settlement
    edge = world.scenario.boundary
    cancelled = settlement.tombstone is not None and (edge is None or index <= edge)
    late = 600_000 if cancelled else LATEST
    world.scheduler.arm(("run", index, "call:before"), lambda _: f"delayed {late}")


def zombie_refused(role: str) -> Callable[[World, int], None]:
    """The first call did nothing; its process stalls before it can say so, and wakes during the next attempt."""

    def begin(world: World, index: int) -> None:
        side: Side = "undo" if role == "undo" else "do"
        world.target.behaviours[index, side].unavailable = 1
        world.scheduler.arm((role, index, "call:after"), lambda worker: _lapsed(world, worker))

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
    world.scheduler.arm(("undo", index, "call:before"), lambda _: f"delayed {LATEST}")


def unknown_and_given_up(verdict: str) -> Callable[[World, int], None]:
    """Nobody knows what the boundary's call did, and its function may not ask: settling has to find out."""

    def begin(world: World, index: int) -> None:
        def revoke(worker: Worker) -> Verdict:
            world.credentials.revoke(credential_of(world, worker))
            return None

        def restore(_: Worker) -> Verdict:
            world.credentials.restore()
            return None

        world.scheduler.arm(("run", index, "call:before"), lambda _: verdict)
        world.scheduler.arm(("run", index, "call:silence"), revoke)
        world.scheduler.arm(("settle", index, "read"), restore)

    return begin


def forgotten(side: Side) -> Callable[[World, int], None]:
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


def cancels(world: World, index: int) -> None:
    """While people think, somebody cancels."""

    def act(_: Worker) -> Verdict:
        world.people.cancels()
        return None

    world.scheduler.arm(("gate", index, "token:after"), act)


def stream(*delays: int) -> Callable[[World, int], None]:
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


def _ends(status: str) -> Act:
    def act(world: World, _: Worker) -> Verdict:
        for execution in list(world.machines.executions.values()):
            execution.end("ABORTED" if status == "ABORTED" else "FAILED")
        return None

    return act


def _deleted(world: World, _: Worker) -> Verdict:
    world.machines.delete()
    return None


def _second(world: World, _: Worker) -> Verdict:
    second_driver(world)
    return None


def _lapsed(world: World, worker: Worker) -> Verdict:
    give_up(world, worker, LONG.get(worker.role, 40))
    return None


def _revoked(world: World, worker: Worker) -> Verdict:
    world.credentials.revoke(credential_of(world, worker))
    return None


def _expired(world: World, worker: Worker) -> Verdict:
    world.credentials.expire(credential_of(world, worker))
    return None


# What may happen to whoever is there

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
            scheduler.duplicate(worker, LEASE + 20_000)
        case Fault.ZOMBIE:
            seconds = SHORT if variant == "within its lease" else LONG.get(worker.role, 40)
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


# The rows

NOTHING_SENT = "no answer was on its way: the request had not arrived"
ENDED = "the process has ended"
LAST = "nothing is asked of anybody any more"
_ITSELF = "the boundary is this fault"


def _run(phase: str) -> Callable[[int], Place]:
    return lambda index: ("run", index, phase)


def _undo(phase: str) -> Callable[[int], Place]:
    return lambda index: ("undo", index, phase)


def _settle(phase: str) -> Callable[[int], Place]:
    return lambda index: ("settle", index, phase)


def _begin(phase: str) -> Callable[[int], Place]:
    return lambda index: ("begin", index, phase)


def _gate(phase: str) -> Callable[[int], Place]:
    return lambda index: ("gate", index, phase)


def _who(role: str, phase: str) -> Callable[[int], Place]:
    return lambda _: (role, None, phase)


FORWARD = (
    Boundary("forward", "before the claim", every, _run("claim:before")),
    Boundary("forward", "after the claim, before the call", every, _run("call:before")),
    Boundary(
        "forward",
        "request lost",
        every,
        _run("call:silence"),
        begin=says("run", "call:before", "request lost"),
        impossible={Fault.LOST: NOTHING_SENT},
    ),
    Boundary(
        "forward",
        "answer lost",
        every,
        _run("call:silence"),
        begin=says("run", "call:after", "lost"),
        is_itself=Fault.LOST,
    ),
    Boundary("forward", "after the call, before the record", every, _run("record:before")),
    Boundary(
        "forward",
        "the record's write conflicts",
        every,
        _run("record:before"),
        nth=2,
        begin=says("run", "record:before", "conflict"),
    ),
    Boundary("forward", "after the record, before the report", every, _run("record:after")),
    Boundary(
        "forward",
        "report lost",
        every,
        _run("report"),
        already=lambda _world, _worker: "lost",
        is_itself=Fault.LOST,
        impossible={Fault.CRASH: ENDED, Fault.ZOMBIE: ENDED},
    ),
    Boundary(
        "forward",
        "last attempt spent",
        every,
        _run("call:before"),
        nth=catalogue.BUDGET,
        begin=nearly_spent,
    ),
    Boundary(
        "forward",
        "a zombie's answer after its lease",
        every,
        _run("call:after"),
        already=_lapsed,
        is_itself=Fault.ZOMBIE,
    ),
    Boundary(
        "forward",
        "its effect landing after the settling",
        every,
        _run("call:silence"),
        begin=lands_late,
        is_itself=Fault.LOST,
    ),
    Boundary(
        "forward",
        "the next call, while a zombie's refusal is due",
        every,
        _run("call:before"),
        nth=2,
        begin=zombie_refused("run"),
        targets=("full", "keys"),
    ),
    Boundary(
        "forward",
        "the next keyless call, while a zombie's refusal is due",
        compensable,
        _run("call:before"),
        nth=2,
        begin=zombie_refused("run"),
        targets=("status",),
    ),
)
UNDO = (
    Boundary("undo", "before the claim", compensable, _undo("undo-claim:before"), begin=turned),
    Boundary(
        "undo", "after the claim, before the call", compensable, _undo("call:before"), begin=turned
    ),
    Boundary(
        "undo",
        "answer lost",
        compensable,
        _undo("call:silence"),
        begin=both(turned, says("undo", "call:after", "lost")),
        is_itself=Fault.LOST,
    ),
    Boundary(
        "undo",
        "after the undo, before the checkpoint",
        compensable,
        _undo("undo-record:before"),
        begin=turned,
    ),
    Boundary("undo", "after the checkpoint", compensable, _undo("undo-record:after"), begin=turned),
    Boundary(
        "undo",
        "credential expired",
        compensable,
        _undo("call:before"),
        begin=turned,
        already=_expired,
    ),
    Boundary(
        "undo",
        "credential revoked",
        compensable,
        _undo("call:before"),
        begin=turned,
        already=_revoked,
        is_itself=Fault.DENIAL,
    ),
    Boundary(
        "undo",
        "last attempt spent",
        compensable,
        _undo("call:before"),
        nth=catalogue.BUDGET,
        begin=undo_nearly_spent,
    ),
    Boundary(
        "undo",
        "the next call, while a zombie's refusal is due",
        compensable,
        _undo("call:before"),
        nth=2,
        begin=both(turned, zombie_refused("undo")),
        targets=("full", "keys", "status"),
    ),
)
ANSWERS = ("full", "status")
CANCELS = ("full", "tombstone")
SETTLING = (
    Boundary(
        "settling",
        "before the question is claimed",
        every,
        _run("ask:before"),
        begin=lands_late,
        targets=ANSWERS,
    ),
    Boundary(
        "settling",
        "question claimed, not asked",
        every,
        _run("status:before"),
        begin=lands_late,
        targets=ANSWERS,
    ),
    Boundary(
        "settling",
        "answered, not recorded",
        every,
        _run("status:after"),
        begin=lands_late,
        targets=ANSWERS,
    ),
    Boundary(
        "settling",
        "going back, question claimed, not asked",
        compensable,
        _undo("status:before"),
        begin=unknown_and_cancelled,
        targets=("status",),
    ),
    Boundary(
        "settling",
        "going back, answered, not recorded",
        compensable,
        _undo("status:after"),
        begin=unknown_and_cancelled,
        targets=("status",),
    ),
    Boundary(
        "settling",
        "going back, before the tombstone",
        compensable,
        _undo("tombstone:before"),
        begin=unknown_and_cancelled,
        targets=CANCELS,
    ),
    Boundary(
        "settling",
        "going back, tombstone not recorded",
        compensable,
        _undo("tombstone:after"),
        begin=unknown_and_cancelled,
        targets=CANCELS,
    ),
    Boundary(
        "settling",
        "of an undo, before the question",
        compensable,
        _undo("undo-ask:before"),
        begin=undo_lands_late,
        targets=ANSWERS,
    ),
    Boundary(
        "settling",
        "of an undo, answered, not recorded",
        compensable,
        _undo("status:after"),
        begin=undo_lands_late,
        targets=ANSWERS,
    ),
    Boundary(
        "settling",
        "of the boundary, before the question",
        boundary,
        _settle("ask:before"),
        begin=unknown_and_given_up(f"delayed {LATEST}"),
    ),
    Boundary(
        "settling",
        "of the boundary, settled, not stepped back",
        boundary,
        _settle("step-back:before"),
        begin=unknown_and_given_up("request lost"),
        targets=("status", "tombstone"),
    ),
    Boundary(
        "settling",
        "of the boundary, stepped back",
        boundary,
        _settle("step-back:after"),
        begin=unknown_and_given_up("request lost"),
        targets=("status", "tombstone"),
        impossible={Fault.DENIAL: LAST},
    ),
)
DIRECTION = (
    Boundary(
        "direction", "before the write that turns it", turning, _begin("turn:before"), begin=refused
    ),
    Boundary(
        "direction",
        "after the write that turns it",
        turning,
        _begin("turn:after"),
        begin=refused,
        impossible={Fault.DENIAL: LAST},
    ),
    Boundary("direction", "crossing written, call not made", boundary, _run("claim:after")),
)
_ASK: dict[str, object] = {"ask": True}
GATE = (
    Boundary(
        "gate",
        "token stored, notice lost",
        pivot,
        _gate("token:after"),
        begin=says("gate", "notice:before", "dropped"),
        scenario=_ASK,
    ),
    Boundary(
        "gate",
        "decision written, token not answered",
        pivot,
        _who("approver", "answer:before"),
        scenario=_ASK,
    ),
    Boundary(
        "gate",
        "answered twice",
        pivot,
        _who("approver", "answer:before"),
        scenario={**_ASK, "approver": "twice"},
    ),
    Boundary(
        "gate",
        "answered late",
        pivot,
        _who("sweeper", "expiry:before"),
        scenario={**_ASK, "approver": "late"},
    ),
    Boundary(
        "gate",
        "approve races reject",
        pivot,
        _who("approver", "decision:before"),
        nth=2,
        begin=races,
        scenario={**_ASK, "approver": "race"},
    ),
    Boundary(
        "gate",
        "precondition changed meanwhile",
        pivot,
        _run("record:before"),
        begin=closes,
        scenario=_ASK,
    ),
    Boundary(
        "gate",
        "cancelled while open",
        pivot,
        _who("cancel", "turn:before"),
        begin=cancels,
        scenario=_ASK,
    ),
    Boundary(
        "gate",
        "cancelled, and its machine not told",
        pivot,
        _who("cancel", "answer:before"),
        begin=cancels,
        scenario={**_ASK, "approver": "silent"},
    ),
)
_BY_HAND: dict[str, object] = {"operator": "done"}
PEOPLE = (
    Boundary(
        "people",
        "a step done by hand, and not recorded",
        beyond,
        _who("operator", "by-hand"),
        begin=refused,
        scenario=_BY_HAND,
    ),
    Boundary(
        "people",
        "an undo done by hand, and not recorded",
        compensable,
        _who("operator", "by-hand"),
        begin=undo_refused,
        scenario=_BY_HAND,
    ),
    Boundary(
        "people",
        "a step tried again when its key is forgotten",
        beyond,
        _who("operator", "resolution:before"),
        begin=forgotten("do"),
        targets=("brief",),
        scenario={"operator": "retry"},
    ),
    Boundary(
        "people",
        "an undo tried again when its key is forgotten",
        compensable,
        _who("operator", "resolution:before"),
        begin=forgotten("undo"),
        targets=("brief",),
        scenario={"operator": "retry"},
    ),
)
SAGA = (
    Boundary("saga", "start lost", first, _who("starter", "start:before")),
    Boundary("saga", "stream late", first, _who("sweeper", "drive:before"), begin=stream(90_000)),
    Boundary(
        "saga",
        "uncatchable error, going forward",
        every,
        _run("call:after"),
        already=_ends("FAILED"),
    ),
    Boundary(
        "saga",
        "uncatchable error, going back",
        compensable,
        _undo("call:after"),
        begin=turned,
        already=_ends("FAILED"),
    ),
    Boundary(
        "saga",
        "stopped from outside, going forward",
        every,
        _run("call:before"),
        already=_ends("ABORTED"),
    ),
    Boundary(
        "saga",
        "stopped from outside, going back",
        compensable,
        _undo("call:before"),
        begin=turned,
        already=_ends("ABORTED"),
    ),
    Boundary("saga", "machine deleted", every, _run("call:after"), already=_deleted),
    Boundary("saga", "sweeper dies midway", first, _who("sweeper", "drive:after"), begin=stream()),
    Boundary("saga", "two drivers, going forward", every, _run("claim:after"), already=_second),
    Boundary(
        "saga",
        "two drivers, going back",
        compensable,
        _undo("undo-claim:after"),
        begin=turned,
        already=_second,
    ),
)
BOUNDARIES = (*FORWARD, *UNDO, *SETTLING, *DIRECTION, *GATE, *PEOPLE, *SAGA)
