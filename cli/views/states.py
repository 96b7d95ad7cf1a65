"""How each state looks. The word always stands beside the mark, so that colour is never the only sign."""

from __future__ import annotations

from cli.page import Span, Style

_STATUS: dict[str, Style] = {
    "completed": "good",
    "compensated": "warn",
    "resolved_manually": "warn",
    "awaiting_approval": "person",
    "awaiting_manual_resolution": "person",
    "compensation_blocked": "bad",
    "compensating": "warn",
}
AWAITS_A_PERSON = frozenset(
    {"awaiting_approval", "awaiting_manual_resolution", "compensation_blocked"}
)
TURNED = frozenset({"compensating", "compensation_blocked", "compensated"})
"""What has not started by then never starts."""
_FORWARD: dict[str, tuple[str, Style]] = {
    "prepared": ("·", "dim"),
    "started": ("▸", "live"),
    "completed": ("✔", "good"),
    "refused": ("✖", "bad"),
    "released": ("↻", "warn"),
    "unknown": ("?", "warn"),
}
_UNDO: dict[str, tuple[str, Style]] = {
    "pending": ("·", "dim"),
    "running": ("▸", "live"),
    "unknown": ("?", "warn"),
    "blocked": ("✖", "bad"),
    "succeeded": ("✔", "good"),
    "not_needed": ("-", "dim"),
    "resolved": ("✔", "person"),
    "accepted": ("!", "person"),
}
_UNDO_WORDS = {
    "succeeded": "undone",
    "not_needed": "nothing to undo",
    "resolved": "undone by a person",
    "accepted": "left in place by a person",
}
_OTHER: tuple[str, Style] = ("*", "")


def status(word: str) -> Span:
    """A saga's status."""
    return Span(word, _STATUS.get(word, "live"))


def forward(state: str) -> tuple[Span, Span]:
    """The mark and the word of a step's effect."""
    mark, style = _FORWARD.get(state, _OTHER)
    return Span(mark, style), Span(state, style)


def undo(state: str) -> tuple[Span, Span]:
    """The mark and the word of a step's compensation."""
    mark, style = _UNDO.get(state, _OTHER)
    return Span(mark, style), Span(_UNDO_WORDS.get(state, state), style)
