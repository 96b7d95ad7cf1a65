"""The deployed local stage, for every folder of tests that plays on it; what was running before goes on running."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from infra.local import emulator
from infra.local.demo.casting import cast_stage
from infra.local.demo.stage import Stage
from infra.local.deploy import deploy
from infra.local.place import Place
from infra.local.seed import seed


@pytest.fixture(scope="session")
def place() -> Iterator[Place]:
    """The local stage, deployed as the checkout says."""
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
    """Everybody signed in."""
    return cast_stage(place)
