"""Random schedules: from a seed a plan, its world, up to five faults, and who gets a turn when.

The seed decides everything, so that one seed and one commit replay one run.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random

from simulation.faults import credential_of, give_up, second_driver
from simulation.play import Approver, Operator
from simulation.scheduler import Verdict, Worker
from simulation.target import SAGA
from tests.simulation import catalogue
from tests.simulation.scenario import Scenario
from tests.simulation.world import World

SHAPES = catalogue.legal_shapes()
MOST_FAULTS = 5
MOST_WORKERS = 3
STEPS_PER_STEP = 16
"""About how many points a step of a plan passes, there and back: where faults are spread over."""
APPROVERS: tuple[Approver, ...] = (
    "approve",
    "approve",
    "approve",
    "reject",
    "silent",
    "late",
    "twice",
    "race",
)
OPERATORS: tuple[Operator, ...] = (
    "settle",
    "settle",
    "settle",
    "retry",
    "done",
    "first",
    "careless",
    "accept",
    "alternate",
    "another",
    "silent",
)
STRIDES = {"bound": 2, "waves": 5}
INVOKED = frozenset({"run", "settle", "undo", "begin", "finish", "gate", "case"})
LATEST = int((catalogue.CALL + catalogue.SETTLES_AFTER).total_seconds() * 1000) - 100
"""The last moment, in milliseconds after it was sent, at which a call that was given up may land."""
SAID = ("request lost", "lost", "dropped", "denied", "conflict", "unreachable")
Fault = Callable[["Chaos", Worker], Verdict]


def scenario(random: Random) -> Scenario:
    """A plan, its targets, and its people."""
    kinds = random.choice(SHAPES)
    style = random.choice(catalogue.STYLES)
    first = random.randrange(len(catalogue.MORE_TARGETS))
    # All alike, or all different: not every mixture, because each one is a catalogue of its own.
    stride = random.choice((0, 3) if style == "plain" else (STRIDES[style],))
    return Scenario(
        kinds=kinds,
        targets=tuple(
            catalogue.MORE_TARGETS[(first + stride * place) % len(catalogue.MORE_TARGETS)]
            for place in range(len(kinds))
        ),
        style=style,
        ask="p" in kinds and random.random() < 0.5,
        approver=random.choice(APPROVERS),
        operator=random.choice(OPERATORS),
    )


def world_of(seed: int, *, tracing: bool = False) -> World:
    """The world of a seed, with its chaos, ready to run."""
    random = Random(seed)  # noqa: S311 - a schedule, not a secret
    world = World(scenario(random), seed=seed, tracing=tracing)
    chaos = Chaos(world, random)
    world.scheduler.chaos = chaos.at
    world.scheduler.shuffled = True
    if random.random() < 0.5:
        world.latency = chaos.latency
    chaos.before()
    return world


class Chaos:
    """What goes wrong in one run, when, and to whom.

    Either faults are spread over the whole run, or they come thick upon one command: what breaks a kernel are often
    two or three misfortunes of one step within a minute. Each run has a menu of its own, so that rare combinations meet.
    """

    def __init__(self, world: World, random: Random) -> None:
        self.world = world
        self.random = random
        self.left = random.randint(0, MOST_FAULTS)
        self.faults: list[str] = []
        size = STEPS_PER_STEP * len(world.scenario.kinds) + 10
        self.moments = sorted((random.randint(1, size) for _ in range(self.left)), reverse=True)
        self.focus: tuple[int, frozenset[str]] | None = None
        self.menu = {kind for kind in KINDS if random.random() < 0.6} or {"crash"}
        if random.random() < 0.6:
            index = random.randrange(len(world.scenario.kinds))
            back = world.scenario.kinds[index] == "c" and random.random() < 0.5
            self.focus = index, frozenset({"undo"}) if back else frozenset({"run", "settle"})
            self.left = random.randint(2, MOST_FAULTS)

    def latency(self) -> int:
        """How long a call is under way, one way, in milliseconds."""
        return self.random.choice((0, 0, 20, 300, 900))

    def before(self) -> None:
        """What is wrong from the start: a step that will be refused, a stream that says nothing."""
        world, random = self.world, self.random
        places = range(len(world.scenario.kinds))
        if random.random() < 0.45:
            index = random.choice(places)
            world.target.behaviours[index, "do"].refuses = True
            self.note(f"step {index} will be refused")
        if random.random() < 0.15:
            index = random.choice(places)
            world.target.behaviours[index, "do"].unavailable = random.randint(1, 4)
            self.note(f"step {index} is not available at first")
        if random.random() < 0.15:
            index = random.choice(places)
            behaviour = world.target.behaviours.get((index, "undo"))
            if behaviour is not None:
                behaviour.refuses = random.random() < 0.5
                behaviour.unavailable = random.randint(0, 4)
                self.note(f"the undo of step {index} meets resistance")
        if random.random() < 0.1:
            world.stream = random.choice(([], [0, 0], [5_000], [0, 90_000]))
            self.note(f"the stream delivers after {world.stream}")

    def note(self, what: str) -> None:
        """One fault more."""
        self.faults.append(what)
        self.world.note(f"*** {what}")

    def at(self, worker: Worker, phase: str) -> Verdict:
        """At every point: perhaps a fault, perhaps somebody else's turn."""
        scheduler = self.world.scheduler
        verdict: Verdict = None
        if worker.role == "operator" and self.world.scenario.operator == "first":
            # Whoever puts on record what they have not done yet had better live to do it.
            return None
        if self.left and self._now(worker):
            possible = self._possible(worker, phase)
            if possible:
                self.left -= 1
                verdict = self.random.choice(possible)(self, worker)
        if scheduler.alive > 1 and self.random.random() < 0.5:
            scheduler.pause(0)
        return verdict

    def _now(self, worker: Worker) -> bool:
        if self.focus is not None:
            index, roles = self.focus
            return worker.index == index and worker.role in roles and self.random.random() < 0.15
        if self.moments and self.world.scheduler.steps >= self.moments[-1]:
            self.moments.pop()
            return True
        return False

    def _possible(self, worker: Worker, phase: str) -> list[Fault]:
        where, _, when = phase.partition(":")
        kinds = ["crash", "zombie", "stall", "ambient", "expire", "revoke"]
        if self.world.scheduler.alive < MOST_WORKERS:
            kinds.append("again")
            if worker.role not in {"operator", "cancel"}:
                kinds.append("duplicate")
        if where == "call" and when == "before":
            kinds += ["request lost", "lost", "delayed", "delayed"]
        elif where == "call":
            kinds += ["lost"]
        elif where in {"status", "tombstone", "start", "answer", "notice"}:
            kinds += ["request lost", "lost", "dropped"]
        elif phase == "report":
            kinds += ["lost"]
        elif phase == "fact" or when == "before":
            kinds += ["denied", "conflict", "lost", "unreachable"]
        return [KINDS[kind] for kind in kinds if kind in self.menu]


def says(verdict: str) -> Fault:
    """A disturbance that the port itself knows how to play."""

    def fault(chaos: Chaos, worker: Worker) -> Verdict:
        chaos.note(f"{worker}: {verdict}")
        return verdict

    return fault


def crash(chaos: Chaos, worker: Worker) -> Verdict:
    """The process dies."""
    chaos.note(f"{worker} crashes")
    chaos.world.scheduler.crash(worker)
    return None


def zombie(chaos: Chaos, worker: Worker) -> Verdict:
    """Given up by whoever waits for it, it goes on much later."""
    seconds = chaos.random.choice((1, 2, 4, 8, 15, 20, 25, 40, 90, 200))
    chaos.note(f"{worker} is given up, and goes on after {seconds} s")
    give_up(chaos.world, worker, seconds)
    return None


def stall(chaos: Chaos, worker: Worker) -> Verdict:
    """It gets nothing done for a while, and may run into its timeout."""
    seconds = chaos.random.choice((1, 3, 6, 9, 12, 30))
    chaos.note(f"{worker} stalls for {seconds} s")
    chaos.world.scheduler.pause(seconds * 1000)
    return None


def duplicate(chaos: Chaos, worker: Worker) -> Verdict:
    """The same invocation arrives once more: now, or when nobody expects it."""
    seconds = chaos.random.choice((0, 0, 0, 1, 10, 30, 120, 1800))
    chaos.note(f"{worker} is delivered again after {seconds} s")
    chaos.world.scheduler.duplicate(worker, seconds * 1000)
    return None


def again(chaos: Chaos, worker: Worker) -> Verdict:
    """An earlier invocation arrives once more just now, and goes first."""
    past = [w for w in chaos.world.scheduler.workers if w.role in INVOKED and w.dead]
    near = [w for w in past if w.index == worker.index]
    if past:
        earlier = chaos.random.choice(near or past)
        chaos.note(f"{earlier} is delivered again")
        chaos.world.scheduler.duplicate(earlier)
        chaos.world.scheduler.pause(0)
    return None


def delayed(chaos: Chaos, worker: Worker) -> Verdict:
    """The request stays under way, and lands after everybody has given up: in the time that targets declare."""
    milliseconds = chaos.random.choice((500, 3_000, 5_000, 7_000, LATEST))
    chaos.note(f"{worker}: its call lands after {milliseconds} ms")
    return f"delayed {milliseconds}"


def revoke(chaos: Chaos, worker: Worker) -> Verdict:
    """The credential is revoked."""
    name = credential_of(chaos.world, worker)
    chaos.note(f"credential {name} is revoked")
    chaos.world.credentials.revoke(name)
    return None


def expire(chaos: Chaos, worker: Worker) -> Verdict:
    """The credential is renewed, and what is cached no longer accepted."""
    name = credential_of(chaos.world, worker)
    chaos.note(f"credential {name} is renewed")
    chaos.world.credentials.expire(name)
    return None


def ambient(chaos: Chaos, worker: Worker) -> Verdict:
    """Something that has nothing to do with this worker."""
    chaos.random.choice(AMBIENT)(chaos, worker)
    return None


def _stop(chaos: Chaos, _: Worker) -> None:
    for execution in list(chaos.world.machines.executions.values()):
        if execution.status == "RUNNING":
            chaos.note(f"{execution.name} is stopped")
            chaos.world.later(0, partial(execution.end, "ABORTED"))


def _uncatchable(chaos: Chaos, _: Worker) -> None:
    for execution in list(chaos.world.machines.executions.values()):
        if execution.status == "RUNNING":
            chaos.note(f"{execution.name} meets States.Runtime")
            chaos.world.later(0, partial(execution.end, "FAILED"))


def _delete(chaos: Chaos, _: Worker) -> None:
    chaos.note("the machines are deleted")
    chaos.world.later(0, chaos.world.machines.delete)


def _cancel(chaos: Chaos, _: Worker) -> None:
    chaos.note("a person cancels")
    chaos.world.people.cancels()


def _close(chaos: Chaos, _: Worker) -> None:
    chaos.note("the thing is closed: preconditions fail")
    chaos.world.open = False


def _second_driver(chaos: Chaos, _: Worker) -> None:
    chaos.note("a second driver is started")
    second_driver(chaos.world)


def _moves_on(chaos: Chaos, _: Worker) -> None:
    index = chaos.random.randrange(len(chaos.world.scenario.kinds))
    chaos.note(f"somebody else changes what step {index} made")
    chaos.world.target.move_on(index)


def _stranger(chaos: Chaos, _: Worker) -> None:
    chaos.note("a stranger tries to decide")
    chaos.world.people.decides(f"{SAGA}-0-1", "stranger", "approve", tenant="tenant-2")


def _conflict(chaos: Chaos, _: Worker) -> None:
    command = chaos.random.choice(list(chaos.world.target.behaviours))
    chaos.note(f"the key of {command} is held with other parameters")
    chaos.world.target.behaviours[command].conflicts = True


AMBIENT: tuple[Callable[[Chaos, Worker], None], ...] = (
    _stop,
    _stop,
    _uncatchable,
    _delete,
    _cancel,
    _cancel,
    _close,
    _second_driver,
    _moves_on,
    _stranger,
    _conflict,
)


KINDS: dict[str, Fault] = {
    "crash": crash,
    "zombie": zombie,
    "stall": stall,
    "ambient": ambient,
    "expire": expire,
    "revoke": revoke,
    "again": again,
    "duplicate": duplicate,
    "delayed": delayed,
    **{verdict: says(verdict) for verdict in SAID},
}
