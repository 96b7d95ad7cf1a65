"""What takes two: one proposes, another one agrees, and a changed obligation leaves nothing to agree to."""

from __future__ import annotations

from typing import Any

import pytest

from functions.domain import proposals
from functions.domain.cases import (
    BY_TWO,
    CLAIM_LASTS,
    AlreadySettled,
    Case,
    CaseState,
    Full,
    HeldBy,
    NotAllowed,
    NotHeld,
    Resolution,
)
from functions.domain.ledger.records import AuthorityReference, DeclaredAction, Direction
from functions.domain.proposals import (
    Agreed,
    NoProposal,
    NotDeclared,
    NotYours,
    Pending,
    SamePerson,
    Void,
    Wanted,
)
from tests.unit.ledger import NOW, completed, saga
from tests.unit.test_cases import claimed, opened, settle

ON_CALL = AuthorityReference(role="r", scope="s", credential="on_call", alternate="on_call")
ACCEPT = Wanted(Resolution.ACCEPT, "the customer keeps it")
ALTERNATE = Wanted(Resolution.RETRY_WITH_ALTERNATE, "the role was removed", "on_call")
LATER = NOW + 60_000


def ready(**changes: Any) -> Case:
    ways = (Resolution.RETRY, Resolution.DONE, *sorted(BY_TWO))
    return claimed(opened(allowed=ways, alternates=(ON_CALL,), **changes))


def propose(case: Case, wanted: Wanted = ACCEPT, **more: Any) -> Any:
    arguments: dict[str, Any] = {"person": "operator-1", "binds": "b1", "now": NOW, **more}
    return proposals.propose(case, wanted, **arguments)


def confirm(case: Case, **more: Any) -> Any:
    number = more.pop("proposal_id", case.proposal.id if case.proposal else "none")
    arguments: dict[str, Any] = {"person": "operator-2", "binds": "b1", "now": LATER, **more}
    return proposals.confirm(case, number, **arguments)


def test_a_proposal_changes_nothing_but_the_case() -> None:
    case = propose(ready())
    assert case.state is CaseState.OPEN
    assert case.proposal.by == "operator-1"
    assert case.proposal.reason == "the customer keeps it"
    assert case.events[-1].what == "proposed"


def test_only_whoever_holds_the_case_proposes() -> None:
    assert propose(ready(), person="operator-2") == NotHeld()
    assert propose(ready(), now=NOW + CLAIM_LASTS) == NotHeld()


def test_what_one_person_may_do_or_nobody_is_not_proposed() -> None:
    two = tuple(sorted(BY_TWO))
    assert propose(ready(), Wanted(Resolution.DONE, "x")) == NotAllowed(two)
    only = claimed(opened(allowed=(Resolution.DONE,)))
    assert propose(only) == NotAllowed(())


def test_another_person_agrees_and_the_case_is_settled_with_both_names() -> None:
    said = confirm(propose(ready()))
    assert isinstance(said, Agreed)
    assert (said.case.state, said.case.resolution) == (CaseState.SETTLED, Resolution.ACCEPT)
    last = said.case.events[-1]
    assert (last.who, last.what, last.facts["proposed_by"]) == (
        "operator-2",
        "confirmed",
        "operator-1",
    )
    assert said.case.proposal is None
    assert confirm(said.case) == AlreadySettled(said.case)


def test_nobody_agrees_with_themselves_nor_refuses_themselves() -> None:
    case = propose(ready())
    assert confirm(case, person="operator-1") == SamePerson()
    said = proposals.refuse(case, case.proposal.id, person="operator-1", reason="no", now=LATER)
    assert said == SamePerson()


def test_an_agreement_counts_after_the_claim_has_ended_but_not_over_a_third_person_s_head() -> None:
    late = NOW + CLAIM_LASTS
    case = propose(ready())
    assert isinstance(confirm(case, now=late), Agreed)
    third = claimed(case, "operator-3", late)
    assert confirm(third, now=late) == HeldBy("operator-3", late + CLAIM_LASTS)
    second = claimed(case, "operator-2", late)
    assert isinstance(confirm(second, now=late), Agreed)


def test_one_agrees_to_the_proposal_that_one_has_seen_and_to_no_other() -> None:
    case = propose(ready())
    seen = case.proposal.id
    again = propose(proposals.withdraw(case, seen, person="operator-1", now=NOW), ALTERNATE)
    assert confirm(again, proposal_id=seen) == NoProposal()


def test_a_changed_obligation_makes_the_proposal_void_and_takes_it_off_the_case() -> None:
    said = confirm(propose(ready()), binds="b2")
    assert isinstance(said, Void)
    assert said.case.proposal is None
    assert said.case.state is CaseState.OPEN
    assert said.case.events[-1].what == "voided"


def test_what_a_proposal_is_bound_to_changes_with_the_step_and_with_the_direction() -> None:
    record = completed()
    one = saga(record)
    seen = proposals.binding(one, record)
    assert proposals.binding(one, record.model_copy(update={"version": 1})) != seen
    turned = saga(record, direction=Direction.COMPENSATING)
    assert proposals.binding(turned, record) != seen
    assert proposals.binding(saga(record, epoch=9), record) == seen


def test_a_proposal_is_refused_by_another_person_with_a_reason() -> None:
    case = propose(ready())
    said = proposals.refuse(
        case, case.proposal.id, person="operator-2", reason="ask finance", now=LATER
    )
    assert isinstance(said, Case)
    assert (said.proposal, said.events[-1].what) == (None, "refused")
    assert said.events[-1].text == "ask finance"


def test_a_proposal_is_withdrawn_by_whoever_made_it() -> None:
    case = propose(ready())
    number = case.proposal.id
    other = proposals.withdraw(case, number, person="operator-2", now=LATER)
    assert other == NotYours("operator-1")
    said = proposals.withdraw(case, number, person="operator-1", now=LATER)
    assert isinstance(said, Case)
    assert proposals.withdraw(said, number, person="operator-1", now=LATER) == NoProposal()


def test_one_proposal_waits_at_a_time_and_a_void_one_makes_room() -> None:
    case = propose(ready())
    assert propose(case, ALTERNATE) == Pending(case.proposal)
    assert propose(case, ALTERNATE, binds="b2").proposal.id != case.proposal.id


@pytest.mark.parametrize("name", [None, "", "own", "on_call2"])
def test_only_a_declared_alternate_can_be_proposed(name: str | None) -> None:
    wanted = Wanted(Resolution.RETRY_WITH_ALTERNATE, "x", name)
    assert propose(ready(), wanted) == NotDeclared(("on_call",))


def test_an_alternate_belongs_to_a_retry_and_to_nothing_else() -> None:
    assert propose(ready(), Wanted(Resolution.ACCEPT, "x", "on_call")) == NotDeclared(())
    assert propose(ready(), ALTERNATE).proposal.alternate == ON_CALL


def test_what_one_person_settles_meanwhile_takes_the_proposal_off_the_table() -> None:
    done = settle(propose(ready()), resolution=Resolution.DONE)
    assert isinstance(done, Case)
    assert done.proposal is None


def test_proposals_end_before_a_record_grows_too_large() -> None:
    case: Any = ready()
    for _ in range(200):
        made = propose(case)
        if isinstance(made, Full):
            break
        case = proposals.withdraw(made, made.proposal.id, person="operator-1", now=NOW)
    assert isinstance(made, Full)
    assert len(case.events) <= 200


SPARE = AuthorityReference(role="r2", scope="s", credential="spare", alternate="spare")
PLAIN = AuthorityReference(role="r3", scope="s", credential="plain")
ACTIONS = tuple(
    DeclaredAction(name=name, authority=PLAIN, budget=2, sentence=f"Do {name}.")
    for name in ("refund", "credit")
)


def test_the_one_that_is_named_is_proposed_and_no_other_that_is_declared() -> None:
    case = ready(other_actions=ACTIONS)
    case = case.model_copy(update={"alternates": (ON_CALL, SPARE)})
    spare = propose(case, Wanted(Resolution.RETRY_WITH_ALTERNATE, "x", "spare"))
    assert spare.proposal.alternate == SPARE
    credit = propose(case, Wanted(Resolution.ANOTHER_ACTION, "x", action="credit"))
    assert credit.proposal.action.name == "credit"
    assert credit.proposal.alternate is None


def test_what_is_not_declared_is_answered_with_what_is() -> None:
    case = ready().model_copy(update={"alternates": (PLAIN, SPARE)})
    unknown = propose(case, Wanted(Resolution.RETRY_WITH_ALTERNATE, "x", "nobody"))
    assert unknown == NotDeclared(("spare",))


def test_nothing_is_proposed_about_what_is_settled_whoever_held_it() -> None:
    done = ready().model_copy(update={"state": CaseState.SETTLED})
    assert propose(done) == AlreadySettled(done)


def test_what_was_never_proposed_is_neither_refused_nor_withdrawn() -> None:
    case = propose(ready())
    for pending in (ready(), case):
        assert (
            proposals.refuse(pending, "other", person="operator-2", reason="no", now=LATER)
            == NoProposal()
        )
        assert proposals.withdraw(pending, "other", person="operator-1", now=LATER) == NoProposal()
    done = case.model_copy(update={"state": CaseState.SETTLED})
    number = case.proposal.id
    refused = proposals.refuse(done, number, person="operator-2", reason="no", now=LATER)
    assert refused == AlreadySettled(done)
    assert proposals.withdraw(done, number, person="operator-1", now=LATER) == AlreadySettled(done)
