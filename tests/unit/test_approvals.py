"""An approval: who may say what, how often it counts, what it lets run, and when it no longer does."""

from __future__ import annotations

from itertools import product
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.domain import approvals, permission
from functions.domain.approvals import (
    ANSWERABLE,
    TRANSITIONS,
    AlreadySaid,
    Approval,
    ApprovalState,
    Decided,
    Decision,
    MayNot,
    NotAsShown,
    NotOpen,
    SaidOtherwise,
)
from functions.domain.permission import Wanted
from tests.unit.ledger import NOW, step

S = ApprovalState
ENDS = NOW + 60_000
PEOPLE = ["approver-1", "approver-2", "approver-3"]
Said = Literal["approve", "reject"]


def asked(**changes: Any) -> Approval:
    return Approval(
        id="saga-1-2-1",
        saga_id="saga-1",
        index=2,
        round=1,
        tenant="acme",
        catalogue="shop",
        step="charge",
        group="approvers",
        needed=1,
        reason="above the limit",
        sentence="Charge 180.00",
        arguments="{}",
        binds="b" * 64,
        excluded=("agent-1", "owner-1"),
        created_at=NOW,
        expires_at=ENDS,
        open="approval#acme",
        due_shard="due-0",
        due_at=ENDS,
    ).model_copy(update=changes)


def decide(
    approval: Approval, person: str = "approver-1", said: Said = "approve", **more: Any
) -> Any:
    arguments: dict[str, Any] = {
        "person": person,
        "groups": frozenset({"approvers"}),
        "decision": said,
        "reason": None,
        "now": NOW,
        **more,
    }
    return approvals.decide(approval, **arguments)


def decided(approval: Approval, *people: str) -> Approval:
    for person in people:
        said = decide(approval, person)
        assert isinstance(said, Decided)
        approval = said.approval
    return approval


def permits(approval: Approval, **more: Any) -> bool:
    revoked = more.pop("revoked", ())
    wanted = {"binds": "b" * 64, "needed": 1, "group": "approvers", "now": NOW, **more}
    return permission.permits(approval, Wanted(**wanted), revoked=revoked)


@pytest.mark.parametrize(("before", "after"), list(product(S, S)))
def test_an_approval_moves_only_as_the_table_says(before: S, after: S) -> None:
    decided_ones = {S.APPROVED, S.REJECTED, S.EXPIRED, S.CLOSED}
    allowed = {
        *product([S.OPEN], decided_ones),
        *product([S.APPROVED], [S.CONSUMED, S.EXPIRED, S.CLOSED]),
    }
    if (before, after) in allowed:
        moved = approvals._moved(asked(state=before), after, NOW)
        assert (moved.state, moved.open) == (after, None)
    else:
        with pytest.raises(ValueError, match=str(after)):
            approvals._moved(asked(state=before), after, NOW)
    assert set(TRANSITIONS) == set(S)


@pytest.mark.parametrize("needed", [1, 2, 3])
def test_as_many_different_people_as_policy_needs_have_to_agree(needed: int) -> None:
    approval = asked(needed=needed)
    for number in range(1, needed + 1):
        approval = decided(approval, PEOPLE[number - 1])
        assert approval.state is (S.APPROVED if number == needed else S.OPEN)
    assert len(approval.decisions) == needed


def test_the_same_person_counts_once() -> None:
    approval = decided(asked(needed=2), "approver-1")
    for _ in range(3):
        assert decide(approval, "approver-1") == AlreadySaid(approval)
    assert approval.state is S.OPEN


def test_nobody_takes_back_what_they_said_and_is_shown_it() -> None:
    approval = decided(asked(needed=2), "approver-1")
    [first] = approval.decisions
    assert decide(approval, "approver-1", "reject") == SaidOtherwise(approval, first)
    rejected = decide(asked(), "approver-1", "reject").approval
    assert decide(rejected, "approver-1") == SaidOtherwise(rejected, rejected.decisions[0])


def test_what_was_shown_has_to_be_what_the_approval_is_for() -> None:
    assert isinstance(decide(asked(), binds="b" * 64), Decided)
    assert decide(asked(), binds="c" * 64) == NotAsShown(asked())
    assert isinstance(decide(asked(), binds=None), Decided)


@pytest.mark.parametrize("said", ["approve", "reject"])
def test_a_round_that_is_asked_anew_takes_no_answer_any_more(said: Said) -> None:
    given = decided(asked(), "approver-1")
    old = approvals.close(given, NOW, superseded_by="saga-1-2-2")
    assert (old.state, old.superseded_by) == (S.CLOSED, "saga-1-2-2")
    for person in ("approver-1", "approver-2"):
        assert decide(old, person, said) == NotAsShown(old)


def test_one_no_is_enough_whoever_agreed_before() -> None:
    approval = decided(asked(needed=3), "approver-1", "approver-2")
    said = decide(approval, "approver-3", "reject")
    assert said.approval.state is S.REJECTED
    assert approvals.denial(said.approval, NOW) == "rejected by an approver: no reason given"


@pytest.mark.parametrize("person", ["agent-1", "owner-1"])
@pytest.mark.parametrize("said", ["approve", "reject"])
def test_who_submitted_may_decide_nothing(person: str, said: Said) -> None:
    assert isinstance(decide(asked(), person, said), MayNot)


@pytest.mark.parametrize("groups", [frozenset(), frozenset({"operators"}), frozenset({"approver"})])
def test_only_the_groups_members_decide(groups: frozenset[str]) -> None:
    assert isinstance(decide(asked(), groups=groups), MayNot)
    assert isinstance(decide(asked(state=S.APPROVED), groups=groups), MayNot)


def test_time_runs_out_to_the_millisecond() -> None:
    assert isinstance(decide(asked(), now=ENDS - 1), Decided)
    assert isinstance(decide(asked(), now=ENDS), NotOpen)
    assert approvals.denial(asked(), ENDS - 1) is None
    assert approvals.denial(asked(), ENDS) == "nobody approved in time"


@pytest.mark.parametrize(
    ("now", "wants"),
    [(NOW, False), (NOW + 29_999, False), (NOW + 30_000, True), (ENDS - 1, True), (ENDS, False)],
)
def test_at_half_of_the_time_people_are_reminded_once(now: int, wants: bool) -> None:  # noqa: FBT001 - a column of the table
    assert approvals.wants_reminder(asked(), now) is wants
    told = approvals.reminded(asked(), now)
    assert (told.reminded_at, told.due_at, told.due_shard) == (now, ENDS, "due-0")
    assert not approvals.wants_reminder(told, now)


@pytest.mark.parametrize("state", [s for s in S if s is not S.OPEN])
def test_nobody_is_reminded_of_what_is_decided(state: S) -> None:
    assert not approvals.wants_reminder(asked(state=state), NOW + 30_000)


@pytest.mark.parametrize("state", [s for s in S if s is not S.OPEN])
def test_what_is_no_longer_open_is_decided_by_nobody(state: S) -> None:
    assert isinstance(decide(asked(state=state)), NotOpen)


@pytest.mark.parametrize("state", [S.APPROVED, S.REJECTED, S.EXPIRED, S.CLOSED])
def test_a_decision_is_due_to_its_machine_until_it_has_been_told(state: S) -> None:
    assert state in ANSWERABLE
    waiting = approvals._moved(asked(), state, NOW)
    assert (waiting.due_at, waiting.due_shard) == (NOW, "due-0")
    told = approvals._moved(asked(answered=True), state, NOW)
    assert (told.due_at, told.due_shard) == (None, None)


def test_a_used_approval_is_due_to_nobody() -> None:
    used = approvals.consume(asked(state=S.APPROVED), NOW)
    assert (used.state, used.due_at, used.due_shard) == (S.CONSUMED, None, None)


@pytest.mark.parametrize("state", S)
def test_a_machine_that_comes_to_wait_for_a_decided_approval_is_due_its_answer(state: S) -> None:
    rested = asked(state=state, due_at=None, due_shard=None, answered=True, token="old")
    waiting = approvals.waited_for(rested, token="new", execution="saga-1-2", due_shard="due-3")
    assert (waiting.token, waiting.execution, waiting.answered) == ("new", "saga-1-2", False)
    assert (waiting.due_at is not None) is (state is not S.OPEN)
    fresh = approvals.waited_for(asked(), token="new", execution="saga-1-2", due_shard="due-3")
    assert (fresh.due_at, fresh.due_shard) == (ENDS, "due-0")


def waiting(approval: Approval, token: str, execution: str = "saga-1-1") -> Approval:
    return approvals.waited_for(approval, token=token, execution=execution, due_shard="due-0")


def test_each_attempt_of_one_gate_is_answered_and_none_of_an_earlier_driver() -> None:
    first = waiting(asked(), "one")
    assert (first.token, first.earlier_tokens) == ("one", ())
    again = waiting(waiting(first, "two"), "two")
    assert (again.token, again.earlier_tokens) == ("two", ("one",))
    anew = waiting(again, "three", "saga-1-2")
    assert (anew.token, anew.earlier_tokens) == ("three", ())
    many = asked()
    for number in range(approvals.MOST_TOKENS + 3):
        many = waiting(many, f"token-{number}")
    assert many.earlier_tokens == tuple(f"token-{n}" for n in range(2, approvals.MOST_TOKENS + 2))


def test_a_rejection_tells_its_reason() -> None:
    rejected = decide(asked(), said="reject", reason="The customer has cancelled.").approval
    told = approvals.denial(rejected, NOW)
    assert told == "rejected by an approver: The customer has cancelled."


def test_an_approval_permits_exactly_what_it_was_given_for() -> None:
    approval = decided(asked(), "approver-1")
    assert permits(approval)
    assert not permits(approval, binds="c" * 64)
    assert not permits(approval, needed=2)
    assert not permits(approval, group="directors")
    assert permits(approval, now=ENDS - 1)
    assert not permits(approval, now=ENDS)
    assert permits(decided(asked(needed=2), "approver-1", "approver-2"), needed=2)


def test_a_yes_that_was_revoked_does_not_count_and_neither_does_one_of_who_may_not() -> None:
    both = decided(asked(needed=2), "approver-1", "approver-2")
    assert permission.agreed(both) == ("approver-1", "approver-2")
    assert not permits(both, needed=2, revoked=["approver-2"])
    assert permits(both, needed=1, revoked=["approver-2"])
    assert not permits(both, needed=1, revoked=["approver-1", "approver-2"])
    no = Decision(person="approver-3", decision="reject", at=NOW)
    assert permission.agreed(asked(decisions=(no, *both.decisions))) == permission.agreed(both)
    altered = both.model_copy(update={"excluded": ("approver-1",)})
    assert permission.agreed(altered) == ("approver-2",)
    assert not permits(altered, needed=2)


@pytest.mark.parametrize(
    ("groups", "may"),
    [
        ({"approvers", "tenant.acme"}, True),
        ({"approvers", "tenant.acme", "operators"}, True),
        ({"approvers"}, False),
        ({"tenant.acme"}, False),
        ({"approvers", "tenant.globex"}, False),
        (set(), False),
    ],
)
def test_whoever_decides_is_in_the_group_and_in_the_tenant(groups: set[str], may: bool) -> None:  # noqa: FBT001 - a column of the table
    assert permission.may_decide(asked(), groups) is may


@pytest.mark.parametrize(
    ("wanted", "why"),
    [
        ({"binds": "c" * 64}, "no longer what was asked"),
        ({"group": "directors"}, "policy asks directors now"),
        ({"needed": 2}, "asks for 2 people now"),
        ({"now": ENDS}, "before its time was over"),
    ],
)
def test_who_is_asked_once_more_is_told_why(wanted: dict[str, Any], why: str) -> None:
    given = {"binds": "b" * 64, "needed": 1, "group": "approvers", "now": NOW, **wanted}
    assert not permits(decided(asked(), "approver-1"), **wanted)
    assert why in permission.why_again(asked(), Wanted(**given))


@pytest.mark.parametrize("state", [s for s in S if s is not S.APPROVED])
def test_only_a_given_approval_permits_anything(state: S) -> None:
    by_one = (Decision(person="approver-1", decision="approve", at=NOW),)
    assert not permits(asked(state=state, decisions=by_one))


@given(
    st.lists(
        st.tuples(
            st.sampled_from([*PEOPLE, "agent-1"]),
            st.sampled_from(["approve", "reject"]),
            st.sampled_from([frozenset({"approvers"}), frozenset({"operators"})]),
            st.integers(NOW, ENDS + 1),
        ),
        max_size=8,
    ),
    st.integers(1, 3),
)
def test_whatever_anybody_says_what_permits_was_agreed_to_by_enough_who_may_and_in_time(
    said: list[Any], needed: int
) -> None:
    approval = asked(needed=needed)
    for person, decision, groups, now in said:
        answer = decide(approval, person, decision, groups=groups, now=now)
        if isinstance(answer, Decided):
            approval = answer.approval
    people = [d.person for d in approval.decisions]
    assert len(people) == len(set(people))
    assert not set(people) & set(approval.excluded)
    assert all(d.at < ENDS for d in approval.decisions)
    if permits(approval, needed=needed):
        assert len(people) == needed
        assert all(d.decision == "approve" for d in approval.decisions)
    if any(d.decision == "reject" for d in approval.decisions):
        assert approval.state is S.REJECTED


def test_an_approval_binds_everything_that_runs_and_no_word_of_the_agent() -> None:
    given_for = {
        "tenant": "acme",
        "saga_id": "saga-1",
        "step": step(2),
        "forward_digest": "f",
        "catalogue_version": "c",
        "policy_version": "1",
    }
    base = approvals.bound_digest(**given_for)
    other_step = step(2).model_copy(update={"step_version": "2"})
    for name, value in {
        "tenant": "globex",
        "saga_id": "saga-2",
        "step": other_step,
        "forward_digest": "g",
        "catalogue_version": "d",
        "policy_version": "2",
    }.items():
        assert approvals.bound_digest(**{**given_for, name: value}) != base
    assert approvals.bound_digest(**{**given_for, "step": step(3)}) != base
    reworded = step(2).model_copy(update={"sentence": "APPROVED BY FINANCE"})
    assert approvals.bound_digest(**{**given_for, "step": reworded}) == base


def test_each_round_has_one_id_however_often_it_is_asked_for() -> None:
    ids = [approvals.approval_id("saga-1", 2, n) for n in (1, 1, 2)]
    assert ids == ["saga-1-2-1", "saga-1-2-1", "saga-1-2-2"]
