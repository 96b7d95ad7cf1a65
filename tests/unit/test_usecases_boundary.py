"""Before the point of no return: what must hold, who must agree, and the one transaction that starts it."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier
from typing import Any, Literal

import pytest

from functions.domain import approvals
from functions.domain.approvals import (
    AlreadySaid,
    Answer,
    Approval,
    ApprovalState,
    Decided,
    MayNot,
    NotOpen,
)
from functions.domain.ledger import forward
from functions.domain.ledger.records import Attention, Direction, ForwardState, Pivot
from functions.domain.policy import Allowed, Forbidden
from functions.ports import CredentialLost
from functions.usecases import errors
from functions.usecases.begin_compensation import begin_compensation
from functions.usecases.cancel_saga import cancel_saga
from functions.usecases.decide_approval import decide_approval
from functions.usecases.records import read_approval
from functions.usecases.remind_approvers import remind_approvers
from functions.usecases.request_approval import request_approval
from functions.usecases.run_step import run_step
from functions.usecases.settle_step import settle_boundary
from functions.usecases.world import StepRef
from tests.unit.kernel import SAGA, SETTLES, Bench, Killed, needs
from tests.unit.kernel_machine import swept

PIVOT = 2


def at_the_pivot(settles: str = "keys+status+tombstone", **more: Any) -> Bench:
    bench = Bench(settles, **more)
    bench.admit()
    for index in range(PIVOT):
        run_step(bench.world_at(index), bench.ref(index))
    return bench


def pivot(bench: Bench) -> str:
    """One delivery of the pivot: what the machine is told."""
    try:
        return run_step(bench.world_at(PIVOT), bench.ref(PIVOT))["outcome"]
    except errors.StepError as error:
        return type(error).__name__


def settled(bench: Bench) -> str:
    try:
        settle_boundary(bench.world_at(PIVOT), bench.ref(PIVOT))
    except errors.StepError as error:
        return type(error).__name__
    return "applied"


def gate(bench: Bench, by: str = "token-1", epoch: int | None = None) -> None:
    request_approval(bench.store, bench.callbacks, bench.notices, bench.ref(PIVOT, epoch), by)


def the_approval(bench: Bench) -> Approval:
    approval = read_approval(bench.store, bench.step(PIVOT).approval or "")
    assert approval is not None
    return approval


def decide(
    bench: Bench,
    person: str = "approver-1",
    decision: Literal["approve", "reject"] = "approve",
    *,
    approval: Approval | None = None,
    groups: tuple[str, ...] = ("approvers",),
    tenants: tuple[str, ...] = ("acme",),
) -> Answer | None:
    return decide_approval(
        bench.store,
        bench.clock,
        bench.callbacks,
        (approval or the_approval(bench)).id,
        tenants=frozenset(tenants),
        person=person,
        groups=frozenset(groups),
        decision=decision,
        reason=None,
    )


def remind(bench: Bench) -> str:
    return remind_approvers(bench.store, bench.clock, bench.notices, the_approval(bench))


def asked(bench: Bench, approvers: int = 1) -> Approval:
    """The pivot has asked, and its machine waits."""
    bench.verdict = needs(approvers)
    assert pivot(bench) == "ApprovalRequired"
    gate(bench)
    return the_approval(bench)


# Without people


def test_the_first_start_is_one_write_of_claim_and_crossing() -> None:
    bench = at_the_pivot()
    writes = bench.store.writes
    seen: list[Any] = []
    bench.wire.hook = lambda point: seen.append(bench.saga) if point == "before do" else None
    assert pivot(bench) == "applied"
    assert seen[0].head.pivot is Pivot.CROSSING
    assert seen[0].steps[PIVOT].forward.state is ForwardState.STARTED
    assert bench.store.writes - writes == 2
    assert (bench.head.pivot, bench.head.direction) == (Pivot.CROSSED, Direction.FINISHING)


def test_policy_is_asked_with_arguments_results_and_facts_and_no_word_of_the_agent() -> None:
    bench = at_the_pivot()
    pivot(bench)
    [question] = bench.asked
    assert question.step == "charge"
    assert question.results["hold"].resource == "do-2"
    assert question.facts["order"].shipped is False
    assert "The customer asked" not in str(question)


def test_a_precondition_that_no_longer_holds_refuses_before_any_call() -> None:
    bench = at_the_pivot()
    bench.shipped = True
    assert pivot(bench) == "StepRefused"
    assert bench.target.count(bench.key(PIVOT)) == 0
    step = bench.step(PIVOT)
    assert step.forward.state is ForwardState.REFUSED
    assert step.forward.history[-1].reason == "The order has shipped."
    assert bench.head.pivot is Pivot.AHEAD
    assert settled(bench) == "DidNotHappen"


def test_what_policy_forbids_is_refused_whoever_would_approve() -> None:
    bench = at_the_pivot()
    bench.verdict = Forbidden("over every limit")
    assert pivot(bench) == "StepRefused"
    assert bench.step(PIVOT).approval is None


def test_a_fact_that_cannot_be_read_decides_nothing() -> None:
    bench = at_the_pivot()
    bench.facts_down = True
    assert pivot(bench) == "NotAppliedYet"
    assert bench.step(PIVOT).version == 0
    bench.facts_down = False
    assert pivot(bench) == "applied"


def test_a_fact_whose_credential_is_gone_decides_nothing() -> None:
    bench = at_the_pivot()
    bench.credentials.values.clear()
    with pytest.raises(CredentialLost):
        bench.credentials.read("shop/shop", fresh=False)
    assert pivot(bench) == "NotAppliedYet"
    assert bench.head.pivot is Pivot.AHEAD


def test_a_second_attempt_asks_neither_facts_nor_people_again() -> None:
    bench = at_the_pivot()
    asked(bench)
    decide(bench)
    bench.target.trouble(bench.key(PIVOT), "busy")
    assert pivot(bench) == "NotAppliedYet"
    bench.facts_down, bench.shipped, bench.verdict = True, True, needs(5)
    questions = len(bench.asked)
    assert pivot(bench) == "applied"
    assert len(bench.asked) == questions


@pytest.mark.parametrize("plan", [("reserve", "ship", "notify"), ("ship", "notify")])
def test_without_a_pivot_the_first_retriable_step_is_the_boundary(plan: tuple[str, ...]) -> None:
    bench = Bench(ship={"requires": ()})
    bench.admit(*plan)
    at = plan.index("ship")
    for index in range(at):
        run_step(bench.world_at(index), bench.ref(index))
    bench.verdict = needs()
    seen: list[Pivot] = []
    bench.wire.hook = lambda point: seen.append(bench.head.pivot) if point == "before do" else None
    run_step(bench.world_at(at), bench.ref(at))
    assert seen == [Pivot.CROSSING]
    assert bench.head.direction is Direction.FINISHING
    assert bench.asked == []


def test_a_boundary_that_is_the_last_step_completes_the_saga_with_its_receipt() -> None:
    bench = Bench()
    bench.admit("reserve", "hold", "charge")
    for index in range(3):
        run_step(bench.world_at(index), bench.ref(index))
    assert (bench.head.pivot, bench.head.outcome) == (Pivot.CROSSED, "completed")


def test_a_boundary_does_not_start_while_a_person_settles_something() -> None:
    bench = at_the_pivot()
    bench.put(bench.head, bench.head.model_copy(update={"attention": Attention.MANUAL}))
    assert pivot(bench) == "StepBarred"
    assert bench.target.count(bench.key(PIVOT)) == 0


# People


def test_without_a_valid_approval_it_asks_once_however_often_it_is_delivered() -> None:
    bench = at_the_pivot()
    bench.verdict = needs()
    assert [pivot(bench) for _ in range(4)] == ["ApprovalRequired"] * 4
    assert bench.step(PIVOT).rounds == 1
    approval = the_approval(bench)
    assert approval.state is ApprovalState.OPEN
    assert approval.excluded == ("agent-1", "owner-1")
    assert approval.sentence == "charge for order 4471"
    assert approval.expires_at == bench.clock.at + 3_600_000
    assert bench.head.pivot is Pivot.AHEAD


def test_nobody_waits_longer_than_the_catalogue_lets_them() -> None:
    bench = at_the_pivot()
    bench.verdict = needs(minutes=60 * 24 * 30)
    pivot(bench)
    assert the_approval(bench).expires_at == bench.clock.at + 24 * 3_600_000


def test_an_approval_is_consumed_in_the_write_that_starts_the_pivot_and_never_again() -> None:
    bench = at_the_pivot()
    asked(bench)
    assert isinstance(decide(bench), Decided)
    seen: list[Any] = []
    bench.wire.hook = lambda point: (
        seen.append((the_approval(bench), bench.head.pivot)) if point == "before do" else None
    )
    assert pivot(bench) == "applied"
    [(approval, crossing)] = seen
    assert approval.state is ApprovalState.CONSUMED
    assert crossing is Pivot.CROSSING
    bench.wire.hook = None
    with pytest.raises(ValueError, match="consumed"):
        approvals.consume(approval, bench.clock.at)


def test_two_deliveries_at_once_use_one_approval_once() -> None:
    bench = at_the_pivot()
    asked(bench)
    decide(bench)
    said: list[str] = []

    def another(point: str) -> None:
        if point == "before write":
            bench.wire.hook = None
            said.append(pivot(bench))

    bench.wire.hook = another
    said.append(pivot(bench))
    assert said == ["applied", "applied"]
    assert bench.target.count(bench.key(PIVOT)) == 1
    assert len(bench.target.calls) == 3


def test_a_policy_that_got_stricter_asks_again_and_closes_the_old_question() -> None:
    bench = at_the_pivot()
    first = asked(bench)
    decide(bench)
    bench.verdict = needs(2)
    assert pivot(bench) == "ApprovalRequired"
    second = the_approval(bench)
    assert (second.round, second.needed) == (2, 2)
    assert second.again == "policy asks for 2 people now, and not 1"
    old = read_approval(bench.store, first.id)
    assert old is not None
    assert old.state is ApprovalState.CLOSED
    gate(bench, "token-2")
    decide(bench, "approver-1")
    assert pivot(bench) == "ApprovalRequired"
    decide(bench, "approver-2")
    assert pivot(bench) == "applied"


def test_a_policy_that_names_another_group_asks_that_group() -> None:
    bench = at_the_pivot()
    asked(bench)
    decide(bench)
    bench.verdict = needs(group="directors")
    assert pivot(bench) == "ApprovalRequired"
    assert the_approval(bench).group == "directors"


def test_a_policy_that_got_milder_needs_nobody_any_more() -> None:
    bench = at_the_pivot()
    asked(bench)
    bench.verdict = Allowed()
    assert pivot(bench) == "applied"
    assert bench.target.count(bench.key(PIVOT)) == 1


def test_another_version_of_the_policy_voids_what_was_approved_under_the_old_one() -> None:
    bench = at_the_pivot()
    asked(bench)
    decide(bench)
    bench.catalogue = replace(bench.catalogue, policy_version="2")
    assert pivot(bench) == "ApprovalRequired"
    assert the_approval(bench).round == 2
    assert bench.target.count(bench.key(PIVOT)) == 0


@pytest.mark.parametrize("field", ["arguments", "digest"])
def test_an_approval_is_for_exactly_what_was_shown(field: str) -> None:
    bench = at_the_pivot()
    asked(bench)
    decide(bench)
    step = bench.step(PIVOT)
    if field == "arguments":
        altered = step.model_copy(update={"arguments": '{"order_id":"1"}'})
    else:
        hold = bench.step(1)
        receipt = hold.forward.receipt
        assert receipt is not None
        other = hold.forward.model_copy(
            update={"receipt": receipt.model_copy(update={"resource": "do-99"})}
        )
        bench.put(hold, hold.model_copy(update={"forward": other}))
        altered = step.model_copy(update={"sentence": "altered"})
    bench.put(step, altered)
    assert pivot(bench) == "ApprovalRequired"
    assert bench.target.count(bench.key(PIVOT)) == 0


def test_an_approval_that_was_not_used_in_time_is_no_approval() -> None:
    bench = at_the_pivot()
    approval = asked(bench)
    decide(bench)
    bench.clock.at = approval.expires_at
    assert pivot(bench) == "ApprovalRequired"
    assert the_approval(bench).round == 2


@pytest.mark.parametrize("revoked", [{"approvers"}, {"tenant.acme"}, set()])
def test_who_has_agreed_and_may_no_longer_at_the_pivot_has_not_agreed(revoked: set[str]) -> None:
    bench = at_the_pivot()
    first = asked(bench, approvers=2)
    decide(bench, "approver-1")
    decide(bench, "approver-2")
    bench.directory.members["approver-2"] = frozenset(revoked)
    assert pivot(bench) == "ApprovalRequired"
    assert bench.target.count(bench.key(PIVOT)) == 0
    second = the_approval(bench)
    assert (second.round, second.state, second.decisions) == (2, ApprovalState.OPEN, ())
    assert second.again == "no longer among those who may approve: approver-2"
    old = read_approval(bench.store, first.id)
    assert old is not None
    assert (old.state, old.superseded_by) == (ApprovalState.CLOSED, second.id)
    gate(bench, "token-2")
    for person in ("approver-1", "approver-3"):
        decide(bench, person)
    assert pivot(bench) == "applied"


def test_a_directory_that_cannot_be_read_lets_nothing_run_and_asks_nobody_again() -> None:
    bench = at_the_pivot()
    approval = asked(bench)
    decide(bench)
    bench.directory.down = True
    version = bench.step(PIVOT).version
    assert pivot(bench) == "NotAppliedYet"
    assert (bench.step(PIVOT).version, bench.head.pivot) == (version, Pivot.AHEAD)
    assert the_approval(bench).id == approval.id
    assert bench.target.count(bench.key(PIVOT)) == 0
    bench.directory.down = False
    assert pivot(bench) == "applied"


def test_the_directory_is_asked_once_about_each_who_agreed_and_only_where_people_were_asked() -> (
    None
):
    bench = at_the_pivot()
    assert pivot(bench) == "applied"
    assert bench.directory.asked == []
    bench = at_the_pivot()
    asked(bench, approvers=2)
    decide(bench, "approver-1")
    assert pivot(bench) == "ApprovalRequired"
    assert bench.directory.asked == [], "nothing hangs on it yet"
    decide(bench, "approver-2")
    bench.target.trouble(bench.key(PIVOT), "busy")
    assert [pivot(bench), pivot(bench)] == ["NotAppliedYet", "applied"]
    assert bench.directory.asked == ["approver-1", "approver-2"]


@pytest.mark.parametrize("end", ["reject", "expire"])
def test_a_no_or_silence_refuses_the_pivot(end: str) -> None:
    bench = at_the_pivot()
    approval = asked(bench)
    if end == "reject":
        decide(bench, decision="reject")
        assert bench.callbacks.answers == [("token-1", "ApprovalRejected")]
    else:
        bench.clock.at = approval.expires_at
        swept(bench)
        assert bench.callbacks.answers == [("token-1", "ApprovalExpired")]
    assert pivot(bench) == "StepRefused"
    assert bench.step(PIVOT).forward.state is ForwardState.REFUSED
    assert bench.target.count(bench.key(PIVOT)) == 0


def test_people_are_asked_three_times_at_most() -> None:
    bench = at_the_pivot()
    for round_ in range(1, approvals.MOST_ROUNDS + 1):
        bench.verdict = needs(round_)
        assert pivot(bench) == "ApprovalRequired"
        for person in range(round_):
            decide(bench, f"approver-{person}")
    bench.verdict = needs(approvals.MOST_ROUNDS + 1)
    assert pivot(bench) == "StepRefused"
    assert bench.step(PIVOT).forward.history[-1].reason == "people were asked often enough"


def test_a_condition_that_fails_after_the_approval_refuses_and_compensation_can_begin() -> None:
    bench = at_the_pivot()
    asked(bench)
    decide(bench)
    bench.shipped = True
    assert pivot(bench) == "StepRefused"
    assert settled(bench) == "DidNotHappen"
    begin_compensation(bench.store, bench.clock, bench.ref(PIVOT))
    assert the_approval(bench).state is ApprovalState.CLOSED
    assert bench.head.reason is not None
    assert "The order has shipped." in bench.head.reason


# Deciding


def test_a_decision_is_written_before_the_machine_is_told() -> None:
    bench = at_the_pivot()
    asked(bench)

    def dead(point: str) -> None:
        if point == "after write":
            raise Killed(point)

    bench.wire.hook = dead
    with pytest.raises(Killed):
        decide(bench)
    bench.wire.hook = None
    assert the_approval(bench).state is ApprovalState.APPROVED
    assert bench.callbacks.answers == []
    swept(bench)
    assert bench.callbacks.answers == [("token-1", "succeed")]
    assert the_approval(bench).due_at is None
    swept(bench)
    assert bench.callbacks.answers == [("token-1", "succeed")]


@pytest.mark.parametrize(("first", "second"), [("approve", "reject"), ("reject", "approve")])
def test_of_two_decisions_at_once_one_counts_and_the_other_is_told_so(
    first: Literal["approve", "reject"], second: Literal["approve", "reject"]
) -> None:
    bench = at_the_pivot()
    asked(bench)
    said: list[Any] = []

    def other(point: str) -> None:
        if point == "before write":
            bench.wire.hook = None
            said.append(decide(bench, "approver-2", second))

    bench.wire.hook = other
    said.append(decide(bench, "approver-1", first))
    assert [type(s) for s in said] == [Decided, NotOpen]
    assert len(bench.callbacks.answers) == 1
    assert len(the_approval(bench).decisions) == 1
    assert (pivot(bench) == "applied") is (second == "approve")


def test_different_people_have_to_agree_and_saying_it_twice_is_saying_it_once() -> None:
    bench = at_the_pivot()
    asked(bench, approvers=2)
    assert isinstance(decide(bench, "approver-1"), Decided)
    assert isinstance(decide(bench, "approver-1"), AlreadySaid)
    assert the_approval(bench).state is ApprovalState.OPEN
    assert bench.callbacks.answers == []
    assert pivot(bench) == "ApprovalRequired"
    assert isinstance(decide(bench, "approver-2"), Decided)
    assert bench.callbacks.answers == [("token-1", "succeed")]
    assert pivot(bench) == "applied"


@pytest.mark.parametrize("person", ["agent-1", "owner-1"])
def test_who_submitted_or_answers_for_the_agent_may_not_decide(person: str) -> None:
    bench = at_the_pivot()
    asked(bench)
    assert isinstance(decide(bench, person), MayNot)
    assert the_approval(bench).decisions == ()


def test_only_the_group_decides_and_other_tenants_see_nothing() -> None:
    bench = at_the_pivot()
    asked(bench)
    assert isinstance(decide(bench, groups=("operators",)), MayNot)
    assert decide(bench, tenants=("globex",)) is None
    assert the_approval(bench).decisions == ()


def test_a_decision_after_the_deadline_is_none_even_before_the_sweeper_has_come() -> None:
    bench = at_the_pivot()
    approval = asked(bench)
    bench.clock.at = approval.expires_at
    assert isinstance(decide(bench), NotOpen)
    assert pivot(bench) == "ApprovalRequired"
    swept(bench)
    assert pivot(bench) == "StepRefused"


CROWD = 50


def at_once(bench: Bench, said: Callable[[int], Literal["approve", "reject"]]) -> list[Any]:
    """Fifty people have all read the open approval before the first of them writes."""
    everybody = Barrier(CROWD)
    waited = threading.local()

    def meet(point: str) -> None:
        if point == "before write" and not getattr(waited, "yes", False):
            waited.yes = True
            everybody.wait(timeout=30)

    bench.wire.hook = meet
    approval = the_approval(bench)
    with ThreadPoolExecutor(CROWD) as pool:
        answers = list(
            pool.map(
                lambda n: decide(bench, f"approver-{n}", said(n), approval=approval), range(CROWD)
            )
        )
    bench.wire.hook = None
    return answers


def test_of_fifty_people_at_once_one_decides_and_the_pivot_has_one_effect() -> None:
    bench = at_the_pivot()
    asked(bench)
    answers = at_once(bench, lambda _: "approve")
    assert Counter(type(a) for a in answers) == {Decided: 1, NotOpen: CROWD - 1}
    assert len(the_approval(bench).decisions) == 1
    assert bench.callbacks.answers == [("token-1", "succeed")]
    assert [pivot(bench) for _ in range(3)] == ["applied"] * 3
    assert bench.target.count(bench.key(PIVOT)) == 1


def test_of_fifty_people_at_once_two_decide_where_two_are_needed() -> None:
    bench = at_the_pivot()
    asked(bench, approvers=2)
    answers = at_once(bench, lambda _: "approve")
    assert Counter(type(a) for a in answers) == {Decided: 2, NotOpen: CROWD - 2}
    people = [d.person for d in the_approval(bench).decisions]
    assert len(set(people)) == len(people) == 2
    assert bench.callbacks.answers == [("token-1", "succeed")]
    assert [pivot(bench), pivot(bench)] == ["applied", "applied"]
    assert bench.target.count(bench.key(PIVOT)) == 1


@pytest.mark.parametrize("approvers", [1, 2])
def test_of_fifty_people_at_once_who_do_not_agree_one_outcome_stands_and_everybody_is_told_it(
    approvers: int,
) -> None:
    bench = at_the_pivot()
    asked(bench, approvers)
    answers = at_once(bench, lambda n: "approve" if n % 2 else "reject")
    approval = the_approval(bench)
    assert sum(isinstance(a, Decided) for a in answers) == len(approval.decisions) <= approvers
    assert len(bench.callbacks.answers) == 1
    approved = approval.state is ApprovalState.APPROVED
    assert approved or approval.decisions[-1].decision == "reject"
    assert pivot(bench) == ("applied" if approved else "StepRefused")
    assert bench.target.count(bench.key(PIVOT)) == int(approved)


# The reminder


def test_at_half_of_the_time_the_sweep_announces_an_open_approval_once_more_and_no_more() -> None:
    bench = at_the_pivot()
    approval = asked(bench)
    half = (approval.expires_at - approval.created_at) // 2
    bench.clock.at = approval.created_at + half - 1
    swept(bench)
    assert bench.notices.approvals == [approval.id]
    bench.clock.at += 1
    assert swept(bench)["reminded"] == 1
    assert bench.notices.approvals == [approval.id] * 2
    assert the_approval(bench).reminded_at == bench.clock.at
    for _ in range(3):
        bench.clock.pass_(60)
        swept(bench)
    assert bench.notices.approvals == [approval.id] * 2
    bench.clock.at = approval.expires_at
    swept(bench)
    assert the_approval(bench).state is ApprovalState.EXPIRED
    assert bench.callbacks.answers == [("token-1", "ApprovalExpired")]


def test_with_one_of_two_the_other_is_reminded() -> None:
    bench = at_the_pivot()
    approval = asked(bench, approvers=2)
    decide(bench)
    bench.clock.at = approval.created_at + (approval.expires_at - approval.created_at) // 2
    swept(bench)
    assert bench.notices.approvals == [approval.id] * 2
    assert len(the_approval(bench).decisions) == 1


@pytest.mark.parametrize("decision", ["approve", "reject"])
def test_nobody_is_reminded_of_what_has_been_decided(
    decision: Literal["approve", "reject"],
) -> None:
    bench = at_the_pivot()
    approval = asked(bench)
    decide(bench, decision=decision)
    bench.clock.at = approval.created_at + (approval.expires_at - approval.created_at) // 2
    swept(bench)
    assert bench.notices.approvals == [approval.id]


def test_a_sweep_that_dies_before_it_notes_the_reminder_sends_it_again_and_a_decision_stays() -> (
    None
):
    bench = at_the_pivot()
    approval = asked(bench, approvers=2)
    bench.clock.at = approval.created_at + (approval.expires_at - approval.created_at) // 2

    def dead(point: str) -> None:
        if point == "before write":
            raise Killed(point)

    bench.wire.hook = dead
    with pytest.raises(Killed):
        remind(bench)

    def decided(point: str) -> None:
        if point == "before write":
            bench.wire.hook = None
            decide(bench)

    bench.wire.hook = decided
    assert [remind(bench), swept(bench)["reminded"]] == ["raced", 1]
    assert bench.notices.approvals == [approval.id] * 4
    assert len(the_approval(bench).decisions) == 1
    assert "reminded" not in swept(bench)


# The gate


def test_the_gate_keeps_the_token_and_announces_the_approval_without_it() -> None:
    bench = at_the_pivot()
    approval = asked(bench)
    assert approval.token == "token-1"
    assert bench.notices.approvals == [approval.id]
    assert "token-1" not in str(bench.notices.approvals)


def test_a_gate_that_finds_a_decision_answers_itself_at_once() -> None:
    for decision, answer in (("approve", "succeed"), ("reject", "ApprovalRejected")):
        bench = at_the_pivot()
        bench.verdict = needs()
        pivot(bench)
        decide(bench, decision=decision)
        assert bench.callbacks.answers == []
        gate(bench)
        assert bench.callbacks.answers == [("token-1", answer)]
        assert bench.notices.approvals == []


def test_a_gate_killed_before_it_answers_itself_leaves_the_answer_due() -> None:
    bench = at_the_pivot()
    bench.verdict = needs()
    pivot(bench)
    decide(bench)
    swept(bench)
    assert the_approval(bench).due_at is None, "nobody waits yet, so nothing is due"

    def dead(point: str) -> None:
        if point == "after write":
            raise Killed(point)

    bench.wire.hook = dead
    with pytest.raises(Killed):
        gate(bench)
    bench.wire.hook = None
    swept(bench)
    assert bench.callbacks.answers == [("token-1", "succeed")]


def test_a_new_drivers_token_replaces_the_old_one_and_an_old_driver_is_sent_away() -> None:
    bench = at_the_pivot()
    asked(bench)
    bench.put(bench.head, bench.head.model_copy(update={"epoch": 2, "execution": f"{SAGA}-2"}))
    gate(bench, "token-2", epoch=2)
    with pytest.raises(errors.Superseded):
        gate(bench, "token-3", epoch=1)
    decide(bench)
    assert bench.callbacks.answers == [("token-2", "succeed")]


def test_an_old_driver_does_not_wait_at_the_gate_before_the_new_one_has_come_to_it() -> None:
    bench = at_the_pivot()
    bench.verdict = needs()
    assert pivot(bench) == "ApprovalRequired"
    bench.put(bench.head, bench.head.model_copy(update={"epoch": 2, "execution": f"{SAGA}-2"}))
    with pytest.raises(errors.Superseded):
        gate(bench, epoch=1)
    assert the_approval(bench).token is None


def test_nobody_decides_on_an_approval_that_does_not_exist() -> None:
    bench = at_the_pivot()
    said = decide_approval(
        bench.store,
        bench.clock,
        bench.callbacks,
        "no-such-approval",
        tenants=frozenset({"acme"}),
        person="anna",
        groups=frozenset({"approvers"}),
        decision="approve",
        reason=None,
    )
    assert said is None


def test_an_old_driver_that_had_read_the_head_before_never_takes_the_place_of_the_new_one() -> None:
    bench = at_the_pivot()
    asked(bench)

    def overtaken(point: str) -> None:
        if point == "before write":
            bench.wire.hook = None
            later = bench.head.model_copy(update={"epoch": 2, "execution": f"{SAGA}-2"})
            bench.put(bench.head, later)
            gate(bench, "token-2", epoch=2)
            # The next read of the old driver is one from before.
            bench.put(bench.head, bench.head.model_copy(update={"epoch": 1}))

    bench.wire.hook = overtaken
    with pytest.raises(errors.Superseded):
        gate(bench, "token-3", epoch=1)
    decide(bench)
    assert bench.callbacks.answers == [("token-2", "succeed")]


def test_a_token_that_arrives_while_a_decision_is_written_is_answered() -> None:
    bench = at_the_pivot()
    bench.verdict = needs()
    pivot(bench)

    def arrive(point: str) -> None:
        if point == "before write":
            bench.wire.hook = None
            gate(bench, "token-1")

    bench.wire.hook = arrive
    decide(bench)
    assert bench.callbacks.answers == [("token-1", "succeed")]


def test_a_decision_that_arrives_while_a_token_is_written_is_answered() -> None:
    bench = at_the_pivot()
    bench.verdict = needs()
    pivot(bench)

    def arrive(point: str) -> None:
        if point == "before write":
            bench.wire.hook = None
            decide(bench)

    bench.wire.hook = arrive
    gate(bench, "token-1")
    assert bench.callbacks.answers == [("token-1", "succeed")]


def test_a_gate_for_a_step_that_asked_nobody_is_a_bad_request() -> None:
    bench = at_the_pivot()
    with pytest.raises(errors.BadRequest):
        gate(bench)


def test_a_saga_that_has_turned_lets_nobody_wait() -> None:
    bench = at_the_pivot()
    asked(bench)
    begin_compensation(bench.store, bench.clock, bench.ref(PIVOT))
    with pytest.raises(errors.StepBarred):
        gate(bench, "token-2")


def test_cancelling_at_the_gate_tells_the_waiting_machine_even_if_the_canceller_dies() -> None:
    bench = at_the_pivot()
    asked(bench)

    def dead(point: str) -> None:
        if point == "after write":
            raise Killed(point)

    bench.wire.hook = dead
    with pytest.raises(Killed):
        cancel_saga(bench.store, bench.clock, bench.callbacks, SAGA, person="operator-1")
    bench.wire.hook = None
    assert bench.head.direction is Direction.COMPENSATING
    assert isinstance(decide(bench), NotOpen)
    bench.clock.pass_(1)
    swept(bench)
    assert bench.callbacks.answers == [("token-1", "SagaCancelled")]
    assert pivot(bench) == "StepBarred"


def test_cancelling_tells_the_waiting_machine_at_once_and_one_that_was_answered_nothing_more() -> (
    None
):
    bench = at_the_pivot()
    asked(bench)
    cancel_saga(bench.store, bench.clock, bench.callbacks, SAGA, person="operator-1")
    assert bench.callbacks.answers == [("token-1", "SagaCancelled")]

    bench = at_the_pivot()
    asked(bench)
    decide(bench)
    cancel_saga(bench.store, bench.clock, bench.callbacks, SAGA, person="operator-1")
    assert bench.callbacks.answers == [("token-1", "succeed")]


# After it was started


@pytest.mark.parametrize("kind", [k for k in SETTLES if k != "person"])
def test_a_boundary_whose_answer_was_lost_is_never_taken_for_nothing(kind: str) -> None:
    bench = at_the_pivot(kind)
    bench.target.trouble(bench.key(PIVOT), "lost")
    assert pivot(bench) == "OutcomeUnknown"
    assert bench.head.pivot is Pivot.CROSSING
    with pytest.raises(errors.StepBarred):
        begin_compensation(bench.store, bench.clock, bench.ref(PIVOT))
    said = settled(bench)
    if said == "applied":
        assert bench.head.pivot is Pivot.CROSSED
    else:
        assert said == "PersonNeeded"
        assert bench.head.pivot is Pivot.CROSSING
    assert bench.target.count(bench.key(PIVOT)) == 1


def test_settling_puts_a_tombstone_on_the_key_so_that_a_late_call_cannot_land() -> None:
    bench = at_the_pivot()
    bench.target.trouble(bench.key(PIVOT), "delayed")
    assert pivot(bench) == "OutcomeUnknown"
    assert settled(bench) == "DidNotHappen"
    assert bench.head.pivot is Pivot.AHEAD
    bench.target.arrive()
    assert bench.target.count(bench.key(PIVOT)) == 0
    begin_compensation(bench.store, bench.clock, bench.ref(PIVOT))


def test_without_a_tombstone_settling_waits_until_no_late_effect_is_possible() -> None:
    bench = at_the_pivot("keys+status")
    bench.target.trouble(bench.key(PIVOT), "silent")
    assert pivot(bench) == "OutcomeUnknown"
    assert [settled(bench) for _ in range(12)] == ["NotSettledYet"] * 12
    bench.lapse(PIVOT)
    assert settled(bench) == "DidNotHappen"
    assert bench.head.pivot is Pivot.AHEAD


def test_a_refused_boundary_steps_back_in_the_write_of_its_refusal() -> None:
    bench = at_the_pivot()
    bench.target.trouble(bench.key(PIVOT), "refuse")
    writes = bench.store.writes
    assert pivot(bench) == "StepRefused"
    assert bench.store.writes - writes == 2
    assert (bench.head.pivot, bench.head.direction) == (Pivot.AHEAD, Direction.FORWARD)


def test_stepping_back_loses_against_a_claim_in_between() -> None:
    bench = at_the_pivot()
    bench.target.trouble(bench.key(PIVOT), *["busy"] * 2)
    assert pivot(bench) == "NotAppliedYet"

    def claim(point: str) -> None:
        if point == "before write":
            bench.wire.hook = lambda p: _die(p, "before do")
            with pytest.raises(Killed):
                run_step(bench.world_at(PIVOT), bench.ref(PIVOT))
            bench.wire.hook = None

    bench.wire.hook = claim
    assert settled(bench) == "StillRunning"
    assert bench.step(PIVOT).forward.state is ForwardState.STARTED
    assert bench.head.pivot is Pivot.CROSSING


def _die(point: str, at: str) -> None:
    if point == at:
        raise Killed(point)


def test_a_claim_loses_against_a_step_back_in_between() -> None:
    bench = at_the_pivot()
    bench.target.trouble(bench.key(PIVOT), "busy")
    assert pivot(bench) == "NotAppliedYet"

    def back(point: str) -> None:
        if point == "before write":
            bench.wire.hook = None
            assert settled(bench) == "DidNotHappen"
            begin_compensation(bench.store, bench.clock, bench.ref(PIVOT))

    bench.wire.hook = back
    assert pivot(bench) == "StepBarred"
    assert bench.target.count(bench.key(PIVOT)) == 0


def test_an_old_driver_does_not_settle_a_new_drivers_boundary() -> None:
    bench = at_the_pivot()
    bench.target.trouble(bench.key(PIVOT), "lost")
    pivot(bench)
    bench.put(bench.head, bench.head.model_copy(update={"epoch": 2}))
    with pytest.raises(errors.Superseded):
        settle_boundary(bench.world_at(PIVOT), StepRef(SAGA, PIVOT, f"{SAGA}-1"))
    assert bench.target.tombstones == set()


def test_settling_a_boundary_that_holds_a_live_claim_waits() -> None:
    bench = at_the_pivot()
    bench.wire.hook = lambda point: _die(point, "before do")
    with pytest.raises(Killed):
        run_step(bench.world_at(PIVOT), bench.ref(PIVOT))
    bench.wire.hook = None
    assert settled(bench) == "StillRunning"
    bench.lapse(PIVOT)
    assert settled(bench) == "DidNotHappen"


def test_settling_a_completed_boundary_leads_on() -> None:
    bench = at_the_pivot()
    pivot(bench)
    calls = list(bench.target.calls)
    assert settled(bench) == "applied"
    assert bench.target.calls == calls


def test_settling_never_touches_a_boundary_in_a_persons_hands() -> None:
    bench = at_the_pivot()
    bench.target.trouble(bench.key(PIVOT), "refuse")
    pivot(bench)
    step = bench.step(PIVOT)
    bench.put(step, step.model_copy(update={"case": "case-1"}))
    assert settled(bench) == "CaseOpen"


def test_only_its_own_function_settles_a_boundary() -> None:
    bench = at_the_pivot()
    with pytest.raises(errors.BadRequest):
        settle_boundary(bench.world("ship"), bench.ref(PIVOT))


def test_an_effect_of_the_boundary_found_after_a_step_back_takes_the_saga_across() -> None:
    bench = at_the_pivot("keys")
    landed: list[Callable[[], None]] = []

    def stall(point: str) -> None:
        if point == "after do":
            bench.wire.hook = None
            bench.lapse(PIVOT)
            step, head = bench.step(PIVOT), bench.head
            absent = step.forward.model_copy(
                update={"state": ForwardState.RELEASED, "unsettled": False, "lease_until": 0}
            )
            bench.put(step, step.model_copy(update={"forward": absent}))
            bench.put(head, head.model_copy(update={"pivot": Pivot.AHEAD}))
            landed.append(stall)

    bench.wire.hook = stall
    assert pivot(bench) == "applied"
    assert landed
    assert (bench.head.pivot, bench.head.direction) == (Pivot.CROSSED, Direction.FINISHING)


def test_an_effect_of_the_boundary_found_after_the_turn_is_a_persons_to_settle() -> None:
    bench = at_the_pivot("keys")

    def stall(point: str) -> None:
        if point == "after do":
            bench.wire.hook = None
            bench.lapse(PIVOT)
            step, head = bench.step(PIVOT), bench.head
            absent = step.forward.model_copy(
                update={"state": ForwardState.RELEASED, "unsettled": False, "lease_until": 0}
            )
            barred = forward.bar(step.model_copy(update={"forward": absent}))
            bench.put(step, barred)
            turned = {"pivot": Pivot.AHEAD, "direction": Direction.COMPENSATING}
            bench.put(head, head.model_copy(update=turned))

    bench.wire.hook = stall
    assert pivot(bench) == "StepBarred"
    step = bench.step(PIVOT)
    assert step.forward.state is ForwardState.COMPLETED
    assert step.late is not None
    assert bench.head.wanted == "case"
    assert settled(bench) == "DidNotHappen"
