from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from infra.local import emulator
from infra.local.demo.casting import cast_stage
from infra.local.demo.play import performance
from infra.local.demo.stage import Stage
from infra.local.demo.story import Story
from infra.local.deploy import deploy
from infra.local.place import Place
from infra.local.seed import seed


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All of these share one deployed stack, so one worker plays them all."""
    for item in items:
        if item.path.is_relative_to(__file__.rsplit("/", 1)[0]):
            item.add_marker(pytest.mark.e2e)
            item.add_marker(pytest.mark.xdist_group("e2e"))


@pytest.fixture(scope="session")
def place() -> Iterator[Place]:
    """The local stage, deployed as the checkout says. What was running before goes on running."""
    place = Place.here()
    started = emulator.start(place)
    try:
        deploy(place)
        seed(place)
        yield place
    finally:
        if started:
            emulator.stop(place)


@pytest.fixture(scope="session")
def outputs(place: Place) -> dict[str, Any]:
    """Addresses, names and ids of what is deployed."""
    return seed(place)


@pytest.fixture(scope="session")
def stage(place: Place, outputs: dict[str, object]) -> Stage:  # noqa: ARG001 - seeded first
    return cast_stage(place)


@pytest.fixture(scope="session")
def stories(stage: Stage) -> Iterator[list[Story]]:
    with performance(stage) as played:
        yield played
