"""The step catalogue: which steps exist, of which kind, what they may touch, and how each one is undone.

Authority is declared here and nowhere else: the same declaration makes the Lambda role, is written into the
compensation record, and is what the least-privilege tests compare against (seed one, "The plan is data, selected from
a catalogue"; seed two, "Preserve compensation authority").
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import Any, Literal

from pydantic import BaseModel

from functions.domain.declaration import as_json
from functions.domain.keys import digest


class Kind(StrEnum):
    """Seed one's three kinds. Their order in a plan is the order here."""

    COMPENSABLE = "compensable"
    PIVOT = "pivot"
    RETRIABLE = "retriable"


@dataclass(frozen=True, slots=True)
class Permission:
    """IAM actions on resources. A resource may hold `{setting}` placeholders, filled at deploy time."""

    actions: tuple[str, ...]
    resources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Authority:
    """Who may make a call: a scope at the target, a credential by reference, IAM permissions.

    `credential` names a secret of the catalogue (`"payments"` is the secret `<prefix>/<catalogue>/payments`); reading
    it is granted by naming it. The credential itself is never held here, nor in any record.

    `role` is for undos alone: the permissions go to an IAM role of that name, which this undo's function and nobody
    else may take on, and the function has none of them itself. The adapter takes it on with a session policy for just
    what is in the receipt; the role's ARN is in the call.
    """

    scope: str
    credential: str | None = None
    permissions: tuple[Permission, ...] = ()
    role: str | None = None


def role_setting(catalogue: str, role: str) -> str:
    """The name under which an undo's function finds the ARN of a role: `ENVIRONMENTS_REVOKE_ROLE_ARN`."""
    return f"{catalogue}_{role}_ROLE_ARN".upper()


@dataclass(frozen=True, slots=True)
class Operation:
    """A call at a target: the adapter function, as `package.module:function`, and the authority it is made with."""

    adapter: str
    authority: Authority


@dataclass(frozen=True, slots=True)
class Settlement:
    """How one finds out whether a call did it.

    `keys_kept_for`: how long the target recognises an idempotency key (None: it keeps none). `status`: a query by our
    key. `tombstone`: a cancel by our key. `settles_after`: how long past the last attempt's deadline a late effect is
    still possible; before that a "not found" proves nothing. `reconcile="person"`: an unknown is never called again by
    a machine.
    """

    settles_after: timedelta
    keys_kept_for: timedelta | None = None
    status: Operation | None = None
    tombstone: Operation | None = None
    reconcile: Literal["machine", "person"] = "machine"

    @property
    def observable(self) -> bool:
        """Whether a machine can ever learn what happened."""
        return bool(self.keys_kept_for or self.status or self.tombstone)


@dataclass(frozen=True, slots=True)
class Retry:
    """A finite budget of attempts and the pace of asking again (full jitter, AWS Builders' Library)."""

    attempts: int
    interval: timedelta = timedelta(seconds=1)
    backoff: float = 2.0
    longest: timedelta = timedelta(seconds=30)


@dataclass(frozen=True, slots=True)
class Alternate:
    """Another principal for the same undo, under the same key: used once two people have agreed to it, in a case.

    Its authority names a credential or a role of its own. Whatever is asked with the undo's own credential, such as its
    status query, is then asked with the alternate's.
    """

    name: str
    authority: Authority
    sentence: str
    """Who that is, for the two who decide: "The administrators on call"."""


@dataclass(frozen=True, slots=True)
class OtherAction:
    """Another action in place of the undo, which reaches a valid state by other means, under a key of its own.

    A payment that has been settled cannot be voided, and is refunded instead. Used once two people have agreed to it,
    in a case of the undo. It gets the undo's fixed inputs; the undo's retry and timeout hold for it too.
    """

    name: str
    run: Operation
    settlement: Settlement
    sentence: str
    """What it does instead, for the two who decide: "Refund what was captured"."""


@dataclass(frozen=True, slots=True)
class Undo:
    """The one compensation of a compensable step."""

    name: str
    run: Operation
    settlement: Settlement
    retry: Retry
    call_timeout: timedelta
    fixed_inputs: Callable[[BaseModel, Any], Mapping[str, str]]
    """From the step's arguments and receipt to the undo's inputs; called once, in the write that records the receipt."""
    needs_person: bool = False
    sentence: str = ""
    alternates: tuple[Alternate, ...] = ()
    other_actions: tuple[OtherAction, ...] = ()

    @property
    def authorities(self) -> tuple[Authority, ...]:
        """Every authority that this undo, or another action in its place, may ever be made with, its own first."""
        return (
            self.run.authority,
            *(each.authority for each in self.alternates),
            *(each.run.authority for each in self.other_actions),
        )

    def other_action(self, name: str) -> OtherAction | None:
        """The declared other action of that name."""
        return next((each for each in self.other_actions if each.name == name), None)


@dataclass(frozen=True, slots=True)
class Fact:
    """A read that validation and policy rely on. Facts are read, never steps.

    `query` takes the step's arguments to the identifier to look up; the operation's adapter answers an instance of
    `model`, or None where there is no such thing.
    """

    name: str
    read: Operation
    model: type[BaseModel]
    query: Callable[[BaseModel], str]


@dataclass(frozen=True, slots=True)
class Violation:
    """A precondition that does not hold: where in the arguments, and what would have to change."""

    code: str
    message: str
    hint: str
    argument: str | None = None


@dataclass(frozen=True, slots=True)
class Precondition:
    """What must hold without any execution: at submission, and again just before the pivot."""

    name: str
    fact: str
    check: Callable[[BaseModel, Any], list[Violation]]
    """Takes the step's arguments and the fact (None where it does not exist)."""


@dataclass(frozen=True, slots=True)
class Step:
    """One entry of the catalogue."""

    name: str
    version: str
    kind: Kind
    description: str
    arguments: type[BaseModel]
    run: Operation
    settlement: Settlement
    retry: Retry
    call_timeout: timedelta
    retain_for: timedelta
    sentence: str
    """What a person reads, with `{argument}` placeholders: "Capture {amount} {currency} for order {order_id}"."""
    requires: tuple[str, ...] = ()
    preconditions: tuple[str, ...] = ()
    undo: Undo | None = None
    independent_of: tuple[str, ...] = ()
    """Later steps whose undo this step's undo need not wait for."""
    undo_after: tuple[str, ...] = ()
    """Steps whose undo must come before this one's, for business reasons."""
    retired: bool = False

    @property
    def function_timeout(self) -> timedelta:
        """Time for a call, one re-read of the credential, a settling query, and to record: nothing outlives it."""
        return 3 * self.call_timeout + timedelta(seconds=10)

    @property
    def undo_function_timeout(self) -> timedelta | None:
        """The undo's function may have to settle the forward call before its own: time for both. None without undo."""
        if self.undo is None:
            return None
        return 3 * self.undo.call_timeout + 3 * self.call_timeout + timedelta(seconds=10)


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All a team brings. Building one that breaks a rule raises `CatalogueError` naming the step and the rule."""

    name: str
    steps: tuple[Step, ...]
    facts: tuple[Fact, ...]
    preconditions: tuple[Precondition, ...]
    policy: str
    """`package.module:function`: the pivot policy, see `domain/policy.py`."""
    policy_version: str
    approvers: str
    """The group that owns this catalogue's approvals."""
    operators: str
    """The group that owns this catalogue's cases."""
    attempts_per_request: int = 3
    longest_wait: timedelta = timedelta(hours=24)
    """The longest that an approval may be waited for, whatever the policy says."""
    settings: tuple[str, ...] = ()
    """Names of deploy-time values that adapters read from the environment, e.g. a base URL."""
    version: str = field(init=False, compare=False)
    """Digest of all that is declared here, argument schemas included. Sagas and machines name it."""
    _by_name: Mapping[str, Step] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        from functions.domain import catalogue_rules  # noqa: PLC0415 the rules read what is declared above

        object.__setattr__(self, "_by_name", {step.name: step for step in self.steps})
        catalogue_rules.check(self)
        object.__setattr__(self, "version", digest(as_json(self)))

    def step(self, name: str) -> Step | None:
        """The step of that name, retired or not; None where the catalogue has none."""
        return self._by_name.get(name)

    def fact(self, name: str) -> Fact:
        """A declared fact. Preconditions only name facts that exist."""
        return next(fact for fact in self.facts if fact.name == name)

    def precondition(self, name: str) -> Precondition:
        """A declared precondition. Steps only name preconditions that exist."""
        return next(each for each in self.preconditions if each.name == name)
