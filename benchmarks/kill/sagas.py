"""Batches of real sagas on the local stage: half and more of them turn back, so that there is something to undo."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http import HTTPStatus

from functions.domain.ledger.records import Saga
from functions.domain.ledger.status import FINAL, Status, status
from functions.sandbox.faults import Trouble
from infra.local.demo.plans import plan, steps
from infra.local.demo.stage import Stage

AT_ONCE = 16
_SUBMITTERS = 4
_LOOK = 1.0
_PERSISTENT = 100
"""Calls that a decline stands for: a killed function asks again, and must be told the same."""

_Order = tuple[str, str, Trouble, int]
STORIES: dict[str, tuple[_Order, ...]] = {
    "nothing goes wrong": (),
    "authorisation declined": (("payments", "authorize", Trouble.DECLINE, _PERSISTENT),),
    "capture declined": (("payments", "capture", Trouble.DECLINE, _PERSISTENT),),
    "capture declined, release lost": (
        ("payments", "capture", Trouble.DECLINE, _PERSISTENT),
        ("inventory", "release", Trouble.LOST_ANSWER, 1),
    ),
    "capture declined, void fails twice": (
        ("payments", "capture", Trouble.DECLINE, _PERSISTENT),
        ("payments", "void", Trouble.ERROR_503, 1),
        ("payments", "void", Trouble.ERROR_AFTER, 1),
    ),
    "authorisation lost, capture declined": (
        ("payments", "authorize", Trouble.ERROR_AFTER, 1),
        ("payments", "capture", Trouble.DECLINE, _PERSISTENT),
    ),
    "capture lost": (("payments", "capture", Trouble.ERROR_AFTER, 1),),
    "rejected by a person": (),
    "approved, shipment fails twice": (("shipping", "ship", Trouble.ERROR_503, 2),),
}
_ASKED = {"rejected by a person": "reject", "approved, shipment fails twice": "approve"}


@dataclass(frozen=True, slots=True)
class Telling:
    """One saga of a batch: its order, its story, its id."""

    order_id: str
    story: str
    saga_id: str


@dataclass(slots=True)
class Batch:
    """Sagas that run side by side until all of them rest."""

    stage: Stage
    number: int
    size: int
    chance: random.Random
    told: list[Telling] = field(default_factory=list)
    settled: int = 0
    """Cases that the operator has settled."""

    def play(self, within: float) -> list[Telling]:
        """Submit all and wait until they rest, people doing their part meanwhile. Answers those that did not rest."""
        ends = time.monotonic() + within
        waiting = list(self._stories())
        open_: list[Telling] = []
        while (waiting or open_) and time.monotonic() < ends:
            room = waiting[: AT_ONCE - len(open_)]
            waiting = waiting[len(room) :]
            with ThreadPoolExecutor(_SUBMITTERS) as pool:
                begun = list(pool.map(self._begin, room))
            self.told += begun
            open_ = [t for t in [*open_, *begun] if not self._rests(t)]
            self._people()
            time.sleep(_LOOK)
        self.stage.shop.calm()
        return open_

    def _stories(self) -> Iterator[tuple[int, str]]:
        names = list(STORIES)
        self.chance.shuffle(names)
        for index in range(self.size):
            yield index, names[index % len(names)]

    def _begin(self, what: tuple[int, str]) -> Telling:
        index, story = what
        stage, order_id = self.stage, f"kill-{self.stage.run}-{self.number}-{index}"
        amount = "220.00" if story in _ASKED else "90.00"
        stage.order(order_id, amount)
        for service, operation, kind, times in STORIES[story]:
            stage.trouble(order_id, service, operation, kind, times=times)
        answer = stage.agent.post("/plans", plan(order_id, steps(order_id, amount)))
        if answer.status != HTTPStatus.CREATED:
            raise RuntimeError(f"order {order_id} was not admitted: {answer.body}")
        return Telling(order_id, story, str(answer.body["saga_id"]))

    def _rests(self, telling: Telling) -> bool:
        return status(self.saga(telling)) in FINAL

    def saga(self, telling: Telling) -> Saga:
        """The saga as the ledger holds it."""
        return self.stage.ledger(telling.saga_id)

    def _people(self) -> None:
        """Approvers decide what waits for them; the operator lets automation try again, under the same keys."""
        mine = {t.saga_id: t.story for t in self.told}
        if any(story in _ASKED for story in mine.values()):
            for approval in self.stage.approver.get("/approvals").body["approvals"]:
                if approval["saga_id"] in mine:
                    self._decide(approval["approval_id"], _ASKED[mine[approval["saga_id"]]])
        if not any(self._has_case(t) for t in self.told):
            return
        for case in self.stage.operator.get("/cases").body["cases"]:
            if case["saga_id"] in mine:
                self._settle(case["case_id"])

    def _has_case(self, telling: Telling) -> bool:
        return status(self.saga(telling)) in {
            Status.COMPENSATION_BLOCKED,
            Status.AWAITING_MANUAL_RESOLUTION,
        }

    def _decide(self, approval_id: str, decision: str) -> None:
        body = {"decision": decision, "reason": "The customer thought better of it."}
        self.stage.approver.post(f"/approvals/{approval_id}/decision", body)

    def _settle(self, case_id: str) -> None:
        """Answers that say *not yet* are asked again at the next look."""
        operator = self.stage.operator
        if operator.post(f"/cases/{case_id}/claim").status != HTTPStatus.OK:
            return
        answer = operator.post(f"/cases/{case_id}/resolution", {"resolution": "retry"})
        self.settled += answer.status == HTTPStatus.OK
