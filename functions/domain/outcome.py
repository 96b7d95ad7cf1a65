"""What an adapter's answer means.

An adapter answers every call with exactly one of four outcomes; it never raises for an expected one and never
guesses. An answer describes a *call*, not the step: silence is never "it did not happen" (seed two, "Record the undo
before the next side effect").
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

ShortText = Annotated[str, StringConstraints(max_length=500)]
Identifier = Annotated[str, StringConstraints(min_length=1, max_length=300)]


class Frozen(BaseModel):
    """Every value of the domain: immutable, closed in shape, strict in type."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Receipt(Frozen):
    """What is needed to find an effect again and to undo it. Never changes once recorded.

    `resource` is the target's stable identifier, `version` the target's version of it right after the effect (None
    where the target has none), `details` a few more facts of the target, bounded in number and size.
    """

    resource: Identifier
    version: Annotated[str, StringConstraints(max_length=100)] | None = None
    details: Annotated[dict[Identifier, ShortText], Field(max_length=20)] = {}


class RefusalCause(StrEnum):
    """Why asking again would not help."""

    BUSINESS = "business"
    PRECONDITION = "precondition"
    AUTHORITY = "authority"


class UnknownCause(StrEnum):
    """Why nobody can say yet whether the call did it."""

    SILENCE = "silence"
    KEY_IN_USE = "key_in_use"
    KEY_CONFLICT = "key_conflict"
    UNPLANNED = "unplanned"


class Applied(Frozen):
    """The effect exists. `notice` is a business event that a person should know of, in one sentence."""

    kind: Literal["applied"] = "applied"
    receipt: Receipt
    notice: ShortText | None = None


class Refused(Frozen):
    """This call was decided against; asking again will not change that."""

    kind: Literal["refused"] = "refused"
    reason: ShortText
    cause: RefusalCause = RefusalCause.BUSINESS


class NotApplied(Frozen):
    """This call did nothing, and asking again is sensible."""

    kind: Literal["not_applied"] = "not_applied"
    reason: ShortText


class Unknown(Frozen):
    """This call may have done it."""

    kind: Literal["unknown"] = "unknown"
    reason: ShortText
    cause: UnknownCause = UnknownCause.SILENCE


Outcome = Annotated[Applied | Refused | NotApplied | Unknown, Field(discriminator="kind")]


class NotFound(Frozen):
    """A status query looked for our key and found nothing. Not yet proof: the first call may still be on its way."""

    kind: Literal["not_found"] = "not_found"


class Tombstoned(Frozen):
    """The target has made our key unusable: the effect does not exist and never will."""

    kind: Literal["tombstoned"] = "tombstoned"


Finding = Annotated[
    Applied | NotFound | Tombstoned | Refused | NotApplied | Unknown, Field(discriminator="kind")
]
"""What a status query or a tombstone answers about a key: the effect, its absence, or nothing usable."""
