"""An approval: who was asked what, who answered what, and the one use of it.

The record holds the callback token, and never leaves the people table and the functions that answer it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from functions.domain.keys import digest
from functions.domain.ledger.records import LongText, Millis, StepRecord
from functions.domain.outcome import Frozen, Identifier, ShortText

MOST_TOKENS = 5
"""How many earlier tokens of one gate are kept: a machine's retries of it are few."""

MOST_ROUNDS = 3
"""How often people are asked about one pivot."""


class ApprovalState(StrEnum):
    """Open until enough people agree, one rejects, time runs out, or the saga turns; consumed by its pivot once."""

    OPEN = "open"
    APPROVED = "approved"
    REJECTED = "rejected"
    EXPIRED = "expired"
    CLOSED = "closed"
    CONSUMED = "consumed"


TRANSITIONS: dict[ApprovalState, frozenset[ApprovalState]] = {
    ApprovalState.OPEN: frozenset(
        {
            ApprovalState.APPROVED,
            ApprovalState.REJECTED,
            ApprovalState.EXPIRED,
            ApprovalState.CLOSED,
        }
    ),
    ApprovalState.APPROVED: frozenset(
        {ApprovalState.CONSUMED, ApprovalState.EXPIRED, ApprovalState.CLOSED}
    ),
    ApprovalState.REJECTED: frozenset(),
    ApprovalState.EXPIRED: frozenset(),
    ApprovalState.CLOSED: frozenset(),
    ApprovalState.CONSUMED: frozenset(),
}


class Decision(Frozen):
    """One person's answer."""

    person: Identifier
    decision: Literal["approve", "reject"]
    at: Millis
    reason: ShortText | None = None


class Approval(Frozen):
    """One round of asking. `binds` is the digest of exactly what would run."""

    id: Identifier
    saga_id: Identifier
    index: int
    round: int
    tenant: Identifier
    catalogue: Identifier
    step: Identifier
    group: Identifier
    needed: int
    reason: ShortText
    sentence: ShortText
    arguments: LongText
    binds: Identifier
    excluded: tuple[Identifier, ...] = ()
    """People who may not decide: the submitter, and the owner of the agent that submitted."""
    again: ShortText | None = None
    """Why people are asked once more, where this is not the first round."""
    superseded_by: Identifier | None = None
    """The round that asks anew, where this one was closed because of it."""
    created_at: Millis
    expires_at: Millis
    state: ApprovalState = ApprovalState.OPEN
    decisions: tuple[Decision, ...] = ()
    token: str | None = None
    earlier_tokens: tuple[str, ...] = ()
    execution: Identifier | None = None
    answered: bool = False
    announced: bool = False
    reminded_at: Millis | None = None
    open: Identifier | None = None
    due_shard: Identifier | None = None
    due_at: Millis | None = None
    forgotten_at: int | None = None
    version: int = 0


def approval_id(saga_id: str, index: int, round_: int) -> str:
    """The id of one round, the same however often it is asked for."""
    return f"{saga_id}-{index}-{round_}"


def bound_digest(
    *,
    tenant: str,
    saga_id: str,
    step: StepRecord,
    forward_digest: str,
    catalogue_version: str,
    policy_version: str,
) -> str:
    """What an approval is for: tenant, saga, step, arguments with bound results, catalogue and policy versions.

    Rationale and notes are outside: they are the agent's words and change nothing that runs.
    """
    return digest(
        {
            "tenant": tenant,
            "saga": saga_id,
            "index": step.index,
            "step": step.name,
            "step_version": step.step_version,
            "forward": forward_digest,
            "catalogue": catalogue_version,
            "policy": policy_version,
        }
    )


@dataclass(frozen=True, slots=True)
class Decided:
    """The next record, to be written before the token is answered."""

    approval: Approval


@dataclass(frozen=True, slots=True)
class AlreadySaid:
    """The same person said the same before."""

    approval: Approval


@dataclass(frozen=True, slots=True)
class SaidOtherwise:
    """The same person said the other thing before, which stands."""

    approval: Approval
    first: Decision


@dataclass(frozen=True, slots=True)
class NotOpen:
    """Decided otherwise, expired or closed."""

    approval: Approval


@dataclass(frozen=True, slots=True)
class NotAsShown:
    """What this person saw is not what this approval is for, or no longer what is asked."""

    approval: Approval


@dataclass(frozen=True, slots=True)
class MayNot:
    """This person may not decide this one."""

    why: str


Answer = Decided | AlreadySaid | SaidOtherwise | NotOpen | NotAsShown | MayNot


def _moved(approval: Approval, state: ApprovalState, now: Millis, **changes: object) -> Approval:
    if state not in TRANSITIONS[approval.state]:
        raise ValueError(f"{approval.id}: {approval.state} -> {state}")
    due = now if state in ANSWERABLE and not approval.answered else None
    return approval.model_copy(
        update={
            "state": state,
            "open": None,
            "due_at": due,
            "due_shard": approval.due_shard if due is not None else None,
            **changes,
        }
    )


ANSWERABLE = frozenset(
    {
        ApprovalState.APPROVED,
        ApprovalState.REJECTED,
        ApprovalState.EXPIRED,
        ApprovalState.CLOSED,
    }
)
"""States in which the waiting machine has an answer coming."""


def waited_for(approval: Approval, *, token: str, execution: str, due_shard: str) -> Approval:
    """A machine waits for this approval now; where it is decided already, the answer is due at once.

    A new driver's token replaces the old one's. Of one execution earlier tokens are kept: each attempt of the gate has
    its own, and nobody can tell which of two that arrive is the one still waited on.
    """
    earlier = [*approval.earlier_tokens, approval.token] if approval.execution == execution else []
    update = {
        "token": token,
        "earlier_tokens": tuple(t for t in earlier if t not in {None, token})[-MOST_TOKENS:],
        "execution": execution,
        "answered": False,
        "announced": True,
    }
    if approval.state is not ApprovalState.OPEN:
        update |= {"due_at": approval.created_at, "due_shard": due_shard}
    return approval.model_copy(update=update)


def decide(
    approval: Approval,
    *,
    person: str,
    groups: frozenset[str],
    decision: Literal["approve", "reject"],
    reason: str | None,
    now: Millis,
    binds: str | None = None,
) -> Answer:
    """One person's decision. The first rejection rejects; `needed` approvals of different people approve.

    `binds` is the digest that this person was shown, where they say so.
    """
    if approval.group not in groups:
        return MayNot(f"only members of {approval.group} decide this")
    if person in approval.excluded:
        return MayNot("who submitted a plan, or owns the agent that did, cannot decide on it")
    if binds not in {None, approval.binds} or approval.superseded_by is not None:
        return NotAsShown(approval)
    said = next((d for d in approval.decisions if d.person == person), None)
    if said is not None:
        same = said.decision == decision
        return AlreadySaid(approval) if same else SaidOtherwise(approval, said)
    if approval.state is not ApprovalState.OPEN or now >= approval.expires_at:
        return NotOpen(approval)
    entry = Decision(person=person, decision=decision, at=now, reason=reason)
    decisions = (*approval.decisions, entry)
    if decision == "reject":
        return Decided(_moved(approval, ApprovalState.REJECTED, now, decisions=decisions))
    if len(decisions) >= approval.needed:
        return Decided(_moved(approval, ApprovalState.APPROVED, now, decisions=decisions))
    return Decided(approval.model_copy(update={"decisions": decisions}))


def half_time(created_at: Millis, expires_at: Millis) -> Millis:
    """When those who are asked are told once more."""
    return created_at + (expires_at - created_at) // 2


def wants_reminder(approval: Approval, now: Millis) -> bool:
    """Whether half of the time is over, and neither is all of it nor has anybody been reminded."""
    return (
        approval.state is ApprovalState.OPEN
        and approval.reminded_at is None
        and half_time(approval.created_at, approval.expires_at) <= now < approval.expires_at
    )


def reminded(approval: Approval, now: Millis) -> Approval:
    """They were told once more: what comes next is the deadline."""
    return approval.model_copy(update={"reminded_at": now, "due_at": approval.expires_at})


def expire(approval: Approval, now: Millis) -> Approval:
    """Nobody answered in time: that denies. An approval that was given and not used in time expires as well."""
    return _moved(approval, ApprovalState.EXPIRED, now)


def close(approval: Approval, now: Millis, *, superseded_by: str | None = None) -> Approval:
    """Nothing is left to decide: the saga has turned, or another round asks anew."""
    return _moved(approval, ApprovalState.CLOSED, now, superseded_by=superseded_by)


def consume(approval: Approval, now: Millis) -> Approval:
    """The one use: in the transaction that starts the pivot."""
    return _moved(approval, ApprovalState.CONSUMED, now)


def denial(approval: Approval, now: Millis) -> str | None:
    """Why nothing may run because of this approval, in words; None if it denies nothing."""
    if approval.state is ApprovalState.REJECTED:
        return f"rejected by an approver: {approval.decisions[-1].reason or 'no reason given'}"[
            :500
        ]
    late = approval.state is ApprovalState.OPEN and now >= approval.expires_at
    if late or approval.state is ApprovalState.EXPIRED:
        return "nobody approved in time"
    return None
