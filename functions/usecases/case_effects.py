"""What a resolution does to the saga: to the step that the case is about, and to the head."""

from __future__ import annotations

from dataclasses import dataclass

from functions.domain.cases import Case, CaseCause, NotAllowed, Proposal, Resolution
from functions.domain.evidence import may_be_done_by_hand, other_actions
from functions.domain.ledger import by_person, forward
from functions.domain.ledger import head as heads
from functions.domain.ledger import undo as undos
from functions.domain.ledger.records import (
    Direction,
    ForwardState,
    Head,
    Millis,
    Pivot,
    ReplacedAction,
    Saga,
    StepRecord,
    Substitution,
    UndoState,
)
from functions.domain.outcome import Receipt
from functions.ports import Change
from functions.usecases.records import changed


@dataclass(frozen=True, slots=True)
class AttemptAlive:
    """Somebody's attempt may still be running, or a late effect is still possible: wait until then."""

    until: Millis


@dataclass(frozen=True, slots=True)
class Agreement:
    """What a person has settled a case with: in words, and where it takes two, what was proposed and who agreed."""

    resolution: Resolution
    evidence: str | None
    proposal: Proposal | None = None
    confirmed_by: str | None = None


_ASKS_AGAIN = frozenset({Resolution.RETRY, Resolution.RETRY_WITH_ALTERNATE})


def saga_changes(
    saga: Saga, case: Case, agreed: Agreement, now: Millis, settles_after: int
) -> list[Change] | AttemptAlive | NotAllowed:
    """The writes that go with the case's own: refused while an attempt of the step is alive."""
    if case.index is None:
        # On the functions of today's deployment: those that it began with could not bring it to its end.
        head = _fresh_drivers(_released(saga, None, now)).model_copy(update={"machine": None})
        return [changed(saga.head, heads.want(head, "resume", now=now))]
    step = saga.steps[case.index]
    if agreed.resolution is Resolution.DONE and not may_be_done_by_hand(saga.head, step):
        return NotAllowed((Resolution.RETRY,))
    by_hand = agreed.resolution not in _ASKS_AGAIN
    waits = alive(step, now, settles_after, by_hand=by_hand)
    if waits is not None:
        return waits
    if agreed.resolution is Resolution.ANOTHER_ACTION and not other_actions(step):
        # It has landed, or may have: that it did not is said first, and has a case of its own after that.
        return NotAllowed(tuple(r for r in case.allowed if r is not Resolution.ANOTHER_ACTION))
    after = _resolved(step, case, agreed, now).model_copy(update={"case": None})
    head = _driven(saga, after, now)
    if agreed.resolution is Resolution.ACCEPT and _remains(step, case):
        head = heads.accept(head, now=now)
    return [changed(step, after), changed(saga.head, head)]


def _remains(step: StepRecord, case: Case) -> bool:
    """Whether something is left that one could accept: an undo that has succeeded meanwhile leaves nothing."""
    return case.direction == "do" or not undos.is_settled(step)


def alive(
    step: StepRecord, now: Millis, settles_after: int, *, by_hand: bool
) -> AttemptAlive | None:
    """Until when nobody may act on the step; `by_hand`: nothing of an earlier call may arrive any more either."""
    until = max(step.forward.lease_until, step.undo.lease_until if step.undo else 0)
    if by_hand and forward.is_unsettled(step.forward):
        until = max(until, forward.settles_at(step.forward, settles_after))
    if by_hand and step.undo is not None and undos.undo_unsettled(step.undo):
        until = max(until, step.undo.deadline + settles_after)
    return AttemptAlive(until) if now < until else None


def _resolved(step: StepRecord, case: Case, agreed: Agreement, now: Millis) -> StepRecord:
    resolution, evidence = agreed.resolution, agreed.evidence
    if case.direction == "undo":
        return _undo_resolved(step, case, agreed, now)
    if case.cause is CaseCause.SECOND_EFFECT:
        # The person has dealt with the second effect; the first is still the saga's.
        return step
    if step.forward.state is ForwardState.COMPLETED:
        return _late_resolved(step, resolution)
    if resolution is Resolution.RETRY:
        return by_person.retry(step)
    if resolution is Resolution.DID_NOT_HAPPEN:
        return by_person.found_absent(step)
    return by_person.complete(
        step, Receipt(resource=f"by hand: {case.id}", details=_words(evidence)), now=now
    )


def _undo_resolved(step: StepRecord, case: Case, agreed: Agreement, now: Millis) -> StepRecord:
    resolution = agreed.resolution
    if undos.is_settled(step):
        # An attempt that had been given up has reported success after all.
        return step
    unknown_effect = forward.is_unsettled(step.forward)
    if resolution is Resolution.DID_NOT_HAPPEN and unknown_effect:
        return by_person.retry_undo(by_person.found_absent(step))
    if resolution is Resolution.DID_NOT_HAPPEN:
        return by_person.undo_found_absent(step)
    if resolution is Resolution.RETRY:
        return by_person.retry_undo(by_person.ask_again(step) if unknown_effect else step)
    if resolution is Resolution.RETRY_WITH_ALTERNATE:
        return by_person.retry_undo_under(step, _substitution(step, case, agreed, now))
    if resolution is Resolution.ANOTHER_ACTION:
        return by_person.undo_otherwise(step, _replacement(step, case, agreed, now))
    return by_person.settle_undo(step, accepted=resolution is Resolution.ACCEPT)


def _replacement(step: StepRecord, case: Case, agreed: Agreement, now: Millis) -> ReplacedAction:
    proposal, second, undo = agreed.proposal, agreed.confirmed_by, step.undo
    if undo is None or proposal is None or proposal.action is None or second is None:
        raise ValueError(f"{case.id}: two people have to agree to another action")
    return ReplacedAction(
        at=now,
        case=case.id,
        proposed_by=proposal.by,
        confirmed_by=second,
        operation=undo.operation,
        key=undo.key,
        authority=undo.authority,
        attempts=undo.attempts,
        since=undo.since,
        history=undo.history,
        instead=proposal.action.name,
    )


def _substitution(step: StepRecord, case: Case, agreed: Agreement, now: Millis) -> Substitution:
    proposal, second = agreed.proposal, agreed.confirmed_by
    if step.undo is None or proposal is None or proposal.alternate is None or second is None:
        raise ValueError(f"{case.id}: two people have to agree to another authority")
    return Substitution(
        at=now,
        case=case.id,
        proposed_by=proposal.by,
        confirmed_by=second,
        instead_of=step.undo.authority,
        authority=proposal.alternate,
    )


def _late_resolved(step: StepRecord, resolution: Resolution) -> StepRecord:
    if undos.is_settled(step) or resolution is Resolution.RETRY:
        return step
    return by_person.settle_undo(step, accepted=resolution is Resolution.ACCEPT)


def _words(evidence: str | None) -> dict[str, str]:
    return {"evidence": evidence[:500]} if evidence else {}


def _released(saga: Saga, settled: int | None, now: Millis) -> Head:
    """The head, in nobody's hands any more if this was the last open case."""
    others = [s for s in saga.steps if s.case is not None and s.index != settled]
    if not others:
        return heads.release(saga.head, now=now)
    undoing = all(s.undo is not None and s.undo.state is UndoState.BLOCKED for s in others)
    return heads.keep_blocked(saga.head, now=now) if undoing else saga.head


def _driven(saga: Saga, after: StepRecord, now: Millis) -> Head:
    head = _released(saga, after.index, now)
    done = after.forward.state is ForwardState.COMPLETED
    if after.boundary and done and head.pivot is Pivot.CROSSING:
        head = heads.crossed(head, now=now, last=False)
    steps = tuple(after if s.index == after.index else s for s in saga.steps)
    finished = all(s.forward.state is ForwardState.COMPLETED for s in steps)
    if head.direction is Direction.FINISHING and finished and head.outcome is None:
        return heads.complete(head, now=now)
    if head.outcome is not None and not _owes(head, steps):
        return heads.close(head, now=now)
    return heads.want(_fresh_drivers(head), "resume", now=now)


def _owes(head: Head, steps: tuple[StepRecord, ...]) -> bool:
    compensating = head.direction is Direction.COMPENSATING
    return compensating and not all(undos.is_settled(step) for step in steps)


def _fresh_drivers(head: Head) -> Head:
    """A person has looked at it: automation may try as often as at the beginning."""
    return head.model_copy(update={"drivers_left": heads.DRIVERS})
