"""Shapes and bindings for the tests of compiler and verifier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from hypothesis import strategies as st

from functions.domain.catalogue import Kind, Retry
from functions.domain.shape import Shape, ShapeStep
from statemachines.bindings import Bindings, StepBinding
from statemachines.compiler import Machine, compile_machine

KINDS = {"c": Kind.COMPENSABLE, "p": Kind.PIVOT, "r": Kind.RETRIABLE}
RUN_RETRY = Retry(attempts=3, interval=timedelta(seconds=2), longest=timedelta(seconds=20))
UNDO_RETRY = Retry(attempts=7, interval=timedelta(milliseconds=200), longest=timedelta(seconds=1))


def shape(kinds: str, waits: Mapping[int, set[int]] | None = None) -> Shape:
    """`"ccprr"` is two compensable steps, a pivot, two retriable ones. Undone in strict reverse unless `waits` says more."""
    compensable = kinds.count("c")
    return Shape(
        catalogue="fulfilment",
        catalogue_version="f" * 64,
        steps=tuple(
            ShapeStep(f"step_{i}", KINDS[kind], frozenset(_waits(i, kind, compensable, waits)))
            for i, kind in enumerate(kinds)
        ),
    )


def _waits(
    index: int, kind: str, compensable: int, waits: Mapping[int, set[int]] | None
) -> set[int]:
    if kind != "c":
        return set()
    return set(range(index + 1, compensable)) if waits is None else waits.get(index, set())


def legal_kinds(most: int) -> list[str]:
    """Every legal sequence of kinds of 1 to `most` steps."""
    return [
        "c" * compensable + rest
        for length in range(1, most + 1)
        for compensable in range(length + 1)
        for rest in sorted(
            {"r" * (length - compensable), ("p" + "r" * length)[: length - compensable]}
        )
    ]


@st.composite
def shapes(draw: st.DrawFn, most: int = 12) -> Shape:
    """Any legal shape: kinds in order, and undos that wait for any others without a circle."""
    kinds = draw(st.sampled_from(legal_kinds(most)))
    order = draw(st.permutations(range(kinds.count("c"))))
    waits = {
        index: draw(
            st.sets(st.sampled_from(order[:place]), max_size=3) if place else st.just(set())
        )
        for place, index in enumerate(order)
    }
    return shape(kinds, waits)


def arn(function: str) -> str:
    """A published version of a function."""
    return f"arn:aws:lambda:eu-central-1:111122223333:function:{function}:7"


def bindings(of: Shape, **changes: Any) -> Bindings:
    """Bindings for every step of a shape; `changes` replaces fields."""
    given: dict[str, Any] = {
        "steps": {step.name: step_binding(step.name) for step in of.steps},
        "begin": arn("begin"),
        "finish": arn("finish"),
        "gate": arn("gate"),
        "open_case": arn("open-case"),
        "control_timeout": 30,
        "gate_timeout": 86_400,
        "role": "arn:aws:iam::111122223333:role/machines",
    }
    return Bindings(**{**given, **changes})


def step_binding(name: str, **changes: Any) -> StepBinding:
    given: dict[str, Any] = {
        "run": arn(f"{name}-run"),
        "undo": arn(f"{name}-undo"),
        "run_timeout": 25,
        "undo_timeout": 40,
        "run_retry": RUN_RETRY,
        "undo_retry": UNDO_RETRY,
        "run_wait": 60,
        "undo_wait": 150,
    }
    return StepBinding(**{**given, **changes})


def machine(kinds: str, waits: Mapping[int, set[int]] | None = None) -> Machine:
    """The machine of a shape, bound to functions that do not exist."""
    of = shape(kinds, waits)
    return compile_machine(of, bindings(of))


def successes(definition: Mapping[str, Any], start: str) -> list[str]:
    """The states from `start` on when everything succeeds."""
    found = [start]
    while following := definition["States"][found[-1]].get("Next"):
        found.append(following)
    return found


def caught(state: Mapping[str, Any]) -> list[tuple[Sequence[str], str]]:
    """A state's catchers: which errors lead where."""
    return [(each["ErrorEquals"], each["Next"]) for each in state["Catch"]]
