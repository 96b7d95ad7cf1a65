"""Undo order: strict reverse by default, requirements always, declared independence and business order where given."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict

from functions.domain.catalogue import Authority, Kind, Operation, Retry, Settlement, Step, Undo
from functions.domain.undo_order import undo_waits_for


class Nothing(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


def inputs(_: BaseModel, __: Any) -> Mapping[str, str]:
    return {}


CALL = Operation("team.adapters:call", Authority(scope="target:do"))
KEYED = Settlement(settles_after=timedelta(0), keys_kept_for=timedelta(days=1))


def step(name: str, kind: Kind = Kind.COMPENSABLE, **order: tuple[str, ...]) -> Step:
    second, retry = timedelta(seconds=1), Retry(attempts=1)
    undo = Undo(f"un_{name}", CALL, KEYED, retry, second, inputs)
    return Step(
        name=name,
        version="1",
        kind=kind,
        description=name,
        arguments=Nothing,
        run=CALL,
        settlement=KEYED,
        retry=retry,
        call_timeout=second,
        retain_for=timedelta(days=1),
        sentence=name,
        undo=undo if kind is Kind.COMPENSABLE else None,
        **order,
    )


def waits(*steps: Step) -> list[set[int]]:
    return [set(each) for each in undo_waits_for(steps)]


def test_strict_reverse_is_the_default() -> None:
    assert waits(step("a"), step("b"), step("c")) == [{1, 2}, {2}, set()]


def test_an_independent_later_step_is_not_waited_for() -> None:
    assert waits(step("a", independent_of=("b",)), step("b"), step("c")) == [{2}, {2}, set()]


def test_a_later_step_that_requires_this_one_is_waited_for() -> None:
    first = step("a", independent_of=("b",))
    assert waits(first, step("b", requires=("a",))) == [{1}, set()]


def test_business_order_turns_the_default_round() -> None:
    assert waits(step("a"), step("b", undo_after=("a",))) == [set(), {0}]


def test_a_default_gives_way_to_a_business_order_that_spans_it() -> None:
    assert waits(step("a"), step("b"), step("c", undo_after=("a",))) == [{1}, set(), {0}]


def test_a_step_that_is_planned_twice_is_undone_in_reverse() -> None:
    assert waits(step("a"), step("a"), step("b", requires=("a",))) == [{1, 2}, {2}, set()]


def test_what_has_no_undo_neither_waits_nor_is_waited_for() -> None:
    pivot, last = step("p", Kind.PIVOT), step("r", Kind.RETRIABLE)
    assert waits(step("a"), pivot, last) == [set(), set(), set()]


def test_undos_that_would_wait_for_each_other_are_refused() -> None:
    with pytest.raises(ValueError, match="waits for itself"):
        undo_waits_for([step("a", undo_after=("b",)), step("b", undo_after=("a",))])


NAMES = ("a", "b", "c", "d", "e")
SOME = st.lists(st.sampled_from(NAMES), unique=True, max_size=3)


@given(
    order=st.permutations(NAMES),
    links=st.lists(st.tuples(SOME, SOME, SOME), min_size=5, max_size=5),
)
def test_there_is_always_an_order_and_it_respects_requirements_transitively(
    order: list[str], links: list[tuple[list[str], list[str], list[str]]]
) -> None:
    steps = []
    for at, name in enumerate(order):
        requires, independent, after = links[at]
        steps.append(
            step(
                name,
                requires=tuple(n for n in requires if n in order[:at] and n < name),
                independent_of=tuple(n for n in independent if n != name),
                undo_after=tuple(n for n in after if n > name),  # both point one way: no circle
            )
        )
    waiting = undo_waits_for(steps)
    undone: list[int] = []
    while len(undone) < len(steps):
        ready = [i for i in range(5) if i not in undone and waiting[i] <= set(undone)]
        assert ready
        undone.extend(ready)
    for i, each in enumerate(steps):
        for needed in each.requires:
            assert undone.index(i) < undone.index(order.index(needed))
