"""Names: content-addressed machines, executions, and states that read like the plan."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from functions.domain.shape import Shape
from statemachines import compiler, names
from statemachines.bindings import Bindings
from statemachines.compiler import compile_machine
from tests.unit.machines import arn, bindings, shape, shapes, step_binding

OF = shape("ccp")
BOUND = bindings(OF)
NAME = compile_machine(OF, BOUND).name


def test_a_machine_is_named_by_its_deployment_its_catalogue_and_24_hex_digits() -> None:
    assert re.fullmatch(r"sagaplane-fulfilment-[0-9a-f]{24}", NAME)
    longest = names.machine_name("sagaplane-" + "s" * 20, "c" * 60, "0" * 64)
    assert len(longest) <= names.LONGEST


def test_the_same_shape_and_bindings_give_the_same_machine_byte_for_byte() -> None:
    again = compile_machine(shape("ccp"), bindings(shape("ccp")))
    assert (again.name, again.text) == (NAME, compile_machine(OF, BOUND).text)


@pytest.mark.parametrize(
    ("other", "bound"),
    [
        (replace(OF, catalogue_version="0" * 64), BOUND),
        (shape("ccp", {}), BOUND),
        (OF, bindings(OF, role="arn:aws:iam::111122223333:role/another")),
        (OF, bindings(OF, begin=arn("begin").replace(":7", ":8"))),
        (OF, bindings(OF, gate_timeout=60)),
        (
            OF,
            bindings(
                OF,
                steps={**BOUND.steps, "step_1": step_binding("step_1", undo=arn("step_1-undo-2"))},
            ),
        ),
    ],
    ids=["catalogue version", "undo order", "role", "function version", "timeout", "undo function"],
)
def test_a_machine_gets_another_name_when_anything_it_is_made_from_changes(
    other: Shape, bound: Bindings
) -> None:
    assert compile_machine(other, bound).name != NAME


def test_a_new_compiler_gives_new_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler, "COMPILER_VERSION", "next")
    assert compile_machine(OF, BOUND).name != NAME


def test_a_function_that_the_shape_does_not_use_changes_no_name() -> None:
    more = bindings(OF, steps={**BOUND.steps, "other": step_binding("other")})
    assert compile_machine(OF, more).name == NAME


def test_an_execution_is_named_by_saga_and_epoch() -> None:
    assert names.execution_name("order-4471-x", 3) == "order-4471-x-3"


@pytest.mark.parametrize(
    ("saga_id", "epoch"),
    [("a" * 79, 1), ("a b", 1), ("", -1), ("a:b", 1), ("saga", -1), ("sagä", 1)],
)
def test_an_execution_name_that_aws_would_refuse_is_refused(saga_id: str, epoch: int) -> None:
    with pytest.raises(ValueError, match="not a"):
        names.execution_name(saga_id, epoch)


@pytest.mark.parametrize("step", ["", "a" * 61, "Reserve", "a b", "a$", "rés"])
def test_a_step_name_that_no_catalogue_may_have_is_in_no_state_name(step: str) -> None:
    with pytest.raises(ValueError, match="step name"):
        names.forward(0, step)


@settings(deadline=None)
@given(shapes())
def test_every_state_of_every_shape_has_a_legal_name_and_no_two_share_one(of: Shape) -> None:
    long = replace(of, steps=tuple(replace(s, name=f"{s.name:_<60}"[:60]) for s in of.steps))
    states = compile_machine(long, bindings(long)).definition["States"]
    found = list(states)
    for state in states.values():
        for branch in state.get("Branches", []):
            found += branch["States"]
    assert all(names.is_state_name(name) for name in found)
    assert len(found) == len(set(found))


@settings(deadline=None)
@given(st.sets(st.integers(0, 49), min_size=2))
def test_a_wave_has_a_legal_name_however_many_undos_it_holds(indexes: set[int]) -> None:
    assert names.is_state_name(names.wave(indexes))


@settings(deadline=None)
@given(st.sets(st.integers(0, 49), min_size=2), st.integers(1, 24))
def test_two_waves_of_one_machine_have_different_names(indexes: set[int], size: int) -> None:
    ordered = sorted(indexes)
    one, other = ordered[:size], ordered[size:]
    if one and other:
        assert names.wave(one) != names.wave(other)
