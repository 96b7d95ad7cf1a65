"""Another declared action in place of an undo, on the kernel: a new key, two people, one compensation in the end."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from functions.domain.cases import (
    AlreadySettled,
    Case,
    CaseCause,
    NotAllowed,
    Resolution,
)
from functions.domain.catalogue import Authority, Catalogue, Operation, OtherAction
from functions.domain.keys import other_action_key
from functions.domain.ledger.records import SagaOutcome, Undo, UndoState
from functions.domain.outcome import Applied, Receipt
from functions.domain.proposals import NotDeclared, SamePerson, Wanted
from functions.usecases import errors
from functions.usecases.audit_saga import Gathered
from functions.usecases.begin_compensation import begin_compensation
from functions.usecases.case_effects import Agreement, AttemptAlive, saga_changes
from functions.usecases.propose_resolution import Confirmed
from functions.usecases.records import read_case
from functions.usecases.run_step import run_step
from functions.usecases.undo_intent import UndoIntent
from functions.usecases.undo_step import undo_step
from functions.usecases.views.audit import audit
from functions.usecases.views.cases import case_view
from tests.unit.kernel import SECRET, Bench, Killed, shop
from tests.unit.kernel_machine import attend, rest
from tests.unit.test_usecases_two_people import ONE, agree, confirm, opened, propose, the_case

REFUND = Wanted(Resolution.ANOTHER_ACTION, "it has been settled", action="refund")
OLD, NEW = "saga-1:0:undo", "saga-1:0:undo:refund"


def with_refund(
    undo_settles: str = "keys+status", credential: str = "refunds", *, declared: bool = True
) -> Catalogue:
    """The shop, where what was reserved can also be refunded."""
    reserve = shop(undo_settles=undo_settles).step("reserve")
    assert reserve is not None
    assert reserve.undo is not None
    authority = Authority(scope="refunds", credential=credential)
    settlement = reserve.undo.settlement
    status = settlement.status and Operation(settlement.status.adapter, authority)
    refund = OtherAction(
        "refund",
        Operation("target.adapters:refund", authority),
        replace(settlement, status=status),
        "Refund what was taken",
    )
    undo = replace(reserve.undo, other_actions=(refund,) if declared else ())
    return shop(undo_settles=undo_settles, reserve={"undo": undo})


def compensating(undo_settles: str = "keys+status") -> Bench:
    bench = Bench(undo_settles=undo_settles, catalogue=with_refund(undo_settles))
    bench.credentials.values["shop/refunds"] = SECRET
    bench.admit("reserve", "hold", "charge", "ship", "notify")
    run_step(bench.world_at(0), bench.ref(0))
    begin_compensation(bench.store, bench.clock, bench.ref(1))
    return bench


def blocked(undo_settles: str = "keys+status") -> tuple[Bench, Case]:
    """A saga that compensates, and an undo that was refused."""
    bench = compensating(undo_settles)
    bench.target.trouble(OLD, "refuse")
    with pytest.raises(errors.UndoBlocked):
        undo_step(bench.world_at(0), bench.ref(0))
    return bench, opened(bench)


def undo_of(bench: Bench) -> Undo:
    undo = bench.step(0).undo
    assert undo is not None
    return undo


def asked_under(bench: Bench) -> set[str]:
    return {key for side, key in bench.target.calls if side == "undo"}


def test_what_was_declared_at_admission_is_offered_where_nothing_can_land() -> None:
    bench, case = blocked()
    assert Resolution.ANOTHER_ACTION in case.allowed
    [action] = case.other_actions
    assert (action.name, action.sentence) == ("refund", "Refund what was taken")
    assert action.authority.credential == "refunds"
    bench.catalogue = with_refund(declared=False)
    assert [each.name for each in undo_of(bench).other_actions] == ["refund"]


def test_what_was_declared_after_admission_is_not_offered() -> None:
    bench = compensating()
    step = bench.step(0)
    older = undo_of(bench).model_copy(update={"other_actions": ()})
    bench.put(step, step.model_copy(update={"undo": older}))
    bench.target.trouble(OLD, "refuse")
    with pytest.raises(errors.UndoBlocked):
        undo_step(bench.world_at(0), bench.ref(0))
    case = opened(bench)
    assert Resolution.ANOTHER_ACTION not in case.allowed
    assert isinstance(propose(bench, case, REFUND), NotAllowed)


def test_only_a_declared_name_can_be_proposed() -> None:
    bench, case = blocked()
    for name in (None, "gift"):
        assert propose(bench, case, replace(REFUND, action=name)) == NotDeclared(
            ("refund",), "action"
        )
    accept = Wanted(Resolution.ACCEPT, "it stays", action="refund")
    assert propose(bench, case, accept) == NotDeclared((), "action")


@pytest.mark.parametrize("undo_settles", ["keys+status", "keys", "status"])
def test_two_people_have_it_done_under_a_new_key_with_a_budget_of_its_own(
    undo_settles: str,
) -> None:
    bench, case = blocked(undo_settles)
    before = undo_of(bench)
    assert isinstance(propose(bench, case, REFUND), Case)
    assert confirm(bench, case, ONE) == SamePerson()
    assert undo_of(bench) == before
    assert isinstance(confirm(bench, case), Confirmed)
    after = undo_of(bench)
    assert (
        (after.key, after.operation)
        == (NEW, "refund")
        == (
            other_action_key("saga-1", 0, "refund"),
            "refund",
        )
    )
    assert (after.state, after.attempts, after.budget) == (UndoState.PENDING, 0, 3)
    assert (after.inputs, after.condition) == (before.inputs, before.condition)
    [replaced] = after.replaced
    assert (replaced.key, replaced.operation, replaced.instead) == (OLD, "un_reserve", "refund")
    assert (replaced.proposed_by, replaced.confirmed_by) == ("operator-1", "operator-2")
    assert replaced.history == before.history
    assert undo_step(bench.world_at(0), bench.ref(0))["outcome"] == "applied"
    assert (bench.target.count(OLD), bench.target.count(NEW)) == (0, 1)
    attend(bench)
    rest(bench)
    assert bench.head.outcome is SagaOutcome.COMPENSATED


def test_its_lost_answer_is_settled_under_its_own_key() -> None:
    bench, case = blocked("status")
    agree(bench, case, REFUND)
    bench.target.trouble(NEW, "lost")
    with pytest.raises(errors.OutcomeUnknown):
        undo_step(bench.world_at(0), bench.ref(0))
    del bench.credentials.values["shop/shop"]
    assert undo_step(bench.world_at(0), bench.ref(0))["outcome"] == "settled"
    assert ("status", NEW) in bench.target.calls
    assert bench.target.count(NEW) == 1


def test_its_key_protects_from_its_own_first_attempt_on() -> None:
    bench, case = blocked("keys")
    bench.clock.at += 2 * 24 * 3600 * 1000
    agree(bench, case, REFUND)
    bench.target.trouble(NEW, "silent")
    with pytest.raises(errors.OutcomeUnknown):
        undo_step(bench.world_at(0), bench.ref(0))
    assert undo_step(bench.world_at(0), bench.ref(0))["outcome"] == "applied"


@pytest.mark.parametrize("now", ["gone", "under another authority"])
def test_what_the_function_does_not_know_as_it_was_approved_is_not_done(now: str) -> None:
    bench, case = blocked()
    agree(bench, case, REFUND)
    bench.credentials.values["shop/else"] = SECRET
    bench.catalogue = (
        with_refund(declared=False) if now == "gone" else with_refund(credential="else")
    )
    with pytest.raises(errors.AuthorityLost):
        undo_step(bench.world_at(0), bench.ref(0))
    assert asked_under(bench) == {OLD}


def test_it_is_not_offered_a_second_time_and_the_case_shows_what_was_replaced() -> None:
    bench, case = blocked()
    agree(bench, case, REFUND)
    bench.target.trouble(NEW, "refuse")
    with pytest.raises(errors.UndoBlocked):
        undo_step(bench.world_at(0), bench.ref(0))
    again = opened(bench)
    assert Resolution.ANOTHER_ACTION not in again.allowed
    assert "refund" in again.obligation
    [replaced] = again.evidence["undo"]["replaced"]
    assert (replaced["key"], replaced["history"][0]["outcome"]) == (OLD, "refused")


def test_while_the_undo_may_have_landed_that_it_did_not_is_said_first() -> None:
    bench = compensating("person")
    bench.target.trouble(OLD, "silent")
    with pytest.raises(errors.OutcomeUnknown):
        undo_step(bench.world_at(0), bench.ref(0))
    case = opened(bench)
    said = propose(bench, case, REFUND)
    assert isinstance(said, NotAllowed)
    assert Resolution.DID_NOT_HAPPEN in said.allowed


@pytest.mark.parametrize(
    ("changes", "answer"),
    [
        ({"unsettled": True}, NotAllowed),
        ({"lease_until": 10**15}, AttemptAlive),
        ({"state": UndoState.SUCCEEDED}, NotAllowed),
    ],
    ids=["may have landed", "alive", "succeeded"],
)
def test_it_is_not_confirmed_once_the_undo_has_landed_or_may(
    changes: dict[str, Any], answer: type
) -> None:
    bench, case = blocked()
    step = bench.step(0)
    undo = undo_of(bench).model_copy(update=changes)
    bench.put(step, step.model_copy(update={"undo": undo}))
    bench.clock.at += 1_000_000
    assert isinstance(propose(bench, case, REFUND), Case)
    said = confirm(bench, case)
    assert isinstance(said, answer)
    if isinstance(said, NotAllowed):
        assert said.allowed == tuple(r for r in case.allowed if r is not REFUND.resolution)
    assert undo_of(bench).key == OLD


@pytest.mark.parametrize("missing", ["proposal", "action", "second person"])
def test_without_two_people_and_what_they_agreed_to_nothing_takes_its_place(missing: str) -> None:
    bench, case = blocked()
    propose(bench, case, REFUND)
    proposal = the_case(bench, case.id).proposal
    assert proposal is not None
    if missing == "action":
        proposal = proposal.model_copy(update={"action": None})
    agreed = Agreement(
        Resolution.ANOTHER_ACTION,
        None,
        None if missing == "proposal" else proposal,
        None if missing == "second person" else "operator-2",
    )
    with pytest.raises(ValueError, match="two people have to agree to another action"):
        saga_changes(bench.saga, case, agreed, bench.clock.now(), 0)


def test_a_case_that_is_not_about_the_undo_offers_nothing_in_its_place() -> None:
    bench = compensating()
    step = bench.step(0)
    bench.put(step, step.model_copy(update={"late": "the effect came late"}))
    case = opened(bench)
    assert (case.cause, case.direction) == (CaseCause.LATE_EFFECT, "do")
    assert case.other_actions == ()
    assert Resolution.ANOTHER_ACTION not in case.allowed


def late(old: UndoIntent) -> None:
    """The function that had made the call under the old key reports success after all."""
    applied = Applied(receipt=Receipt(resource="undo-late"))
    old.conclude(applied.model_dump(mode="json"))


def in_flight() -> tuple[Bench, UndoIntent]:
    """Two people have agreed to the refund, while a call that was found absent is still on its way."""
    bench = compensating("status")
    old = UndoIntent(bench.world_at(0), bench.ref(0))
    assert old.claim() is None
    bench.lapse(0)
    bench.target.trouble(OLD, "refuse")
    with pytest.raises(errors.UndoBlocked):
        undo_step(bench.world_at(0), bench.ref(0))
    assert isinstance(agree(bench, opened(bench), REFUND), Confirmed)
    return bench, old


@pytest.mark.parametrize("refunds", [0, 1])
def test_a_late_success_of_the_old_key_is_a_person_s_and_nothing_more_is_done(
    refunds: int,
) -> None:
    bench, old = in_flight()
    for _ in range(refunds):
        undo_step(bench.world_at(0), bench.ref(0))
    idle = {"wanted": None, "due_at": None, "due_shard": None}
    bench.put(bench.head, bench.head.model_copy(update=idle))
    late(old)
    assert OLD in (bench.step(0).late or "")
    assert bench.head.wanted == "case"
    assert attend(bench) == "case"
    case = the_case(bench, bench.step(0).case)
    assert case.cause is CaseCause.SECOND_EFFECT
    assert "undone twice" in case.obligation
    assert "undo-late" in case.why
    assert undo_of(bench).state is UndoState.SUCCEEDED
    accept = Wanted(Resolution.ACCEPT, "the books are right")
    assert isinstance(agree(bench, case, accept), Confirmed)
    attend(bench)
    rest(bench)
    assert bench.head.outcome is SagaOutcome.RESOLVED_MANUALLY
    assert bench.target.count(NEW) == refunds
    late(old)
    assert bench.step(0).late is None


def test_a_late_success_of_the_old_key_takes_no_wish_of_the_saga_away() -> None:
    bench, old = in_flight()
    assert bench.head.wanted == "resume"
    late(old)
    assert bench.head.wanted == "resume"
    assert attend(bench) == "case"


def test_a_late_success_while_the_other_action_is_unknown_stops_it_for_a_person() -> None:
    bench, old = in_flight()
    bench.target.trouble(NEW, "silent")
    with pytest.raises(errors.OutcomeUnknown):
        undo_step(bench.world_at(0), bench.ref(0))
    late(old)
    bench.lapse(0)
    with pytest.raises(errors.PersonNeeded):
        undo_step(bench.world_at(0), bench.ref(0))
    assert bench.target.count(NEW) == 0
    case = opened(bench)
    assert case.cause is CaseCause.UNDO_NEEDS_PERSON
    assert "An earlier call took effect" in case.why
    assert Resolution.DONE in case.allowed
    assert Resolution.ANOTHER_ACTION not in case.allowed


def test_nothing_else_is_offered_where_an_earlier_call_took_effect() -> None:
    bench = compensating()
    bench.target.trouble(OLD, "refuse")
    with pytest.raises(errors.UndoBlocked):
        undo_step(bench.world_at(0), bench.ref(0))
    step = bench.step(0)
    overtaken = undo_of(bench).model_copy(update={"overtaken": True})
    bench.put(step, step.model_copy(update={"undo": overtaken}))
    assert Resolution.ANOTHER_ACTION not in opened(bench).allowed


def test_the_audit_keeps_the_attempts_under_the_old_key() -> None:
    bench, case = blocked()
    agree(bench, case, REFUND)
    undo_step(bench.world_at(0), bench.ref(0))
    entries = audit_of(bench)
    assert [(e.ref, e.name) for e in entries if e.kind == "undo"] == [
        (OLD, "un_reserve"),
        (NEW, "refund"),
    ]


def audit_of(bench: Bench) -> Any:
    return audit(Gathered(bench.saga, (), ())).entries


def test_a_process_that_dies_anywhere_leaves_one_compensation() -> None:
    for point in range(1, 60):
        bench, case = blocked()
        propose(bench, case, REFUND)
        bench.wire.kill_after(point)
        try:
            confirm(bench, case)
            undo_step(bench.world_at(0), bench.ref(0))
        except Killed:
            bench.lapse(0)
        else:
            assert point > 5
            bench.wire.kill_at = None
            return
        assert isinstance(confirm(bench, case), Confirmed | AlreadySettled)
        for _ in range(4):
            if undo_step(bench.world_at(0), bench.ref(0))["outcome"] in {"applied", "settled"}:
                break
        assert (bench.target.count(OLD), bench.target.count(NEW)) == (0, 1), point
        assert len(undo_of(bench).replaced) == 1
        found = read_case(bench.store, case.id)
        assert found is not None
        assert found.resolution is Resolution.ANOTHER_ACTION
    raise AssertionError("it never came to its end")


def test_people_are_told_the_choice_and_that_it_takes_two() -> None:
    bench, case = blocked()
    propose(bench, case, REFUND)
    view = case_view(the_case(bench, case.id), bench.saga)
    [way] = [each for each in view.ways if each.resolution is Resolution.ANOTHER_ACTION]
    assert way.people == 2
    assert [(each.name, each.choices) for each in way.inputs] == [
        ("reason", None),
        ("action", ["refund"]),
    ]
    assert view.proposal is not None
    assert view.proposal.action == view.other_actions[0]
    assert the_case(bench, case.id).events[-1].facts["action"] == "refund"
