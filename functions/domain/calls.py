"""What an adapter receives. Everything it may use is in the call; it reads no environment but its catalogue's settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from pydantic import BaseModel

from functions.domain.outcome import Finding, Outcome, Receipt


@dataclass(frozen=True, slots=True)
class Call:
    """One call at a target, forward or undo.

    `key` is the idempotency key and the only one the adapter may send. `credential` is the secret's value, read through
    the recorded reference ("" where the operation declares none), and `role` the ARN of the IAM role that an undo has to
    take on ("" where none is declared): the recorded authority's, and no other. `timeout` bounds the whole call, in
    seconds. Forward
    calls have `arguments` (an instance of the step's model) and `results` (receipts of required steps by step name);
    undo calls have `inputs` (fixed when the receipt was recorded), the forward `receipt`, and `condition`, the version
    that the resource must still have (None where the target has no versions).
    """

    key: str
    credential: str = field(repr=False)
    timeout: float
    role: str = ""
    arguments: BaseModel | None = None
    results: Mapping[str, Receipt] = field(default_factory=dict)
    inputs: Mapping[str, str] = field(default_factory=dict)
    receipt: Receipt | None = None
    condition: str | None = None


@dataclass(frozen=True, slots=True)
class FactCall:
    """A read of one fact: which one (`query`), with which credential, within `timeout` seconds."""

    query: str
    credential: str = field(repr=False)
    timeout: float


class FactUnavailable(Exception):
    """The fact could not be read just now. Nothing is known, nothing was decided; asking again is sensible."""


Act = Callable[[Call], Outcome]
"""A run or an undo."""

Inquire = Callable[[Call], Finding]
"""A status query or a tombstone: by our key, never for a lookalike."""

ReadFact = Callable[[FactCall], BaseModel | None]
"""None means that the thing does not exist. Raises FactUnavailable."""
