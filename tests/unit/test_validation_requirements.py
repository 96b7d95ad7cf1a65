"""Requirements are met by an earlier step, and it is never guessed whose result is meant."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.domain.catalogue import Catalogue
from functions.domain.plan import Plan
from functions.domain.problems import Problem
from functions.domain.validation import Validated, check_static, validate

Plans = Callable[..., Plan]
Proposal = Callable[..., dict[str, Any]]
FactsOf = Callable[..., dict[Any, Any]]


def one(plan: Plan, shop: Catalogue) -> Problem:
    (problem,) = check_static(plan, shop).problems
    return problem


def test_one_earlier_candidate_binds_by_itself(
    plan: Plans, shop: Catalogue, facts: FactsOf
) -> None:
    result = validate(plan(), shop, facts())
    assert isinstance(result, Validated)
    assert [dict(s.requires) for s in result.steps] == [{}, {}, {"hold": 1}, {"reserve": 0}, {}]


def test_a_requirement_that_is_not_in_the_plan_is_missing(plan: Plans, shop: Catalogue) -> None:
    problem = one(plan("reserve", "charge"), shop)
    assert (problem.code, problem.pointer) == ("missing_requirement", "/steps/1/name")
    assert problem.allowed == ("hold",)


def test_a_requirement_that_comes_later_comes_too_late(
    plan: Plans, planned: Proposal, shop: Catalogue
) -> None:
    proposed = plan("charge", planned("hold", "late"))
    found = check_static(proposed, shop).problems
    by_code = {p.code: p for p in found}
    assert set(by_code) == {"requirement_after_use", "kind_order"}
    assert by_code["requirement_after_use"].pointer == "/steps/0/name"
    assert "“late”" in by_code["requirement_after_use"].hint


def test_several_candidates_are_ambiguous_and_all_of_them_are_named(
    plan: Plans, planned: Proposal, shop: Catalogue
) -> None:
    proposed = plan(planned("reserve", "r1"), planned("reserve", "r2"), "ship")
    problem = one(proposed, shop)
    assert (problem.code, problem.pointer) == ("ambiguous_result", "/steps/2/uses")
    assert problem.allowed == ("r1", "r2")


@pytest.mark.parametrize(("chosen", "index"), [("r1", 0), ("r2", 1)])
def test_uses_says_which_of_several_results_is_meant(
    chosen: str, index: int, plan: Plans, planned: Proposal, shop: Catalogue, facts: FactsOf
) -> None:
    ship = planned("ship", uses={"reserve": chosen})
    proposed = plan(planned("reserve", "r1"), planned("reserve", "r2"), ship)
    result = validate(proposed, shop, facts())
    assert isinstance(result, Validated)
    assert result.steps[2].requires == {"reserve": index}


@pytest.mark.parametrize("uses", ["nobody", "n", "s", "h"], ids=["unknown", "later", "me", "other"])
def test_uses_must_name_an_earlier_step_of_the_required_name(
    uses: str, plan: Plans, planned: Proposal, shop: Catalogue
) -> None:
    proposed = plan(
        planned("reserve", "r"),
        planned("hold", "h"),
        planned("ship", "s", uses={"reserve": uses}),
        planned("notify", "n"),
    )
    problem = one(proposed, shop)
    assert (problem.code, problem.pointer) == ("unknown_result", "/steps/2/uses/reserve")
    assert problem.allowed == ("r",)


def test_uses_for_a_result_that_the_step_does_not_take_is_refused(
    plan: Plans, planned: Proposal, shop: Catalogue
) -> None:
    problem = one(plan("reserve", planned("hold", uses={"reserve": "reserve"})), shop)
    assert (problem.code, problem.pointer) == ("unknown_result", "/steps/1/uses/reserve")


def test_a_later_step_of_the_same_name_is_no_candidate(
    plan: Plans, planned: Proposal, step: Callable[..., Any], catalogue: Callable[..., Catalogue]
) -> None:
    made = catalogue(step("open", "compensable"), step("grant", "compensable", requires=("open",)))
    proposed = plan(planned("open", "o1"), planned("grant", "g"), planned("open", "o2"))
    static = check_static(proposed, made)
    assert static.problems == ()
    assert static.requires[1] == {"open": 0}


@given(
    names=st.lists(st.sampled_from(["reserve", "hold", "charge", "ship"]), min_size=1, max_size=7),
    data=st.data(),
)
def test_every_accepted_plan_binds_each_requirement_to_an_earlier_step_of_that_name(
    names: list[str], data: st.DataObject, plan: Plans, planned: Proposal, shop: Catalogue
) -> None:
    ids = [f"s{i}" for i in range(len(names))]
    steps = []
    for name, own in zip(names, ids, strict=True):
        wanted = {"charge": "hold", "ship": "reserve"}.get(name)
        uses = (
            {wanted: data.draw(st.sampled_from(ids))} if wanted and data.draw(st.booleans()) else {}
        )
        steps.append(planned(name, own, uses=uses))
    static = check_static(plan(*steps), shop)
    if static.problems:
        return
    for index, (placed, bound) in enumerate(zip(static.steps, static.requires, strict=True)):
        assert placed.step is not None
        assert set(bound) == set(placed.step.requires)
        for name, source in bound.items():
            assert source < index
            assert names[source] == name
            candidates = [i for i in range(index) if names[i] == name]
            assert len(candidates) == 1 or steps[index]["uses"][name] == ids[source]
