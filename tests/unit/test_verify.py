"""Every machine of every legal shape is proved; the limits of AWS hold for the largest plans."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from functions.domain.catalogue import Retry
from functions.domain.shape import Shape
from statemachines.compiler import compile_machine
from statemachines.proofs import graph
from statemachines.proofs.limits import MOST_EVENTS, worst_history
from statemachines.proofs.parts import Cast
from statemachines.verify import Code, UnsafeMachine, verified, verify
from tests.unit.machines import bindings, legal_kinds, machine, shape, shapes, step_binding


def worst(of: Shape) -> int:
    read, problems = graph.read(compile_machine(of, bindings(of)).definition)
    assert problems == []
    return worst_history(read, Cast(of))


@pytest.mark.parametrize("kinds", legal_kinds(6))
def test_every_legal_order_of_kinds_has_a_machine_that_is_proved(kinds: str) -> None:
    assert verify(machine(kinds).definition, shape(kinds)) == []


@pytest.mark.parametrize("kinds", legal_kinds(6))
def test_every_legal_order_of_kinds_is_proved_with_independent_undos_too(kinds: str) -> None:
    assert verify(machine(kinds, {}).definition, shape(kinds, {})) == []


@given(shapes())
def test_every_undo_order_has_a_machine_that_is_proved(of: Shape) -> None:
    assert verify(compile_machine(of, bindings(of)).definition, of) == []


@settings(max_examples=50)
@given(shapes(most=6), shapes(most=6))
def test_a_machine_is_proved_for_no_other_shape(of: Shape, other: Shape) -> None:
    """Only an undo order that the machine happens to keep as well may pass."""
    found = verify(compile_machine(of, bindings(of)).definition, other)
    if [s.kind for s in of.steps] != [s.kind for s in other.steps]:
        assert found != []


@pytest.mark.parametrize(
    "kinds", ["c" * 50, "c" * 49 + "p", "c" * 25 + "p" + "r" * 24, "r" * 50, "p" + "r" * 49]
)
@pytest.mark.parametrize("waits", [None, {}], ids=["reverse", "independent"])
def test_a_plan_of_fifty_steps_stays_within_the_limits_of_aws(
    kinds: str, waits: dict[int, set[int]] | None
) -> None:
    of = shape(kinds, waits)
    long = replace(of, steps=tuple(replace(s, name=f"{s.name:x<60}") for s in of.steps))
    made = verified(compile_machine(long, bindings(long)), long)
    assert len(made.text) < 1_000_000
    assert worst(long) < MOST_EVENTS


def test_a_budget_that_would_fill_the_history_is_refused_before_the_machine_exists() -> None:
    of = shape("c" * 50)
    steps = {s.name: step_binding(s.name, run_retry=Retry(attempts=120)) for s in of.steps}
    made = compile_machine(of, bindings(of, steps=steps))
    with pytest.raises(UnsafeMachine, match="too_long") as refused:
        verified(made, of)
    assert [v.code for v in refused.value.violations] == [Code.TOO_LONG]


def test_the_worst_history_of_one_step_counts_every_attempt_of_every_task_on_the_longest_path() -> (
    None
):
    """Run, begin, undo, undo case and finish: 2 events each, and 3 for each attempt; 2 for the execution."""
    states = machine("c").definition["States"]
    path = ["0 step_0", "begin 0 step_0", "undo 0 step_0", "undo case 0 step_0"]
    attempts = sum(
        1 + sum(retrier["MaxAttempts"] for retrier in states[name]["Retry"])
        for name in [*path, "finish compensation"]
    )
    # Finish may fail too, and then the execution enters its Fail state.
    assert worst(shape("c")) == 2 + 5 * 2 + 3 * attempts + 2


def test_the_worst_history_grows_with_a_gate_that_asks_three_times() -> None:
    gate = machine("p").definition["States"]["approve 0 step_0"]
    rounds = 1 + sum(retrier["MaxAttempts"] for retrier in gate["Retry"])
    assert worst(shape("p")) - worst(shape("r")) > 3 * 4 * rounds


def test_after_the_last_round_of_the_gate_everything_may_still_fail() -> None:
    states = machine("p").definition["States"]

    def events(name: str, attempt: int = 3) -> int:
        return 2 + attempt * (1 + sum(retrier["MaxAttempts"] for retrier in states[name]["Retry"]))

    turns = 4 * events("0 step_0") + 3 * events("approve 0 step_0", 4)
    leads_back = events("settle 0 step_0") + events("begin 0 step_0")
    assert worst(shape("p")) == 2 + turns + leads_back + events("finish compensation") + 2


def test_a_proved_machine_is_handed_on_unchanged() -> None:
    made = machine("cp")
    assert verified(made, shape("cp")) is made


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_what_is_no_machine_at_all_is_refused_without_an_exception(states: object) -> None:
    assert verify({"StartAt": "0 step_0", "States": states}, shape("c")) != []
