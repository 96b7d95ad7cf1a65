"""What takes two people, on the kernel: an accepted effect, and an undo by another principal that the catalogue declares."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from functions.domain.cases import (
    CLAIM_LASTS,
    AlreadySettled,
    Case,
    CaseCause,
    NotAllowed,
    Resolution,
)
from functions.domain.catalogue import Alternate, Authority, Catalogue, Operation
from functions.domain.ledger.records import Attention, SagaOutcome, UndoState
from functions.domain.ledger.status import Status, status
from functions.domain.outcome import RefusalCause
from functions.domain.proposals import NoProposal, SamePerson, Void, Wanted
from functions.usecases import errors
from functions.usecases.begin_compensation import begin_compensation
from functions.usecases.case_effects import Agreement, AttemptAlive, saga_changes
from functions.usecases.change_case import Operator
from functions.usecases.claim_case import claim_case
from functions.usecases.open_case import open_case
from functions.usecases.propose_resolution import (
    Confirmed,
    confirm_resolution,
    propose_resolution,
)
from functions.usecases.records import key_of, read_case
from functions.usecases.resolve_case import Settled, resolve_case
from functions.usecases.run_step import run_step
from functions.usecases.undo_step import undo_step
from tests.unit.kernel import SECRET, SETTLES_AFTER, Bench, shop
from tests.unit.kernel_machine import attend, rest, swept
from tests.unit.test_usecases_reopen import escalated

MILLIS = int(SETTLES_AFTER.total_seconds() * 1000)
ACME, OPERATORS = frozenset({"acme"}), frozenset({"operators"})
ONE, OTHER = (Operator(f"operator-{n}", OPERATORS, ACME) for n in (1, 2))
ACCEPT = Wanted(Resolution.ACCEPT, "the customer keeps it")
ON_CALL = Wanted(Resolution.RETRY_WITH_ALTERNATE, "the key was taken away", "on_call")


def with_alternate(undo_settles: str = "keys+status", credential: str = "on_call") -> Catalogue:
    """The shop, whose reservation can also be taken back by the people on call."""
    plain = shop(undo_settles=undo_settles)
    reserve = plain.step("reserve")
    assert reserve is not None
    assert reserve.undo is not None
    own = reserve.undo
    settlement, mine = own.settlement, Authority(scope="shop", credential="undoing")
    status = settlement.status
    undo = replace(
        own,
        run=Operation(own.run.adapter, mine),
        settlement=replace(settlement, status=status and Operation(status.adapter, mine)),
        alternates=(
            Alternate(
                "on_call", Authority(scope="shop", credential=credential), "The people on call"
            ),
        ),
    )
    return shop(undo_settles=undo_settles, reserve={"undo": undo})


def lost(undo_settles: str = "keys+status") -> tuple[Bench, Case]:
    """A saga that compensates, whose reservation's undo has lost its own credential."""
    bench = Bench(undo_settles=undo_settles, catalogue=with_alternate(undo_settles))
    bench.credentials.values |= {"shop/undoing": SECRET, "shop/on_call": SECRET}
    bench.admit()
    run_step(bench.world_at(0), bench.ref(0))
    begin_compensation(bench.store, bench.clock, bench.ref(1))
    del bench.credentials.values["shop/undoing"]
    with pytest.raises(errors.AuthorityLost):
        undo_step(bench.world_at(0), bench.ref(0))
    return bench, opened(bench)


def opened(bench: Bench, index: int = 0, side: Any = "undo") -> Case:
    open_case(bench.store, bench.clock, bench.notices, bench.ref(index), side)
    return the_case(bench, bench.step(index).case)


def the_case(bench: Bench, case_id: str | None) -> Case:
    case = read_case(bench.store, case_id or "")
    assert case is not None
    return case


def blocked() -> tuple[Bench, Case]:
    """A saga that compensates, and an undo that was refused."""
    bench = Bench()
    bench.admit()
    run_step(bench.world_at(0), bench.ref(0))
    begin_compensation(bench.store, bench.clock, bench.ref(1))
    bench.target.trouble(bench.key(0, "undo"), "refuse")
    with pytest.raises(errors.UndoBlocked):
        undo_step(bench.world_at(0), bench.ref(0))
    return bench, opened(bench)


def propose(bench: Bench, case: Case, wanted: Wanted, who: Operator = ONE) -> Any:
    claim_case(
        bench.store,
        bench.clock,
        case.id,
        person=who.person,
        tenants=who.tenants,
        groups=who.groups,
    )
    return propose_resolution(bench.store, bench.clock, case.id, who, wanted)


def confirm(bench: Bench, case: Case, who: Operator = OTHER) -> Any:
    now = the_case(bench, case.id)
    return confirm_resolution(
        bench.store,
        bench.clock,
        case.id,
        who,
        proposal_id=now.proposal.id if now.proposal else "none",
        settles_after=MILLIS,
    )


def agree(bench: Bench, case: Case, wanted: Wanted) -> Any:
    assert isinstance(propose(bench, case, wanted), Case)
    return confirm(bench, case)


def test_nothing_happens_until_another_person_agrees() -> None:
    bench, case = blocked()
    before = bench.saga
    assert isinstance(propose(bench, case, ACCEPT), Case)
    assert bench.saga == before
    assert confirm(bench, case, ONE) == SamePerson()
    assert bench.saga == before


def test_people_of_another_group_or_tenant_neither_propose_nor_confirm() -> None:
    bench, case = blocked()
    for who in (replace(OTHER, groups=frozenset({"x"})), replace(OTHER, tenants=frozenset({"x"}))):
        assert propose_resolution(bench.store, bench.clock, case.id, who, ACCEPT) is None
    propose(bench, case, ACCEPT)
    for who in (replace(OTHER, groups=frozenset({"x"})), replace(OTHER, tenants=frozenset({"x"}))):
        assert confirm(bench, case, who) is None
    assert bench.step(0).case == case.id


def test_nobody_confirms_anything_about_a_case_that_does_not_exist() -> None:
    bench, _ = blocked()
    said = confirm_resolution(
        bench.store,
        bench.clock,
        "no-such-case",
        OTHER,
        proposal_id="no-such-case-p1",
        settles_after=MILLIS,
    )
    assert said is None
    assert propose_resolution(bench.store, bench.clock, "no-such-case", ONE, ACCEPT) is None


def test_two_people_settle_nothing_of_a_saga_that_was_forgotten() -> None:
    bench, case = blocked()
    del bench.store._items[key_of(bench.head)]
    assert isinstance(propose(bench, case, ACCEPT), Case)
    assert confirm(bench, case) is None
    assert the_case(bench, case.id).settled_at is None


def test_nothing_is_proposed_about_a_whole_saga_nor_about_a_request() -> None:
    bench = Bench()
    bench.admit()
    bench.put(bench.head, bench.head.model_copy(update={"drivers_left": 0, "wanted": "resume"}))
    assert attend(bench) == "case"
    whole = the_case(bench, bench.head.cases[0])
    assert propose(bench, whole, ACCEPT) == NotAllowed(())
    bench, request = escalated()
    assert propose(bench, request, ACCEPT) == NotAllowed(())


def test_an_accepted_effect_stays_and_the_saga_ends_as_resolved_manually() -> None:
    bench, case = blocked()
    assert isinstance(agree(bench, case, ACCEPT), Confirmed)
    undo = bench.step(0).undo
    assert undo is not None
    assert undo.state is UndoState.ACCEPTED
    assert bench.head.accepted
    attend(bench)
    rest(bench)
    assert bench.head.outcome is SagaOutcome.RESOLVED_MANUALLY
    assert status(bench.saga) is Status.RESOLVED_MANUALLY
    assert bench.target.count(bench.key(0, "undo")) == 0


def test_an_effect_is_not_accepted_while_its_undo_may_still_land() -> None:
    bench = Bench()
    bench.admit()
    run_step(bench.world_at(0), bench.ref(0))
    begin_compensation(bench.store, bench.clock, bench.ref(1))
    bench.target.trouble(bench.key(0, "undo"), "silent")
    with pytest.raises(errors.OutcomeUnknown):
        undo_step(bench.world_at(0), bench.ref(0))
    case = opened(bench)
    assert isinstance(agree(bench, case, ACCEPT), AttemptAlive)
    bench.lapse(0)
    assert isinstance(confirm(bench, case), Confirmed)


def test_a_second_effect_that_is_accepted_shows_in_the_outcome_also_where_there_was_one() -> None:
    bench = Bench()
    bench.admit()
    for index in range(5):
        run_step(bench.world_at(index), bench.ref(index))
    assert bench.head.outcome is SagaOutcome.COMPLETED
    step = bench.step(0)
    bench.put(step, step.model_copy(update={"late": "a second effect", "doubled": True}))
    assert attend(bench) == "case"
    case = the_case(bench, bench.step(0).case)
    assert case.cause is CaseCause.SECOND_EFFECT
    assert isinstance(agree(bench, case, ACCEPT), Confirmed)
    assert bench.head.outcome is SagaOutcome.RESOLVED_MANUALLY
    assert bench.head.open is None
    assert swept(bench)["retained"] == 1
    assert bench.head.due_at is None


def test_nothing_is_accepted_where_the_undo_has_succeeded_in_the_meantime() -> None:
    bench, case = blocked()
    step = bench.step(0)
    assert step.undo is not None
    done = step.undo.model_copy(update={"state": UndoState.SUCCEEDED})
    bench.put(step, step.model_copy(update={"undo": done}))
    assert isinstance(agree(bench, case, ACCEPT), Confirmed)
    assert not bench.head.accepted
    attend(bench)
    rest(bench)
    assert bench.head.outcome is SagaOutcome.COMPENSATED


def test_a_proposal_is_void_once_the_obligation_has_changed() -> None:
    bench, case = blocked()
    propose(bench, case, ACCEPT)
    step = bench.step(0)
    bench.put(step, step.model_copy(update={"late": "something else", "doubled": True}))
    assert isinstance(confirm(bench, case), Void)
    assert the_case(bench, case.id).proposal is None
    assert confirm(bench, case) == NoProposal()
    assert isinstance(agree(bench, case, ACCEPT), Confirmed)


def test_of_two_who_confirm_at_once_one_does() -> None:
    bench, case = blocked()
    propose(bench, case, ACCEPT)
    third = replace(OTHER, person="operator-3")
    said: list[Any] = []

    def meanwhile(point: str) -> None:
        if point == "before write":
            bench.wire.hook = None
            said.append(confirm(bench, case, third))

    bench.wire.hook = meanwhile
    said.append(confirm(bench, case))
    assert [type(each) for each in said] == [Confirmed, AlreadySettled]


# Another principal


def test_the_case_of_lost_authority_names_the_declared_alternates() -> None:
    _, case = lost()
    assert case.cause is CaseCause.AUTHORITY_LOST
    assert Resolution.RETRY_WITH_ALTERNATE in case.allowed
    assert [a.credential for a in case.alternates] == ["on_call"]


@pytest.mark.parametrize("missing", ["proposal", "alternate", "second person"])
def test_without_two_people_and_whom_they_agreed_to_the_authority_stays(missing: str) -> None:
    bench, case = lost()
    propose(bench, case, ON_CALL)
    proposal = the_case(bench, case.id).proposal
    assert proposal is not None
    if missing == "alternate":
        proposal = proposal.model_copy(update={"alternate": None})
    agreed = Agreement(
        Resolution.RETRY_WITH_ALTERNATE,
        None,
        None if missing == "proposal" else proposal,
        None if missing == "second person" else "operator-2",
    )
    with pytest.raises(ValueError, match="two people have to agree to another authority"):
        saga_changes(bench.saga, case, agreed, bench.clock.now(), 0)


def test_a_step_that_lost_its_authority_going_forward_offers_no_principal_of_its_undo() -> None:
    bench = Bench(catalogue=with_alternate())
    bench.credentials.values |= {"shop/undoing": SECRET, "shop/on_call": SECRET}
    bench.admit()
    del bench.credentials.values["shop/shop"]
    with pytest.raises(errors.AuthorityLost):
        run_step(bench.world_at(0), bench.ref(0))
    case = opened(bench, side="do")
    assert case.cause is CaseCause.AUTHORITY_LOST
    assert case.alternates == ()


def test_no_other_authority_is_tried_before_two_people_agree() -> None:
    bench, case = lost()
    who = {"person": "operator-1", "tenants": ACME, "groups": OPERATORS}
    claim_case(bench.store, bench.clock, case.id, **who)
    settled = resolve_case(
        bench.store,
        bench.clock,
        case.id,
        **who,
        resolution=Resolution.RETRY,
        evidence=None,
        settles_after=MILLIS,
    )
    assert isinstance(settled, Settled)
    with pytest.raises(errors.AuthorityLost):
        undo_step(bench.world_at(0), bench.ref(0))
    assert bench.target.count(bench.key(0, "undo")) == 0


@pytest.mark.parametrize("undo_settles", ["keys+status", "keys", "status"])
def test_an_approved_alternate_makes_the_undo_under_the_same_key(undo_settles: str) -> None:
    bench, case = lost(undo_settles)
    assert isinstance(agree(bench, case, ON_CALL), Confirmed)
    undo = bench.step(0).undo
    assert undo is not None
    assert (undo.authority.alternate, undo.authority.credential) == ("on_call", "on_call")
    [who] = undo.substitutions
    assert (who.proposed_by, who.confirmed_by, who.case) == ("operator-1", "operator-2", case.id)
    assert who.instead_of.credential == "undoing"
    assert undo_step(bench.world_at(0), bench.ref(0))["outcome"] == "applied"
    assert bench.target.count(bench.key(0, "undo")) == 1
    attend(bench)
    rest(bench)
    assert bench.head.outcome is SagaOutcome.COMPENSATED


def test_an_undo_whose_answer_was_lost_is_asked_about_by_the_alternate_too() -> None:
    bench = Bench(catalogue=with_alternate())
    bench.credentials.values |= {"shop/undoing": SECRET, "shop/on_call": SECRET}
    bench.admit()
    run_step(bench.world_at(0), bench.ref(0))
    begin_compensation(bench.store, bench.clock, bench.ref(1))
    bench.target.trouble(bench.key(0, "undo"), "lost")
    with pytest.raises(errors.OutcomeUnknown):
        undo_step(bench.world_at(0), bench.ref(0))
    del bench.credentials.values["shop/undoing"]
    with pytest.raises(errors.AuthorityLost):
        undo_step(bench.world_at(0), bench.ref(0))
    assert isinstance(agree(bench, opened(bench), ON_CALL), Confirmed)
    assert undo_step(bench.world_at(0), bench.ref(0))["outcome"] in {"applied", "settled"}
    assert bench.target.count(bench.key(0, "undo")) == 1


def test_an_alternate_that_the_function_does_not_know_as_it_was_approved_is_not_used() -> None:
    bench, case = lost()
    assert isinstance(agree(bench, case, ON_CALL), Confirmed)
    bench.catalogue = with_alternate(credential="somebody_else")
    bench.credentials.values |= {"shop/undoing": SECRET, "shop/somebody_else": SECRET}
    with pytest.raises(errors.AuthorityLost):
        undo_step(bench.world_at(0), bench.ref(0))
    assert bench.target.count(bench.key(0, "undo")) == 0
    history = bench.step(0).undo
    assert history is not None
    assert history.history[-1].cause == RefusalCause.AUTHORITY.value


def test_an_alternate_that_fails_too_is_a_case_again_and_is_not_offered_a_second_time() -> None:
    bench, case = lost()
    assert isinstance(agree(bench, case, ON_CALL), Confirmed)
    del bench.credentials.values["shop/on_call"]
    with pytest.raises(errors.AuthorityLost):
        undo_step(bench.world_at(0), bench.ref(0))
    again = opened(bench)
    assert again.id != case.id
    assert Resolution.RETRY_WITH_ALTERNATE not in again.allowed
    assert again.evidence["undo"]["key"] == bench.key(0, "undo")
    assert len(again.evidence["undo"]["substitutions"]) == 1


# The head


def test_a_late_case_that_is_open_when_the_saga_completes_is_not_hidden_by_that() -> None:
    bench = Bench()
    bench.admit()
    for index in range(4):
        run_step(bench.world_at(index), bench.ref(index))
    step = bench.step(0)
    bench.put(step, step.model_copy(update={"late": "a second effect", "doubled": True}))
    bench.put(bench.head, bench.head.model_copy(update={"wanted": "case"}))
    assert attend(bench) == "case"
    run_step(bench.world_at(4), bench.ref(4))
    assert bench.head.outcome is SagaOutcome.COMPLETED
    assert bench.head.attention is Attention.MANUAL
    assert status(bench.saga) is Status.AWAITING_MANUAL_RESOLUTION
    case = the_case(bench, bench.step(0).case)
    assert isinstance(agree(bench, case, ACCEPT), Confirmed)
    assert status(bench.saga) is Status.RESOLVED_MANUALLY


def test_a_retry_of_a_refused_undo_keeps_the_version_that_the_step_has_left() -> None:
    bench, case = blocked()
    before = bench.step(0).undo
    assert before is not None
    who = {"person": "operator-1", "tenants": ACME, "groups": OPERATORS}
    claim_case(bench.store, bench.clock, case.id, **who)
    bench.clock.at += CLAIM_LASTS - 1
    resolve_case(
        bench.store,
        bench.clock,
        case.id,
        **who,
        resolution=Resolution.RETRY,
        evidence=None,
        settles_after=MILLIS,
    )
    after = bench.step(0).undo
    assert after is not None
    assert after.state is UndoState.PENDING
    assert (after.condition, after.inputs, after.key) == (
        before.condition,
        before.inputs,
        before.key,
    )
