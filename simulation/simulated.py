"""A catalogue whose targets are simulated: what each step declares stays, what it would call does not.

Kinds, order, requirements, budgets, timeouts and how an outcome is settled are the catalogue's own. Adapters, facts,
preconditions and policy are the simulation's, because they would need the real targets.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Literal

from pydantic import BaseModel, ConfigDict

from functions.domain.catalogue import (
    Authority,
    Catalogue,
    Fact,
    Operation,
    OtherAction,
    Precondition,
    Settlement,
    Step,
    Undo,
    Violation,
)
from functions.domain.outcome import Receipt
from functions.domain.policy import Allowed, NeedsApproval

Does = Literal["run", "status", "tombstone"]
POLICY = "simulated.policy:decide"
FACT = "simulated.fact:read"
APPROVAL_WITHIN = timedelta(hours=1)


class Circumstances(BaseModel):
    """The one fact that every simulated precondition looks at."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)
    hold: bool


def simulated(catalogue: Catalogue) -> Catalogue:
    """The catalogue with simulated targets."""
    return replace(
        catalogue,
        steps=tuple(_step(step) for step in catalogue.steps),
        facts=tuple(_fact(fact) for fact in catalogue.facts),
        preconditions=tuple(
            Precondition(each.name, each.fact, _holds) for each in catalogue.preconditions
        ),
        policy=POLICY,
    )


def policy(catalogue: Catalogue, *, ask: bool) -> Allowed | NeedsApproval:
    """Whether people are asked before the pivot: the simulation chooses, as an amount would."""
    if not ask:
        return Allowed()
    within = min(APPROVAL_WITHIN, catalogue.longest_wait)
    return NeedsApproval(1, catalogue.approvers, within, "the simulation asks")


def _step(step: Step) -> Step:
    run = _operation(step.name, "do", "run", _authority(step.run.authority, f"{step.name}_do"))
    return replace(
        step,
        run=run,
        settlement=_settlement(step.name, "do", step.settlement, run.authority),
        undo=None if step.undo is None else _undo(step.name, step.undo),
    )


def _undo(step: str, undo: Undo) -> Undo:
    run = _operation(step, "undo", "run", _authority(undo.run.authority, f"{step}_undo"))
    return replace(
        undo,
        run=run,
        alternates=tuple(
            replace(each, authority=_authority(each.authority, f"{step}_undo_{each.name}"))
            for each in undo.alternates
        ),
        other_actions=tuple(_other_action(step, each) for each in undo.other_actions),
        settlement=_settlement(step, "undo", undo.settlement, run.authority),
        fixed_inputs=_inputs,
    )


def _other_action(step: str, action: OtherAction) -> OtherAction:
    own = _authority(action.run.authority, f"{step}_undo_{action.name}")
    return replace(
        action,
        run=_operation(step, action.name, "run", own),
        settlement=_settlement(step, action.name, action.settlement, own),
    )


def _settlement(step: str, what: str, declared: Settlement, authority: Authority) -> Settlement:
    status = _operation(step, what, "status", authority) if declared.status else None
    tombstone = _operation(step, what, "tombstone", authority) if declared.tombstone else None
    return replace(declared, status=status, tombstone=tombstone)


def _operation(step: str, what: str, does: Does, authority: Authority) -> Operation:
    return Operation(f"simulated.{step}:{what}_{does}", authority)


def _authority(declared: Authority, name: str) -> Authority:
    """What is done with a role's permissions alone gets a credential here, so that it can be taken away as well."""
    return Authority(scope=declared.scope, credential=declared.credential or name)


def _fact(fact: Fact) -> Fact:
    credential = fact.read.authority.credential or f"{fact.name}_read"
    authority = replace(fact.read.authority, credential=credential)
    return Fact(fact.name, Operation(FACT, authority), Circumstances, _anything)


def _anything(_: BaseModel) -> str:
    return "circumstances"


def _holds(_: BaseModel, circumstances: Circumstances | None) -> list[Violation]:
    if circumstances is not None and circumstances.hold:
        return []
    return [Violation("closed", "This does not hold any more.", "There is nothing left to do.")]


def _inputs(_: BaseModel, receipt: Receipt) -> Mapping[str, str]:
    return {"resource": receipt.resource}
