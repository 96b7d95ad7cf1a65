"""Asking a catalogue's policy about a pivot: by its own function before it runs, and at submission about what it forbids."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel

from functions.domain.catalogue import Catalogue, Kind, Step
from functions.domain.outcome import Receipt
from functions.domain.policy import Forbidden, Policy, Question, Verdict
from functions.domain.problems import Code, Problem, problem
from functions.domain.validation import Facts, Validated, facts_needed
from functions.ports import Adapters


def ask_policy(
    adapters: Adapters,
    catalogue: Catalogue,
    step: Step,
    *,
    arguments: BaseModel,
    results: Mapping[str, Receipt],
    facts: Mapping[str, Any],
    now: int,
) -> Verdict:
    """What the policy says of this step now; `facts` by their names, `now` in milliseconds since the epoch."""
    policy: Policy = adapters.resolve(catalogue.policy)
    return policy(
        Question(
            step=step.name,
            arguments=arguments,
            results=results,
            facts=facts,
            now=datetime.fromtimestamp(now / 1000, tz=UTC),
        )
    )


def what_policy_forbids(
    adapters: Adapters, validated: Validated, facts: Facts, now: int
) -> list[Problem]:
    """A problem for each pivot that nobody may approve, so that nothing is prepared for it.

    What a policy can not say without results decides nothing here: the pivot asks again.
    """
    problems = []
    for each in validated.steps:
        if each.step.kind is not Kind.PIVOT:
            continue
        needed = facts_needed(validated.catalogue, each.step, each.arguments)
        try:
            verdict = ask_policy(
                adapters,
                validated.catalogue,
                each.step,
                arguments=each.arguments,
                results={},
                facts={key[0]: facts[key] for key in needed},
                now=now,
            )
        except LookupError:
            continue
        if isinstance(verdict, Forbidden):
            hint = "No plan may do this: leave the step out, and say in the notes what a person should consider."
            at = ("steps", each.index)
            problems.append(
                problem(Code.FORBIDDEN_BY_POLICY, verdict.reason, hint, at=at, step=each.id)
            )
    return problems
