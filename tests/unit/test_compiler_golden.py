"""The golden machines are what the compiler makes today, and the known plans are plans of the catalogue."""

from __future__ import annotations

import pytest

from functions.catalogues.fulfilment.catalogue import CATALOGUE
from functions.domain.catalogue import Kind
from statemachines.golden.machines import DIRECTORY, SHAPES, golden_machines, text
from statemachines.order import check_shape
from statemachines.shapes import known_shapes
from statemachines.shapes.fulfilment import PLANS

MACHINES = golden_machines()


@pytest.mark.parametrize("name", MACHINES)
def test_a_golden_machine_is_current(name: str) -> None:
    """If the change is meant: `python -m statemachines.golden`, and review the difference."""
    assert (DIRECTORY / name).read_text(encoding="utf-8") == text(MACHINES[name])


def test_no_golden_machine_is_left_of_a_plan_that_is_no_longer_known() -> None:
    assert {path.name for path in DIRECTORY.glob("*.json")} == MACHINES.keys()


@pytest.mark.parametrize("plan", PLANS)
def test_a_known_plan_is_one_that_the_validator_would_accept(plan: str) -> None:
    check_shape(SHAPES[plan])
    for index, name in enumerate(PLANS[plan]):
        step = CATALOGUE.step(name)
        assert step is not None
        assert not step.retired
        assert set(step.requires) <= set(PLANS[plan][:index])


def test_the_worked_example_of_order_4471_is_among_the_known_plans() -> None:
    assert [step.kind for step in SHAPES["capture_and_ship"].steps] == [
        Kind.COMPENSABLE,
        Kind.COMPENSABLE,
        Kind.PIVOT,
        Kind.RETRIABLE,
        Kind.RETRIABLE,
    ]


def test_a_plan_of_a_step_that_the_catalogue_has_not_is_no_known_plan() -> None:
    with pytest.raises(ValueError, match="apply_goodwill_credit"):
        known_shapes(CATALOGUE, {"credit": ("apply_goodwill_credit",)})
