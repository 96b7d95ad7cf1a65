"""How long a key protects: until the last moment at which a repeat can be sent and still find it remembered."""

from __future__ import annotations

from datetime import timedelta

from functions.domain.catalogue import Settlement
from functions.domain.ledger.records import Intent, Millis


def key_protects(command: Intent, settlement: Settlement, *, now: Millis, call: Millis) -> bool:
    """Whether a call made now, under this command's key, can make no second effect.

    The target keeps a key for `keys_kept_for` from its first sight of it, which is never before the first attempt. A claim
    taken now may be called until `call` milliseconds have passed, and such a call may land `settles_after` later still: by
    then the key must not have been forgotten. A key that is known with other parameters protects nothing, and none does
    where a person finds out.
    """
    kept = settlement.keys_kept_for
    if kept is None or settlement.reconcile == "person" or command.conflicted:
        return False
    first = min((entry.started_at for entry in command.history), default=now)
    forgotten = (kept - settlement.settles_after) // timedelta(milliseconds=1)
    return now + call < first + forgotten
