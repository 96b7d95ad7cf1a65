"""The one door to a person's terminal: every text is made harmless here, no markup is read, no width is exceeded.

Results go to standard output, everything else to standard error. Nothing is coloured where nobody sees colour.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any, assert_never

from rich import box
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.padding import Padding
from rich.panel import Panel
from rich.rule import Rule as RichRule
from rich.table import Table
from rich.text import Text
from rich.theme import Theme

from cli.page import Block, Fence, Line, Page, Rows, Rule, Span
from cli.text import clean, paragraphs

_NARROW = 64
_THEME = Theme(
    {
        "strong": "bold",
        "dim": "dim",
        "good": "green",
        "bad": "red",
        "warn": "yellow",
        "live": "cyan",
        "person": "magenta",
    }
)
Draw = Callable[[Page, list[str]], None]


class Terminal:
    """Where a command speaks."""

    def __init__(self) -> None:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                # A terminal that cannot show a letter gets another one, never a traceback.
                stream.reconfigure(errors="replace")
        self._out = _console()
        self._err = _console(stderr=True)

    def show(self, page: Page) -> None:
        """Print a result."""
        _print(self._out, page)

    def json(self, body: Any) -> None:
        """Print JSON, and only JSON; in ASCII, so that no text in it can steer a terminal."""
        print(json.dumps(body, indent=2))

    def tell(self, page: Page) -> None:
        """Print to standard error."""
        _print(self._err, page)

    def note(self, *lines: str) -> None:
        """Print lines to standard error."""
        page = Page()
        for line in lines:
            page.line(line)
        self.tell(page)

    @contextlib.contextmanager
    def progress(self, *, quiet: bool = False) -> Iterator[Draw]:
        """Draw a page again and again while it changes; where no terminal is, print what changed as lines."""
        if quiet:
            yield lambda _page, _changes: None
        elif not self._err.is_terminal:
            yield lambda _page, changes: self.note(*changes)
        else:
            with Live(console=self._err, transient=True, auto_refresh=False) as live:
                yield lambda page, _changes: live.update(
                    _drawn(page, self._err.width), refresh=True
                )


def _print(console: Console, page: Page) -> None:
    with console.capture() as captured:
        console.print(_drawn(page, console.width))
    # Without the spaces that fill lines up: they only disturb who copies, pipes or narrows the window.
    console.file.write(re.sub(r" +$", "", captured.get(), flags=re.MULTILINE))
    console.file.flush()


def _console(*, stderr: bool = False) -> Console:
    return Console(stderr=stderr, theme=_THEME, markup=False, highlight=False, emoji=False)


def _drawn(page: Page, width: int) -> Group:
    return Group(*(_block(block, width) for block in page.blocks))


def _block(block: Block, width: int) -> RenderableType:
    match block:
        case Line():
            text = _text(*block.spans)
            return Padding(text, (0, 0, 0, block.indent)) if block.indent else text
        case Rows():
            return Padding(_table(block, width), (0, 0, 0, block.indent))
        case Rule():
            return _rule(block, width)
        case Fence():
            return _fence(block, width)
        case _:
            assert_never(block)


def _text(*spans: Span) -> Text:
    text = Text(overflow="fold")
    for span in spans:
        text.append(clean(span.text), style=span.style or None)
    return text


def _table(block: Rows, width: int) -> RenderableType:
    columns = max(len(row) for row in block.rows)
    if width < _NARROW and columns > 2:  # noqa: PLR2004 - a name and its value fit anywhere
        return Group(*(_stacked(row, columns) for row in block.rows))
    table = Table.grid(padding=(0, 2, 0, 0))
    for _ in range(columns):
        table.add_column(overflow="fold")
    for row in block.rows:
        table.add_row(*(_text(span) for span in row))
    return table


def _stacked(row: tuple[Span, ...], columns: int) -> RenderableType:
    if len(row) < columns or not row[-1].text:
        return _text(*_spaced(row[: columns - 1]))
    return Group(_text(*_spaced(row[:-1])), Padding(_text(row[-1]), (0, 0, 0, 4)))


def _rule(block: Rule, width: int) -> RenderableType:
    bar = "━" if block.heavy else "┄"
    words = _text(Span(block.text, block.style))
    style = block.style or "none"
    if words.cell_len + 4 > width:
        return Group(RichRule(characters=bar, style=style), words)
    return RichRule(words, characters=bar, style=style)


def _spaced(spans: tuple[Span, ...]) -> Iterator[Span]:
    for index, span in enumerate(spans):
        if index:
            yield Span("  ")
        yield span


def _fence(block: Fence, width: int) -> RenderableType:
    lines = paragraphs(block.words) or ["(nothing)"]
    words = Text("\n".join(lines), overflow="fold")
    title = _text(Span(block.title, "person"))
    if title.cell_len + 6 > width:  # a border would cut off whose words they are
        return Group(title, Panel(words, box=box.SQUARE, style="none"))
    return Panel(words, title=title, title_align="left", box=box.SQUARE, style="none")
