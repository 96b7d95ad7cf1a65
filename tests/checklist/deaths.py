"""Dying at one telling moment, and what the records say of it before anybody has gone on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from functions.domain.ledger.records import Attention
from functions.domain.ledger.recovery import can_be_driven
from tests.sagas.lambdas import Invocation, Killed
from tests.sagas.shopfront import Asked
from tests.sagas.stage import APPROVER, Stage

DONE = ["reserve", "authorize", "capture", "ship", "send"]
UNDONE = ["reserve", "authorize", "void", "release"]
UNDOS = {"void": 1, "release": 0}
"""What each undo is called at the shop, and the index of the step that it is for."""


def begin(stage: Stage, plan: Mapping[str, Any]) -> str:
    """Submit a plan and let its saga run, without anybody who rescues it."""
    saga_id = str(stage.submit(plan).body["saga_id"])
    stage.deliver()
    stage.rest(rescuing=False)
    return saga_id


def reject(stage: Stage, saga_id: str, *, rescuing: bool = True) -> None:
    """An approver says no: what was prepared is undone."""
    path = f"/approvals/{stage.approval(saga_id).id}/decision"
    said = stage.call(APPROVER, "POST", path, {"decision": "reject", "reason": "no"})
    assert said.status == 200
    stage.rest(rescuing=rescuing)


def die(stage: Stage, made: Invocation) -> None:
    """This function is gone, and the execution with it: no retry of the machine's covers it up."""
    stage.stop(made.payload["execution"], under_way=True)
    raise Killed


def die_at(stage: Stage, operation: str, *, done: bool) -> None:
    """Die at the next call of an operation at the shop: before it has arrived, or when it was done and not answered."""
    over: list[bool] = []

    def look(asked: Asked) -> None:
        if asked.operation == operation and not over:
            over.append(True)
            die(stage, stage.machines.invocations[-1])

    (stage.shop.after if done else stage.shop.before).append(look)


def who_goes_on(stage: Stage, saga_id: str) -> str:
    """Who can take the next valid action, read from what is durable alone: a driver that the sweeper will be reminded of,
    or a person with an open case that says what may be done.
    """
    saga = stage.saga(saga_id)
    if saga.head.attention is Attention.NONE:
        assert can_be_driven(saga)
        assert saga.head.due_at is not None
        return "a driver"
    case = stage.open_case()
    assert case.allowed
    assert case.obligation
    return "a person"
