"""Ten thousand random schedules of crashes, losses, delays, duplicates and denials, each from its seed."""

from __future__ import annotations

import pytest

from tests.simulation.explore import explored, replay

RUNS = 10_000
SHARDS = 20


@pytest.mark.parametrize("shard", range(SHARDS))
def test_no_random_schedule_loses_or_repeats_anything(shard: int) -> None:
    size = RUNS // SHARDS
    tally = explored(range(1 + shard * size, 1 + (shard + 1) * size))
    assert not tally.failed, f"{tally}\n{replay(tally.failed[0])}"
