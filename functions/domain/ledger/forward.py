"""The forward command's transitions: claim, conclude, settle, bar.

Each function takes a step record and returns a decision; a decision that changes something carries the next record.
The table says which states may follow which; `moved` holds every function to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from functions.domain.ledger.records import (
    AttemptEntry,
    Forward,
    ForwardState,
    Intent,
    Millis,
    StepRecord,
)
from functions.domain.outcome import (
    Applied,
    Finding,
    NotApplied,
    NotFound,
    Outcome,
    Receipt,
    Refused,
    Tombstoned,
    Unknown,
    UnknownCause,
)

SETTLINGS = 8
"""How often a machine asks what became of a call before a person is asked."""

TRANSITIONS: dict[ForwardState, frozenset[ForwardState]] = {
    # Prepared to completed is a person's alone: done by hand before any call was made.
    ForwardState.PREPARED: frozenset(
        {ForwardState.STARTED, ForwardState.REFUSED, ForwardState.COMPLETED}
    ),
    ForwardState.STARTED: frozenset(
        {
            ForwardState.STARTED,
            ForwardState.COMPLETED,
            ForwardState.REFUSED,
            ForwardState.RELEASED,
            ForwardState.UNKNOWN,
        }
    ),
    ForwardState.UNKNOWN: frozenset(
        {
            ForwardState.UNKNOWN,
            ForwardState.STARTED,
            ForwardState.COMPLETED,
            ForwardState.RELEASED,
        }
    ),
    ForwardState.RELEASED: frozenset(
        {ForwardState.STARTED, ForwardState.REFUSED, ForwardState.COMPLETED}
    ),
    ForwardState.REFUSED: frozenset({ForwardState.RELEASED, ForwardState.COMPLETED}),
    ForwardState.COMPLETED: frozenset(),
}


class Stop(StrEnum):
    """Why a claim is not given, for good."""

    BARRED = "barred"
    CASE_OPEN = "case_open"
    REFUSED = "refused"
    BUDGET_SPENT = "budget_spent"
    KEY_CONFLICT = "key_conflict"
    PERSON_NEEDED = "person_needed"


@dataclass(frozen=True, slots=True)
class Proceed:
    """The claim: write this record, then make the call under its fence."""

    record: StepRecord


@dataclass(frozen=True, slots=True)
class Answered:
    """The step is completed; its receipt is the answer."""

    receipt: Receipt


@dataclass(frozen=True, slots=True)
class Busy:
    """Another attempt holds a live lease until then."""

    until: Millis


@dataclass(frozen=True, slots=True)
class SettleFirst:
    """An earlier call may have done it: find out before anything follows from it."""


@dataclass(frozen=True, slots=True)
class Stopped:
    """No claim, and asking again will not change that."""

    why: Stop


ClaimDecision = Proceed | Answered | Busy | SettleFirst | Stopped


@dataclass(frozen=True, slots=True)
class Lease:
    """How long a claim holds: `call` until no call can still be sent, `grace` on top to record. Milliseconds."""

    call: int
    grace: int


def moved(record: StepRecord, state: ForwardState, **changes: object) -> StepRecord:
    """The record with its forward command in that state. Raises IllegalTransition where the table knows no such move."""
    if state not in TRANSITIONS[record.forward.state]:
        raise IllegalTransition(f"{record.name}: {record.forward.state} -> {state}")
    return record.model_copy(
        update={"forward": record.forward.model_copy(update={"state": state, **changes})}
    )


class IllegalTransition(Exception):
    """A bug: code asked for a change that the table does not know."""


def is_unsettled(forward: Forward) -> bool:
    """Whether some call may have landed that nobody has accounted for: a started one that reported nothing counts."""
    return forward.unsettled or forward.state is ForwardState.STARTED


def claim(
    record: StepRecord, *, now: Millis, lease: Lease, digest: str, by: str, settled: bool = False
) -> ClaimDecision:
    """Ask to make the step's call. `settled` says that a repeat under the same key is known to be safe.

    The attempt is counted here, so a process that dies costs one.
    """
    forward = record.forward
    if forward.barred:
        # Completed under the bar as well: its saga has turned, and must not be led on by an answer.
        return Stopped(Stop.BARRED)
    if forward.receipt is not None:
        return Answered(forward.receipt)
    if record.case is not None:
        return Stopped(Stop.CASE_OPEN)
    if forward.state is ForwardState.REFUSED:
        return Stopped(Stop.REFUSED)
    if now < forward.lease_until:
        return Busy(forward.lease_until)
    if forward.conflicted or (forward.digest is not None and forward.digest != digest):
        return Stopped(Stop.KEY_CONFLICT)
    if is_unsettled(forward) and not settled:
        return SettleFirst()
    if forward.attempts >= forward.budget:
        return Stopped(Stop.BUDGET_SPENT)
    return Proceed(_claimed(record, "call", now, lease, by, digest))


def _claimed(
    record: StepRecord, purpose: str, now: Millis, lease: Lease, by: str, digest: str | None
) -> StepRecord:
    forward = record.forward
    fence = forward.fence + 1
    calling = purpose == "call"
    entry = AttemptEntry(
        fence=fence, purpose="call" if calling else "settle", started_at=now, by=by
    )
    return moved(
        record,
        ForwardState.STARTED if calling else ForwardState.UNKNOWN,
        fence=fence,
        attempts=forward.attempts + (1 if calling else 0),
        settlings=forward.settlings + (0 if calling else 1),
        unsettled=is_unsettled(forward),
        lease_until=now + lease.call + lease.grace,
        deadline=now + lease.call if calling else forward.deadline,
        digest=digest if digest is not None else forward.digest,
        history=forward.entered(entry),
    )


def fresh_claim(*, now: Millis, lease: Lease, by: str) -> dict[str, object]:
    """The claim of a record that nobody has touched since admission (version 0), as the fields it sets.

    Such a record is prepared, unbarred, without a case and within its budget, so the claim needs no read; nothing is
    bound to it, so its digest stands since admission. For every such record this equals `claim`.
    """
    entry = AttemptEntry(fence=1, purpose="call", started_at=now, by=by)
    return {
        "forward.state": ForwardState.STARTED.value,
        "forward.fence": 1,
        "forward.attempts": 1,
        "forward.lease_until": now + lease.call + lease.grace,
        "forward.deadline": now + lease.call,
        "forward.history": [entry.model_dump(mode="json")],
    }


def refuse_before_call(record: StepRecord, *, now: Millis, reason: str, by: str) -> StepRecord:
    """A check failed before a call was made, and no earlier one is unaccounted for. `reason` is kept as the record of it."""
    if is_unsettled(record.forward):
        raise IllegalTransition(f"{record.name}: refused, while an earlier call may have landed")
    entry = AttemptEntry(
        fence=record.forward.fence,
        purpose="call",
        started_at=now,
        ended_at=now,
        by=by,
        outcome="refused",
        cause="precondition",
        reason=reason[:500],
    )
    return moved(record, ForwardState.REFUSED, history=record.forward.entered(entry))


def complete(
    record: StepRecord,
    receipt: Receipt,
    *,
    now: Millis,
    undo_inputs: dict[str, str] | None,
    by_hand: bool = False,
) -> StepRecord:
    """The receipt and what the undo needs, in one record: the effect is now a known obligation."""
    forward = record.forward
    completed = moved(
        record,
        ForwardState.COMPLETED,
        receipt=receipt,
        unsettled=False,
        by_hand=by_hand,
        lease_until=0,
        history=forward.reported(now, "applied", None, None),
    )
    if completed.undo is None or undo_inputs is None:
        return completed
    undo = completed.undo.model_copy(update={"inputs": undo_inputs, "condition": receipt.version})
    return completed.model_copy(update={"undo": undo})


def conclude(
    record: StepRecord,
    fence: int,
    outcome: Outcome,
    *,
    now: Millis,
    undo_inputs: dict[str, str] | None = None,
) -> StepRecord | None:
    """Record what a call answered. None: there is nothing to change.

    An Applied for our key completes any record that is not completed, whoever reports it and however late. Negative
    answers count only under the current fence, and never clear *unsettled*.
    """
    forward = record.forward
    if isinstance(outcome, Applied):
        if forward.state is ForwardState.COMPLETED:
            return None
        if forward.state is ForwardState.PREPARED:
            raise IllegalTransition(f"{record.name}: applied without a claim")
        return complete(record, outcome.receipt, now=now, undo_inputs=undo_inputs)
    if fence != forward.fence or forward.state is not ForwardState.STARTED:
        return None
    match outcome:
        case Refused(reason=reason, cause=why):
            cause: str | None = why.value
            state = ForwardState.UNKNOWN if forward.unsettled else ForwardState.REFUSED
            unsettled = forward.unsettled
        case NotApplied(reason=reason):
            cause = None
            state = ForwardState.UNKNOWN if forward.unsettled else ForwardState.RELEASED
            unsettled = forward.unsettled
        case Unknown(reason=reason, cause=unknown):
            cause = unknown.value
            state, unsettled = ForwardState.UNKNOWN, True
    return moved(
        record,
        state,
        unsettled=unsettled,
        conflicted=forward.conflicted or cause == UnknownCause.KEY_CONFLICT,
        lease_until=0,
        deadline=min(forward.deadline, now),
        history=forward.reported(now, outcome.kind, cause, reason),
    )


def settles_at(command: Intent, settles_after: int) -> Millis:
    """From when on "not there" proves that nothing happened and nothing will."""
    return command.deadline + settles_after


def settle_claim(record: StepRecord, *, now: Millis, lease: Lease, by: str) -> ClaimDecision:
    """Ask to find out what became of the step's calls. Counts no attempt; has a small bound of its own."""
    forward = record.forward
    if forward.receipt is not None:
        return Answered(forward.receipt)
    if now < forward.lease_until:
        return Busy(forward.lease_until)
    if forward.settlings >= SETTLINGS:
        return Stopped(Stop.PERSON_NEEDED)
    return Proceed(_claimed(record, "settle", now, lease, by, None))


def conclude_settling(
    record: StepRecord,
    fence: int,
    finding: Finding,
    *,
    now: Millis,
    asked_at: Millis,
    settles_after: int | None,
    undo_inputs: dict[str, str] | None = None,
) -> StepRecord | None:
    """Record what the target said about our key. None: nothing to change (a later claim has taken over).

    "Not there" is judged by when the question was sent: an effect may land between the answer and this write.
    `settles_after` None: it never counts, however late.
    """
    forward = record.forward
    if isinstance(finding, Applied):
        if forward.state is ForwardState.COMPLETED:
            return None
        return complete(record, finding.receipt, now=now, undo_inputs=undo_inputs)
    if fence != forward.fence or forward.state is not ForwardState.UNKNOWN:
        return None
    absent = isinstance(finding, Tombstoned) or (
        isinstance(finding, NotFound)
        and settles_after is not None
        and asked_at >= settles_at(forward, settles_after)
    )
    cause = getattr(finding, "cause", None)
    return moved(
        record,
        ForwardState.RELEASED if absent else ForwardState.UNKNOWN,
        unsettled=not absent,
        lease_until=0,
        history=forward.reported(
            now, finding.kind, cause.value if cause else None, getattr(finding, "reason", None)
        ),
    )


def bar(record: StepRecord) -> StepRecord:
    """No forward call may start from here on. A call already started still counts as owed."""
    return record.model_copy(update={"forward": record.forward.model_copy(update={"barred": True})})


def never_happened(forward: Forward) -> bool:
    """Never started, or refused or released with nothing unaccounted for: there is nothing to undo."""
    return forward.state is not ForwardState.COMPLETED and not is_unsettled(forward)
