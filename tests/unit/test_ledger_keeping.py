"""How long a key protects: to the millisecond, from the first attempt on, and not at all where it is in conflict."""

from __future__ import annotations

from datetime import timedelta

from functions.domain.catalogue import Settlement
from functions.domain.ledger.keeping import key_protects
from functions.domain.ledger.records import AttemptEntry, Forward
from tests.unit.ledger import NOW, step

KEPT, CALL, LANDS = 60_000, 10_000, 5_000


def protects(command: Forward, now: int) -> bool:
    settlement = Settlement(
        settles_after=timedelta(milliseconds=LANDS), keys_kept_for=timedelta(milliseconds=KEPT)
    )
    return key_protects(command, settlement, now=now, call=CALL)


def attempt(fence: int, at: int) -> AttemptEntry:
    return AttemptEntry(fence=fence, purpose="call", started_at=at, by="saga-1-1")


def test_it_protects_while_the_last_call_that_it_allows_still_lands_in_time() -> None:
    command = step(history=(attempt(1, NOW), attempt(2, NOW + 30_000))).forward
    assert protects(command, NOW + KEPT - CALL - LANDS - 1)
    assert not protects(command, NOW + KEPT - CALL - LANDS)


def test_before_the_first_attempt_it_counts_from_now() -> None:
    assert protects(step().forward, NOW)


def test_a_key_that_is_known_with_other_parameters_protects_nothing() -> None:
    assert not protects(step(conflicted=True, history=(attempt(1, NOW),)).forward, NOW)
