"""What is counted of a contestant, and how it is shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum


class Knows(StrEnum):
    """What a contestant's own records say about one trial, once it does nothing more by itself."""

    DONE = "done"
    UNDONE = "undone"
    CASE = "case"
    NOTHING = "nothing"
    """Neither of them: failed, in progress for ever, or no record at all."""


@dataclass(frozen=True, slots=True)
class Count:
    """One line of the table. All but `trials` are totals."""

    contestant: str
    trials: int
    effects: int
    duplicates: int
    lost: int
    cases: int
    seconds: float

    @classmethod
    def of(
        cls, contestant: str, books: Mapping[str, int], records: Mapping[str, Knows], seconds: float
    ) -> Count:
        """A lost obligation is an effect that no record calls done or undone, and that no person has in hand."""
        made = {reference: books.get(reference, 0) for reference in records}
        kept = {Knows.DONE, Knows.UNDONE, Knows.CASE}
        return cls(
            contestant=contestant,
            trials=len(records),
            effects=sum(made.values()),
            duplicates=sum(max(0, n - 1) for n in made.values()),
            lost=sum(made[r] > 0 and knows not in kept for r, knows in records.items()),
            cases=sum(knows is Knows.CASE for knows in records.values()),
            seconds=seconds,
        )

    def per_1000(self, total: int) -> str:
        """A total as so many in a thousand trials."""
        return f"{1000 * total / self.trials:.0f}"


def table(counts: Iterable[Count]) -> str:
    """The counts side by side, as Markdown."""
    lines = [
        "| per 1,000 kills | duplicates | lost obligations | cases for a person | trials | effects | s |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {c.contestant} | {c.per_1000(c.duplicates)} | {c.per_1000(c.lost)} "
        f"| {c.per_1000(c.cases)} | {c.trials} | {c.effects} | {c.seconds:.0f} |"
        for c in counts
    ]
    return "\n".join(lines)
