"""Settling a case: one transaction over case, step and head; then the saga is driven again from the ledger."""

from __future__ import annotations

from dataclasses import dataclass

from functions.domain import cases
from functions.domain.cases import AlreadySettled, Case, CaseCause, NotAllowed, NotHeld, Resolution
from functions.domain.evidence import may_be_done_by_hand
from functions.domain.ledger import forward
from functions.domain.ledger import head as heads
from functions.domain.ledger import undo as undos
from functions.domain.ledger.records import (
    Direction,
    ForwardState,
    Head,
    Millis,
    Pivot,
    Saga,
    StepRecord,
)
from functions.domain.outcome import Receipt
from functions.ports import Change, Clock, Stale, Store
from functions.usecases.records import changed, read_case, read_saga

TRIES = 20


@dataclass(frozen=True, slots=True)
class Settled:
    """The case as it was settled."""

    case: Case


@dataclass(frozen=True, slots=True)
class AttemptAlive:
    """Somebody's attempt may still be running, or a late effect is still possible: wait until then."""

    until: Millis


Answer = Settled | AlreadySettled | NotHeld | NotAllowed | AttemptAlive


def resolve_case(
    store: Store,
    clock: Clock,
    case_id: str,
    *,
    tenants: frozenset[str],
    person: str,
    groups: frozenset[str],
    resolution: Resolution,
    evidence: str | None,
    settles_after: int,
) -> Answer | None:
    """Settle a case that this person holds; None if these groups of these tenants own no case by that id.

    `retry` gives the step one more attempt under its own key. `done` records that a person has done it by hand, and
    `did_not_happen` that a person found no effect of an unknown call, both with `evidence` in words. `settles_after` is the step's, in milliseconds: before a late effect has become impossible
    nobody can say that they did it instead.
    """
    for _ in range(TRIES):
        case = read_case(store, case_id)
        if case is None or case.tenant not in tenants or case.group not in groups:
            return None
        now = clock.now()
        settled = cases.settle(case, person=person, resolution=resolution, text=evidence, now=now)
        if not isinstance(settled, Case):
            return settled
        changes: list[Change] = [changed(case, settled)]
        if case.saga_id is not None:
            saga = read_saga(store, case.saga_id)
            if saga is None:
                return None
            more = _saga_changes(saga, case, resolution, evidence, now, settles_after)
            if isinstance(more, AttemptAlive | NotAllowed):
                return more
            changes += more
        try:
            store.write(changes)
        except Stale:
            continue
        return Settled(settled.model_copy(update={"version": case.version + 1}))
    raise Stale({})


def _saga_changes(
    saga: Saga,
    case: Case,
    resolution: Resolution,
    evidence: str | None,
    now: Millis,
    settles_after: int,
) -> list[Change] | AttemptAlive | NotAllowed:
    if case.index is None:
        head = _fresh_drivers(_released(saga, None, now))
        return [changed(saga.head, heads.want(head, "resume", now=now))]
    step = saga.steps[case.index]
    if resolution is Resolution.DONE and not may_be_done_by_hand(saga.head, step):
        return NotAllowed((Resolution.RETRY,))
    alive = _alive(step, now, settles_after, by_hand=resolution is not Resolution.RETRY)
    if alive is not None:
        return alive
    after = _resolved(step, case, resolution, evidence, now)
    after = after.model_copy(update={"case": None})
    return [changed(step, after), changed(saga.head, _driven(saga, after, now))]


def _alive(
    step: StepRecord, now: Millis, settles_after: int, *, by_hand: bool
) -> AttemptAlive | None:
    until = max(step.forward.lease_until, step.undo.lease_until if step.undo else 0)
    if by_hand and forward.is_unsettled(step.forward):
        until = max(until, forward.settles_at(step.forward, settles_after))
    if by_hand and step.undo is not None and undos.undo_unsettled(step.undo):
        until = max(until, step.undo.deadline + settles_after)
    return AttemptAlive(until) if now < until else None


def _resolved(
    step: StepRecord, case: Case, resolution: Resolution, evidence: str | None, now: Millis
) -> StepRecord:
    if case.direction == "undo":
        return _undo_resolved(step, resolution)
    if case.cause is CaseCause.SECOND_EFFECT:
        # The person has dealt with the second effect; the first is still the saga's.
        return step
    if step.forward.state is ForwardState.COMPLETED:
        return _late_resolved(step, resolution)
    if resolution is Resolution.RETRY:
        return forward.reopen(step)
    if resolution is Resolution.DID_NOT_HAPPEN:
        return forward.found_absent(step)
    return forward.complete_by_hand(
        step, Receipt(resource=f"by hand: {case.id}", details=_words(evidence)), now=now
    )


def _undo_resolved(step: StepRecord, resolution: Resolution) -> StepRecord:
    if undos.is_settled(step):
        # An attempt that had been given up has reported success after all.
        return step
    unknown_effect = forward.is_unsettled(step.forward)
    if resolution is Resolution.DID_NOT_HAPPEN and unknown_effect:
        return undos.reopen(forward.found_absent(step))
    if resolution is Resolution.DID_NOT_HAPPEN:
        return undos.found_absent(step)
    if resolution is Resolution.RETRY:
        return undos.reopen(forward.ask_again(step) if unknown_effect else step)
    return undos.resolve(step, accepted=False)


def _late_resolved(step: StepRecord, resolution: Resolution) -> StepRecord:
    if step.undo is None or undos.is_settled(step) or resolution is Resolution.RETRY:
        return step
    return undos.resolve(step, accepted=False)


def _words(evidence: str | None) -> dict[str, str]:
    return {"evidence": evidence[:500]} if evidence else {}


def _released(saga: Saga, settled: int | None, now: Millis) -> Head:
    """The head, in nobody's hands any more if this was the last open case."""
    others = any(s.case is not None and s.index != settled for s in saga.steps)
    return saga.head if others else heads.release(saga.head, now=now)


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
        return heads.rest(head)
    return heads.want(_fresh_drivers(head), "resume", now=now)


def _owes(head: Head, steps: tuple[StepRecord, ...]) -> bool:
    compensating = head.direction is Direction.COMPENSATING
    return compensating and not all(undos.is_settled(step) for step in steps)


def _fresh_drivers(head: Head) -> Head:
    """A person has looked at it: automation may try as often as at the beginning."""
    return head.model_copy(update={"drivers_left": heads.DRIVERS})
