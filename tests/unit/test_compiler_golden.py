"""The golden machines are what the compiler makes today, and the known plans are plans that the validator accepts."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from functions.catalogues.fulfilment.catalogue import CATALOGUE
from functions.domain.catalogue import Kind
from statemachines.golden.machines import DIRECTORY, SHAPES, golden_machines, text
from statemachines.shapes import HERE, RefusedSample, known_shapes

MACHINES = golden_machines()
SAMPLE = json.loads((HERE / "fulfilment" / "capture_and_ship.json").read_text())


@pytest.mark.parametrize("name", MACHINES)
def test_a_golden_machine_is_current(name: str) -> None:
    """If the change is meant: `python -m statemachines.golden`, and review the difference."""
    assert (DIRECTORY / name).read_text(encoding="utf-8") == text(MACHINES[name])


def test_no_golden_machine_is_left_of_a_plan_that_is_no_longer_known() -> None:
    assert {path.name for path in DIRECTORY.glob("*.json")} == MACHINES.keys()


def test_every_sample_of_the_examples_is_a_known_plan_of_a_catalogue() -> None:
    samples = {(path.parent.name, path.stem) for path in HERE.glob("*/*.json")}
    assert samples == {(name, plan) for name, plans in SHAPES.items() for plan in plans}
    assert {name for name, _ in samples} == {"fulfilment", "environments"}


def test_the_worked_example_of_order_4471_is_among_the_known_plans() -> None:
    assert [step.kind for step in SHAPES["fulfilment"]["capture_and_ship"].steps] == [
        Kind.COMPENSABLE,
        Kind.COMPENSABLE,
        Kind.PIVOT,
        Kind.RETRIABLE,
        Kind.RETRIABLE,
    ]


@pytest.fixture
def theirs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package `acme` that calls the fulfilment catalogue its own; answers its folder of shapes."""
    (tmp_path / "acme" / "shapes").mkdir(parents=True)
    (tmp_path / "acme" / "catalogue.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "acme", raising=False)
    return tmp_path / "acme" / "shapes"


def test_a_catalogue_brings_its_own_known_plans_in_a_folder_beside_it(theirs: Path) -> None:
    (theirs / "usual.json").write_text(json.dumps(SAMPLE))
    shapes = known_shapes(CATALOGUE, "acme.catalogue:CATALOGUE")
    assert shapes == {"usual": SHAPES["fulfilment"]["capture_and_ship"]}


def test_a_catalogue_without_such_a_folder_has_none(theirs: Path) -> None:
    theirs.rmdir()
    assert known_shapes(CATALOGUE, "acme.catalogue:CATALOGUE") == {}


def test_a_sample_that_would_be_refused_says_which_and_every_reason(theirs: Path) -> None:
    credit = {"id": "credit", "name": "apply_goodwill_credit", "arguments": {}}
    late = SAMPLE["steps"][0] | {"id": "late"}
    wrong = SAMPLE | {"steps": [*SAMPLE["steps"], credit, late]}
    (theirs / "wrong.json").write_text(json.dumps(wrong))
    with pytest.raises(RefusedSample) as refused:
        known_shapes(CATALOGUE, "acme.catalogue:CATALOGUE")
    said = str(refused.value)
    assert str(theirs / "wrong.json") in said
    assert "unknown_step at /steps/5/name" in said
    assert "at /steps/6" in said


def test_a_sample_of_another_catalogue_is_refused(theirs: Path) -> None:
    (theirs / "other.json").write_text(json.dumps(SAMPLE | {"catalogue": "environments"}))
    with pytest.raises(RefusedSample, match="unknown_catalogue"):
        known_shapes(CATALOGUE, "acme.catalogue:CATALOGUE")
