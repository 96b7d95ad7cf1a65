"""Telling a scene while it happens: what was done, and what was checked."""

from __future__ import annotations

import threading
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
    _lines: list[Line] = field(default_factory=list)
    _ended: bool = False
    _news: threading.Condition = field(default_factory=threading.Condition)

    def tell(self, text: str) -> None:
        """Something was done."""
        self._add(Line(text))

    def check(self, text: str, holds: object, found: object = None) -> None:
        """Something has to hold; what was found instead is told where it does not."""
        if not holds and found is not None:
            text = f"{text}: found {found!r}"
        self._add(Line(text, bool(holds)))

    def end(self) -> None:
        """Nothing follows."""
        with self._news:
            self._ended = True
            self._news.notify_all()

    def lines(self) -> Iterator[Line]:
        """The lines in order, each as soon as it is there, until the scene has ended."""
        told = 0
        while True:
            with self._news:
                self._news.wait_for(lambda: len(self._lines) > told or self._ended)  # noqa: B023
                fresh = self._lines[told:]
                if not fresh:
                    return
            yield from fresh
            told += len(fresh)

    def checks(self) -> list[Line]:
        """All that was checked, once the scene has ended."""
        return [line for line in self.lines() if line.held is not None]

    def failures(self) -> list[str]:
        """What did not hold, once the scene has ended."""
        return [line.text for line in self.checks() if not line.held]

    def _add(self, line: Line) -> None:
        with self._news:
            self._lines.append(line)
            self._news.notify_all()
