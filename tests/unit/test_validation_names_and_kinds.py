"""Seed one's rules on names and kinds: in the catalogue; compensable, then one pivot, then retriable."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.domain.catalogue import Catalogue, Kind
from functions.domain.plan import Plan
from functions.domain.problems import Problem
from functions.domain.validation import Validated, check_static, validate

Plans = Callable[..., Plan]
Proposal = Callable[..., dict[str, Any]]
FactsOf = Callable[..., dict[Any, Any]]


def of(problems: Sequence[Problem], code: str) -> list[Problem]:
    return [p for p in problems if p.code == code]


def test_the_whole_plan_is_valid_and_asks_for_the_order_once(
    plan: Plans, shop: Catalogue, facts: FactsOf
) -> None:
    static = check_static(plan(), shop)
    assert static.problems == ()
    assert [(r.fact, r.query, r.steps) for r in static.reads] == [("order", "4471", (0, 1, 2))]
    result = validate(plan(), shop, facts())
    assert isinstance(result, Validated)
    assert [s.step.name for s in result.steps] == ["reserve", "hold", "charge", "ship", "notify"]


def test_an_unknown_step_is_answered_with_the_steps_that_exist(
    plan: Plans, planned: Proposal, shop: Catalogue
) -> None:
    proposed = plan("reserve", planned("apply_goodwill_credit", "credit"), "hold")
    (problem,) = check_static(proposed, shop).problems
    assert (problem.code, problem.pointer, problem.step) == (
        "unknown_step",
        "/steps/1/name",
        "credit",
    )
    assert problem.allowed == ("reserve", "hold", "charge", "ship", "notify")
    assert "notes" in problem.hint


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("reserv", "Did you mean “reserve”?"),
        ("send_fax", "has been retired"),
        ("un_reserve", "the orchestrator runs those itself"),
    ],
    ids=["misspelt", "retired", "a compensation"],
)
def test_the_hint_says_what_is_wrong_with_a_name(
    plan: Plans, shop: Catalogue, name: str, hint: str
) -> None:
    (problem,) = check_static(plan(name), shop).problems
    assert problem.code == "unknown_step"
    assert hint in problem.hint
    assert name not in (problem.allowed or ())


def test_a_plan_for_another_catalogue_is_told_so_and_nothing_else(
    plan: Plans, shop: Catalogue
) -> None:
    static = check_static(plan("anything", catalogue="store"), shop)
    assert [(p.code, p.pointer, p.allowed) for p in static.problems] == [
        ("unknown_catalogue", "/catalogue", ("shop",))
    ]
    assert static.reads == ()
    assert validate(plan(catalogue="store"), shop, {}) == list(static.problems)


def test_a_pivot_in_the_middle_is_refused(plan: Plans, shop: Catalogue) -> None:
    static = check_static(plan("hold", "charge", "reserve", "ship"), shop)
    (problem,) = static.problems
    assert (problem.code, problem.pointer, problem.step) == (
        "kind_order",
        "/steps/2/name",
        "reserve",
    )
    assert "before step “charge”" in problem.hint


def test_two_pivots_are_refused_at_the_second(
    plan: Plans, planned: Proposal, shop: Catalogue
) -> None:
    static = check_static(plan("hold", "charge", planned("charge", "again")), shop)
    (problem,) = static.problems
    assert (problem.code, problem.pointer, problem.step) == (
        "second_pivot",
        "/steps/2/name",
        "again",
    )


def test_a_pivot_after_a_retriable_step_is_out_of_order(plan: Plans, shop: Catalogue) -> None:
    static = check_static(plan("hold", "notify", "charge"), shop)
    assert [(p.code, p.pointer) for p in static.problems] == [("kind_order", "/steps/2/name")]


def test_unknown_steps_do_not_hide_a_wrong_order(
    plan: Plans, planned: Proposal, shop: Catalogue
) -> None:
    static = check_static(plan("hold", "charge", planned("refund", "x"), "reserve"), shop)
    assert {(p.code, p.pointer) for p in static.problems} == {
        ("unknown_step", "/steps/2/name"),
        ("kind_order", "/steps/3/name"),
    }


@pytest.mark.parametrize("names", [("reserve",), ("notify",), ("reserve", "notify")])
def test_a_plan_needs_no_pivot(plan: Plans, shop: Catalogue, names: tuple[str, ...]) -> None:
    assert check_static(plan(*names), shop).problems == ()


_RANK = {Kind.COMPENSABLE: 0, Kind.PIVOT: 1, Kind.RETRIABLE: 2}


@given(chosen=st.lists(st.sampled_from(list(Kind)), min_size=1, max_size=8))
def test_only_compensable_then_at_most_one_pivot_then_retriable_is_accepted(
    chosen: list[Kind],
    plan: Plans,
    planned: Proposal,
    step: Callable[..., Any],
    catalogue: Callable[..., Catalogue],
) -> None:
    kinds = catalogue(*(step(f"a_{kind}", kind) for kind in Kind))
    proposed = plan(*(planned(f"a_{kind}", f"s{i}") for i, kind in enumerate(chosen)))
    ranks = [_RANK[kind] for kind in chosen]
    legal = ranks == sorted(ranks) and ranks.count(1) <= 1
    problems = check_static(proposed, kinds).problems
    assert (not problems) == legal
    assert len(of(problems, "second_pivot")) == max(0, ranks.count(1) - 1)
