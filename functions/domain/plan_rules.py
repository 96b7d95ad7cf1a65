"""The rules of a plan's structure: names, the order of kinds, whose results are used. Each returns all it finds.

Seed one: every step name exists in the catalogue; at most one pivot, compensable steps before it and retriable steps
after it; and requirements are met by an earlier step.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from functions.domain.catalogue import Catalogue, Kind, Step
from functions.domain.history import MOST_EVENTS, worst_history
from functions.domain.plan import PlannedStep
from functions.domain.problems import Code, Problem, problem, quoted
from functions.domain.schema_problems import closest

_ORDER = tuple(Kind)


@dataclass(frozen=True, slots=True)
class Placed:
    """A planned step at its index, with the catalogue's step of its name (None: there is none to use)."""

    index: int
    planned: PlannedStep
    step: Step | None

    def problem(
        self,
        code: str,
        message: str,
        hint: str,
        *below: str,
        allowed: Sequence[str] | None = None,
    ) -> Problem:
        """A problem of this step; `below` leads to the place within it."""
        at: tuple[str | int, ...] = ("steps", self.index, *below)
        return problem(code, message, hint, at=at, step=self.planned.id, allowed=allowed)


def placed(steps: Sequence[PlannedStep], catalogue: Catalogue) -> tuple[Placed, ...]:
    """The plan's steps beside the catalogue's. A retired step is not there for new plans."""
    found = (catalogue.step(planned.name) for planned in steps)
    return tuple(
        Placed(index, planned, None if step is None or step.retired else step)
        for index, (planned, step) in enumerate(zip(steps, found, strict=True))
    )


def names(steps: Sequence[Placed], catalogue: Catalogue) -> Iterator[Problem]:
    """Every step's name is one of the catalogue's."""
    known = tuple(step.name for step in catalogue.steps if not step.retired)
    for each in steps:
        if each.step is None:
            name = each.planned.name
            message = f"The catalogue {catalogue.name} has no step {quoted(name)}."
            hint = _unknown_hint(name, known, catalogue)
            yield each.problem(Code.UNKNOWN_STEP, message, hint, "name", allowed=known)


def _unknown_hint(name: str, known: Sequence[str], catalogue: Catalogue) -> str:
    if catalogue.step(name) is not None:
        return f"{quoted(name)} has been retired; use a step that is still offered."
    if any(step.undo is not None and step.undo.name == name for step in catalogue.steps):
        return "This is a compensation: the orchestrator runs those itself, no plan names them."
    near = closest(name, known)
    if near:
        return f"Did you mean {quoted(near)}?"
    return "Leave the step out; if a person should consider it, say so in the notes."


def kind_order(steps: Sequence[Placed]) -> Iterator[Problem]:
    """Compensable steps, then at most one pivot, then retriable steps."""
    earlier: list[tuple[Placed, Kind]] = []
    for each in steps:
        if each.step is None:
            continue
        kind = each.step.kind
        pivot = next((p for p, k in earlier if k is kind is Kind.PIVOT), None)
        ahead = next((p for p, k in earlier if _ORDER.index(k) > _ORDER.index(kind)), None)
        if pivot is not None:
            message = f"{quoted(each.planned.name)} is a pivot, and so is {_step(pivot)}."
            hint = "Keep one pivot; what needs another belongs into a request of its own."
            yield each.problem(Code.SECOND_PIVOT, message, hint, "name")
        elif ahead is not None and ahead.step is not None:
            message = f"A {kind} step stands after {_step(ahead)}, a {ahead.step.kind} step."
            hint = (
                f"Move it before {_step(ahead)}: compensable steps come first, "
                "then the pivot, then retriable steps."
            )
            yield each.problem(Code.KIND_ORDER, message, hint, "name")
        earlier.append((each, kind))


def history(steps: Sequence[Placed]) -> Iterator[Problem]:
    """What one execution can record, at worst. Asked of plans that have a machine at all."""
    events = worst_history([each.step for each in steps if each.step is not None])
    if events > MOST_EVENTS:
        message = f"With all attempts this plan could take {events} events, and one execution is given {MOST_EVENTS}."
        hint = "Propose fewer steps, or several requests."
        yield problem(Code.HISTORY_TOO_LONG, message, hint, at=("steps",))


def bindings(each: Placed, steps: Sequence[Placed]) -> dict[str, int] | list[Problem]:
    """Whose result the step uses, by required step name; or why that cannot be told."""
    if each.step is None:
        return {}
    bound: dict[str, int] = {}
    problems = list(_unused(each, each.step))
    for name in each.step.requires:
        match _bound(each, name, steps):
            case int(index):
                bound[name] = index
            case Problem() as found:
                problems.append(found)
    return problems or bound


def _bound(each: Placed, required: str, steps: Sequence[Placed]) -> int | Problem:
    same = [s for s in steps if s.step is not None and s.step.name == required]
    candidates = {s.planned.id: s.index for s in same if s.index < each.index}
    if not candidates:
        return _unmet(each, required, [s for s in same if s.index > each.index])
    ids = tuple(candidates)
    wanted = each.planned.uses.get(required)
    if wanted is None and len(ids) == 1:
        return candidates[ids[0]]
    if wanted is None:
        message = f"{len(ids)} earlier steps could give the result of {quoted(required)}."
        hint = (
            f'Say which one: "uses": {{"{required}": "{ids[-1]}"}}, or another of the allowed ids.'
        )
        return each.problem(Code.AMBIGUOUS_RESULT, message, hint, "uses", allowed=ids)
    if wanted not in candidates:
        message = f"{quoted(wanted)} is no earlier step with the name {quoted(required)}."
        hint = "Name one of the allowed step ids."
        return each.problem(Code.UNKNOWN_RESULT, message, hint, "uses", required, allowed=ids)
    return candidates[wanted]


def _unmet(each: Placed, required: str, later: Sequence[Placed]) -> Problem:
    name = quoted(each.planned.name)
    if not later:
        message = f"{name} needs the result of {quoted(required)}, which is not in the plan."
        hint = f"Add a step {quoted(required)} before this one."
        return each.problem(Code.MISSING_REQUIREMENT, message, hint, "name", allowed=(required,))
    message = f"{name} needs the result of {quoted(required)}, which comes later."
    hint = f"Move {_step(later[0])} before this one."
    return each.problem(Code.REQUIREMENT_AFTER_USE, message, hint, "name")


def _unused(each: Placed, step: Step) -> Iterator[Problem]:
    for name in each.planned.uses:
        if name not in step.requires:
            message = f"{quoted(step.name)} uses no result of {quoted(name)}."
            hint = "Leave this entry out."
            yield each.problem(
                Code.UNKNOWN_RESULT, message, hint, "uses", name, allowed=step.requires
            )


def _step(each: Placed) -> str:
    return f"step {quoted(each.planned.id)}"
