"""A saga as an agent sees it, and as people see it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel, ConfigDict

from functions.domain.ledger.records import (
    AttemptEntry,
    AuthorityReference,
    Direction,
    ForwardState,
    Provenance,
    Saga,
    StepRecord,
    Undo,
    UndoState,
)
from functions.domain.ledger.status import FINAL, Status, status
from functions.domain.outcome import Receipt


class View(BaseModel):
    """Something that is shown: closed in shape."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def iso(at: int | None) -> str | None:
    """Milliseconds since the epoch as ISO 8601 with milliseconds, UTC."""
    if not at:
        return None
    moment = datetime.fromtimestamp(at / 1000, tz=UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class AgentStep(View):
    """A step of one's own saga. `undo` says how far its undoing has come, where the saga is being undone."""

    index: int
    id: str
    name: str
    kind: str
    sentence: str
    state: ForwardState
    undo: UndoState | None
    reason: str | None
    notice: str | None


class AgentSaga(View):
    """One's own saga: enough to follow it and to explain how it ended."""

    saga_id: str
    request_id: str
    catalogue: str
    status: Status
    final: bool
    reason: str | None
    pivot: str
    steps: list[AgentStep]
    created_at: str | None
    updated_at: str | None
    ended_at: str | None


def agent_saga(saga: Saga) -> AgentSaga:
    """What the agent that submitted it may see."""
    head = saga.head
    now = status(saga)
    return AgentSaga(
        saga_id=head.saga_id,
        request_id=head.request_id,
        catalogue=head.catalogue,
        status=now,
        final=now in FINAL,
        reason=head.reason,
        pivot=head.pivot.value,
        steps=[
            _agent_step(step, turned=head.direction is Direction.COMPENSATING)
            for step in saga.steps
        ],
        created_at=iso(head.created_at),
        updated_at=iso(head.updated_at),
        ended_at=iso(head.ended_at),
    )


def _agent_step(step: StepRecord, *, turned: bool) -> AgentStep:
    last = next((e for e in reversed(step.forward.history) if e.outcome is not None), None)
    done = step.forward.state is ForwardState.COMPLETED
    return AgentStep(
        index=step.index,
        id=step.step_id,
        name=step.name,
        kind=step.kind.value,
        sentence=step.sentence,
        state=step.forward.state,
        undo=step.undo.state if step.undo and turned else None,
        reason=None if done or last is None else last.reason,
        notice=step.undo.notice if step.undo else None,
    )


class AttemptView(View):
    """One attempt: who made it, when, what came back."""

    fence: int
    purpose: str
    by: str
    started_at: str | None
    ended_at: str | None
    outcome: str | None
    cause: str | None
    reason: str | None


class CommandView(View):
    """A forward or an undo command with all of its history."""

    state: str
    key: str
    authority: AuthorityReference
    attempts: int
    budget: int
    unsettled: bool
    history: list[AttemptView]


class ForwardView(CommandView):
    """The step's effect."""

    barred: bool
    by_hand: bool
    receipt: Receipt | None


class UndoView(CommandView):
    """The step's compensation."""

    operation: str
    waits_for: list[int]
    inputs: dict[str, str] | None
    condition: str | None
    result: Receipt | None
    notice: str | None


class PeopleStep(View):
    """A step with both of its histories, correlated and distinct."""

    index: int
    id: str
    name: str
    version: str
    kind: str
    boundary: bool
    sentence: str
    arguments: str
    arguments_digest: str
    requires: dict[str, int]
    forward: ForwardView
    undo: UndoView | None
    case: str | None
    approval: str | None


class PeopleSaga(View):
    """A saga with everything that approvers and operators may see. `rationale` and `notes` are the agent's own words."""

    saga_id: str
    tenant: str
    request_id: str
    catalogue: str
    catalogue_version: str
    policy_version: str
    status: Status
    final: bool
    direction: str
    pivot: str
    reason: str | None
    provenance: Provenance
    rationale: str
    notes: list[str]
    machine: str | None
    execution: str | None
    steps: list[PeopleStep]
    created_at: str | None
    updated_at: str | None
    ended_at: str | None


class SagaSummary(View):
    """One line of a list of sagas."""

    saga_id: str
    request_id: str
    source_document_id: str
    catalogue: str
    status: Status
    reason: str | None
    created_at: str | None
    ended_at: str | None


def saga_summary(saga: Saga) -> SagaSummary:
    """One line of a list."""
    head = saga.head
    return SagaSummary(
        saga_id=head.saga_id,
        request_id=head.request_id,
        source_document_id=head.provenance.source_document_id,
        catalogue=head.catalogue,
        status=status(saga),
        reason=head.reason,
        created_at=iso(head.created_at),
        ended_at=iso(head.ended_at),
    )


def people_saga(saga: Saga) -> PeopleSaga:
    """Everything the ledger knows of a saga. It holds no credential and no token."""
    head = saga.head
    now = status(saga)
    return PeopleSaga(
        saga_id=head.saga_id,
        tenant=head.tenant,
        request_id=head.request_id,
        catalogue=head.catalogue,
        catalogue_version=head.catalogue_version,
        policy_version=head.policy_version,
        status=now,
        final=now in FINAL,
        direction=head.direction.value,
        pivot=head.pivot.value,
        reason=head.reason,
        provenance=head.provenance,
        rationale=head.rationale,
        notes=list(head.notes),
        machine=head.machine,
        execution=head.execution,
        steps=[_people_step(step) for step in saga.steps],
        created_at=iso(head.created_at),
        updated_at=iso(head.updated_at),
        ended_at=iso(head.ended_at),
    )


def _people_step(step: StepRecord) -> PeopleStep:
    return PeopleStep(
        index=step.index,
        id=step.step_id,
        name=step.name,
        version=step.step_version,
        kind=step.kind.value,
        boundary=step.boundary,
        sentence=step.sentence,
        arguments=step.arguments,
        arguments_digest=step.arguments_digest,
        requires=step.requires,
        forward=ForwardView(
            **_command(step.forward, step.forward.state.value),
            barred=step.forward.barred,
            by_hand=step.forward.by_hand,
            receipt=step.forward.receipt,
        ),
        undo=_undo(step.undo) if step.undo else None,
        case=step.case,
        approval=step.approval,
    )


def _undo(undo: Undo) -> UndoView:
    return UndoView(
        **_command(undo, undo.state.value),
        operation=undo.operation,
        waits_for=list(undo.waits_for),
        inputs=undo.inputs,
        condition=undo.condition,
        result=undo.result,
        notice=undo.notice,
    )


def _command(command: Any, state: str) -> dict[str, Any]:
    return {
        "state": state,
        "key": command.key,
        "authority": command.authority,
        "attempts": command.attempts,
        "budget": command.budget,
        "unsettled": command.unsettled,
        "history": [_attempt(entry) for entry in command.history],
    }


def _attempt(entry: AttemptEntry) -> AttemptView:
    return AttemptView(
        fence=entry.fence,
        purpose=entry.purpose,
        by=entry.by,
        started_at=iso(entry.started_at),
        ended_at=iso(entry.ended_at),
        outcome=entry.outcome,
        cause=entry.cause,
        reason=entry.reason,
    )
