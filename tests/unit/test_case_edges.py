"""A case at its edges: who holds what is settled, what a history keeps, and how much it takes."""

from __future__ import annotations

from functions.domain import cases
from functions.domain.cases import Case, CaseEvent, CaseState, Resolution
from tests.unit.ledger import NOW
from tests.unit.test_cases import opened


def held(**changes: object) -> Case:
    return opened().model_copy(
        update={"claimed_by": "olga", "claimed_until": NOW + 1_000, **changes}
    )


def event(what: str, text: str | None = None) -> CaseEvent:
    return CaseEvent(at=NOW, who="olga", what=what, text=text)


def test_nobody_holds_what_is_settled_or_whose_claim_has_ended() -> None:
    assert cases.holder(held(), NOW) == "olga"
    assert cases.holder(held(), NOW + 1_000) is None
    assert cases.holder(held(state=CaseState.SETTLED), NOW) is None


def test_what_was_found_is_kept_with_what_was_done() -> None:
    settled = cases.settle(
        held(allowed=(Resolution.DONE,)),
        person="olga",
        resolution=Resolution.DONE,
        text="by telephone",
        now=NOW,
        facts={"booking": "B-7"},
    )
    assert isinstance(settled, Case)
    assert (settled.events[-1].text, settled.events[-1].facts) == (
        "by telephone",
        {"booking": "B-7"},
    )


def test_changes_of_hands_take_no_room_from_notes_and_make_room_for_them() -> None:
    hands = tuple(event("claimed") for _ in range(cases.MOST_EVENTS))
    full = held(events=hands)
    assert cases.has_room(full, event("noted", "seen"))
    kept = cases.entered(full, event("noted", "seen"))
    assert len(kept) == cases.MOST_EVENTS
    assert kept[-1].what == "noted"


def test_notes_are_kept_whole_and_so_they_are_bounded() -> None:
    notes = tuple(event("noted", "seen") for _ in range(cases.MOST_NOTES))
    assert cases.has_room(held(events=notes[:-1]), notes[-1])
    assert not cases.has_room(held(events=notes), notes[-1])
    one = len(event("noted", "é" * 500).model_dump_json().encode())
    most = cases.MOST_NOTED // one
    long = tuple(event("noted", "é" * 500) for _ in range(most))
    assert len(long) < cases.MOST_NOTES
    assert cases.has_room(held(events=long[:-1]), long[-1])
    assert not cases.has_room(held(events=long), long[-1])


def test_the_first_of_all_goes_where_everything_is_a_note() -> None:
    notes = tuple(event("noted", str(n)) for n in range(cases.MOST_EVENTS))
    kept = cases.entered(held(events=notes), event("noted", "last"))
    assert (kept[0].text, kept[-1].text, len(kept)) == ("1", "last", cases.MOST_EVENTS)
