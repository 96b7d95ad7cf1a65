"""What a run is about, before anything goes wrong: the plan, its targets, and how people behave."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Approver = Literal["approve", "reject", "silent", "late", "twice", "race"]
Operator = Literal["settle", "retry", "done", "first", "careless", "silent"]


@dataclass(frozen=True, slots=True)
class Scenario:
    """One plan in one world.

    `kinds` are the steps' kinds as letters, `targets` what the target of each can do, `style` how steps depend on each
    other. `ask`: policy asks people before the pivot. The operator *settles* (tries again once, then does it by hand),
    always tries again, always does it by hand, does it by hand *first* on record and then in fact, says without looking that
    it did not happen, or never comes.
    """

    kinds: str
    targets: tuple[str, ...]
    style: str = "plain"
    ask: bool = False
    approver: Approver = "approve"
    operator: Operator = "settle"

    @property
    def boundary(self) -> int | None:
        """The index of the first step that is not compensable."""
        return next((i for i, kind in enumerate(self.kinds) if kind != "c"), None)

    def __str__(self) -> str:
        words = [self.kinds, "+".join(self.targets), self.style]
        if self.ask:
            words.append(f"approver {self.approver}")
        if self.operator != "settle":
            words.append(f"operator {self.operator}")
        return " ".join(words)
