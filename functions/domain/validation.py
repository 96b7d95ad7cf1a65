"""May this plan run? Every problem at once, before any effect.

Two phases, because facts have to be fetched between them: `check_static` needs nothing but plan and catalogue and says
which facts to read; `check_facts` adds the preconditions and gives the verdict. Text is data: neither phase looks at
rationale, notes or provenance, and amounts are held against the catalogue's limits and the facts alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pydantic import BaseModel

from functions.domain.catalogue import Catalogue, Precondition, Step, Violation
from functions.domain.keys import canonical, digest
from functions.domain.plan import Plan
from functions.domain.plan_rules import Placed, bindings, history, kind_order, names, placed
from functions.domain.problems import Code, Problem, listed, problem, quoted
from functions.domain.schema_problems import Spot, fit
from functions.domain.shape import Shape, shape_of

_CODE = re.compile(r"[a-z][a-z0-9_]{0,59}")

FactKey = tuple[str, str]
"""A fact's name, and what it was asked about."""

Facts = Mapping[FactKey, BaseModel | None]
"""What was read. None: there is no such thing. A key that is absent could not be read."""


@dataclass(frozen=True, slots=True)
class FactRead:
    """One read that the verdict needs, and the indexes of the steps that need it."""

    fact: str
    query: str
    steps: tuple[int, ...]

    @property
    def key(self) -> FactKey:
        """Where `check_facts` looks for the answer."""
        return self.fact, self.query


@dataclass(frozen=True, slots=True)
class Static:
    """What plan and catalogue alone say.

    `arguments` has one entry a step: the model's instance, or None where they do not fit. `reads` are the facts to fetch,
    each once; preconditions of steps without usable arguments are left out.
    """

    plan: Plan
    catalogue: Catalogue
    problems: tuple[Problem, ...]
    steps: tuple[Placed, ...] = ()
    arguments: tuple[BaseModel | None, ...] = ()
    requires: tuple[Mapping[str, int], ...] = ()
    reads: tuple[FactRead, ...] = ()


@dataclass(frozen=True, slots=True)
class ValidatedStep:
    """A step that may run. `canonical_arguments` is the one text (RFC 8785) that is stored, hashed and sent.

    `requires` takes each required step's name to the index of the step whose receipt is used.
    """

    index: int
    id: str
    step: Step
    arguments: BaseModel
    canonical_arguments: str
    arguments_digest: str
    requires: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Validated:
    """A plan that may run: the only thing that an admission is made from."""

    plan: Plan
    catalogue: Catalogue
    steps: tuple[ValidatedStep, ...]
    shape: Shape


def validate(plan: Plan, catalogue: Catalogue, facts: Facts) -> Validated | list[Problem]:
    """Both phases, for callers that have the facts already."""
    return check_facts(check_static(plan, catalogue), facts)


def check_static(plan: Plan, catalogue: Catalogue) -> Static:
    """Names, arguments, order of kinds, requirements; and which facts the rest depends on."""
    if plan.catalogue != catalogue.name:
        message = f"There is no catalogue {quoted(plan.catalogue)} here."
        hint = "Name the catalogue whose steps you use."
        known = (catalogue.name,)
        found = problem(Code.UNKNOWN_CATALOGUE, message, hint, at=("catalogue",), allowed=known)
        return Static(plan, catalogue, (found,))
    steps = placed(plan.steps, catalogue)
    problems = [*names(steps, catalogue), *kind_order(steps)] or [*history(steps)]
    arguments: list[BaseModel | None] = []
    requires: list[Mapping[str, int]] = []
    for each in steps:
        match bindings(each, steps):
            case dict(bound):
                requires.append(bound)
            case wrong:
                requires.append({})
                problems.extend(wrong)
        match _arguments(each):
            case list(misfits):
                arguments.append(None)
                problems.extend(misfits)
            case fitting:
                arguments.append(fitting)
    return Static(
        plan=plan,
        catalogue=catalogue,
        problems=tuple(problems),
        steps=steps,
        arguments=tuple(arguments),
        requires=tuple(requires),
        reads=_reads(catalogue, steps, arguments),
    )


def check_facts(static: Static, facts: Facts) -> Validated | list[Problem]:
    """The verdict. A fact that could not be read is a problem of its own (`facts_unavailable`), never a pass."""
    problems = list(static.problems)
    for each, arguments in zip(static.steps, static.arguments, strict=True):
        if each.step is not None and arguments is not None:
            problems.extend(_preconditions(each, each.step, arguments, static.catalogue, facts))
    return listed(problems) if problems else _validated(static)


def facts_needed(catalogue: Catalogue, step: Step, arguments: BaseModel) -> tuple[FactKey, ...]:
    """The facts that a step's preconditions look at, each once: at submission, and again before the pivot."""
    wanted = (catalogue.fact(p.fact) for p in _declared(catalogue, step))
    return tuple(dict.fromkeys((fact.name, fact.query(arguments)) for fact in wanted))


def violated(
    catalogue: Catalogue, step: Step, arguments: BaseModel, facts: Facts
) -> list[Violation]:
    """What does not hold now. Preconditions whose fact is absent from `facts` are not asked: see `facts_needed`."""
    return [
        violation
        for precondition in _declared(catalogue, step)
        if (key := _key(catalogue, precondition, arguments)) in facts
        for violation in precondition.check(arguments, facts[key])
    ]


def _declared(catalogue: Catalogue, step: Step) -> Iterator[Precondition]:
    return (catalogue.precondition(name) for name in step.preconditions)


def _key(catalogue: Catalogue, precondition: Precondition, arguments: BaseModel) -> FactKey:
    return precondition.fact, catalogue.fact(precondition.fact).query(arguments)


def _arguments(each: Placed) -> BaseModel | list[Problem] | None:
    if each.step is None:
        return None
    spot = Spot(
        at=("steps", each.index, "arguments"),
        missing=Code.MISSING_ARGUMENT,
        unknown=Code.UNKNOWN_ARGUMENT,
        step=lambda _: each.planned.id,
    )
    return fit(each.step.arguments, each.planned.arguments, spot)


def _reads(
    catalogue: Catalogue, steps: tuple[Placed, ...], arguments: list[BaseModel | None]
) -> tuple[FactRead, ...]:
    needed: dict[FactKey, list[int]] = {}
    for each, fitting in zip(steps, arguments, strict=True):
        if each.step is not None and fitting is not None:
            for key in facts_needed(catalogue, each.step, fitting):
                needed.setdefault(key, []).append(each.index)
    return tuple(FactRead(fact, query, tuple(who)) for (fact, query), who in needed.items())


def _preconditions(
    each: Placed, step: Step, arguments: BaseModel, catalogue: Catalogue, facts: Facts
) -> Iterator[Problem]:
    for fact, query in facts_needed(catalogue, step, arguments):
        if (fact, query) not in facts:
            message = f"The fact {fact} about {quoted(query)} could not be read just now."
            hint = "Send the same plan again in a moment."
            yield each.problem(Code.FACTS_UNAVAILABLE, message, hint)
    for violation in violated(catalogue, step, arguments, facts):
        code = violation.code if _CODE.fullmatch(violation.code) else Code.PRECONDITION_FAILED
        below = ("arguments", violation.argument) if violation.argument else ()
        yield each.problem(code, violation.message, violation.hint, *below)


def _validated(static: Static) -> Validated:
    steps = []
    for each, arguments, requires in zip(
        static.steps, static.arguments, static.requires, strict=True
    ):
        if each.step is None or arguments is None:
            raise AssertionError(f"step {each.index} has neither problems nor arguments")
        value = arguments.model_dump(mode="json", by_alias=True)
        steps.append(
            ValidatedStep(
                index=each.index,
                id=each.planned.id,
                step=each.step,
                arguments=arguments,
                canonical_arguments=canonical(value),
                arguments_digest=digest(value),
                requires=requires,
            )
        )
    return Validated(
        static.plan,
        static.catalogue,
        tuple(steps),
        shape_of(static.catalogue, [each.step for each in steps]),
    )
