"""The undo command's transitions. The same claim, lease, fence and settling as forward, towards the opposite end."""

from __future__ import annotations

from dataclasses import dataclass

from functions.domain.ledger.forward import (
    SETTLINGS,
    Busy,
    IllegalTransition,
    Lease,
    SettleFirst,
    Stop,
    Stopped,
    is_unsettled,
    never_happened,
    settles_at,
)
from functions.domain.ledger.records import (
    AttemptEntry,
    Direction,
    ForwardState,
    Millis,
    Saga,
    StepRecord,
    Undo,
    UndoState,
)
from functions.domain.outcome import (
    Applied,
    Finding,
    NotApplied,
    NotFound,
    Outcome,
    Refused,
    Tombstoned,
    Unknown,
    UnknownCause,
)

_S = UndoState
TRANSITIONS: dict[UndoState, frozenset[UndoState]] = {
    _S.PENDING: frozenset({_S.RUNNING, _S.NOT_NEEDED, _S.BLOCKED, _S.RESOLVED, _S.ACCEPTED}),
    _S.RUNNING: frozenset({_S.RUNNING, _S.SUCCEEDED, _S.PENDING, _S.BLOCKED, _S.UNKNOWN}),
    _S.UNKNOWN: frozenset(
        {
            _S.UNKNOWN,
            _S.RUNNING,
            _S.SUCCEEDED,
            _S.PENDING,
            _S.BLOCKED,
            _S.RESOLVED,
            _S.ACCEPTED,
        }
    ),
    _S.BLOCKED: frozenset({_S.PENDING, _S.UNKNOWN, _S.SUCCEEDED, _S.RESOLVED, _S.ACCEPTED}),
    _S.NOT_NEEDED: frozenset({_S.PENDING}),
    _S.SUCCEEDED: frozenset(),
    # Only by an effect that turns up after somebody said that there was none.
    _S.RESOLVED: frozenset({_S.PENDING}),
    _S.ACCEPTED: frozenset(),
}

SETTLED = frozenset({_S.SUCCEEDED, _S.NOT_NEEDED, _S.RESOLVED, _S.ACCEPTED})
"""States in which a step owes nothing any more."""


@dataclass(frozen=True, slots=True)
class Undone:
    """Nothing is left to do for this step."""


@dataclass(frozen=True, slots=True)
class NotNeeded:
    """There was never an effect: write this record."""

    record: StepRecord


@dataclass(frozen=True, slots=True)
class SettleForward:
    """A forward call may still have landed: settle it first."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """Undos of these steps have to be settled before."""

    on: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class UndoProceed:
    """The claim: write this record, then make the call under its fence."""

    record: StepRecord


UndoDecision = (
    Undone | NotNeeded | SettleForward | Waiting | UndoProceed | Busy | SettleFirst | Stopped
)


def moved(record: StepRecord, state: UndoState, **changes: object) -> StepRecord:
    """The record with its undo in that state. Raises IllegalTransition where the table knows no such move."""
    undo = record.undo
    if undo is None or state not in TRANSITIONS[undo.state]:
        now = undo.state if undo else "none"
        raise IllegalTransition(f"undo of {record.name}: {now} -> {state}")
    return record.model_copy(update={"undo": undo.model_copy(update={"state": state, **changes})})


def unmet(saga: Saga, index: int) -> tuple[int, ...]:
    """The steps whose undo must be settled before that of step `index`, and is not."""
    undo = saga.steps[index].undo
    waits = undo.waits_for if undo else ()
    return tuple(w for w in waits if not is_settled(saga.steps[w]))


def is_settled(step: StepRecord) -> bool:
    """Whether the step owes no compensation."""
    return step.undo is None or step.undo.state in SETTLED


def came_too_late(step: StepRecord) -> bool:
    """Whether the known effect is one that nobody had accounted for: a person may have undone it by hand already."""
    return step.late is not None and not step.doubled


def claim(
    saga: Saga, index: int, *, now: Millis, lease: Lease, by: str, settled: bool = False
) -> UndoDecision:
    """Ask to undo step `index`. `settled` says that a repeat under the same undo key is known to be safe."""
    record = saga.steps[index]
    undo = record.undo
    if undo is None:
        raise IllegalTransition(f"{record.name} has no undo")
    if saga.head.direction is not Direction.COMPENSATING:
        return Stopped(Stop.BARRED)
    if undo.state in SETTLED:
        return Undone()
    if record.case is not None or came_too_late(record):
        return Stopped(Stop.CASE_OPEN)
    if record.forward.state is not ForwardState.COMPLETED:
        return _claim_without_effect(record, now)
    return _claim_owed(saga, record, undo, now=now, lease=lease, by=by, settled=settled)


def _claim_without_effect(record: StepRecord, now: Millis) -> UndoDecision:
    forward = record.forward
    if now < forward.lease_until:
        return Busy(forward.lease_until)
    if is_unsettled(forward):
        return SettleForward()
    return NotNeeded(moved(record, UndoState.NOT_NEEDED))


def _claim_owed(
    saga: Saga,
    record: StepRecord,
    undo: Undo,
    *,
    now: Millis,
    lease: Lease,
    by: str,
    settled: bool,
) -> UndoDecision:
    if waits := unmet(saga, record.index):
        return Waiting(waits)
    if now < undo.lease_until:
        return Busy(undo.lease_until)
    if undo.state is UndoState.BLOCKED or undo.conflicted:
        return Stopped(Stop.KEY_CONFLICT if undo.conflicted else Stop.REFUSED)
    if undo.needs_person or undo.inputs is None:
        return Stopped(Stop.PERSON_NEEDED)
    if undo_unsettled(undo) and not settled:
        return SettleFirst()
    if undo.attempts >= undo.budget:
        return Stopped(Stop.BUDGET_SPENT)
    return UndoProceed(_claimed(record, undo, "call", now, lease, by))


def undo_unsettled(undo: Undo) -> bool:
    """Whether some undo call may have landed that nobody has accounted for."""
    return undo.unsettled or undo.state is UndoState.RUNNING


def _claimed(
    record: StepRecord, undo: Undo, purpose: str, now: Millis, lease: Lease, by: str
) -> StepRecord:
    calling = purpose == "call"
    fence = undo.fence + 1
    entry = AttemptEntry(
        fence=fence, purpose="call" if calling else "settle", started_at=now, by=by
    )
    return moved(
        record,
        UndoState.RUNNING if calling else UndoState.UNKNOWN,
        fence=fence,
        attempts=undo.attempts + (1 if calling else 0),
        settlings=undo.settlings + (0 if calling else 1),
        unsettled=undo_unsettled(undo),
        lease_until=now + lease.call + lease.grace,
        deadline=now + lease.call if calling else undo.deadline,
        history=undo.entered(entry),
    )


def settle_claim(record: StepRecord, *, now: Millis, lease: Lease, by: str) -> UndoDecision:
    """Ask to find out what became of the undo's calls."""
    undo = record.undo
    if undo is None or undo.state in SETTLED:
        return Undone()
    if now < undo.lease_until:
        return Busy(undo.lease_until)
    if undo.settlings >= SETTLINGS:
        return Stopped(Stop.PERSON_NEEDED)
    return UndoProceed(_claimed(record, undo, "settle", now, lease, by))


def conclude(record: StepRecord, fence: int, outcome: Outcome, *, now: Millis) -> StepRecord | None:
    """Record what an undo call answered. None: nothing to change. Applied under our key counts however late."""
    undo = record.undo
    if undo is not None and isinstance(outcome, Applied) and fence < undo.since:
        return _overtaken(record, undo, fence, outcome, now)
    if undo is None or undo.state in SETTLED:
        return None
    if isinstance(outcome, Applied):
        return _succeeded(record, undo, outcome, now)
    if fence != undo.fence or undo.state is not UndoState.RUNNING:
        return None
    match outcome:
        case Refused(reason=reason, cause=why):
            cause: str | None = why.value
            state = UndoState.UNKNOWN if undo.unsettled else UndoState.BLOCKED
            unsettled = undo.unsettled
        case NotApplied(reason=reason):
            cause = None
            state = UndoState.UNKNOWN if undo.unsettled else UndoState.PENDING
            unsettled = undo.unsettled
        case Unknown(reason=reason, cause=unknown):
            cause = unknown.value
            state, unsettled = UndoState.UNKNOWN, True
    return moved(
        record,
        state,
        unsettled=unsettled,
        conflicted=undo.conflicted or cause == UnknownCause.KEY_CONFLICT,
        lease_until=0,
        deadline=min(undo.deadline, now),
        history=undo.reported(now, outcome.kind, cause, reason),
    )


def _succeeded(record: StepRecord, undo: Undo, applied: Applied, now: Millis) -> StepRecord:
    # A late Applied may find the undo already taken back to pending by a settling: it is still ours.
    if undo.state is UndoState.PENDING:
        record = moved(record, UndoState.RUNNING)
    return moved(
        record,
        UndoState.SUCCEEDED,
        unsettled=False,
        lease_until=0,
        result=applied.receipt,
        notice=applied.notice,
        history=undo.reported(now, "applied", None, applied.notice),
    )


def _overtaken(
    record: StepRecord, undo: Undo, fence: int, applied: Applied, now: Millis
) -> StepRecord | None:
    """An earlier key took effect after another action had been chosen: a person has to know, and looks before more is done.

    Where the other action has not been called yet, it is not called any more: this is the one compensation.
    """
    if undo.overtaken:
        return None
    earlier = next(each for each in reversed(undo.replaced) if fence >= each.since)
    told = f"{earlier.operation} took effect after all, under {earlier.key}: {applied.receipt.resource}"
    late = told if record.late is None else f"{record.late}; {told}"
    marks: dict[str, object] = {"late": late[:500]}
    if record.late is None:
        marks["doubled"] = True
    looked_at = undo.model_copy(update={"overtaken": True, "needs_person": True})
    marked = record.model_copy(update={**marks, "undo": looked_at})
    if undo.attempts or undo.state not in {_S.PENDING, _S.BLOCKED}:
        return marked
    return _succeeded(marked, looked_at, applied.model_copy(update={"notice": told[:500]}), now)


def conclude_settling(
    record: StepRecord,
    fence: int,
    finding: Finding,
    *,
    now: Millis,
    asked_at: Millis,
    settles_after: int | None,
) -> StepRecord | None:
    """Record what the target said about the undo's key, as for the forward command."""
    undo = record.undo
    if undo is not None and isinstance(finding, Applied) and fence < undo.since:
        return _overtaken(record, undo, fence, finding, now)
    if undo is None or undo.state in SETTLED:
        return None
    if isinstance(finding, Applied):
        return _succeeded(record, undo, finding, now)
    if fence != undo.fence or undo.state is not UndoState.UNKNOWN:
        return None
    absent = isinstance(finding, Tombstoned) or (
        isinstance(finding, NotFound)
        and settles_after is not None
        and asked_at >= settles_at(undo, settles_after)
    )
    cause = getattr(finding, "cause", None)
    return moved(
        record,
        UndoState.PENDING if absent else UndoState.UNKNOWN,
        unsettled=not absent,
        lease_until=0,
        history=undo.reported(
            now, finding.kind, cause.value if cause else None, getattr(finding, "reason", None)
        ),
    )


def waive(record: StepRecord) -> StepRecord:
    """A step that never happened, and is barred from it, owes nothing: pending -> not needed."""
    undo = record.undo
    if undo is None or undo.state is not UndoState.PENDING or not never_happened(record.forward):
        return record
    return moved(record, UndoState.NOT_NEEDED)


def reawaken(record: StepRecord) -> StepRecord:
    """The effect exists after all: an undo that was taken for settled without one is owed again."""
    return moved(record, UndoState.PENDING)


def block(record: StepRecord) -> StepRecord:
    """Automation gives this undo up: a case takes it over."""
    undo = record.undo
    if undo is None or undo.state is UndoState.BLOCKED:
        return record
    if undo.state is UndoState.RUNNING:
        record = moved(record, UndoState.UNKNOWN, unsettled=True)
    return moved(record, UndoState.BLOCKED)
