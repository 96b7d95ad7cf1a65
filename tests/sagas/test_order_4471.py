"""Order 4471 (seed one's worked example): what each ending leaves in the ledger, in the history and in the shop's books."""

from __future__ import annotations

import pytest

from functions.sandbox.faults import Trouble
from tests.sagas.orders import enter, plan
from tests.sagas.stage import Stage, agent

UNDONE = ["reserve", "authorize", "void", "release"]
DONE = ["reserve", "authorize", "capture", "ship", "send"]


def test_an_approved_capture_is_shipped_and_confirmed(stage: Stage) -> None:
    enter(stage)
    saga_id = stage.run(plan())
    assert stage.status(saga_id) == "awaiting_approval"
    assert stage.shop.books() == ["reserve", "authorize"]

    assert stage.approve(saga_id).status == 200
    assert stage.status(saga_id) == "completed"
    assert stage.shop.books() == DONE
    assert stage.executions() == {f"{saga_id}-1": "SUCCEEDED"}
    assert stage.states(f"{saga_id}-1") == [
        "0 reserve_stock",
        "1 authorize_payment",
        "2 capture_payment",
        "approve 2 capture_payment",
        "2 capture_payment",
        "3 create_shipment",
        "4 send_confirmation",
    ]


@pytest.mark.parametrize(
    ("amount", "tier", "then"),
    [
        ("150.00", "standard", "completed"),
        ("150.01", "standard", "awaiting_approval"),
        ("500.00", "trusted", "completed"),
        ("500.01", "trusted", "awaiting_approval"),
    ],
)
def test_people_are_asked_from_the_first_cent_above_the_band(
    stage: Stage, amount: str, tier: str, then: str
) -> None:
    enter(stage, amount=amount, tier=tier)
    saga_id = stage.run(plan(amount=amount))
    assert stage.status(saga_id) == then
    assert len(stage.approvals()) == (1 if then == "awaiting_approval" else 0)


def test_a_declined_authorisation_gives_the_reservation_back_under_the_undo_key(
    stage: Stage,
) -> None:
    enter(stage)
    stage.shop.trouble(Trouble.DECLINE, operation="authorize")
    saga_id = stage.run(plan())
    assert stage.status(saga_id) == "compensated"
    assert stage.shop.books() == ["reserve", "release"]
    assert stage.shop.keys("release") == [f"{saga_id}:0:undo"]
    told = stage.call(agent(), "GET", f"/sagas/{saga_id}").body
    assert (told["status"], told["final"]) == ("compensated", True)
    assert "card_declined" in told["reason"]
    assert [step["undo"] for step in told["steps"]] == [
        "succeeded",
        "not_needed",
        None,
        None,
        None,
    ]


def test_a_release_that_timed_out_after_it_took_effect_is_asked_about_and_not_repeated(
    stage: Stage,
) -> None:
    enter(stage)
    stage.shop.trouble(Trouble.DECLINE, operation="authorize")
    stage.shop.trouble(Trouble.LOST_ANSWER, operation="release", seconds=6.0)
    saga_id = stage.run(plan())
    assert stage.status(saga_id) == "compensated"
    assert stage.shop.books() == ["reserve", "release"]
    history = stage.saga(saga_id).steps[0].undo.history  # type: ignore[union-attr]
    assert [(e.purpose, e.outcome) for e in history] == [("call", "unknown"), ("settle", "applied")]


def test_an_authorisation_whose_answer_is_lost_is_found_by_its_tombstone_and_voided_once(
    stage: Stage,
) -> None:
    """The status query meets 401 twice, so nobody can ask any more with this authority: the saga turns."""
    enter(stage)
    stage.shop.trouble(Trouble.LOST_ANSWER, operation="authorize", seconds=6.0)
    stage.shop.trouble(Trouble.UNAUTHORIZED_401, operation="status", service="payments", times=2)
    saga_id = stage.run(plan())
    assert stage.status(saga_id) == "compensated"
    assert stage.shop.books() == UNDONE
    assert stage.shop.keys("void") == [f"{saga_id}:1:undo"]
    assert {asked.key for asked in stage.shop.calls("cancel")} == {f"{saga_id}:1:do"}


def test_an_authorisation_whose_answer_is_lost_is_settled_by_asking_and_the_saga_goes_on(
    stage: Stage,
) -> None:
    enter(stage, amount="99.00")
    stage.shop.trouble(Trouble.LOST_ANSWER, operation="authorize", seconds=6.0)
    saga_id = stage.run(plan(amount="99.00"))
    assert stage.status(saga_id) == "completed"
    assert stage.shop.books() == DONE
    assert len(stage.shop.calls("authorize")) == 1


def test_a_rejected_capture_is_undone_and_nothing_was_captured(stage: Stage) -> None:
    enter(stage)
    saga_id = stage.run(plan())
    said = {"decision": "reject", "reason": "wrong warehouse"}
    assert stage.decide(saga_id, said).status == 200
    assert stage.status(saga_id) == "compensated"
    assert stage.shop.books() == UNDONE
    assert stage.saga(saga_id).head.reason == (
        "capture_payment: rejected by an approver: wrong warehouse"
    )


def test_an_approval_that_nobody_gives_expires_and_the_saga_is_undone(stage: Stage) -> None:
    """What Step Functions reports as a hanging execution for up to a year, without any failure metric."""
    enter(stage)
    saga_id = stage.run(plan())
    stage.later(hours=23)
    assert stage.status(saga_id) == "awaiting_approval"
    stage.later(hours=2)
    assert stage.status(saga_id) == "compensated"
    assert stage.shop.books() == UNDONE
    assert "nobody approved in time" in str(stage.saga(saga_id).head.reason)
    assert stage.approve(saga_id).codes == ["approval_expired"]


def test_an_order_that_ships_while_people_think_is_refused_at_the_pivot_in_spite_of_approval(
    stage: Stage,
) -> None:
    """A decision that was valid when it was made is stale when it is used (seed one, "Stale approval")."""
    enter(stage)
    saga_id = stage.run(plan())
    enter(stage, shipped=True)
    assert stage.approve(saga_id).status == 200
    assert stage.status(saga_id) == "compensated"
    assert "capture" not in stage.shop.books()
    assert "shipped already" in str(stage.saga(saga_id).head.reason)


def test_a_capture_whose_answer_is_lost_is_settled_without_a_second_approval(
    stage: Stage,
) -> None:
    enter(stage)
    saga_id = stage.run(plan())
    stage.shop.trouble(Trouble.LOST_ANSWER, operation="capture", seconds=6.0)
    stage.approve(saga_id)
    assert stage.status(saga_id) == "completed"
    assert stage.shop.books() == DONE
    assert len(stage.shop.calls("capture")) == 1
    assert [a.state.value for a in stage.approvals()] == ["consumed"]


def test_a_shipment_that_fails_until_its_budget_is_spent_becomes_a_case_and_a_retry_completes(
    stage: Stage,
) -> None:
    """A retriable step that fails for ever ends with a person, never as a FAILED execution."""
    enter(stage, amount="99.00")
    stage.shop.trouble(Trouble.ERROR_503, operation="ship", times=4)
    saga_id = stage.run(plan(amount="99.00"))
    assert stage.status(saga_id) == "awaiting_manual_resolution"
    assert stage.executions() == {f"{saga_id}-1": "SUCCEEDED"}
    case = stage.open_case()
    assert (case.cause.value, case.index) == ("budget_spent", 3)
    assert stage.notices("cases") == [f'{{"case": "{case.id}"}}']
    assert stage.saga(saga_id).steps[3].forward.attempts == 4

    assert stage.settle(case.id, "retry").status == 200
    assert stage.status(saga_id) == "completed"
    assert stage.shop.books() == DONE
    assert stage.executions() == {f"{saga_id}-1": "SUCCEEDED", f"{saga_id}-2": "SUCCEEDED"}
    assert stage.shop.keys("ship") == [f"{saga_id}:3:do"]


def test_a_shipment_that_was_done_by_hand_lets_the_saga_be_completed(stage: Stage) -> None:
    enter(stage, amount="99.00")
    stage.shop.trouble(Trouble.ERROR_503, operation="ship", times=4)
    saga_id = stage.run(plan(amount="99.00"))
    assert stage.settle(stage.open_case().id, "done").status == 200
    assert stage.status(saga_id) == "completed"
    assert stage.shop.books() == ["reserve", "authorize", "capture", "send"]
    forward = stage.saga(saga_id).steps[3].forward
    assert forward.by_hand
    assert forward.receipt is not None
    assert forward.receipt.details == {"evidence": "looked at the shop's own records"}


def test_a_saga_that_fails_at_its_first_step_owes_nothing_and_ends(stage: Stage) -> None:
    """The steps behind it never started: nobody has to ask them before the saga may end."""
    enter(stage)
    stage.shop.trouble(Trouble.DECLINE, operation="reserve")
    saga_id = stage.run(plan())
    assert stage.status(saga_id) == "compensated"
    assert stage.shop.books() == []
    assert stage.states(f"{saga_id}-1")[1:] == [
        "begin 0 reserve_stock",
        "undo 0 reserve_stock",
        "finish compensation",
    ]


def test_the_first_of_two_reservations_is_released_when_the_second_fails(stage: Stage) -> None:
    """The first one's undo waits for the second one's and for the authorisation's, neither of which is owed."""
    enter(stage)
    proposed = plan()
    proposed["steps"].insert(1, {**proposed["steps"][0], "id": "second"})
    proposed["steps"][4]["uses"] = {"reserve_stock": "second"}
    stage.when("reserve_stock-run 1 run", lambda _: decline(stage, "reserve"))
    saga_id = stage.run(proposed)
    assert stage.status(saga_id) == "compensated"
    assert stage.shop.books() == ["reserve", "release"]


def decline(stage: Stage, operation: str) -> None:
    stage.shop.trouble(Trouble.DECLINE, operation=operation)
