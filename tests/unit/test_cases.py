"""A case: held by one person at a time, settled once, and what it tells the person who gets it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.domain import cases, evidence, notes
from functions.domain.cases import (
    CLAIM_LASTS,
    AlreadySettled,
    Case,
    CaseCause,
    CaseState,
    Claimed,
    HeldBy,
    NeedsTwo,
    NotAllowed,
    NotHeld,
    Resolution,
)
from functions.domain.ledger.records import (
    AttemptEntry,
    Direction,
    ForwardState,
    Pivot,
    StepRecord,
    UndoState,
)
from functions.domain.outcome import Receipt
from tests.unit.ledger import AUTHORITY, NOW, completed, head, saga, step, steps, undoing


def opened(**changes: Any) -> Case:
    return Case(
        id="saga-1-0-undo-1",
        tenant="acme",
        group="operators",
        saga_id="saga-1",
        index=0,
        direction="undo",
        cause=CaseCause.UNDO_BLOCKED,
        obligation="It has to be undone.",
        why="It was refused.",
        evidence={},
        allowed=(Resolution.RETRY, Resolution.DONE),
        created_at=NOW,
        open="case#acme",
        due_shard="due-0",
        due_at=NOW,
    ).model_copy(update=changes)


def claimed(case: Case, person: str = "operator-1", now: int = NOW) -> Case:
    said = cases.claim(case, person=person, now=now)
    assert isinstance(said, Claimed)
    return said.case


def settle(case: Case, person: str = "operator-1", **more: Any) -> Any:
    arguments: dict[str, Any] = {
        "person": person,
        "resolution": Resolution.RETRY,
        "text": "seen",
        "now": NOW,
        **more,
    }
    return cases.settle(case, **arguments)


# Claiming


def test_a_case_is_one_persons_until_the_claim_lapses() -> None:
    case = claimed(opened())
    assert (case.claimed_by, case.claimed_until) == ("operator-1", NOW + CLAIM_LASTS)
    other = cases.claim(case, person="operator-2", now=NOW + CLAIM_LASTS - 1)
    assert other == HeldBy("operator-1", NOW + CLAIM_LASTS)
    assert claimed(case, "operator-2", NOW + CLAIM_LASTS).claimed_by == "operator-2"


def test_ones_own_claim_is_renewed() -> None:
    case = claimed(claimed(opened()), now=NOW + 1_000)
    assert case.claimed_until == NOW + 1_000 + CLAIM_LASTS
    assert [e.what for e in case.events] == ["claimed", "renewed"]


def test_a_settled_case_is_nobodys_to_claim() -> None:
    done = settle(claimed(opened()))
    assert cases.claim(done, person="operator-2", now=NOW) == AlreadySettled(done)


# Settling


def test_settling_needs_a_live_claim_of_ones_own() -> None:
    assert settle(opened()) == NotHeld()
    case = claimed(opened())
    assert settle(case, "operator-2") == NotHeld()
    assert settle(case, now=NOW + CLAIM_LASTS) == NotHeld()
    assert isinstance(settle(case, now=NOW + CLAIM_LASTS - 1), Case)


def test_a_case_is_settled_once_with_who_what_and_when() -> None:
    done = settle(claimed(opened()), resolution=Resolution.DONE, now=NOW + 5)
    assert (done.state, done.resolution, done.settled_at) == (
        CaseState.SETTLED,
        Resolution.DONE,
        NOW + 5,
    )
    last = done.events[-1]
    assert (last.who, last.what, last.text, last.at) == ("operator-1", "done", "seen", NOW + 5)
    assert settle(done) == AlreadySettled(done)
    assert (done.open, done.due_at, done.due_shard) == (None, None, None)


@pytest.mark.parametrize("resolution", Resolution)
def test_a_case_is_settled_only_in_a_way_that_its_obligation_allows(
    resolution: Resolution,
) -> None:
    case = claimed(opened(allowed=(Resolution.DONE,)))
    said = settle(case, resolution=resolution)
    if resolution is Resolution.DONE:
        assert isinstance(said, Case)
    else:
        assert said == NotAllowed((Resolution.DONE,))


@pytest.mark.parametrize("resolution", sorted(cases.BY_TWO))
def test_one_person_alone_does_not_settle_what_takes_two(resolution: Resolution) -> None:
    case = claimed(opened(allowed=tuple(Resolution)))
    assert settle(case, resolution=resolution) == NeedsTwo()


def test_a_cases_own_history_is_bounded() -> None:
    case = opened()
    for number in range(300):
        case = claimed(case, now=NOW + number)
    assert len(case.events) == 200


def test_what_was_found_is_kept_however_often_the_case_changes_hands() -> None:
    case = notes.observe(opened(), person="operator-2", text="seen", facts={}, now=NOW)
    assert isinstance(case, Case)
    for number in range(300):
        case = claimed(case, now=NOW + number)
    assert case.events[0].text == "seen"
    assert len(case.events) == 200


def test_a_steps_cases_are_told_apart_by_direction_and_number() -> None:
    ids = {cases.case_id("saga-1", i, d, n) for i in (0, 1) for d in ("do", "undo") for n in (1, 2)}
    assert len(ids) == 8


# Why, what is owed, what may be done


def because(record: StepRecord, side: Any = "undo") -> CaseCause:
    return evidence.cause_of(record, side)


def answered(cause: str) -> tuple[AttemptEntry, ...]:
    return (
        AttemptEntry(
            fence=1,
            purpose="call",
            started_at=NOW,
            by="saga-1-1",
            ended_at=NOW,
            outcome="refused",
            cause=cause,
            reason="the last word",
        ),
    )


@pytest.mark.parametrize(
    ("record", "side", "cause"),
    [
        (completed(state=UndoState.BLOCKED), "undo", CaseCause.UNDO_BLOCKED),
        (completed(attempts=3), "undo", CaseCause.UNDO_BUDGET_SPENT),
        (completed(needs_person=True), "undo", CaseCause.UNDO_NEEDS_PERSON),
        (undoing(completed(), inputs=None), "undo", CaseCause.UNDO_NEEDS_PERSON),
        (completed(conflicted=True), "undo", CaseCause.KEY_CONFLICT),
        (completed(history=answered("authority")), "undo", CaseCause.AUTHORITY_LOST),
        (completed(state=UndoState.UNKNOWN, unsettled=True), "undo", CaseCause.OUTCOME_UNSETTLED),
        (
            completed(state=UndoState.UNKNOWN, unsettled=True, attempts=3),
            "undo",
            CaseCause.UNDO_BUDGET_SPENT,
        ),
        (step(state=ForwardState.UNKNOWN, unsettled=True), "undo", CaseCause.OUTCOME_UNSETTLED),
        (step(state=ForwardState.STARTED), "do", CaseCause.OUTCOME_UNSETTLED),
        (step(state=ForwardState.REFUSED), "do", CaseCause.STEP_REFUSED),
        (step(state=ForwardState.RELEASED, attempts=3), "do", CaseCause.BUDGET_SPENT),
        (step(state=ForwardState.UNKNOWN, conflicted=True), "do", CaseCause.KEY_CONFLICT),
        (
            step(state=ForwardState.REFUSED, history=answered("authority")),
            "do",
            CaseCause.AUTHORITY_LOST,
        ),
    ],
)
def test_why_automation_stopped_is_read_from_the_commands_own_record(
    record: StepRecord, side: Any, cause: CaseCause
) -> None:
    assert because(record, side) is cause
    assert evidence.reason(record, side, cause)


def test_the_obligation_is_one_sentence_that_names_the_effect_and_the_undo() -> None:
    record = completed().model_copy(update={"sentence": "Reserve 1 of LAMP"})
    said = evidence.obligation(record, "undo", CaseCause.UNDO_BLOCKED)
    assert said == "“Reserve 1 of LAMP” (res-1) has taken effect and has to be undone by un_step_0."


@given(steps(), st.sampled_from(["do", "undo"]), st.text(min_size=1, max_size=500))
def test_whatever_the_step_a_case_can_always_be_written(
    record: StepRecord, side: Any, sentence: str
) -> None:
    long = Receipt(resource="r" * 300, version="v" * 100)
    record = record.model_copy(update={"sentence": sentence, "late": sentence})
    if record.forward.receipt is not None:
        receipt = record.forward.model_copy(update={"receipt": long})
        record = record.model_copy(update={"forward": receipt})
    one = saga(record, direction=Direction.COMPENSATING)
    for cause in {because(record, side), CaseCause.LATE_EFFECT, CaseCause.SECOND_EFFECT}:
        case = Case(
            id="c",
            tenant="acme",
            group="operators",
            saga_id="saga-1",
            index=0,
            direction=side,
            cause=cause,
            obligation=evidence.obligation(record, side, cause),
            why=evidence.reason(record, side, cause),
            evidence=evidence.evidence(one, record),
            allowed=evidence.allowed(one.head, record, cause),
            created_at=NOW,
        )
        assert case.allowed
        assert case.obligation


def test_a_conflicting_key_is_never_simply_retried() -> None:
    allowed = evidence.allowed(head(), completed(conflicted=True), CaseCause.KEY_CONFLICT)
    assert Resolution.RETRY not in allowed


@pytest.mark.parametrize("pivot", [Pivot.AHEAD, Pivot.CROSSING])
def test_the_boundary_is_a_persons_to_do_only_while_it_is_being_crossed(pivot: Pivot) -> None:
    boundary = step(state=ForwardState.RELEASED).model_copy(update={"boundary": True, "undo": None})
    allowed = evidence.allowed(head(pivot=pivot), boundary, CaseCause.BUDGET_SPENT)
    assert (Resolution.DONE in allowed) is (pivot is Pivot.CROSSING)


def test_that_it_did_not_happen_can_only_be_said_of_what_nobody_knows() -> None:
    unknown = step(state=ForwardState.UNKNOWN, unsettled=True)
    known = step(state=ForwardState.REFUSED)
    said = Resolution.DID_NOT_HAPPEN
    assert said in evidence.allowed(head(), unknown, CaseCause.OUTCOME_UNSETTLED)
    assert said not in evidence.allowed(head(), known, CaseCause.STEP_REFUSED)


@pytest.mark.parametrize("cause", [CaseCause.SECOND_EFFECT, CaseCause.LATE_EFFECT])
def test_an_effect_that_should_not_be_there_may_be_accepted(cause: CaseCause) -> None:
    assert Resolution.ACCEPT in evidence.allowed(head(), completed(), cause, "do")


def test_an_undo_that_is_owed_may_be_accepted_and_a_step_that_is_owed_may_not() -> None:
    undo = evidence.allowed(head(), completed(), CaseCause.UNDO_BLOCKED, "undo")
    ahead = step(state=ForwardState.REFUSED)
    forward = evidence.allowed(head(), ahead, CaseCause.STEP_REFUSED, "do")
    assert Resolution.ACCEPT in undo
    assert Resolution.ACCEPT not in forward


def test_another_principal_is_offered_only_where_authority_is_lost_and_one_is_declared() -> None:
    other = AUTHORITY.model_copy(update={"credential": "on_call", "alternate": "on_call"})
    declared = completed(alternates=(other,))
    way = Resolution.RETRY_WITH_ALTERNATE
    lost = CaseCause.AUTHORITY_LOST
    assert way in evidence.allowed(head(), declared, lost, "undo")
    assert way not in evidence.allowed(head(), declared, CaseCause.UNDO_BLOCKED, "undo")
    assert way not in evidence.allowed(head(), completed(), lost, "undo")
    used = completed(alternates=(other,), authority=other)
    assert way not in evidence.allowed(head(), used, lost, "undo")


def test_the_evidence_has_ids_keys_receipts_and_histories_and_no_credential() -> None:
    record = completed(history=answered("business"))
    shown = evidence.evidence(saga(record, completed(1, state=UndoState.SUCCEEDED)), record)
    assert shown["workflow"] == "saga-1"
    assert shown["undo"]["key"] == "saga-1:0:undo"
    assert shown["undo"]["inputs"] == {"resource": "res-1"}
    assert shown["undo"]["authority"] == AUTHORITY.model_dump()
    assert shown["undo"]["history"][0]["reason"] == "the last word"
    assert shown["forward"]["receipt"]["resource"] == "res-1"
    assert shown["exists"] == [{"step": "step_0", "resource": "res-1"}]
