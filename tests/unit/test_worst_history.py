"""What no execution can record is refused when it is submitted; the count is held to the proof of the machines."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from functions.catalogues.environments.catalogue import CATALOGUE as ENVIRONMENTS
from functions.catalogues.fulfilment.catalogue import CATALOGUE as FULFILMENT
from functions.domain import history
from functions.domain.catalogue import Catalogue, Kind, Retry, Step
from functions.domain.plan import MOST_STEPS, parse_plan
from functions.domain.shape import shape_of
from functions.domain.validation import check_static
from statemachines.compiler import compile_machine
from statemachines.placeholders import placeholder_bindings
from statemachines.proofs import graph, limits
from statemachines.proofs.parts import Cast
from statemachines.shapes import HERE
from statemachines.verify import Code, verify
from tests.unit.machines import legal_kinds

ORDER = tuple(Kind)
ALL = {c.name: c for c in (FULFILMENT, ENVIRONMENTS)}


def proved(catalogue: Catalogue, steps: list[Step]) -> int:
    """What the verifier counts on the machine."""
    shape = shape_of(catalogue, steps)
    definition = compile_machine(shape, placeholder_bindings(catalogue)).definition
    read, _ = graph.read(definition)
    return limits.worst_history(read, Cast(shape))


@st.composite
def plans(draw: st.DrawFn) -> tuple[Catalogue, list[Step]]:
    """A catalogue with budgets and times of any size, and a legal order of its steps."""
    base = draw(st.sampled_from([FULFILMENT, ENVIRONMENTS]))
    seconds = st.integers(1, 60).map(lambda s: timedelta(seconds=s))
    retries = st.integers(1, 200).map(lambda n: Retry(attempts=n))
    steps = []
    for step in base.steps:
        undo = step.undo and replace(step.undo, retry=draw(retries), call_timeout=draw(seconds))
        late = replace(step.settlement, settles_after=timedelta(minutes=draw(st.integers(0, 60))))
        steps.append(
            replace(
                step,
                retry=draw(retries),
                call_timeout=draw(seconds),
                settlement=late,
                undo=undo or None,
            )
        )
    catalogue = replace(base, steps=tuple(steps))
    kinds = draw(st.sampled_from(legal_kinds(8)))
    of = {kind[0]: [s for s in steps if s.kind.value[0] == kind[0]] for kind in ("c", "p", "r")}
    return catalogue, [draw(st.sampled_from(of[kind])) for kind in kinds]


@given(plans())
@settings(max_examples=40)
def test_it_is_never_below_what_the_proof_counts_and_little_above(
    plan: tuple[Catalogue, list[Step]],
) -> None:
    catalogue, steps = plan
    exact, counted = proved(catalogue, steps), history.worst_history(steps)
    assert exact <= counted
    assert counted <= exact * 1.25 + 60


def test_both_stop_at_the_same_number() -> None:
    assert history.MOST_EVENTS == limits.MOST_EVENTS


def patient(attempts: int) -> Catalogue:
    """A shop that tries everything very often."""
    steps = tuple(
        replace(
            s,
            retry=Retry(attempts=attempts),
            undo=replace(s.undo, retry=Retry(attempts=attempts)) if s.undo else None,
        )
        for s in FULFILMENT.steps
    )
    return replace(FULFILMENT, steps=steps)


SAMPLE = (HERE / "fulfilment" / "capture_and_ship.json").read_bytes()


@pytest.mark.parametrize(("attempts", "codes"), [(400, []), (900, ["history_too_long"])])
def test_a_plan_that_no_machine_could_be_proved_for_is_a_problem(
    attempts: int, codes: list[str]
) -> None:
    plan = parse_plan(SAMPLE)
    assert not isinstance(plan, list)
    catalogue = patient(attempts)
    found = check_static(plan, catalogue).problems
    assert [problem.code for problem in found] == codes
    assert all(p.pointer == "/steps" for p in found)
    steps = [s for s in catalogue.steps if s.name in {p.name for p in plan.steps}]
    shape = shape_of(catalogue, steps)
    violations = verify(compile_machine(shape, placeholder_bindings(catalogue)).definition, shape)
    assert [v.code for v in violations] == ([Code.TOO_LONG] if codes else [])


@pytest.mark.parametrize("name", ALL)
def test_the_longest_plans_of_the_examples_are_far_from_it(name: str) -> None:
    catalogue = ALL[name]
    for kind in Kind:
        steps = [s for s in catalogue.steps if s.kind is kind][:1] * MOST_STEPS
        if kind is not Kind.PIVOT:
            assert history.worst_history(steps) < history.MOST_EVENTS


def test_the_size_of_a_definition_is_no_matter_for_any_plan() -> None:
    """AWS takes a megabyte: the longest plan of the longest names stays below half of it."""
    longest = "s" * 60
    for kind in (Kind.COMPENSABLE, Kind.RETRIABLE):
        step = next(s for s in FULFILMENT.steps if s.kind is kind)
        named = replace(step, name=longest, independent_of=())
        others = tuple(s for s in FULFILMENT.steps if step.name not in s.requires and s != step)
        catalogue = replace(FULFILMENT, steps=(named, *others))
        machine = compile_machine(
            shape_of(catalogue, [named] * MOST_STEPS), placeholder_bindings(catalogue)
        )
        assert len(machine.text) < limits.MOST_BYTES / 2
