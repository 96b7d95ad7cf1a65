"""The simulated world of a scenario."""

from __future__ import annotations

import simulation.world
from tests.simulation import catalogue
from tests.simulation.scenario import Scenario


class World(simulation.world.World):
    """One saga of a small plan, in a world where anything may go wrong."""

    def __init__(self, scenario: Scenario, *, seed: int = 0, tracing: bool = False) -> None:
        self.scenario = scenario
        play = catalogue.play(scenario.kinds, scenario.targets, scenario.style)
        super().__init__(play, scenario.habits, seed=seed, tracing=tracing)
