"""Foreign text before it meets a terminal: what agents and targets wrote is data, and stays visible as data."""

from __future__ import annotations

import re
import unicodedata

_UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_MOST_LINES = 60


def clean(text: object) -> str:
    """One line of it, with U+FFFD for everything that cannot be seen: controls, escapes, bidirectional overrides."""
    return "".join(
        "\ufffd" if unicodedata.category(letter) in _UNSEEN else letter for letter in str(text)
    )


def paragraphs(text: object) -> list[str]:
    """Several lines of it, each clean; runs of empty lines become one, and what is over 60 lines is counted."""
    lines: list[str] = []
    for raw in re.split(r"\r\n|\r|\n", str(text).strip()):
        line = clean(raw.replace("\t", "    ")).rstrip()
        if line or (lines and lines[-1]):
            lines.append(line)
    kept = lines[:_MOST_LINES]
    if len(lines) > len(kept):
        kept.append(f"… {len(lines) - len(kept)} more lines; --json shows them all")
    return kept
