"""The records of the ledger: a saga's head and its steps. One saga is one item collection.

Times are whole milliseconds since the epoch, UTC. Nothing here is a float, and no record holds a credential or a task
token. Every record has a `version` that grows by one with each write of it.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints

from functions.domain.catalogue import Authority, Kind
from functions.domain.outcome import Frozen, Identifier, Receipt, ShortText

HISTORY_LENGTH = 40
Millis = int
Seconds = int
"""Since the epoch: from then on a table forgets a record that has it as `forgotten_at`. Nothing unresolved has."""
LongText = Annotated[str, StringConstraints(max_length=20_000)]


class ForwardState(StrEnum):
    """How far a step's effect has come.

    Seed two: prepared means the call may not have happened, started that its outcome may be unknown, completed that
    the result and the compensation data have been captured.
    """

    PREPARED = "prepared"
    STARTED = "started"
    COMPLETED = "completed"
    REFUSED = "refused"
    RELEASED = "released"
    UNKNOWN = "unknown"


class UndoState(StrEnum):
    """The compensation's own command has its own state (seed two, "Compensation can fail too")."""

    PENDING = "pending"
    RUNNING = "running"
    UNKNOWN = "unknown"
    BLOCKED = "blocked"
    SUCCEEDED = "succeeded"
    NOT_NEEDED = "not_needed"
    RESOLVED = "resolved"
    ACCEPTED = "accepted"


class Direction(StrEnum):
    """Where a saga is going. It turns once, and never back."""

    FORWARD = "forward"
    COMPENSATING = "compensating"
    FINISHING = "finishing"


class Pivot(StrEnum):
    """How far the boundary has been passed; NONE when every step is compensable."""

    NONE = "none"
    AHEAD = "ahead"
    CROSSING = "crossing"
    CROSSED = "crossed"


class Attention(StrEnum):
    """Whether a person has to settle something before automation may go on."""

    NONE = "none"
    BLOCKED = "blocked"
    MANUAL = "manual"


class SagaOutcome(StrEnum):
    """How a saga ended."""

    COMPLETED = "completed"
    COMPENSATED = "compensated"
    RESOLVED_MANUALLY = "resolved_manually"


class AuthorityReference(Frozen):
    """Who may make a call: role and scope by name, the credential by reference, never by value.

    `alternate` is the declared name of another principal than the undo's own, and None for the own one.
    """

    role: Identifier
    scope: Identifier
    credential: Identifier | None = None
    alternate: Identifier | None = None

    @classmethod
    def of(cls, role: str, authority: Authority, alternate: str | None = None) -> Self:
        """The reference that a record keeps of a declared authority."""
        return cls(
            role=role,
            scope=authority.scope,
            credential=authority.credential,
            alternate=alternate,
        )


class Substitution(Frozen):
    """Two people have agreed that an undo is made under another authority: who, when, in which case, instead of what."""

    at: Millis
    case: Identifier
    proposed_by: Identifier
    confirmed_by: Identifier
    instead_of: AuthorityReference
    authority: AuthorityReference


class DeclaredAction(Frozen):
    """Another action in place of an undo, as it was declared when the saga was admitted."""

    name: Identifier
    authority: AuthorityReference
    budget: int
    sentence: ShortText


class AttemptEntry(Frozen):
    """One claim and what became of it; `outcome` is None while nobody has reported."""

    fence: int
    purpose: Literal["call", "settle"]
    started_at: Millis
    by: Identifier
    ended_at: Millis | None = None
    outcome: Identifier | None = None
    cause: Identifier | None = None
    reason: ShortText | None = None


class ReplacedAction(Frozen):
    """What two people have agreed not to do any more: its key, its attempts, and what is done instead."""

    at: Millis
    case: Identifier
    proposed_by: Identifier
    confirmed_by: Identifier
    operation: Identifier
    key: Identifier
    authority: AuthorityReference
    attempts: int
    since: int
    """The fence from which on this key was used."""
    history: tuple[AttemptEntry, ...]
    instead: Identifier
    """The declared name of the other action."""


class Intent(Frozen):
    """What the forward command and the undo command of a step have in common."""

    key: Identifier
    authority: AuthorityReference
    budget: int
    attempts: int = 0
    settlings: int = 0
    fence: int = 0
    lease_until: Millis = 0
    deadline: Millis = 0
    """No call of the last attempt can still be sent after this."""
    unsettled: bool = False
    """A call's outcome is unknown; only an Applied, an authoritative answer or a tombstone clears it."""
    conflicted: bool = False
    """The target holds our key with other parameters: a person investigates, nothing is retried."""
    digest: str | None = None
    history: tuple[AttemptEntry, ...] = ()

    def entered(self, entry: AttemptEntry) -> tuple[AttemptEntry, ...]:
        """The history with `entry` at its end. Beyond `HISTORY_LENGTH` the oldest are dropped, but never the first.

        From the first on a target counts how long it has kept our key.
        """
        first, later = self.history[:1], (*self.history[1:], entry)
        return (*first, *later[-(HISTORY_LENGTH - 1) :])

    def reported(
        self, now: Millis, outcome: str, cause: str | None, reason: str | None
    ) -> tuple[AttemptEntry, ...]:
        """The history with the outcome of the attempt that holds the current fence."""
        return tuple(
            e.model_copy(
                update={"ended_at": now, "outcome": outcome, "cause": cause, "reason": reason}
            )
            if e.fence == self.fence and e.ended_at is None
            else e
            for e in self.history
        )


class Forward(Intent):
    """The step's effect as a command."""

    state: ForwardState = ForwardState.PREPARED
    barred: bool = False
    """A barred step never starts again. Set in the transaction that turns the saga."""
    receipt: Receipt | None = None
    """There exactly when the step is completed."""
    by_hand: bool = False


class Undo(Intent):
    """The step's compensation as a command of its own: prepared at admission, completed with the receipt."""

    operation: Identifier
    state: UndoState = UndoState.PENDING
    waits_for: tuple[int, ...] = ()
    inputs: dict[str, str] | None = None
    condition: str | None = None
    needs_person: bool = False
    alternates: tuple[AuthorityReference, ...] = ()
    """The other authorities that were declared at admission. Two people may choose one of them, in a case."""
    substitutions: tuple[Substitution, ...] = ()
    other_actions: tuple[DeclaredAction, ...] = ()
    """What was declared at admission to be done in its place. Two people may choose one of them, in a case."""
    replaced: tuple[ReplacedAction, ...] = ()
    """Where another action was chosen: what it took the place of. Key, operation and authority are the chosen one's."""
    since: int = 0
    """The fence from which on the present key is used; what has a lower one was asked under an earlier key."""
    overtaken: bool = False
    """A call under an earlier key took effect after all: nothing more is asked for without a person."""
    result: Receipt | None = None
    notice: ShortText | None = None


class StepRecord(Frozen):
    """One step of one saga: the intent, and two histories, correlated and distinct."""

    saga_id: Identifier
    index: int
    step_id: Identifier
    name: Identifier
    step_version: Identifier
    kind: Kind
    boundary: bool
    last: bool
    arguments: LongText
    """Canonical JSON (RFC 8785), as text: no number is changed on its way."""
    arguments_digest: Identifier
    requires: dict[str, int] = {}
    """Required step name to the index of the step whose receipt it uses."""
    sentence: ShortText = ""
    forward: Forward
    undo: Undo | None = None
    case: Identifier | None = None
    """The open case of this step; while it is open no claim succeeds."""
    cases: int = 0
    late: ShortText | None = None
    """What is wrong about an effect that arrived too late; a case is opened for it."""
    doubled: bool = False
    """The late effect is a second one, besides that of the receipt: the undo is for the receipt's alone."""
    approval: Identifier | None = None
    """The latest round of asking people, where there was one."""
    rounds: int = 0
    forgotten_at: Seconds | None = None
    version: int = 0


class Provenance(Frozen):
    """Where the plan came from. `actor_type` is taken from the token, the rest is what the agent claims."""

    actor_type: Identifier
    actor: Identifier
    owner: Identifier | None = None
    run_id: Identifier
    prompt_version: Identifier
    source_document_id: Identifier


class Head(Frozen):
    """A saga's own record. Written only when one of these changes."""

    saga_id: Identifier
    tenant: Identifier
    request_id: Identifier
    catalogue: Identifier
    catalogue_version: Identifier
    policy_version: Identifier
    plan_digest: Identifier
    step_count: Annotated[int, Field(ge=1, le=50)]
    provenance: Provenance
    rationale: Annotated[str, StringConstraints(max_length=4_000)] = ""
    notes: Annotated[tuple[Annotated[str, StringConstraints(max_length=1_000)], ...], Field()] = ()
    approvers: Identifier
    operators: Identifier

    direction: Direction = Direction.FORWARD
    pivot: Pivot
    attention: Attention = Attention.NONE
    outcome: SagaOutcome | None = None
    reason: ShortText | None = None
    accepted: bool = False
    """A person accepted a remaining effect, or finished something by other means than the plan."""
    cases: tuple[Identifier, ...] = ()
    """Cases of the saga as a whole, in the order in which they were opened; those of steps are counted there."""
    turned_at: Millis | None = None
    review: Identifier | None = None
    """Its tenant, once it has ended otherwise than completed: what people look through afterwards lists it."""

    epoch: int = 0
    machine: str | None = None
    execution: Identifier | None = None
    drivers_left: int = 8
    """How many more executions automation may start before a person is asked."""
    wanted: Literal["start", "resume", "case"] | None = None
    """What the starter has to do; the table's stream carries only records that have it."""

    created_at: Millis
    updated_at: Millis
    ended_at: Millis | None = None
    retain_for: Millis
    """How long its records are kept after its end: the longest that one of its steps asks for."""
    listed: Identifier | None = None
    open: Identifier | None = None
    """Set until the saga has ended and no case of it is open: the functions that its steps need must stay."""
    due_shard: Identifier | None = None
    due_at: Millis | None = None
    forgotten_at: Seconds | None = None
    version: int = 0


class Saga(Frozen):
    """A head and its steps in order, as one consistent read returns them."""

    head: Head
    steps: tuple[StepRecord, ...]
