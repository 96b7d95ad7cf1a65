"""Under which authority an undo is made: only ever one that the record names and the catalogue declares."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from functions.domain.catalogue import (
    Alternate,
    Authority,
    Operation,
    OtherAction,
    Retry,
    Settlement,
)
from functions.domain.catalogue import Undo as UndoEntry
from functions.domain.ledger.records import (
    AuthorityReference,
    ReplacedAction,
    Substitution,
    Undo,
)
from functions.domain.ledger.undo_authority import (
    authorised,
    declared,
    declared_actions,
    offered,
    offered_actions,
    substituted,
    under,
    undo_authorities,
)
from tests.unit.ledger import NOW, completed
from tests.unit.test_ledger_undo import of

OWN = Authority(scope="payments:void", credential="payments")
ON_CALL = Authority(scope="payments:void", credential="on_call")
ROLE = Authority(scope="payments:void", role="revoke")
REFUNDS = Authority(scope="payments:refund", credential="refunds")
AFTER = Settlement(settles_after=timedelta(seconds=5), keys_kept_for=timedelta(days=1))
ENTRY = UndoEntry(
    name="void",
    run=Operation("shop.payments:void", OWN),
    settlement=AFTER,
    retry=Retry(attempts=4),
    call_timeout=timedelta(seconds=3),
    fixed_inputs=lambda _arguments, _receipt: {},
    alternates=(
        Alternate("on_call", ON_CALL, "Whoever is on call"),
        Alternate("by_role", ROLE, "The revoking role"),
    ),
    other_actions=(
        OtherAction(
            "refund", Operation("shop.payments:refund", REFUNDS), AFTER, "Refund " + "x" * 600
        ),
        OtherAction("credit", Operation("shop.payments:credit", ROLE), AFTER, "Credit it"),
    ),
)
MINE, OTHERS = undo_authorities("shop", "pay", ENTRY)
ACTIONS = declared_actions("shop", "pay", ENTRY)


def recorded(**changes: object) -> Undo:
    """What admission wrote down of the entry above."""
    command = of(completed())
    return command.model_copy(
        update={"authority": MINE, "alternates": OTHERS, "other_actions": ACTIONS, **changes}
    )


def chosen(name: str = "refund") -> Undo:
    """Two people have chosen another action in place of the undo."""
    command = recorded()
    action = next(each for each in ACTIONS if each.name == name)
    before = ReplacedAction(
        at=NOW,
        case="case-1",
        proposed_by="olga",
        confirmed_by="omar",
        operation="void",
        key=command.key,
        authority=MINE,
        attempts=1,
        since=0,
        history=(),
        instead=name,
    )
    return recorded(operation=name, authority=action.authority, replaced=(before,))


def test_a_record_names_the_functions_own_role_or_the_one_that_is_taken_on() -> None:
    assert (
        AuthorityReference(role="shop-pay-undo", scope="payments:void", credential="payments")
        == MINE
    )
    assert [(each.role, each.credential, each.alternate) for each in OTHERS] == [
        ("shop-pay-undo", "on_call", "on_call"),
        ("shop-revoke", None, "by_role"),
    ]


def test_another_action_is_recorded_with_its_own_authority_and_the_undos_budget() -> None:
    assert [(each.name, each.authority.role, each.budget) for each in ACTIONS] == [
        ("refund", "shop-pay-undo", 4),
        ("credit", "shop-revoke", 4),
    ]
    assert ACTIONS[0].authority.scope == "payments:refund"
    assert len(ACTIONS[0].sentence) == 500


def test_every_alternate_is_offered_but_the_one_in_use() -> None:
    assert offered(recorded()) == OTHERS
    assert offered(recorded(authority=OTHERS[0])) == (OTHERS[1],)


def test_no_alternate_is_offered_for_another_action_and_each_action_once() -> None:
    assert offered(chosen()) == ()
    assert [each.name for each in offered_actions(recorded())] == ["refund", "credit"]
    assert [each.name for each in offered_actions(chosen())] == ["credit"]


def test_what_is_to_be_done_is_the_undo_or_the_action_in_its_place() -> None:
    assert declared("shop", "pay", ENTRY, recorded()) is ENTRY
    assert declared("shop", "pay", ENTRY, chosen()) is ENTRY.other_actions[0]
    assert declared("shop", "pay", ENTRY, chosen("credit")) is ENTRY.other_actions[1]


def test_an_action_that_the_catalogue_declares_no_longer_or_otherwise_is_not_done() -> None:
    gone = replace(ENTRY, other_actions=ENTRY.other_actions[1:])
    assert declared("shop", "pay", gone, chosen()) is None
    wider = replace(
        ENTRY,
        other_actions=(
            OtherAction("refund", Operation("shop.payments:refund", OWN), AFTER, "Refund it"),
        ),
    )
    assert declared("shop", "pay", wider, chosen()) is None


def test_the_recorded_authority_is_used_where_the_catalogue_declares_just_that() -> None:
    assert authorised("shop", "pay", ENTRY, MINE) == OWN
    assert authorised("shop", "pay", ENTRY, OTHERS[0]) == ON_CALL
    assert authorised("shop", "pay", ENTRY, OTHERS[1]) == ROLE


def test_an_alternate_that_is_declared_no_longer_or_otherwise_is_not_used() -> None:
    gone = replace(ENTRY, alternates=ENTRY.alternates[1:])
    assert authorised("shop", "pay", gone, OTHERS[0]) is None
    wider = replace(ENTRY, alternates=(Alternate("on_call", REFUNDS, "Whoever is on call"),))
    assert authorised("shop", "pay", wider, OTHERS[0]) is None


def test_only_what_was_asked_with_the_own_credential_is_asked_with_the_alternates() -> None:
    status = Operation("shop.payments:status", OWN)
    public = Operation("shop.payments:status", Authority(scope="payments:read", credential="read"))
    assert under(status, OWN, ON_CALL) == Operation("shop.payments:status", ON_CALL)
    assert under(public, OWN, ON_CALL) == public


@pytest.mark.parametrize(
    ("own", "asked_with", "moves"),
    [
        (ROLE, Authority(scope="payments:read", role="revoke"), True),
        (ROLE, Authority(scope="payments:read", role="other"), False),
        (Authority(scope="x"), Authority(scope="payments:read"), False),
    ],
)
def test_a_role_of_its_own_is_changed_the_same_way_and_no_authority_at_all_never_is(
    own: Authority,
    asked_with: Authority,
    moves: bool,  # noqa: FBT001 - a column of the table
) -> None:
    status = Operation("shop.payments:status", asked_with)
    assert under(status, own, ON_CALL).authority == (ON_CALL if moves else asked_with)


def agreed(authority: AuthorityReference, at: int = NOW) -> Substitution:
    """Two people have agreed to it."""
    return Substitution(
        at=at,
        case="case-1",
        proposed_by="olga",
        confirmed_by="omar",
        instead_of=MINE,
        authority=authority,
    )


def test_a_declared_alternate_takes_over_and_the_record_says_who_agreed() -> None:
    after = substituted(recorded(), agreed(OTHERS[0]))
    assert (after.authority, after.substitutions) == (OTHERS[0], (agreed(OTHERS[0]),))


@pytest.mark.parametrize("undo", [recorded(authority=OTHERS[0]), recorded(alternates=()), chosen()])
def test_what_is_in_use_or_was_not_declared_takes_nothing_over(undo: Undo) -> None:
    with pytest.raises(ValueError, match="shop-pay-undo was not declared for it"):
        substituted(undo, agreed(OTHERS[0]))


def test_of_many_substitutions_the_latest_twenty_are_kept() -> None:
    undo = recorded()
    for number in range(21):
        undo = substituted(undo, agreed(OTHERS[number % 2], at=NOW + number))
    assert [each.at for each in undo.substitutions] == [NOW + number for number in range(1, 21)]
