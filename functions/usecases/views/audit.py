"""The audit of a saga: who did what when, and what was seen, in the order in which it happened. Holds no token."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from functions.domain.approvals import Approval
from functions.domain.cases import Case
from functions.domain.ledger.records import (
    HISTORY_LENGTH,
    AttemptEntry,
    Forward,
    Head,
    Intent,
    Millis,
    StepRecord,
    Undo,
)
from functions.usecases.audit_saga import Gathered
from functions.usecases.views.saga import View, iso

Kind = Literal["saga", "forward", "undo", "approval", "case"]


class AuditEntry(View):
    """One thing that happened. `who` is a person, an agent or an execution; `ref` names the key, approval or case."""

    at: str | None
    until: str | None = None
    kind: Kind
    step: int | None = None
    name: str | None = None
    who: str | None = None
    what: str
    text: str | None = None
    ref: str | None = None
    facts: dict[str, str] = {}


class Audit(View):
    """All of it, the first thing first."""

    saga_id: str
    entries: list[AuditEntry]


def audit(gathered: Gathered) -> Audit:
    """The audit of what was gathered."""
    found = list(_all(gathered))
    # What happened in the same millisecond stays in the order of the records: saga, steps, approvals, cases.
    found.sort(key=lambda each: each[0])
    return Audit(saga_id=gathered.saga.head.saga_id, entries=[entry for _, entry in found])


Dated = Iterator[tuple[Millis, AuditEntry]]


def _all(gathered: Gathered) -> Dated:
    saga = gathered.saga
    yield from _head(saga.head)
    for step in saga.steps:
        yield from _forward(step, step.forward)
        if step.undo is not None:
            yield from _undo(step, step.undo)
    for approval in gathered.approvals:
        yield from _approval(approval)
    for case in gathered.cases:
        yield from _case(case, saga.steps[case.index].name if case.index is not None else None)


def _head(head: Head) -> Dated:
    origin = head.provenance
    facts = {"catalogue": head.catalogue, "plan": head.plan_digest, "request": head.request_id}
    if origin.owner is not None:
        facts["owner"] = origin.owner
    who = f"{origin.actor_type} {origin.actor}"
    yield _at(head.created_at, "saga", "admitted", who=who, facts=facts)
    if head.turned_at is not None:
        yield _at(head.turned_at, "saga", "turned back", text=head.reason)
    if head.ended_at is not None and head.outcome is not None:
        yield _at(head.ended_at, "saga", head.outcome.value, text=head.reason)


def _forward(step: StepRecord, command: Forward) -> Dated:
    seen = {} if command.receipt is None else {"receipt": command.receipt.resource}
    yield from _attempts(step, command, "forward", step.name, seen)


def _undo(step: StepRecord, command: Undo) -> Dated:
    seen = {} if command.result is None else {"result": command.result.resource}
    for earlier in command.replaced:
        under = command.model_copy(
            update={
                "key": earlier.key,
                "authority": earlier.authority,
                "history": earlier.history,
            }
        )
        yield from _attempts(step, under, "undo", earlier.operation, {})
    yield from _attempts(step, command, "undo", command.operation, seen)


def _attempts(
    step: StepRecord, command: Intent, kind: Kind, name: str, seen: dict[str, str]
) -> Dated:
    """Each attempt. A full history has kept the first one and the last: what is missing between them is said."""
    kept = command.history
    for number, entry in enumerate(kept):
        yield entry.started_at, _attempt(step, command, kind, name, entry, seen)
        if number == 0 and len(kept) >= HISTORY_LENGTH and kept[1].fence > entry.fence + 1:
            text = "attempts between the first and the next are no longer kept"
            yield _at(entry.started_at, kind, "left out", step=step.index, name=name, text=text)


def _attempt(
    step: StepRecord,
    command: Intent,
    kind: Kind,
    name: str,
    entry: AttemptEntry,
    seen: dict[str, str],
) -> AuditEntry:
    outcome = entry.outcome or "not reported"
    cause = f" ({entry.cause})" if entry.cause else ""
    authority = f"{command.authority.role}, scope {command.authority.scope}"
    return AuditEntry(
        at=iso(entry.started_at),
        until=iso(entry.ended_at),
        kind=kind,
        step=step.index,
        name=name,
        who=entry.by,
        what=f"{entry.purpose}: {outcome}{cause}",
        text=entry.reason,
        ref=command.key,
        facts={"authority": authority, **(seen if entry.outcome == "applied" else {})},
    )


def _approval(approval: Approval) -> Dated:
    about: dict[str, Any] = {"step": approval.index, "name": approval.step, "ref": approval.id}
    facts = {
        "group": approval.group,
        "needed": str(approval.needed),
        "until": iso(approval.expires_at) or "",
        "binds": approval.binds,
        "state": approval.state.value,
    }
    yield _at(approval.created_at, "approval", "asked", text=approval.reason, facts=facts, **about)
    if approval.reminded_at is not None:
        yield _at(approval.reminded_at, "approval", "asked once more", **about)
    for said in approval.decisions:
        yield _at(said.at, "approval", said.decision, who=said.person, text=said.reason, **about)


def _case(case: Case, name: str | None) -> Dated:
    about: dict[str, Any] = {"step": case.index, "name": name, "ref": case.id}
    facts = {"cause": case.cause.value, "group": case.group, "why": case.why}
    yield _at(case.created_at, "case", "opened", text=case.obligation, facts=facts, **about)
    for event in case.events:
        yield _at(
            event.at,
            "case",
            event.what,
            who=event.who,
            text=event.text,
            facts=dict(event.facts),
            **about,
        )


def _at(
    at: Millis,
    kind: Kind,
    what: str,
    *,
    step: int | None = None,
    name: str | None = None,
    who: str | None = None,
    text: str | None = None,
    ref: str | None = None,
    facts: dict[str, str] | None = None,
) -> tuple[Millis, AuditEntry]:
    made = AuditEntry(
        at=iso(at),
        kind=kind,
        step=step,
        name=name,
        who=who,
        what=what,
        text=text,
        ref=ref,
        facts=facts or {},
    )
    return at, made
