"""A team's catalogue for the target: one step that cannot be repeated, once as it is and once with the target's list.

The target keeps no keys and cancels nothing, so the catalogue has to say `reconcile="person"`: without that, building
it would fail.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints

from benchmarks.safety import effect
from functions.domain.calls import Call
from functions.domain.catalogue import (
    Authority,
    Catalogue,
    Kind,
    Operation,
    Retry,
    Settlement,
    Step,
)
from functions.domain.outcome import Applied, Finding, NotFound, Outcome, Receipt
from functions.domain.policy import Allowed, Question

_HERE = "benchmarks.safety.ours_catalogue"
_AUTHORITY = Authority(scope="charges")


class Charge(BaseModel):
    """What is charged: nothing but a name."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    account: Annotated[str, StringConstraints(max_length=40)]


def charge(call: Call) -> Outcome:
    """Cause the effect, with our key written on it as a remark."""
    return Applied(receipt=Receipt(resource=effect.charge(call.key)))


def look_up(call: Call) -> Finding:
    """Whether the target's list has an effect with our key on it."""
    found = effect.look_up(call.key)
    return Applied(receipt=Receipt(resource=found)) if found else NotFound()


def allow(_question: Question) -> Allowed:
    """Nobody is asked."""
    return Allowed()


def _step(name: str, status: Operation | None) -> Step:
    return Step(
        name=name,
        version="1",
        kind=Kind.PIVOT,
        description="Charge an account.",
        arguments=Charge,
        run=Operation(f"{_HERE}:charge", _AUTHORITY),
        settlement=Settlement(
            settles_after=timedelta(seconds=1), status=status, reconcile="person"
        ),
        retry=Retry(attempts=3),
        call_timeout=timedelta(seconds=1),
        retain_for=timedelta(days=90),
        sentence="Charge {account}",
    )


CHARGE = _step("charge", None)
CHARGE_ON_LIST = _step("charge_on_list", Operation(f"{_HERE}:look_up", _AUTHORITY))

CATALOGUE = Catalogue(
    name="bench",
    steps=(CHARGE, CHARGE_ON_LIST),
    facts=(),
    preconditions=(),
    policy=f"{_HERE}:allow",
    policy_version="1",
    approvers="approvers",
    operators="operators",
)
