"""Telling a scene while it happens: what was done, and what was checked."""

from __future__ import annotations

import queue
from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the story. `held` is None for what was done, and says of a check whether it held."""

    text: str
    held: bool | None = None


@dataclass(slots=True)
class Story:
    """One scene's lines, readable by another thread as they come."""

    title: str
    failed: int = 0
    checked: int = 0
    _lines: queue.SimpleQueue[Line | None] = field(default_factory=queue.SimpleQueue)

    def tell(self, text: str) -> None:
        """Something was done."""
        self._lines.put(Line(text))

    def check(self, text: str, holds: object, found: object = None) -> None:
        """Something has to hold; what was found instead is told where it does not."""
        self.checked += 1
        if not holds:
            self.failed += 1
            text = f"{text}: found {found!r}" if found is not None else text
        self._lines.put(Line(text, bool(holds)))

    def end(self) -> None:
        """Nothing follows."""
        self._lines.put(None)

    def lines(self) -> Iterator[Line]:
        """The lines in order, each as soon as it is there."""
        while (line := self._lines.get()) is not None:
            yield line
