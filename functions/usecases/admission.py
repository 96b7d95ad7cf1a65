"""From a validated plan to what the ledger holds before anything runs: the head, and every step prepared.

The undo's operation, key and authority are durable before any effect; its inputs and condition are completed in the
write that records the receipt (seed two, "Record the undo before the next side effect").
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from functions.domain.catalogue import Kind, Step
from functions.domain.keys import forward_key, undo_key
from functions.domain.ledger import head as heads
from functions.domain.ledger.records import (
    AuthorityReference,
    Forward,
    Head,
    Pivot,
    Provenance,
    StepRecord,
    Undo,
)
from functions.domain.ledger.undo_authority import declared_actions, undo_authorities
from functions.domain.problems import clean
from functions.domain.validation import Validated, ValidatedStep


@dataclass(frozen=True, slots=True)
class Actor:
    """Who submits, from the token: tenant, the agent's registered name, and who answers for it."""

    tenant: str
    name: str
    kind: str
    owner: str | None = None


@dataclass(frozen=True, slots=True)
class Admission:
    """The records of a new saga."""

    head: Head
    steps: tuple[StepRecord, ...]


def admit(
    validated: Validated, *, saga_id: str, actor: Actor, plan_digest: str, now: int
) -> Admission:
    """The records of a plan that may run. `now` in milliseconds since the epoch."""
    catalogue, plan, shape = validated.catalogue, validated.plan, validated.shape
    head = Head(
        saga_id=saga_id,
        tenant=actor.tenant,
        request_id=plan.request_id,
        catalogue=catalogue.name,
        catalogue_version=catalogue.version,
        policy_version=catalogue.policy_version,
        plan_digest=plan_digest,
        step_count=len(validated.steps),
        provenance=Provenance(
            actor_type=actor.kind,
            actor=actor.name,
            owner=actor.owner,
            **plan.provenance.model_dump(),
        ),
        rationale=plan.rationale,
        notes=plan.notes,
        approvers=catalogue.approvers,
        operators=catalogue.operators,
        pivot=Pivot.NONE if shape.boundary is None else Pivot.AHEAD,
        created_at=now,
        updated_at=now,
        listed=actor.tenant,
        retain_for=_longest(validated),
    )
    steps = tuple(_prepared(validated, each, saga_id) for each in validated.steps)
    return Admission(heads.want(head, "start", now=now), steps)


def _longest(validated: Validated) -> int:
    """What a step needs to be known of is needed of its whole saga. In milliseconds."""
    longest = max(each.step.retain_for for each in validated.steps)
    return math.ceil(longest.total_seconds()) * 1000


def _prepared(validated: Validated, each: ValidatedStep, saga_id: str) -> StepRecord:
    step, catalogue = each.step, validated.catalogue.name
    boundary = validated.shape.boundary == each.index
    return StepRecord(
        saga_id=saga_id,
        index=each.index,
        step_id=each.id,
        name=step.name,
        step_version=step.version,
        kind=step.kind,
        boundary=boundary,
        last=each.index == len(validated.steps) - 1,
        arguments=each.canonical_arguments,
        arguments_digest=each.arguments_digest,
        requires=dict(each.requires),
        sentence=clean(step.sentence.format(**each.arguments.model_dump())),
        forward=Forward(
            key=forward_key(saga_id, each.index),
            authority=AuthorityReference.of(f"{catalogue}-{step.name}-run", step.run.authority),
            budget=step.retry.attempts,
            # What is bound to a step enters its digest at the claim; without that it stands now.
            digest=None if each.requires else each.arguments_digest,
        ),
        undo=_undo(validated, each, saga_id) if step.kind is Kind.COMPENSABLE else None,
    )


def _undo(validated: Validated, each: ValidatedStep, saga_id: str) -> Undo | None:
    step: Step = each.step
    if step.undo is None:
        return None
    own, others = undo_authorities(validated.catalogue.name, step.name, step.undo)
    return Undo(
        key=undo_key(saga_id, each.index),
        authority=own,
        alternates=others,
        other_actions=declared_actions(validated.catalogue.name, step.name, step.undo),
        budget=step.undo.retry.attempts,
        operation=step.undo.name,
        waits_for=tuple(sorted(validated.shape.steps[each.index].undo_waits_for)),
        needs_person=step.undo.needs_person,
    )
