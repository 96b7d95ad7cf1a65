"""The agent's own words: below the facts, in a box, and labelled. They are data and prove nothing."""

from __future__ import annotations

from typing import Any

from cli.page import Page

_RATIONALE = "written by the agent, not checked"
_NOTE = "note by the agent, not checked"


def add_agent_words(page: Page, rationale: Any, notes: list[Any]) -> None:
    """The rationale and each note, each in its own box; nothing where there are none."""
    if rationale:
        page.blank()
        page.fence(_RATIONALE, rationale)
    for note in notes:
        page.blank()
        page.fence(_NOTE, note)
