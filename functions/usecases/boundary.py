"""Before the boundary starts for the first time: everything that must hold, and the one transaction that starts it.

Asked in the pivot's own function, just before it runs: an approval is for exactly this, conditions may have changed while
people thought (seed one, "Stale approval").
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from functions.domain import approvals, permission
from functions.domain.approvals import Approval, ApprovalState, approval_id, bound_digest
from functions.domain.calls import FactUnavailable
from functions.domain.catalogue import Kind
from functions.domain.ledger import forward
from functions.domain.ledger import head as heads
from functions.domain.ledger.records import Head, StepRecord
from functions.domain.outcome import Receipt
from functions.domain.permission import Wanted
from functions.domain.policy import Allowed, Forbidden, NeedsApproval
from functions.ports import Change, DirectoryUnavailable, Stale
from functions.usecases import errors
from functions.usecases.ask_policy import ask_policy
from functions.usecases.records import changed, created, read_approval
from functions.usecases.world import StepRef, StepWorld, millis


@dataclass(frozen=True, slots=True)
class Start:
    """What is about to run: the step's record, the results bound to it, and the digest of both."""

    world: StepWorld
    ref: StepRef
    record: StepRecord
    results: Mapping[str, Receipt]
    digest: str

    @property
    def arguments(self) -> Any:
        """The validated arguments, as the step's own model."""
        return self.world.step.arguments.model_validate_json(self.record.arguments)


def first_start(start: Start, head: Head) -> list[Change]:
    """The changes that go with the boundary's first claim: the head's crossing, and the approval's one use.

    Raises StepBarred where the saga has turned, StepRefused where something does not hold, ApprovalRequired where
    people have to agree first, NotAppliedYet where a fact can not be read just now.
    """
    if not heads.may_cross(head):
        raise errors.StepBarred(f"{start.record.forward.key}: the saga no longer goes forward")
    now = start.world.clock.now()
    facts = _facts(start)
    _hold_preconditions(start, facts)
    crossing = changed(head, heads.cross(head, now=now))
    if start.world.step.kind is not Kind.PIVOT:
        return [crossing]
    return [crossing, *_approved(start, head, facts, now)]


def after_start(head: Head, now: int) -> Head:
    """The head as the first start has left it."""
    return heads.cross(head, now=now).model_copy(update={"version": head.version + 1})


def _facts(start: Start) -> dict[str, Any]:
    catalogue, step = start.world.catalogue, start.world.step
    wanted = {p.fact for p in catalogue.preconditions if p.name in step.preconditions}
    arguments = start.arguments
    try:
        return {
            fact.name: start.world.targets.fact(fact, fact.query(arguments), step.call_timeout)
            for fact in catalogue.facts
            if fact.name in wanted
        }
    except FactUnavailable as unavailable:
        raise errors.NotAppliedYet(f"{start.record.forward.key}: {unavailable}") from unavailable


def _hold_preconditions(start: Start, facts: dict[str, Any]) -> None:
    arguments = start.arguments
    for precondition in start.world.catalogue.preconditions:
        if precondition.name not in start.world.step.preconditions:
            continue
        violations = precondition.check(arguments, facts[precondition.fact])
        if violations:
            _refuse(start, violations[0].message)


def _refuse(start: Start, reason: str) -> NoReturn:
    world, record = start.world, start.record
    refused = forward.refuse_before_call(
        record, now=world.clock.now(), reason=reason, by=start.ref.execution
    )
    try:
        world.store.write([changed(record, refused)])
    except Stale as stale:
        raise errors.NotAppliedYet(f"{record.forward.key}: changed meanwhile") from stale
    raise errors.StepRefused(f"{record.forward.key}: {reason}")


def _approved(start: Start, head: Head, facts: dict[str, Any], now: int) -> list[Change]:
    verdict = ask_policy(
        start.world.targets.adapters,
        start.world.catalogue,
        start.world.step,
        arguments=start.arguments,
        results=start.results,
        facts=facts,
        now=now,
    )
    match verdict:
        case Allowed():
            return []
        case Forbidden(reason=reason):
            _refuse(start, reason)
        case NeedsApproval():
            return _use_approval(start, head, verdict, now)


def _use_approval(start: Start, head: Head, verdict: NeedsApproval, now: int) -> list[Change]:
    record = start.record
    binds = _binds(start, head)
    latest = read_approval(start.world.store, record.approval)
    if latest is None:
        raise _asked(start, head, verdict, now)
    wanted = Wanted(binds=binds, needed=verdict.approvers, group=verdict.group, now=now)
    if permission.permits(latest, wanted):
        revoked = _revoked(start, latest)
        if permission.permits(latest, wanted, revoked=revoked):
            return [changed(latest, approvals.consume(latest, now))]
        raise _asked(start, head, verdict, now, latest, permission.whose_yes_lapsed(revoked))
    if latest.state is ApprovalState.OPEN and latest.binds == binds:
        raise errors.ApprovalRequired(latest.id)
    if denial := approvals.denial(latest, now):
        _refuse(start, denial)
    raise _asked(start, head, verdict, now, latest, permission.why_again(latest, wanted))


def _revoked(start: Start, approval: Approval) -> list[str]:
    """Who has agreed and may no longer: a membership that was revoked counts. Asked of the directory, never assumed."""
    try:
        return [
            person
            for person in permission.agreed(approval)
            if not permission.may_decide(approval, start.world.directory.groups(person))
        ]
    except DirectoryUnavailable as unavailable:
        told = f"{start.record.forward.key}: nobody can say who may still approve"
        raise errors.NotAppliedYet(told) from unavailable


def _binds(start: Start, head: Head) -> str:
    return bound_digest(
        tenant=head.tenant,
        saga_id=head.saga_id,
        step=start.record,
        forward_digest=start.digest,
        catalogue_version=head.catalogue_version,
        policy_version=start.world.catalogue.policy_version,
    )


def _asked(
    start: Start,
    head: Head,
    verdict: NeedsApproval,
    now: int,
    latest: Approval | None = None,
    again: str | None = None,
) -> errors.ApprovalRequired:
    world, record = start.world, start.record
    if record.rounds >= approvals.MOST_ROUNDS:
        _refuse(start, "people were asked often enough")
    approval = _question(start, head, verdict, now, again)
    asked = record.model_copy(update={"approval": approval.id, "rounds": approval.round})
    changes = [changed(record, asked), created(approval)]
    if latest is not None and latest.state in {ApprovalState.OPEN, ApprovalState.APPROVED}:
        # Nobody is to think about a question that no longer lets anything run.
        closed = approvals.close(latest, now, superseded_by=approval.id)
        changes.append(changed(latest, closed))
    try:
        world.store.write(changes)
    except Stale as stale:
        raise errors.NotAppliedYet(f"{start.record.forward.key}: changed meanwhile") from stale
    return errors.ApprovalRequired(approval.id)


def _question(
    start: Start, head: Head, verdict: NeedsApproval, now: int, again: str | None
) -> Approval:
    record = start.record
    round_ = record.rounds + 1
    within = min(verdict.within, start.world.catalogue.longest_wait)
    expires_at = now + millis(within)
    people = (head.provenance.actor, head.provenance.owner)
    return Approval(
        id=approval_id(record.saga_id, record.index, round_),
        saga_id=record.saga_id,
        index=record.index,
        round=round_,
        tenant=head.tenant,
        catalogue=head.catalogue,
        step=record.name,
        group=verdict.group,
        needed=verdict.approvers,
        reason=verdict.reason,
        sentence=record.sentence,
        arguments=record.arguments,
        binds=_binds(start, head),
        excluded=tuple(p for p in people if p is not None),
        again=again,
        created_at=now,
        expires_at=expires_at,
        open=f"approval#{head.tenant}",
        due_shard=heads.due_shard(record.saga_id),
        due_at=approvals.half_time(now, expires_at),
    )
