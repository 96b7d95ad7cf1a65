"""A machine that somebody, or a broken compiler, has changed is refused, and for the right reason."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from statemachines.compiler import compile_machine
from statemachines.verify import Code, UnsafeMachine, verified, verify
from tests.unit.machines import arn, bindings, machine, shape

States = dict[str, Any]
Change = Callable[[States], object]

SHAPE = shape("ccprr")
DEFINITION = machine("ccprr").definition
SIDE_BY_SIDE = shape("ccp", {})


def changed(change: Change) -> States:
    definition: States = copy.deepcopy(DEFINITION)
    change(definition["States"])
    return definition


def put(state: str, *path: Any, to: Any) -> Change:
    """Sets one value, deep in a state."""

    def change(states: States) -> None:
        inner = states[state]
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = to

    return change


def drop(state: str, *path: Any) -> Change:
    """Removes one value, deep in a state; the state itself without a path."""

    def change(states: States) -> None:
        inner, keys = states, (state, *path)
        for key in keys[:-1]:
            inner = inner[key]
        del inner[keys[-1]]

    return change


PAYLOAD = ("Parameters", "Payload")
ENDLESS_GATE = {"ErrorEquals": ["States.ALL"], "ResultPath": None, "Next": "1 step_1"}

MUTATIONS: dict[str, tuple[Change, Code]] = {
    "a catch before the boundary is dropped": (drop("0 step_0", "Catch"), Code.UNCAUGHT),
    "a catch after the boundary is dropped": (drop("4 step_4", "Catch"), Code.UNCAUGHT),
    "an undo is not caught": (drop("undo 0 step_0", "Catch"), Code.UNCAUGHT),
    "a catch takes only one error": (
        put("0 step_0", "Catch", 0, "ErrorEquals", to=["StepRefused"]),
        Code.UNCAUGHT,
    ),
    "the catch for any error comes before another": (
        lambda states: states["2 step_2"]["Catch"].reverse(),
        Code.UNCAUGHT,
    ),
    "a failure leads to another step's begin": (
        put("1 step_1", "Catch", 0, "Next", to="begin 0 step_0"),
        Code.WRONG_FAILURE,
    ),
    "a failure leads on as if nothing had happened": (
        put("0 step_0", "Catch", 0, "Next", to="1 step_1"),
        Code.WRONG_FAILURE,
    ),
    "an unknown pivot is compensated without settling": (
        put("2 step_2", "Catch", 1, "Next", to="begin 2 step_2"),
        Code.WRONG_FAILURE,
    ),
    "a pivot that cannot be settled is compensated": (
        put("settle 2 step_2", "Catch", 1, "Next", to="begin 2 step_2"),
        Code.WRONG_FAILURE,
    ),
    "a pivot without approval skips its gate": (
        lambda states: states["2 step_2"]["Catch"].pop(0),
        Code.WRONG_FAILURE,
    ),
    "an approval leads past the pivot": (
        put("approve 2 step_2", "Next", to="3 step_3"),
        Code.WRONG_SUCCESS,
    ),
    "a rejection leads past the pivot": (
        put("approve 2 step_2", "Catch", 0, "Next", to="3 step_3"),
        Code.WRONG_FAILURE,
    ),
    "a step is skipped": (put("0 step_0", "Next", to="2 step_2"), Code.WRONG_SUCCESS),
    "the saga ends before its last step": (
        lambda states: states["3 step_3"].update(End=True) or states["3 step_3"].pop("Next"),
        Code.WRONG_SUCCESS,
    ),
    "a success of the pivot leads to an undo": (
        put("2 step_2", "Next", to="undo 1 step_1"),
        Code.UNDO_AFTER_BOUNDARY,
    ),
    "a settled pivot leads to begin": (
        put("settle 2 step_2", "Next", to="begin 1 step_1"),
        Code.UNDO_AFTER_BOUNDARY,
    ),
    "a failure after the boundary is undone": (
        put("3 step_3", "Catch", 0, "Next", to="begin 2 step_2"),
        Code.UNDO_AFTER_BOUNDARY,
    ),
    "a case after the boundary leads to an undo": (
        put("case 4 step_4", "Catch", 0, "Next", to="undo 0 step_0"),
        Code.UNDO_AFTER_BOUNDARY,
    ),
    "a failure is undone without begin": (
        put("1 step_1", "Catch", 0, "Next", to="undo 1 step_1"),
        Code.UNDO_WITHOUT_BEGIN,
    ),
    "begin forgets the step that failed": (
        put("begin 1 step_1", "Next", to="undo 0 step_0"),
        Code.UNDO_SKIPPED,
    ),
    "begin undoes nothing": (
        put("begin 2 step_2", "Next", to="finish compensation"),
        Code.UNDO_SKIPPED,
    ),
    "an undo forgets the one before it": (
        put("undo 1 step_1", "Next", to="finish compensation"),
        Code.UNDO_SKIPPED,
    ),
    "a case of an undo keeps the others from running": (
        put("undo case 1 step_1", "Next", to="finish compensation"),
        Code.UNDO_SKIPPED,
    ),
    "an undo that cannot be handed over stops the others": (
        put("undo case 1 step_1", "Catch", 0, "Next", to="stopped"),
        Code.UNDO_SKIPPED,
    ),
    "a failed undo is nobody's": (
        put("undo 1 step_1", "Catch", 0, "Next", to="undo 0 step_0"),
        Code.WRONG_FAILURE,
    ),
    "undos run in the order of the plan": (
        lambda states: (
            [states[f"begin {i} step_{i}"].update(Next="undo 0 step_0") for i in (0, 1, 2)],
            [states[f"undo {c}0 step_0"].update(Next="undo 1 step_1") for c in ("", "case ")],
            [states[f"undo {c}1 step_1"].update(Next="finish compensation") for c in ("", "case ")],
            put("undo case 0 step_0", "Catch", 0, "Next", to="undo 1 step_1")(states),
            put("undo case 1 step_1", "Catch", 0, "Next", to="finish compensation")(states),
        ),
        Code.UNDO_ORDER,
    ),
    "an undo leads forward": (
        put("undo 0 step_0", "Next", to="0 step_0"),
        Code.FORWARD_AFTER_BEGIN,
    ),
    "undos run in a circle": (put("undo 0 step_0", "Next", to="undo 1 step_1"), Code.ENDLESS),
    "a step after the boundary starts over": (
        put("4 step_4", "Catch", 0, "Next", to="3 step_3"),
        Code.ENDLESS,
    ),
    "a gate sends the saga back to a finished step": (
        put("approve 2 step_2", "Catch", 0, to=ENDLESS_GATE),
        Code.ENDLESS,
    ),
    "a state is missing": (drop("undo 0 step_0"), Code.MISSING_TARGET),
    "a state that nothing leads to is missing": (
        lambda states: (
            put("undo 1 step_1", "Catch", 0, "Next", to="undo 0 step_0")(states),
            drop("undo case 1 step_1")(states),
        ),
        Code.MISSING_STATE,
    ),
    "a Next is misspelt": (put("0 step_0", "Next", to="1 step-1"), Code.MISSING_TARGET),
    "a state is added": (
        lambda states: states.update({"refund": copy.deepcopy(states["finish compensation"])}),
        Code.UNEXPECTED_STATE,
    ),
    "an undo is added for a step after the boundary": (
        lambda states: states.update({"undo 3 step_3": copy.deepcopy(states["undo 0 step_0"])}),
        Code.UNEXPECTED_STATE,
    ),
    "a state is unreachable": (
        put("0 step_0", "Catch", 0, "Next", to="begin 1 step_1"),
        Code.UNREACHABLE,
    ),
    "a name is too long for AWS": (
        lambda states: states.update({"a" * 81: copy.deepcopy(states["stopped"])}),
        Code.ILLEGAL_NAME,
    ),
    "a name is somebody's text": (
        lambda states: states.update({"<b>Refund!</b>": copy.deepcopy(states["stopped"])}),
        Code.ILLEGAL_NAME,
    ),
    "a state has neither a Next nor an End": (drop("4 step_4", "End"), Code.NO_WAY_ON),
    "a state has both a Next and an End": (put("0 step_0", "End", to=True), Code.NO_WAY_ON),
    "an End is false": (put("4 step_4", "End", to=False), Code.NO_WAY_ON),
    "a ResultPath is removed": (drop("0 step_0", "ResultPath"), Code.RESULT_KEPT),
    "a result is kept": (put("0 step_0", "ResultPath", to="$.result"), Code.RESULT_KEPT),
    "a catch keeps its error": (drop("0 step_0", "Catch", 0, "ResultPath"), Code.RESULT_KEPT),
    "a Task has no timeout": (drop("undo 0 step_0", "TimeoutSeconds"), Code.UNBOUNDED),
    "a gate waits for ever": (drop("approve 2 step_2", "TimeoutSeconds"), Code.UNBOUNDED),
    "a timeout is more than AWS takes": (
        put("0 step_0", "TimeoutSeconds", to=10**9),
        Code.UNBOUNDED,
    ),
    "a timeout is computed": (put("0 step_0", "TimeoutSeconds", to=True), Code.UNBOUNDED),
    "a Task is not retried": (drop("0 step_0", "Retry"), Code.UNSOUND_RETRY),
    "a refusal is repeated": (
        lambda states: states["2 step_2"]["Retry"][0]["ErrorEquals"].remove("StepRefused"),
        Code.UNSOUND_RETRY,
    ),
    "everything is repeated before anything is final": (
        lambda states: states["2 step_2"]["Retry"].reverse(),
        Code.UNSOUND_RETRY,
    ),
    "a final error is repeated once": (
        put("2 step_2", "Retry", 0, "MaxAttempts", to=1),
        Code.UNSOUND_RETRY,
    ),
    "a lease is not waited out": (
        put("0 step_0", "Retry", 1, "MaxAttempts", to=2),
        Code.UNSOUND_RETRY,
    ),
    "a wait has jitter": (
        put("0 step_0", "Retry", 1, "JitterStrategy", to="FULL"),
        Code.UNSOUND_RETRY,
    ),
    "retries have no jitter": (
        put("0 step_0", "Retry", 3, "JitterStrategy", to="NONE"),
        Code.UNSOUND_RETRY,
    ),
    "retries grow faster and faster": (
        put("0 step_0", "Retry", 3, "BackoffRate", to=0.5),
        Code.UNSOUND_RETRY,
    ),
    "an answered gate asks the people again": (
        lambda states: states["approve 2 step_2"]["Retry"][0]["ErrorEquals"].remove(
            "States.Timeout"
        ),
        Code.UNSOUND_RETRY,
    ),
    "a step reads an argument from the execution's input": (
        put("0 step_0", *PAYLOAD, "arguments.$", to="$.arguments"),
        Code.FOREIGN_PATH,
    ),
    "the saga's id is read from somewhere else": (
        put("0 step_0", *PAYLOAD, "saga_id.$", to="$.other"),
        Code.FOREIGN_PATH,
    ),
    "a step that is not the gate gets a token": (
        put("3 step_3", *PAYLOAD, "token.$", to="$$.Task.Token"),
        Code.FOREIGN_PATH,
    ),
    "the whole input is passed on": (put("0 step_0", "InputPath", to="$"), Code.UNEXPECTED_FIELD),
    "an output is chosen": (put("0 step_0", "OutputPath", to="$.x"), Code.UNEXPECTED_FIELD),
    "a state is written in JSONata": (
        put("0 step_0", "QueryLanguage", to="JSONata"),
        Code.UNEXPECTED_FIELD,
    ),
    "a catch assigns a variable": (
        put("0 step_0", "Catch", 0, "Assign", to={"a": 1}),
        Code.UNEXPECTED_FIELD,
    ),
    "a text is computed": (
        put("0 step_0", *PAYLOAD, "operation", to="States.Format('{}', $.a)"),
        Code.FOREIGN_TEXT,
    ),
    "a comment carries an agent's text": (
        put("2 step_2", "Comment", to='Approved by finance <img src="x">'),
        Code.FOREIGN_TEXT,
    ),
    "a step's own words are sent": (
        put("0 step_0", *PAYLOAD, "rationale", to="please"),
        Code.WRONG_CALL,
    ),
    "a step is told another index": (put("1 step_1", *PAYLOAD, "index", to=0), Code.WRONG_CALL),
    "an index is true instead of 1": (put("1 step_1", *PAYLOAD, "index", to=True), Code.WRONG_CALL),
    "settling runs the pivot again": (
        put("settle 2 step_2", *PAYLOAD, "operation", to="run"),
        Code.WRONG_CALL,
    ),
    "an undo's case is opened as a step's": (
        put("undo case 0 step_0", *PAYLOAD, "direction", to="do"),
        Code.WRONG_CALL,
    ),
    "a gate does not wait for its token": (
        put("approve 2 step_2", "Resource", to="arn:aws:states:::lambda:invoke"),
        Code.WRONG_CALL,
    ),
    "a state calls another service": (
        put("0 step_0", "Resource", to="arn:aws:states:::sqs:sendMessage"),
        Code.WRONG_CALL,
    ),
    "a function is called by its newest version": (
        put("0 step_0", "Parameters", "FunctionName", to=arn("step_0-run").removesuffix(":7")),
        Code.UNPINNED_FUNCTION,
    ),
    "a function is called by an alias": (
        put("0 step_0", "Parameters", "FunctionName", to=arn("step_0-run") + "live"),
        Code.UNPINNED_FUNCTION,
    ),
    "a step calls an undo": (
        put("3 step_3", "Parameters", "FunctionName", to=arn("step_0-undo")),
        Code.MIXED_FUNCTIONS,
    ),
    "settling calls another step's function": (
        put("settle 2 step_2", "Parameters", "FunctionName", to=arn("step_1-run")),
        Code.MIXED_FUNCTIONS,
    ),
    "a step becomes a Pass": (put("1 step_1", "Type", to="Pass"), Code.MALFORMED),
    "a step becomes a Choice": (put("1 step_1", "Type", to="Choice"), Code.MALFORMED),
    "giving up counts as success": (put("stopped", "Type", to="Succeed"), Code.MALFORMED),
    "a state is not an object": (lambda states: states.update(stopped=[]), Code.MALFORMED),
}


@pytest.mark.parametrize(("change", "code"), MUTATIONS.values(), ids=MUTATIONS)
def test_a_changed_machine_is_refused(change: Change, code: Code) -> None:
    assert code in {violation.code for violation in verify(changed(change), SHAPE)}


def test_what_is_refused_is_never_handed_on() -> None:
    made = compile_machine(SHAPE, bindings(SHAPE))
    del made.definition["States"]["0 step_0"]["Catch"]
    with pytest.raises(UnsafeMachine, match="uncaught at 0 step_0"):
        verified(made, SHAPE)


def test_a_violation_names_the_state_it_is_about() -> None:
    found = verify(changed(drop("undo 0 step_0", "TimeoutSeconds")), SHAPE)
    assert [(v.code, v.state) for v in found] == [(Code.UNBOUNDED, "undo 0 step_0")]


@pytest.mark.parametrize(
    ("top", "code"),
    [
        ({"StartAt": "1 step_1"}, Code.WRONG_SUCCESS),
        ({"StartAt": "nowhere"}, Code.MISSING_TARGET),
        ({"QueryLanguage": "JSONata"}, Code.UNEXPECTED_FIELD),
        ({"TimeoutSeconds": 60}, Code.UNEXPECTED_FIELD),
        ({"Comment": "{% $x %}"}, Code.FOREIGN_TEXT),
        ({"States": {}}, Code.MALFORMED),
    ],
)
def test_a_machine_that_is_changed_as_a_whole_is_refused(top: States, code: Code) -> None:
    found = verify({**DEFINITION, **top}, SHAPE)
    assert code in {violation.code for violation in found}


def test_a_machine_larger_than_aws_takes_is_refused() -> None:
    def bloat(states: States) -> None:
        states["0 step_0"]["Retry"][0]["ErrorEquals"] += [f"Error{n}" for n in range(100_000)]

    assert Code.TOO_LARGE in {v.code for v in verify(changed(bloat), SHAPE)}


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda wave: wave["Branches"].pop(), Code.MISSING_STATE),
        (lambda wave: wave["Branches"].append(wave["Branches"][0]), Code.DUPLICATE_STATE),
        (lambda wave: wave.pop("ResultPath"), Code.RESULT_KEPT),
        (lambda wave: wave.update(Catch=[]), Code.UNCAUGHT),
        (lambda wave: wave.update(ResultSelector={"a.$": "$"}), Code.UNEXPECTED_FIELD),
        (lambda wave: wave["Branches"][0].update(StartAt="undo case 0 step_0"), Code.UNREACHABLE),
        (
            lambda wave: wave["Branches"][0]["States"]["undo 0 step_0"].update(Type="Fail"),
            Code.MALFORMED,
        ),
        (
            lambda wave: wave["Branches"][0]["States"]["undo case 0 step_0"]["Catch"][0].update(
                Next="finish compensation"
            ),
            Code.MISSING_TARGET,
        ),
    ],
)
def test_a_wave_that_was_changed_is_refused(change: Change, code: Code) -> None:
    definition = compile_machine(SIDE_BY_SIDE, bindings(SIDE_BY_SIDE)).definition
    change(definition["States"]["undo 0+1"])
    assert code in {violation.code for violation in verify(definition, SIDE_BY_SIDE)}


def test_undos_that_must_wait_for_each_other_may_not_run_side_by_side() -> None:
    definition = compile_machine(SIDE_BY_SIDE, bindings(SIDE_BY_SIDE)).definition
    found = verify(definition, shape("ccp"))
    assert {violation.code for violation in found} == {Code.UNDO_ORDER}


def ways(states: States) -> Iterator[tuple[str, States, str, list[str]]]:
    """Every place that names a state to go to, and the states that it could name."""
    for name, state in states.items():
        for holder in (state, *state.get("Catch", [])):
            if "Next" in holder:
                yield name, holder, "Next", list(states)
        for branch in state.get("Branches", []):
            yield name, branch, "StartAt", list(branch["States"])
            yield from ways(branch["States"])


@pytest.mark.parametrize(
    ("kinds", "waits"), [("ccprr", None), ("cp", None), ("crr", None), ("cccp", {0: {2}, 1: {2}})]
)
def test_wherever_a_machine_is_led_astray_it_is_refused(
    kinds: str, waits: dict[int, set[int]] | None
) -> None:
    """Every single way, turned to every other state.

    One turn is harmless: a *begin* may enter the chain too early, since steps that never started answer *not needed*.
    """
    of, definition = shape(kinds, waits), machine(kinds, waits).definition
    passed = []
    for name, holder, key, targets in ways(definition["States"]):
        right = holder[key]
        for wrong in set(targets) - {right}:
            holder[key] = wrong
            if not verify(definition, of):
                passed.append((name, wrong))
        holder[key] = right
    assert verify(definition, of) == []
    early = {"begin 0 step_0", "begin 1 step_1"}
    assert [(name, to) for name, to in passed if name not in early or "undo" not in to] == []


SMALL = shape("cp")
HARMLESS = {"Comment", "Cause", "Error", "IntervalSeconds", "BackoffRate", "JitterStrategy"}
"""What only people read, and what AWS has a sound default for. Their wrong values are refused, see above."""


def entries(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every entry of every object and every list, however deep."""
    if isinstance(value, dict | list):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from entries(value[key])


def test_whatever_is_taken_out_of_a_machine_it_is_refused() -> None:
    """Nothing in a machine is there for decoration, and no gap makes the verifier fail."""
    definition = machine("cp").definition
    passed = set()
    for holder, key in entries(definition):
        removed = holder.pop(key)
        if not verify(definition, SMALL):
            passed.add(key)
        if isinstance(holder, list):
            holder.insert(key, removed)
        else:
            holder[key] = removed
    assert verify(definition, SMALL) == []
    assert passed <= HARMLESS


@pytest.mark.parametrize("junk", [None, True, "x", {"x": [None]}, [{}]], ids=repr)
def test_whatever_is_exchanged_for_something_else_it_is_refused(junk: Any) -> None:
    definition = machine("cp").definition
    passed = set()
    for holder, key in entries(definition):
        right = holder[key]
        holder[key] = junk
        if right != junk and not verify(definition, SMALL):
            passed.add(key)
        holder[key] = right
    assert verify(definition, SMALL) == []
    assert passed <= {"Comment", "Cause", "Error"}
