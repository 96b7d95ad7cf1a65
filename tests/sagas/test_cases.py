"""What automation cannot settle: a case with its evidence, the person's answer, and the way on from it."""

from __future__ import annotations

from typing import Any

import pytest

from functions.sandbox import asks
from functions.sandbox.faults import Trouble
from tests.sagas import lambdas, shopfront
from tests.sagas.callers import person
from tests.sagas.lambdas import AWS
from tests.sagas.orders import enter, plan
from tests.sagas.stage import OPERATOR, Stage, agent

TABLES = "memory"

UNDONE = ["reserve", "authorize", "void", "release"]
DONE = ["reserve", "authorize", "capture", "ship", "send"]
REJECT = {"decision": "reject", "reason": "no"}


def reservation(stage: Stage, saga_id: str) -> str:
    receipt = stage.saga(saga_id).steps[0].forward.receipt
    assert receipt is not None
    return receipt.resource


def test_a_release_that_is_refused_because_the_reservation_moved_on_is_a_case(
    stage: Stage,
) -> None:
    enter(stage)
    saga_id = stage.run(plan())
    held = reservation(stage, saga_id)
    stage.shop.scene.change(asks.Change(kind="reservation", id=held))
    stage.decide(saga_id, REJECT)
    assert stage.status(saga_id) == "compensation_blocked"
    assert stage.call(agent(), "GET", f"/sagas/{saga_id}").body["status"] == "compensation_blocked"

    case = stage.open_case()
    assert (case.cause.value, case.index, case.direction) == ("undo_blocked", 0, "undo")
    told = stage.call(OPERATOR, "GET", f"/cases/{case.id}").body
    assert held in told["obligation"]
    assert "release_stock" in told["obligation"]
    assert "moved_on" in told["why"]
    evidence = told["evidence"]
    assert evidence["undo"]["key"] == f"{saga_id}:0:undo"
    assert evidence["undo"]["inputs"] == {"reservation_id": held, "order_id": "4471"}
    assert evidence["undo"]["condition"] == "1"
    assert evidence["undo"]["authority"]["scope"] == "inventory:release"
    assert evidence["forward"]["receipt"]["resource"] == held
    assert evidence["exists"] == [{"step": "reserve_stock", "resource": held}]
    assert told["agent"]["rationale"] == plan()["rationale"]

    assert stage.settle(case.id, "retry").status == 200
    second = stage.open_case()
    assert (second.cause.value, second.id != case.id) == ("undo_blocked", True)
    assert {asked.key for asked in stage.shop.calls("release")} == {f"{saga_id}:0:undo"}

    assert stage.settle(second.id, "done").status == 200
    assert stage.status(saga_id) == "compensated"
    assert stage.shop.books() == ["reserve", "authorize", "void"]


def test_an_undo_that_never_succeeds_spends_its_budget_and_becomes_a_case(stage: Stage) -> None:
    """No endless retry, and no mere line in a log: Seata issue 5077."""
    enter(stage)
    saga_id = stage.run(plan())
    stage.shop.trouble(Trouble.ERROR_503, operation="release", times=5)
    stage.decide(saga_id, REJECT)
    assert stage.status(saga_id) == "compensation_blocked"
    case = stage.open_case()
    assert case.cause.value == "undo_budget_spent"
    assert stage.notices("cases") == [f'{{"case": "{case.id}"}}']
    stage.settle(case.id, "retry")
    assert stage.status(saga_id) == "compensated"
    assert stage.shop.books() == UNDONE


def test_a_blocked_undo_holds_those_that_come_after_it_and_no_others(stage: Stage) -> None:
    enter(stage)
    saga_id = stage.run(plan())
    stage.shop.trouble(Trouble.DECLINE, operation="void")
    stage.decide(saga_id, REJECT)
    assert stage.status(saga_id) == "compensation_blocked"
    assert stage.shop.books() == ["reserve", "authorize"]
    assert [(c.index, c.cause.value) for c in stage.cases()] == [(1, "undo_blocked")]
    stage.later(minutes=10)
    assert stage.executions() == {f"{saga_id}-1": "SUCCEEDED"}
    stage.settle(stage.open_case().id, "done")
    assert stage.status(saga_id) == "compensated"
    assert stage.shop.books() == ["reserve", "authorize", "release"]


def test_a_lost_authority_stops_the_branch_and_no_other_authority_is_tried(stage: Stage) -> None:
    enter(stage)
    saga_id = stage.run(plan())
    stage.shop.refuse(shopfront.token("inventory"))
    stage.decide(saga_id, REJECT)
    case = stage.open_case()
    assert (case.cause.value, stage.status(saga_id)) == ("authority_lost", "compensation_blocked")
    bearers = {asked.authorization for asked in stage.shop.calls("release")}
    assert bearers == {f"Bearer {shopfront.token('inventory')}"}
    stage.shop.accept(shopfront.token("inventory"), "inventory")
    stage.settle(case.id, "retry")
    assert stage.status(saga_id) == "compensated"
    assert stage.shop.books() == UNDONE


def test_a_credential_that_was_rotated_is_read_again_through_the_same_reference(
    stage: Stage,
) -> None:
    enter(stage, amount="99.00")
    stage.run(plan(amount="99.00"))  # every function is warm, and holds the old credential
    rotate(stage, "inventory")
    enter(stage, "2", "99.00")
    saga_id = stage.run(plan("2", "99.00"))
    assert stage.status(saga_id) == "completed"
    assert stage.saga(saga_id).steps[0].forward.attempts == 1


def rotate(stage: Stage, service: str) -> None:
    stage.shop.refuse(shopfront.token(service))
    stage.shop.accept("the-new-token", service)
    AWS.client("secretsmanager").put_secret_value(
        SecretId=f"{lambdas.SECRET_PREFIX}/fulfilment/{service}", SecretString="the-new-token"
    )


def unsettled_capture(stage: Stage, *, done: bool) -> str:
    """A capture of which nobody knows whether it happened, at a target that cannot be asked."""
    enter(stage, amount="99.00")
    fault = Trouble.ERROR_AFTER if done else Trouble.ERROR_500
    stage.shop.trouble(fault, operation="capture")
    for asking in ("status", "cancel"):
        stage.shop.trouble(Trouble.ERROR_500, operation=asking, times=50)
    stage.shop.trouble(Trouble.ERROR_500, operation="capture", times=50)
    saga_id = stage.run(plan(amount="99.00"))
    assert stage.status(saga_id) == "awaiting_manual_resolution"
    case = stage.open_case()
    assert (case.cause.value, case.index, case.direction) == ("outcome_unsettled", 2, "do")
    assert "void" not in stage.shop.books()
    stage.shop.scene.calm()
    return saga_id


def test_a_capture_that_nobody_can_settle_is_never_undone_but_handed_to_a_person(
    stage: Stage,
) -> None:
    saga_id = unsettled_capture(stage, done=True)
    stage.settle(stage.open_case().id, "retry")
    assert stage.status(saga_id) == "completed"
    assert stage.shop.books() == DONE


def test_a_capture_that_a_person_has_done_by_hand_takes_the_saga_over_its_boundary(
    stage: Stage,
) -> None:
    saga_id = unsettled_capture(stage, done=False)
    stage.clock.pass_(60)
    assert stage.settle(stage.open_case().id, "done").status == 200
    assert stage.status(saga_id) == "completed"
    assert stage.saga(saga_id).head.pivot == "crossed"
    assert "capture" not in stage.shop.books()


def test_a_capture_that_a_person_found_absent_is_tried_again(stage: Stage) -> None:
    saga_id = unsettled_capture(stage, done=False)
    stage.clock.pass_(60)
    assert stage.settle(stage.open_case().id, "did_not_happen").status == 200
    assert stage.status(saga_id) == "completed"
    assert stage.shop.books() == DONE


def test_nobody_may_say_that_they_did_it_while_the_call_may_still_land(stage: Stage) -> None:
    unsettled_capture(stage, done=True)
    case = stage.open_case()
    stage.clock.at = stage.saga(str(case.saga_id)).steps[2].forward.deadline
    answer = stage.settle(case.id, "done")
    assert (answer.status, answer.codes) == (409, ["attempt_alive"])


def test_a_key_that_stands_for_something_else_is_a_persons_to_look_into(stage: Stage) -> None:
    enter(stage, amount="99.00")

    def take_the_key(made: Any) -> None:
        stage.shop.shop.do(
            asks.Ask(
                service="mail",
                operation="send",
                key=f"{made.payload['saga_id']}:4:do",
                body=asks.Message(order_id="4471", template="order_delayed"),
                new_id="other",
            )
        )

    stage.when("send_confirmation-run 4 run", take_the_key)
    saga_id = stage.run(plan(amount="99.00"))
    assert stage.status(saga_id) == "awaiting_manual_resolution"
    case = stage.open_case()
    assert case.cause.value == "key_conflict"
    assert "retry" not in [r.value for r in case.allowed]
    assert len(stage.shop.calls("send")) == 1


def test_a_person_stops_a_saga_that_waits_for_people(stage: Stage) -> None:
    enter(stage)
    saga_id = stage.run(plan())
    assert stage.call(OPERATOR, "POST", f"/sagas/{saga_id}/cancel").status == 200
    stage.deliver()
    stage.rest()
    assert stage.status(saga_id) == "compensated"
    assert stage.shop.books() == UNDONE
    assert stage.saga(saga_id).head.reason == "cancelled by operator-1"
    late = stage.approve(saga_id)
    assert (late.status, late.codes) == (409, ["already_decided"])


def test_a_person_stops_a_saga_that_has_not_started(stage: Stage) -> None:
    enter(stage)
    saga_id = stage.submit(plan()).body["saga_id"]
    assert stage.call(OPERATOR, "POST", f"/sagas/{saga_id}/cancel").status == 200
    stage.deliver()
    stage.rest()
    assert stage.status(saga_id) == "compensated"
    assert stage.shop.books() == []


@pytest.mark.parametrize("index", range(2))
def test_a_person_stops_a_saga_in_the_middle_of_a_step(stage: Stage, index: int) -> None:
    enter(stage, amount="99.00")
    operation = ("reserve", "authorize")[index]
    answers: list[int] = []

    def cancel(asked: Any) -> None:
        if asked.operation == operation and not answers:
            [saga_id] = {i.payload["saga_id"] for i in stage.machines.invocations}
            answers.append(stage.call(OPERATOR, "POST", f"/sagas/{saga_id}/cancel").status)

    stage.shop.before.append(cancel)
    saga_id = stage.run(plan(amount="99.00"))
    assert answers == [200]
    assert stage.status(saga_id) == "compensated"
    assert stage.shop.books() == (UNDONE if index else ["reserve", "release"])


def test_nobody_stops_a_saga_in_its_capture_or_after_it(stage: Stage) -> None:
    enter(stage, amount="99.00")
    codes: list[list[str]] = []

    def cancel(asked: Any) -> None:
        if asked.operation in {"capture", "ship"}:
            [saga_id] = {i.payload["saga_id"] for i in stage.machines.invocations}
            codes.append(stage.call(OPERATOR, "POST", f"/sagas/{saga_id}/cancel").codes)

    stage.shop.before.append(cancel)
    saga_id = stage.run(plan(amount="99.00"))
    assert codes == [["cannot_cancel"]] * 2
    assert stage.status(saga_id) == "completed"
    assert stage.call(OPERATOR, "POST", f"/sagas/{saga_id}/cancel").codes == ["cannot_cancel"]


def test_a_case_goes_on_when_the_machine_was_deleted_meanwhile(stage: Stage) -> None:
    enter(stage, amount="99.00")
    stage.shop.trouble(Trouble.ERROR_503, operation="ship", times=4)
    saga_id = stage.run(plan(amount="99.00"))
    stage.sfn.delete_state_machine(stateMachineArn=stage.saga(saga_id).head.machine)
    stage.settle(stage.open_case().id, "retry")
    assert stage.status(saga_id) == "completed"
    assert stage.shop.books() == DONE


def test_an_open_case_is_announced_again_before_the_queue_forgets_it(stage: Stage) -> None:
    enter(stage, amount="99.00")
    stage.shop.trouble(Trouble.ERROR_503, operation="ship", times=4)
    stage.run(plan(amount="99.00"))
    assert len(stage.notices("cases")) == 1
    stage.later(days=9)
    assert stage.notices("cases") == []
    stage.later(days=1, hours=1)
    assert len(stage.notices("cases")) == 1
    assert stage.open_case().announced == 2


def test_the_notice_of_a_case_is_taken_over_the_api_and_taken_off_once_it_is_settled(
    stage: Stage,
) -> None:
    enter(stage)
    saga_id = stage.run(plan())
    stage.shop.trouble(Trouble.ERROR_503, operation="release", times=5)
    stage.decide(saga_id, REJECT)
    assert stage.call(agent(), "POST", "/notices/take", {}).status == 403
    elsewhere = person("omar", "fulfilment-operators", "tenant.globex")
    assert stage.call(elsewhere, "POST", "/notices/take", {"most": 10}).body == {"notices": []}

    stage.put_back("cases")
    [notice] = stage.call(OPERATOR, "POST", "/notices/take", {"most": 10}).body["notices"]
    case = stage.open_case()
    assert (notice["case"]["case_id"], notice["case"]["state"]) == (case.id, "open")
    assert stage.call(OPERATOR, "POST", "/notices/take", {"most": 10}).body == {"notices": []}

    said = {"case_id": case.id, "receipt": notice["receipt"]}
    early = stage.call(OPERATOR, "POST", "/notices/acknowledgement", said)
    assert (early.status, early.codes) == (409, ["case_open"])
    stage.settle(case.id, "retry")
    assert stage.status(saga_id) == "compensated"
    other = stage.call(elsewhere, "POST", "/notices/acknowledgement", said)
    assert (other.status, other.codes) == (404, ["not_found"])
    wrong = stage.call(OPERATOR, "POST", "/notices/acknowledgement", {**said, "receipt": "x"})
    assert (wrong.status, wrong.codes) == (422, ["bad_value"])
    done = stage.call(OPERATOR, "POST", "/notices/acknowledgement", said)
    assert (done.status, done.body["state"]) == (200, "settled")
    stage.put_back("cases")
    assert stage.call(OPERATOR, "POST", "/notices/take", {"most": 10}).body == {"notices": []}


def test_a_saga_s_audit_and_the_review_are_there_over_the_api_for_its_own_tenant_alone(
    stage: Stage,
) -> None:
    enter(stage)
    saga_id = stage.run(plan())
    stage.decide(saga_id, REJECT)
    assert stage.status(saga_id) == "compensated"
    found = stage.call(OPERATOR, "GET", f"/sagas/{saga_id}/audit").body["entries"]
    assert [e["at"] for e in found] == sorted(e["at"] for e in found)
    assert [e["what"] for e in found if e["kind"] == "saga"] == [
        "admitted",
        "turned back",
        "compensated",
    ]
    assert [(e["what"], e["who"]) for e in found if e["kind"] == "approval"] == [
        ("asked", None),
        ("reject", "approver-1"),
    ]
    [listed] = stage.call(OPERATOR, "GET", "/review").body["sagas"]
    assert (listed["saga_id"], listed["status"]) == (saga_id, "compensated")
    assert "no" in listed["reason"]
    later = stage.clock.now() + 1
    assert stage.call(OPERATOR, "GET", f"/review?since={later}").body["sagas"] == []
    elsewhere = person("omar", "fulfilment-operators", "tenant.globex")
    assert stage.call(elsewhere, "GET", f"/sagas/{saga_id}/audit").status == 404
    assert stage.call(elsewhere, "GET", "/review").body["sagas"] == []
    assert stage.call(agent(), "GET", f"/sagas/{saga_id}/audit").status == 403
    assert stage.call(agent(), "GET", "/review").status == 403
