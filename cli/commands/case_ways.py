"""How a case may be settled."""

from __future__ import annotations

from enum import StrEnum


class Resolution(StrEnum):
    """What a person may do with a case; the case says which of these it allows."""

    RETRY = "retry"
    DONE = "done"
    DID_NOT_HAPPEN = "did_not_happen"
    CLOSE = "close"
    REOPEN = "reopen"
