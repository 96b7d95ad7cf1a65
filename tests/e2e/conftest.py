from __future__ import annotations

from collections.abc import Iterator

import pytest

from infra.local.demo.play import performance
from infra.local.demo.stage import Stage
from infra.local.demo.story import Story
from tests.live import outputs, place, stage

__all__ = ["outputs", "place", "stage"]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All of these share one deployed stack, so one worker plays them all."""
    for item in items:
        if item.path.is_relative_to(__file__.rsplit("/", 1)[0]):
            item.add_marker(pytest.mark.e2e)
            item.add_marker(pytest.mark.xdist_group("e2e"))


@pytest.fixture(scope="session")
def stories(stage: Stage) -> Iterator[list[Story]]:
    with performance(stage) as played:
        yield played
