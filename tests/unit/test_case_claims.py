"""A claim is kept longer, given back and given to somebody else; what people find is added, and never changed."""

from __future__ import annotations

from typing import Any

import pytest

from functions.domain import cases, claims, notes
from functions.domain.cases import (
    CLAIM_LASTS,
    HANDED_OVER_LASTS,
    MOST_NOTED,
    AlreadySettled,
    Case,
    Claimed,
    Full,
    HeldBy,
    NotHeld,
    Resolution,
)
from tests.unit.ledger import NOW
from tests.unit.test_cases import claimed, opened, settle

LATER = NOW + 60_000


def handed(case: Case, to: str = "operator-2", **more: Any) -> Any:
    arguments: dict[str, Any] = {"person": "operator-1", "member": True, "note": None, "now": LATER}
    return claims.hand_over(case, to=to, **{**arguments, **more})


def test_a_claim_is_renewed_by_its_holder_while_it_lasts() -> None:
    case = claimed(opened())
    renewed = claims.renew(case, person="operator-1", now=LATER)
    assert isinstance(renewed, Case)
    assert renewed.claimed_until == LATER + CLAIM_LASTS
    assert renewed.events[-1].what == "renewed"
    assert claims.renew(case, person="operator-2", now=LATER) == NotHeld()
    assert claims.renew(case, person="operator-1", now=NOW + CLAIM_LASTS) == NotHeld()


def test_a_claim_that_is_given_back_is_anybody_s_at_once() -> None:
    case = claims.release(claimed(opened()), person="operator-1", note="off for today", now=LATER)
    assert isinstance(case, Case)
    assert (case.events[-1].who, case.events[-1].text) == ("operator-1", "off for today")
    assert cases.holder(case, LATER) is None
    assert isinstance(cases.claim(case, person="operator-2", now=LATER), Claimed)


def test_only_a_claim_of_one_s_own_is_given_back_or_away() -> None:
    case = claimed(opened())
    assert claims.release(case, person="operator-2", note=None, now=LATER) == NotHeld()
    assert handed(case, to="operator-3", person="operator-2") == NotHeld()
    assert handed(opened()) == NotHeld()


def test_a_case_that_is_handed_over_is_the_other_person_s_for_an_hour() -> None:
    case = handed(claimed(opened()), note="you know the carrier")
    assert (case.claimed_by, case.claimed_until) == ("operator-2", LATER + HANDED_OVER_LASTS)
    assert case.handed_over_by == "operator-1"
    assert case.events[-1].facts == {"to": "operator-2", "note": "you know the carrier"}
    first = cases.claim(case, person="operator-1", now=LATER)
    assert first == HeldBy("operator-2", LATER + HANDED_OVER_LASTS)
    assert isinstance(settle(case, "operator-2", now=LATER), Case)


def test_a_case_that_is_claimed_anew_is_no_longer_handed_over() -> None:
    case = handed(claimed(opened()))
    assert claimed(case, "operator-2", LATER).handed_over_by is None


@pytest.mark.parametrize(("to", "member"), [("stranger", False), ("operator-1", True)])
def test_a_case_goes_to_another_member_of_its_group_and_to_nobody_else(
    to: str, *, member: bool
) -> None:
    said = handed(claimed(opened()), to=to, member=member)
    assert said == claims.NotAMember(to, "operators")


def test_a_settled_case_changes_hands_no_more_and_takes_no_notes() -> None:
    done = settle(claimed(opened()), resolution=Resolution.DONE)
    settled = AlreadySettled(done)
    assert claims.renew(done, person="operator-1", now=NOW) == settled
    assert claims.release(done, person="operator-1", note=None, now=NOW) == settled
    assert handed(done) == settled
    assert notes.observe(done, person="operator-1", text="x", facts={}, now=NOW) == settled
    assert notes.attempt(done, person="operator-1", text="x", facts={}, now=NOW) == settled


def test_whoever_sees_the_case_may_add_what_they_found() -> None:
    case = notes.observe(
        claimed(opened()),
        person="operator-2",
        text="The bucket is empty.",
        facts={"objects": "0"},
        now=LATER,
    )
    assert isinstance(case, Case)
    last = case.events[-1]
    assert (last.who, last.what, last.text) == ("operator-2", "observed", "The bucket is empty.")
    assert (last.facts, last.at) == ({"objects": "0"}, LATER)


def test_to_attempt_something_by_hand_takes_the_claim_and_is_seen_by_the_next_person() -> None:
    assert notes.attempt(opened(), person="operator-1", text="x", facts={}, now=NOW) == NotHeld()
    case = notes.attempt(
        claimed(opened()), person="operator-1", text="I delete it.", facts={}, now=NOW
    )
    assert isinstance(case, Case)
    left = claimed(case, "operator-2", NOW + CLAIM_LASTS)
    found = notes.attempted(left)
    assert found is not None
    assert (found.who, found.text) == ("operator-1", "I delete it.")


def test_notes_end_before_a_record_grows_too_large_and_the_case_is_settled_all_the_same() -> None:
    case: Any = claimed(opened())
    facts = {f"fact {n}": "ö" * 300 for n in range(10)}
    for _ in range(cases.MOST_EVENTS):
        more = notes.observe(case, person="operator-1", text="ö" * 500, facts=facts, now=NOW)
        if isinstance(more, Full):
            break
        case = more
    assert len(case.events) > 10
    assert sum(len(e.model_dump_json().encode()) for e in case.events) <= MOST_NOTED + 1_000
    assert isinstance(settle(case), Case)
