"""How often, and at which pace, a Task may be asked again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.alias_generators import to_pascal

from statemachines import errors
from statemachines.proofs.graph import Node
from statemachines.proofs.parts import Cast, Part
from statemachines.proofs.violation import Code, Violation

LONGEST_TIMEOUT: Final = 99_999_999
"""Seconds. AWS refuses more."""


class Retrier(BaseModel):
    """One retrier, as AWS takes it. Delays in seconds; `max_attempts` counts repetitions."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, alias_generator=to_pascal)

    error_equals: Annotated[list[str], Field(min_length=1)]
    max_attempts: Annotated[int, Field(ge=0, lt=1000)]
    interval_seconds: Annotated[int, Field(gt=0, le=LONGEST_TIMEOUT)] = 1
    backoff_rate: Annotated[float, Field(ge=1.0)] = 2.0
    max_delay_seconds: Annotated[int, Field(gt=1, lt=31_622_400)]
    jitter_strategy: Literal["NONE", "FULL"] = "NONE"

    @property
    def total_delay(self) -> float:
        """Seconds of all its delays together, without jitter."""
        total, delay = 0.0, float(self.interval_seconds)
        for _ in range(self.max_attempts):
            total += min(delay, self.max_delay_seconds)
            delay = min(delay * self.backoff_rate, self.max_delay_seconds)
        return total


class Never(BaseModel):
    """The retrier of what must not be repeated."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, alias_generator=to_pascal)

    error_equals: list[str]
    max_attempts: Literal[0]


_RETRY: Final = TypeAdapter(tuple[Never, Retrier, Retrier, Retrier])


def retriers(node: Node) -> tuple[Never, Retrier, Retrier, Retrier]:
    """The four retriers of a Task: never, waiting, service, rest. Raises ValidationError."""
    given = node.body.get("Retry")
    return _RETRY.validate_python(tuple(given) if isinstance(given, list) else given)


def prove(node: Node, cast: Cast) -> Iterator[Violation]:
    """A Task ends in time, and is asked again only where, and as long as, that is sensible."""
    limit = node.body.get("TimeoutSeconds")
    if type(limit) is not int or not 0 < limit <= LONGEST_TIMEOUT:
        yield Violation(Code.UNBOUNDED, node.name, "needs TimeoutSeconds")
        return
    role = cast.role(node.name)
    gate = role is not None and role.part is Part.GATE
    try:
        never, waiting, service, rest = retriers(node)
    except ValidationError as refused:
        first = refused.errors()[0]
        message = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
        yield Violation(Code.UNSOUND_RETRY, node.name, message)
        return
    for message in (
        *_never(never, gate=gate),
        *_waiting(waiting, longer_than=0 if gate else limit),
        *_backing_off(service, errors.SERVICE),
        *_backing_off(rest, (errors.ANY,)),
    ):
        yield Violation(Code.UNSOUND_RETRY, node.name, message)


def _never(never: Never, *, gate: bool) -> Iterator[str]:
    must = {*errors.NOT_REPEATED}
    if gate:
        # After an answer or a timeout, another attempt would ask the people again.
        must |= {*errors.PEOPLE_SAID_NO, errors.TIMEOUT}
    if not must <= set(never.error_equals):
        yield "an error that must not be repeated is missing from the first retrier"


def _waiting(waiting: Retrier, *, longer_than: int) -> Iterator[str]:
    if set(waiting.error_equals) != set(errors.WAITED_OUT):
        yield "what is waited out comes second"
    if waiting.jitter_strategy != "NONE":
        yield "jitter would make the wait shorter than a lease"
    # A lease ends before the Task's own timeout does.
    if waiting.total_delay <= longer_than:
        yield "the wait is shorter than a lease"


def _backing_off(retrier: Retrier, matched: tuple[str, ...]) -> Iterator[str]:
    if set(retrier.error_equals) != set(matched):
        yield f"{matched[0]} is not where it belongs"
    if retrier.max_attempts == 0 or retrier.jitter_strategy != "FULL":
        yield f"{matched[0]} needs attempts, with full jitter"
