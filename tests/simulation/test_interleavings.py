"""Interleavings that once broke the kernel, each as found and made small."""

from __future__ import annotations

from collections.abc import Callable

from simulation.faults import give_up
from simulation.scheduler import Verdict, Worker
from tests.simulation.scenario import Scenario
from tests.simulation.world import World

Prepare = Callable[[World], None]


def outcome_of(scenario: Scenario, prepare: Prepare) -> str:
    """How the saga ends; fails with the trace if anything is violated on the way."""
    world = World(scenario, tracing=True)
    prepare(world)
    world.begin()
    world.run()
    outcome = str(world.watch.head().get("outcome"))
    assert not world.watch.violations, "\n".join([*world.scheduler.trace, *world.watch.violations])
    world.close()
    return outcome


def test_a_zombie_that_wants_to_settle_what_has_been_settled_meanwhile_decides_anew() -> None:
    """It claimed the question a second time, on a record that was released: an illegal transition."""

    def prepare(world: World) -> None:
        def stalls(worker: Worker) -> Verdict:
            give_up(world, worker, 90)
            return None

        def cancels(_: Worker) -> Verdict:
            world.people.cancels()
            return None

        world.scheduler.arm(("run", 0, "call:before"), lambda _: "request lost")
        world.scheduler.arm(("run", 0, "ask:before"), stalls)
        world.scheduler.arm(("run", 0, "ask:before"), cancels, 2)

    assert outcome_of(Scenario("cc", ("tombstone", "full")), prepare) == "compensated"


def test_a_gate_that_comes_late_does_not_hide_the_token_that_is_waited_on() -> None:
    """It replaced the token of the attempt that came after it: people approved, and the machine never heard."""

    def prepare(world: World) -> None:
        def stalls(worker: Worker) -> Verdict:
            give_up(world, worker, 90)
            return None

        # Nobody is told: people find the approval on their list, twenty minutes later.
        for nth in (1, 2):
            world.scheduler.arm(("gate", 1, "notice:before"), lambda _: "dropped", nth)
        world.scheduler.arm(("gate", 1, "token:before"), stalls)

    assert outcome_of(Scenario("cp", ("full", "full"), ask=True), prepare) == "completed"
