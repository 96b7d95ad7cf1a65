"""From a shape to a machine."""

from __future__ import annotations

import pytest

from functions.domain.catalogue import Kind
from functions.domain.shape import Shape, ShapeStep
from statemachines.compiler import compile_machine
from statemachines.order import IllegalShape
from tests.unit.machines import arn, bindings, caught, machine, shape, step_binding, successes

ORDER_4471 = machine("ccprr").definition
STATES = ORDER_4471["States"]


def test_a_saga_that_succeeds_takes_exactly_one_transition_a_step() -> None:
    assert successes(ORDER_4471, ORDER_4471["StartAt"]) == [
        "0 step_0",
        "1 step_1",
        "2 step_2",
        "3 step_3",
        "4 step_4",
    ]
    assert STATES["4 step_4"]["End"] is True


def test_a_failure_before_the_boundary_undoes_every_step_that_may_have_run_in_reverse_order() -> (
    None
):
    assert caught(STATES["1 step_1"]) == [(["States.ALL"], "begin 1 step_1")]
    assert successes(ORDER_4471, "begin 1 step_1") == [
        "begin 1 step_1",
        "undo 1 step_1",
        "undo 0 step_0",
        "finish compensation",
    ]


def test_a_failure_of_the_first_step_undoes_only_the_first_step() -> None:
    assert successes(ORDER_4471, "begin 0 step_0") == [
        "begin 0 step_0",
        "undo 0 step_0",
        "finish compensation",
    ]


def test_a_pivot_that_needs_people_leads_to_its_gate_and_back() -> None:
    assert caught(STATES["2 step_2"])[0] == (["ApprovalRequired"], "approve 2 step_2")
    gate = STATES["approve 2 step_2"]
    assert gate["Resource"] == "arn:aws:states:::lambda:invoke.waitForTaskToken"
    assert gate["TimeoutSeconds"] == 86_400
    assert gate["Next"] == "2 step_2"
    assert caught(gate) == [(["States.ALL"], "begin 2 step_2")]


def test_whatever_else_a_pivot_answers_is_settled_before_anything_follows_from_it() -> None:
    assert caught(STATES["2 step_2"])[1:] == [(["States.ALL"], "settle 2 step_2")]
    settle = STATES["settle 2 step_2"]
    assert settle["Next"] == "3 step_3"
    assert caught(settle) == [
        (["DidNotHappen"], "begin 2 step_2"),
        (["States.ALL"], "case 2 step_2"),
    ]
    assert settle["Parameters"]["FunctionName"] == STATES["2 step_2"]["Parameters"]["FunctionName"]


def test_a_failure_after_the_boundary_opens_a_case_and_the_execution_ends() -> None:
    assert caught(STATES["4 step_4"]) == [(["States.ALL"], "case 4 step_4")]
    assert STATES["case 4 step_4"]["End"] is True
    assert caught(STATES["case 4 step_4"]) == [(["States.ALL"], "stopped")]


def test_the_first_retriable_step_is_the_boundary_of_a_plan_without_a_pivot() -> None:
    states = machine("crr").definition["States"]
    assert caught(states["1 step_1"]) == [(["States.ALL"], "settle 1 step_1")]
    assert "begin 1 step_1" in states
    assert "begin 2 step_2" not in states
    assert not [name for name in states if name.startswith("approve")]


def test_settling_the_last_step_ends_the_execution() -> None:
    states = machine("cp").definition["States"]
    assert states["settle 1 step_1"]["End"] is True
    assert "Next" not in states["settle 1 step_1"]


def test_a_plan_that_begins_at_its_boundary_compensates_without_any_undo() -> None:
    states = machine("pr").definition["States"]
    assert states["begin 0 step_0"]["Next"] == "finish compensation"
    assert not [name for name in states if name.startswith("undo")]


def test_a_plan_of_compensable_steps_alone_has_no_settling_and_no_cases_forward() -> None:
    states = machine("ccc").definition["States"]
    assert not [name for name in states if name.startswith(("settle", "case", "approve"))]
    assert states["2 step_2"]["End"] is True


def test_undos_that_need_not_wait_for_each_other_run_side_by_side() -> None:
    states = machine("ccccp", {0: {3}, 1: {2}}).definition["States"]
    assert [name for name in states if name.startswith("undo")] == ["undo 2+3", "undo 0+1"]
    assert states["begin 4 step_4"]["Next"] == "undo 2+3"
    assert states["begin 2 step_2"]["Next"] == "undo 2+3"
    assert states["begin 1 step_1"]["Next"] == "undo 0+1"
    assert states["undo 2+3"]["Next"] == "undo 0+1"
    assert states["undo 0+1"]["Next"] == "finish compensation"
    assert [branch["StartAt"] for branch in states["undo 2+3"]["Branches"]] == [
        "undo 2 step_2",
        "undo 3 step_3",
    ]


def test_an_undo_that_must_come_after_an_earlier_steps_undo_does() -> None:
    definition = machine("ccp", {0: set(), 1: {0}}).definition
    assert successes(definition, "begin 2 step_2")[1:3] == ["undo 0 step_0", "undo 1 step_1"]


def test_an_undo_that_fails_is_handed_to_a_person_and_the_others_go_on() -> None:
    assert caught(STATES["undo 1 step_1"]) == [(["States.ALL"], "undo case 1 step_1")]
    assert STATES["undo case 1 step_1"]["Next"] == "undo 0 step_0"


def test_an_undo_that_cannot_even_be_handed_over_keeps_no_other_undo_from_running() -> None:
    assert caught(STATES["undo case 1 step_1"]) == [(["States.ALL"], "undo 0 step_0")]
    branch = machine("cc", {}).definition["States"]["undo 0+1"]["Branches"][0]["States"]
    assert caught(branch["undo case 0 step_0"]) == [(["States.ALL"], "undo left 0 step_0")]
    assert branch["undo left 0 step_0"]["Type"] == "Succeed"


@pytest.mark.parametrize(
    ("state", "function", "more"),
    [
        ("0 step_0", "step_0-run", {"index": 0, "operation": "run"}),
        ("settle 2 step_2", "step_2-run", {"index": 2, "operation": "settle"}),
        ("approve 2 step_2", "gate", {"index": 2, "token.$": "$$.Task.Token"}),
        ("begin 1 step_1", "begin", {"index": 1}),
        ("undo 1 step_1", "step_1-undo", {"index": 1}),
        ("undo case 1 step_1", "open-case", {"index": 1, "direction": "undo"}),
        ("case 3 step_3", "open-case", {"index": 3, "direction": "do"}),
        ("finish compensation", "finish", {}),
    ],
)
def test_a_function_is_told_the_saga_and_constants_and_nothing_else(
    state: str, function: str, more: dict[str, object]
) -> None:
    assert STATES[state]["Parameters"] == {
        "FunctionName": arn(function),
        "Payload": {"saga_id.$": "$.saga_id", "execution.$": "$$.Execution.Name", **more},
    }


def test_the_graph_says_where_its_boundary_is() -> None:
    said = "boundary: nothing before it is undone after it"
    marked = [name for name, state in STATES.items() if said in state.get("Comment", "")]
    assert marked == ["2 step_2"]


def test_the_same_step_twice_in_a_plan_has_two_places_and_one_function() -> None:
    twice = Shape(
        "fulfilment",
        "1",
        (
            ShapeStep("reserve_stock", Kind.COMPENSABLE, frozenset({1})),
            ShapeStep("reserve_stock", Kind.COMPENSABLE),
        ),
    )
    states = compile_machine(twice, bindings(twice)).definition["States"]
    assert states["0 reserve_stock"]["Next"] == "1 reserve_stock"
    assert (
        states["undo 0 reserve_stock"]["Parameters"]["FunctionName"]
        == states["undo 1 reserve_stock"]["Parameters"]["FunctionName"]
    )


@pytest.mark.parametrize("kinds", ["", "pc", "rc", "rp", "pp", "cpc", "prp"])
def test_a_shape_whose_kinds_are_out_of_order_has_no_machine(kinds: str) -> None:
    with pytest.raises(IllegalShape):
        machine(kinds)


@pytest.mark.parametrize(
    "waits",
    [{0: {1}, 1: {0}}, {0: {0}}, {0: {2}}, {0: {9}}],
    ids=["circle", "self", "pivot", "none"],
)
def test_an_undo_order_that_is_no_order_has_no_machine(waits: dict[int, set[int]]) -> None:
    with pytest.raises(IllegalShape):
        machine("ccp", waits)


def test_a_compensable_step_without_a_bound_undo_has_no_machine() -> None:
    of = shape("cp")
    steps = {**bindings(of).steps, "step_0": step_binding("step_0", undo=None, undo_retry=None)}
    with pytest.raises(ValueError, match="step 0"):
        compile_machine(of, bindings(of, steps=steps))
