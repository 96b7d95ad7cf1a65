"""From a valid plan to its shape: ordered names, kinds, and which undo waits for which."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from functions.domain.catalogue import Catalogue, Kind
from functions.domain.plan import Plan
from functions.domain.shape import Shape
from functions.domain.validation import Validated, validate

Plans = Callable[..., Plan]
Proposal = Callable[..., dict[str, Any]]
Steps = Callable[..., Any]
Catalogues = Callable[..., Catalogue]
FactsOf = Callable[..., dict[Any, Any]]


def shape(plan: Plan, catalogue: Catalogue, facts: Any = None) -> Shape:
    result = validate(plan, catalogue, facts or {})
    assert isinstance(result, Validated), result
    return result.shape


def waits(made: Shape) -> list[set[int]]:
    return [set(step.undo_waits_for) for step in made.steps]


def test_the_shape_has_names_kinds_and_strict_reverse_undo_by_default(
    plan: Plans, shop: Catalogue, facts: FactsOf
) -> None:
    made = shape(plan(), shop, facts())
    assert (made.catalogue, made.catalogue_version) == ("shop", shop.version)
    assert [(s.name, s.kind) for s in made.steps] == [
        ("reserve", Kind.COMPENSABLE),
        ("hold", Kind.COMPENSABLE),
        ("charge", Kind.PIVOT),
        ("ship", Kind.RETRIABLE),
        ("notify", Kind.RETRIABLE),
    ]
    assert waits(made) == [{1}, set(), set(), set(), set()]
    assert made.boundary == 2


def test_arguments_ids_and_words_are_not_in_the_shape(
    plan: Plans, planned: Proposal, shop: Catalogue, facts: FactsOf
) -> None:
    other = planned("reserve", "other-id")
    other["arguments"]["quantity"] = 7
    one = shape(plan("reserve", "hold"), shop, facts())
    two = shape(plan(other, "hold", rationale="Other words."), shop, facts())
    assert one == two


def test_independent_undos_do_not_wait_for_each_other_and_dependents_do(
    plan: Plans, step: Steps, catalogue: Catalogues
) -> None:
    made = catalogue(
        step("open", Kind.COMPENSABLE, independent_of=("label",)),
        step("label", Kind.COMPENSABLE),
        step("grant", Kind.COMPENSABLE, requires=("open",)),
    )
    assert waits(shape(plan("open", "label", "grant"), made)) == [{2}, {2}, set()]


def test_undo_after_puts_an_earlier_steps_undo_first(
    plan: Plans, step: Steps, catalogue: Catalogues
) -> None:
    made = catalogue(
        step("open", Kind.COMPENSABLE),
        step("grant", Kind.COMPENSABLE, undo_after=("open",)),
    )
    assert waits(shape(plan("open", "grant"), made)) == [set(), {0}]


@pytest.mark.parametrize("names", [("open", "grant"), ("open", "grant", "open2", "grant2")])
def test_no_undo_waits_for_itself(
    names: tuple[str, ...], plan: Plans, planned: Proposal, step: Steps, catalogue: Catalogues
) -> None:
    made = catalogue(
        step("open", Kind.COMPENSABLE),
        step("grant", Kind.COMPENSABLE, requires=("open",)),
    )
    steps = [planned(n.rstrip("2"), n) for n in names]
    if len(steps) > 2:
        steps[3]["uses"] = {"open": "open"}
    order = waits(shape(plan(*steps), made))
    seen: set[int] = set()
    while len(seen) < len(order):
        ready = {i for i, waiting in enumerate(order) if i not in seen and waiting <= seen}
        assert ready, f"nothing can be undone next: {order}"
        seen |= ready
