"""How long a key protects: until the last moment at which a repeat can be sent and still find it remembered."""

from __future__ import annotations

from functions.domain.ledger.records import Intent, Millis


def key_protects(
    command: Intent, *, now: Millis, kept_for: int, call: int, settles_after: int
) -> bool:
    """Whether a call made now, under this command's key, can make no second effect. All durations in milliseconds.

    The target counts `kept_for` from its first sight of the key, which is never before the first attempt. A claim taken
    now may be called until `call` has passed, and such a call may land `settles_after` later still: by then the key must
    not have been forgotten. A key that is known with other parameters protects nothing.
    """
    if command.conflicted:
        return False
    first = min((entry.started_at for entry in command.history), default=now)
    return now + call + settles_after < first + kept_for
