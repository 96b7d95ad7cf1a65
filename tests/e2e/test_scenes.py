"""The demo's scenes as tests: what a person watches is what is checked."""

from __future__ import annotations

import pytest

from infra.local.demo.scenes import SCENES
from infra.local.demo.story import Story


@pytest.mark.parametrize("index", range(len(SCENES)), ids=[title for title, _ in SCENES])
def test_scene(stories: list[Story], index: int) -> None:
    assert stories[index].failures() == []
    assert stories[index].checks()
