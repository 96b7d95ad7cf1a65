"""Switches for trouble: what a real target does on its bad days, on order, for exactly so many calls."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from functions.sandbox.asks import Answer, Word
from functions.sandbox.store import Ref, Store, Transaction

ANY = "*"
LONGEST = 6.0
"""Seconds. A call is decided this long after its arrival or never: what the catalogue's `settles_after` relies on."""
_FAULTS = Ref("fault", "all")


class Trouble(StrEnum):
    """The first five change nothing; the last three do what was asked, late or without saying so."""

    DECLINE = "decline"
    ERROR_500 = "error_500"
    ERROR_503 = "error_503"
    THROTTLED_429 = "throttled_429"
    UNAUTHORIZED_401 = "unauthorized_401"
    SLOW = "slow"
    LOST_ANSWER = "lost_answer"
    ERROR_AFTER = "error_after"


INSTEAD: Mapping[Trouble, Answer] = {
    Trouble.ERROR_500: Answer.refused(500, "internal", "something went wrong"),
    Trouble.ERROR_503: Answer.refused(503, "unavailable", "turned away before anything was done"),
    Trouble.THROTTLED_429: Answer.refused(429, "too_many_requests", "ask again more slowly"),
    Trouble.UNAUTHORIZED_401: Answer.refused(401, "unauthorized", "the token is not accepted"),
}
"""What is answered instead of doing anything."""

_CARD = Answer.refused(402, "card_declined", "the bank declined the card for good")
_DECLINED = Answer.refused(409, "declined", "the request was declined for good")


class Fault(BaseModel):
    """Trouble for the next `times` calls that match. `seconds` is how long a slow or lost answer takes."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    service: Word = ANY
    operation: Word = ANY
    order_id: Word = ANY
    fault: Annotated[Trouble, Field(strict=False)]
    times: Annotated[int, Field(ge=1, le=1000)] = 1
    seconds: Annotated[float, Field(ge=0, le=LONGEST)] = 0.0

    def strikes(self, service: str, operation: str, order_id: str | None) -> bool:
        """Whether a call is one of those that it is meant for."""
        meant = ((self.service, service), (self.operation, operation), (self.order_id, order_id))
        return all(wanted in {ANY, given} for wanted, given in meant)


def declined(operation: str) -> Answer:
    """A business refusal in the operation's own words."""
    return _CARD if operation in {"authorize", "capture"} else _DECLINED


def order_trouble(store: Store, fault: Fault) -> None:
    """Add a fault behind those that are there."""
    while True:
        tx = Transaction(store)
        tx.put(_FAULTS, {"faults": [*_left(tx), fault.model_dump(mode="json")]})
        if tx.commit():
            return


def take(store: Store, service: str, operation: str, order_id: str | None) -> Fault | None:
    """The first fault that strikes this call, used up by one; each is taken exactly `times` times."""
    while True:
        tx = Transaction(store)
        faults = [Fault.model_validate(each) for each in _left(tx)]
        at = next(
            (i for i, f in enumerate(faults) if f.strikes(service, operation, order_id)), None
        )
        if at is None:
            return None
        taken = faults[at]
        rest = [taken.model_copy(update={"times": taken.times - 1})] if taken.times > 1 else []
        left = [*faults[:at], *rest, *faults[at + 1 :]]
        tx.put(_FAULTS, {"faults": [fault.model_dump(mode="json") for fault in left]})
        if tx.commit():
            return taken


def _left(tx: Transaction) -> list[dict[str, object]]:
    return list((tx.get(_FAULTS) or {"faults": []})["faults"])
