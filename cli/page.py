"""What a command has to say, before a terminal draws it: plain values, so that views are functions from JSON to pages.

Texts are put in as they came. The terminal is the only door to the outside and makes each of them harmless.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

Style = Literal["", "strong", "dim", "good", "bad", "warn", "live", "person"]


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of one line."""

    text: object
    style: Style = ""


Piece = str | Span


@dataclass(frozen=True, slots=True)
class Line:
    """A paragraph; what does not fit goes on below, at the same indent."""

    spans: tuple[Span, ...]
    indent: int = 0


@dataclass(frozen=True, slots=True)
class Rows:
    """Columns that line up. On a narrow terminal the last column of each row goes below the others."""

    rows: tuple[tuple[Span, ...], ...]
    indent: int = 0


@dataclass(frozen=True, slots=True)
class Rule:
    """A line across with words in it."""

    text: str
    style: Style = ""
    heavy: bool = False


@dataclass(frozen=True, slots=True)
class Fence:
    """Somebody's own words, in a box that says whose they are."""

    title: str
    words: object


Block = Line | Rows | Rule | Fence


@dataclass(slots=True)
class Page:
    """Blocks from top to bottom."""

    blocks: list[Block] = field(default_factory=list)

    def line(self, *pieces: Piece, indent: int = 0) -> None:
        """Add a paragraph."""
        self.blocks.append(Line(tuple(_span(p) for p in pieces), indent))

    def blank(self) -> None:
        """Add an empty line."""
        self.line("")

    def heading(self, text: str) -> None:
        """Begin a section."""
        if self.blocks:
            self.blank()
        self.line(Span(text, "strong"))

    def rows(self, rows: Iterable[Sequence[Piece]], indent: int = 0) -> None:
        """Add columns that line up."""
        spans = tuple(tuple(_span(p) for p in row) for row in rows)
        if spans:
            self.blocks.append(Rows(spans, indent))

    def fields(self, pairs: Iterable[tuple[str, Piece | None]], indent: int = 0) -> None:
        """Add named values; those that are empty are left out."""
        self.rows(
            (
                (Span(name, "dim"), value)
                for name, value in pairs
                if value is not None and _span(value).text not in {None, ""}
            ),
            indent,
        )

    def rule(self, text: str, style: Style = "", *, heavy: bool = False) -> None:
        """Add a line across."""
        self.blocks.append(Rule(text, style, heavy))

    def fence(self, title: str, words: object) -> None:
        """Add somebody's own words."""
        self.blocks.append(Fence(title, words))


def _span(piece: Piece) -> Span:
    return piece if isinstance(piece, Span) else Span(piece)
