"""What a run is about, before anything goes wrong: the plan, its targets, and how people behave."""

from __future__ import annotations

from dataclasses import dataclass

from simulation.play import Approver, Habits, Operator


@dataclass(frozen=True, slots=True)
class Scenario:
    """One plan in one world.

    `kinds` are the steps' kinds as letters, `targets` what the target of each can do, `style` how steps depend on each
    other. The rest are the habits of its people.
    """

    kinds: str
    targets: tuple[str, ...]
    style: str = "plain"
    ask: bool = False
    approver: Approver = "approve"
    operator: Operator = "settle"

    @property
    def habits(self) -> Habits:
        """How its people behave."""
        return Habits(self.ask, self.approver, self.operator)

    def __str__(self) -> str:
        words = [self.kinds, "+".join(self.targets), self.style]
        if self.ask:
            words.append(f"approver {self.approver}")
        if self.operator != "settle":
            words.append(f"operator {self.operator}")
        return " ".join(words)
