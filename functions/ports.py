"""What the use cases need from the world, as protocols. `aws/` and the tests' in-memory world stand behind them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal, Protocol

JSON = Any
Item = Mapping[str, Any]
"""A stored record: plain JSON values, integers for numbers."""


class Table(StrEnum):
    """Two tables, so that authority can be told apart: agents' code reaches the ledger alone."""

    LEDGER = "ledger"
    PEOPLE = "people"


@dataclass(frozen=True, slots=True)
class Key:
    """Where a record lives."""

    table: Table
    pk: str
    sk: str


@dataclass(frozen=True, slots=True)
class Change:
    """One conditional write.

    `expect` holds field values that must be found (None: the field is absent or null); `expect=None` creates, and
    requires that nothing is there. `set` holds fields to write; names may be dotted paths into maps, and None removes
    a field. The store raises the record's `version` by one with every change.
    """

    key: Key
    set: Mapping[str, JSON]
    expect: Mapping[str, JSON] | None


class Stale(Exception):
    """A conditional write lost. `current` holds what is there now, where the store could tell (None: nothing)."""

    def __init__(self, current: Mapping[Key, Item | None]) -> None:
        super().__init__("somebody else wrote first")
        self.current = current


class TooLarge(Exception):
    """A record would exceed what a store holds: 400 KB on DynamoDB. Nothing was written."""


class BadCursor(ValueError):
    """`start` is nothing that a page of this index has returned."""


MOST_CHANGES = 100
"""In one write (a limit of DynamoDB's transactions)."""


def checked(changes: Sequence[Change]) -> Sequence[Change]:
    """The changes, if a store may take them at all. Raises ValueError: to send these is a bug."""
    if not 1 <= len(changes) <= MOST_CHANGES:
        raise ValueError(f"{len(changes)} changes in one write: between 1 and {MOST_CHANGES}")
    if len({change.key for change in changes}) < len(changes):
        raise ValueError("one write changes a record once, and has several changes of one")
    return changes


class Store(Protocol):
    """Two tables and one kind of write: all changes of a call happen, or none."""

    def get(self, key: Key) -> Item | None:
        """One record, read consistently."""

    def collection(self, table: Table, pk: str) -> list[Item]:
        """All records under one partition key in order of `sk`, read consistently."""

    def write(self, changes: Sequence[Change]) -> list[Item]:
        """Apply all changes or none; raises Stale, TooLarge. The new record is returned where there was one change."""

    def index(
        self,
        table: Table,
        name: str,
        value: str,
        *,
        up_to: int | None = None,
        newest_first: bool = False,
        limit: int = 100,
        start: str | None = None,
    ) -> tuple[list[Item], str | None]:
        """Records under `value` of the index `name` in order, and where to go on. Eventually consistent.

        Raises BadCursor.
        """


class Clock(Protocol):
    """The time, told."""

    def now(self) -> int:
        """Milliseconds since the epoch, UTC."""


class CredentialLost(Exception):
    """The credential could not be read through its reference: the authority is gone."""


class Credentials(Protocol):
    """Credentials by reference."""

    def read(self, reference: str, *, fresh: bool) -> str:
        """The credential behind `<catalogue>/<name>`; `fresh` passes by any cache. Raises CredentialLost."""


class DirectoryUnavailable(Exception):
    """Nobody can say just now who belongs to what."""


class Directory(Protocol):
    """The identity provider, as it is now: a token says who belonged to what when it was issued."""

    def groups(self, person: str) -> frozenset[str]:
        """The groups of a person who may sign in; none where there is no such person. Raises DirectoryUnavailable."""


class Machines(Protocol):
    """The state machine engine."""

    def ensure(self, name: str, definition: Mapping[str, JSON]) -> str:
        """The ARN of the machine of that name, created if it is not there yet."""

    def start(self, machine: str, execution: str, saga_id: str) -> None:
        """Start an execution by that name, or find that it was started. Raises MachineGone."""

    def driver(self, machine: str, execution: str) -> Literal["running", "ended", "absent"]:
        """What has become of that execution: absent where it was never started, or its machine is gone."""


class NoMachine(Exception):
    """No machine can be made for this shape by this deployment: asking again changes nothing, a person has to."""


class MachineGone(Exception):
    """The machine does not exist (any more, or yet)."""


class Callbacks(Protocol):
    """Answers to machines that wait on a token."""

    def succeed(self, token: str) -> None:
        """Let it go on. A token that is used up or timed out is no error: somebody was faster."""

    def fail(self, token: str, error: str, cause: str) -> None:
        """Let it take its failure branch."""


class Notices(Protocol):
    """The two queues that people drain. A notice carries an id, never a token, and may arrive twice."""

    def approval(self, approval_id: str) -> None:
        """Announce an approval."""

    def case(self, case_id: str) -> None:
        """Announce a case."""


@dataclass(frozen=True, slots=True)
class Notice:
    """A notice as it was taken from the queue: the case that it names (None: nobody can read it), and its receipt."""

    case_id: str | None
    receipt: str


class BadReceipt(ValueError):
    """This is no receipt of the queue."""


class CaseQueue(Protocol):
    """The manual-resolution queue from its other end. What is taken and not deleted comes back."""

    def take(self, most: int, *, wait: int, hidden: int) -> list[Notice]:
        """Up to `most` notices (at most 10), waited for up to `wait` seconds and hidden from others for `hidden`."""

    def hide(self, receipt: str, seconds: int) -> None:
        """Let it come back after so many seconds from now. Raises BadReceipt."""

    def delete(self, receipt: str) -> None:
        """Take it off the queue; one that is off already is no error. Raises BadReceipt."""


class Adapters(Protocol):
    """Where adapters are found by reference."""

    def resolve(self, reference: str) -> Callable[..., Any]:
        """The function behind `package.module:function`."""


@dataclass(frozen=True, slots=True)
class Replay:
    """The intent is already fulfilled: this is the answer, and nothing is called."""

    answer: Mapping[str, JSON]


class Intent(Protocol):
    """One step's effect, or one step's undo, as something to be done once."""

    @property
    def key(self) -> str:
        """The idempotency key."""

    def claim(self) -> Replay | None:
        """Take the claim, or answer from the record. Raises what the caller has to know."""

    def conclude(self, answer: Mapping[str, JSON]) -> None:
        """Record what the call answered, under the claim's fence."""

    def broke(self) -> None:
        """The call ended without an answer: record that nobody knows."""


Once = Callable[[Intent, Callable[[], Mapping[str, JSON]]], Mapping[str, JSON]]
"""Runs a call under its intent's claim: Powertools idempotency over the ledger, see `aws/idempotency.py`."""
