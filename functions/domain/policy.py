"""Does this pivot need people, how many, of which group, by when, and why, in words.

The policy is code of the catalogue (seed one, "Approval before the pivot step: policy code, by amount or by customer
tier"). It is asked by the pivot's own function, just before the pivot runs, and sees only validated arguments, results and
facts: the agent's text is not among its arguments. It is asked once before that, when a plan is submitted, only to
hear what it forbids: what nobody may approve need not be prepared first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from pydantic import BaseModel

from functions.domain.outcome import Receipt


@dataclass(frozen=True, slots=True)
class Question:
    """What the policy is asked: this step, these arguments, these earlier results, these facts, now (UTC).

    At submission there are no results yet. A policy that needs one then looks it up and fails (LookupError), which decides
    nothing; the pivot asks again.
    """

    step: str
    arguments: BaseModel
    results: Mapping[str, Receipt]
    facts: Mapping[str, Any]
    now: datetime


@dataclass(frozen=True, slots=True)
class Allowed:
    """No person is needed."""


@dataclass(frozen=True, slots=True)
class NeedsApproval:
    """`approvers` different people of `group` must agree within `within`; `reason` is shown to them."""

    approvers: int
    group: str
    within: timedelta
    reason: str


@dataclass(frozen=True, slots=True)
class Forbidden:
    """Nobody may approve this."""

    reason: str


Verdict = Allowed | NeedsApproval | Forbidden
Policy = Callable[[Question], Verdict]
