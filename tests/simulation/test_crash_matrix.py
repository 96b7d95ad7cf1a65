"""The crash matrix: crash, lost answer, duplicate delivery, zombie and denial at every boundary of every step."""

from __future__ import annotations

from functools import cache

import pytest

from simulation.boundaries import BOUNDARIES
from simulation.faults import Fault
from tests.simulation.catalogue import STYLES, legal_shapes
from tests.simulation.matrix import Run, double_faults, main, replay, single_faults, walked

SHARDS = 24


@cache
def matrix() -> tuple[Run, ...]:
    return tuple(single_faults())


@pytest.mark.parametrize("shard", range(SHARDS))
def test_no_single_fault_loses_or_repeats_anything(shard: int) -> None:
    tally = walked(list(enumerate(matrix()))[shard::SHARDS])
    if tally.failed:
        number, run, violations = tally.failed[0]
        command = f"python -m tests.simulation.matrix --run {number}"
        trace = replay(matrix()[number])
        pytest.fail(f"{len(tally.failed)} runs failed\n{command}\n{run}: {violations}\n{trace}")
    assert not tally.vacuous, f"these never came to their boundary: {dict(tally.vacuous)}"


def test_there_are_more_than_ten_thousand_runs_over_forty_eight_shapes() -> None:
    assert len(matrix()) > 10_000
    assert {run.kinds for run in matrix()} == set(legal_shapes(6))
    assert len(legal_shapes(6)) == 48


def test_every_cell_has_runs_or_a_reason_why_it_cannot_exist() -> None:
    met = {(run.cells[0].boundary.title, run.cells[0].fault) for run in matrix()}
    for boundary in BOUNDARIES:
        for fault in Fault:
            exists = (boundary.title, fault) in met
            assert exists is (fault not in boundary.impossible), f"{boundary.title}: {fault}"
            if not exists:
                assert boundary.impossible[fault]


def test_every_boundary_meets_each_of_its_kinds_of_target_and_every_style() -> None:
    met = {(run.cells[0].boundary.title, run.target, run.style) for run in matrix()}
    assert met == {(b.title, t, s) for b in BOUNDARIES for t in b.targets for s in STYLES}


@pytest.mark.parametrize("deep", [[], ["--deep"]])
def test_the_command_runs_a_sample_in_several_processes_and_prints_what_it_came_to(
    deep: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    runs = len(list(double_faults() if deep else single_faults()))
    every = runs // 250
    assert main([*deep, "--every", str(every), "--workers", "2"]) == 0
    printed = capsys.readouterr().out
    what = "double" if deep else "single"
    assert f"{-(-runs // every)} {what}-fault runs, 0 lost obligations, 0 duplicate" in printed
    assert "forward: before the claim" in printed
