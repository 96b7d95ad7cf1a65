"""What the scenes play on: the deployed product, its callers, the shop, and a view of the ledger."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from functions.aws.dynamo import DynamoStore
from functions.domain.ledger.records import Saga
from functions.sandbox import asks
from functions.sandbox.client import ShopAdmin
from functions.sandbox.faults import Fault, Trouble
from functions.usecases.records import the_saga
from infra.local.demo.account import Account
from infra.local.demo.callers import Answer, Caller, Terminal
from infra.local.demo.plans import SKU, plan, steps
from infra.local.demo.story import Story

_LONG = 120.0
_PAUSE = 0.4


class SceneStuck(Exception):
    """What a scene waits for did not come."""


@dataclass(frozen=True, slots=True)
class Stage:
    """Everything that is up."""

    agent: Caller
    other_agent: Caller
    approver: Caller
    approver2: Caller
    operator: Caller
    operator_terminal: Terminal
    second_operator: Caller
    second_operator_terminal: Terminal
    approver_terminal: Terminal
    approver2_terminal: Terminal
    shop: ShopAdmin
    account: Account
    store: DynamoStore
    run: str = field(default_factory=lambda: secrets.token_hex(2))

    def request_id(self, name: str) -> str:
        """A request id of this run."""
        return f"{name}-{self.run}"

    def order(
        self,
        order_id: str,
        amount: str,
        *,
        tier: str = "standard",
        shipped: bool = False,
        cutoff: timedelta = timedelta(hours=8),
    ) -> None:
        """Put an order for one lamp into the shop. Approvals are of use until its cut-off."""
        line = asks.Line(sku=SKU, quantity=1)
        at = datetime.now(UTC) + cutoff
        order = asks.Order(
            amount=amount,
            currency="EUR",
            lines=(line,),
            tier=tier,
            shipped=shipped,
            cutoff_at=at,
        )
        self.shop.put_order(order_id, order)

    def trouble(
        self, order_id: str, service: str, operation: str, kind: Trouble, *, times: int = 1
    ) -> None:
        """Have the next calls for this order go wrong. Lost answers take longer than a caller waits."""
        seconds = 3.0 if kind is Trouble.LOST_ANSWER else 0.0
        self.shop.order_trouble(
            Fault(
                service=service,
                operation=operation,
                order_id=order_id,
                fault=kind,
                times=times,
                seconds=seconds,
            )
        )

    def submit(self, story: Story, order_id: str, amount: str) -> str:
        """Submit the five-step plan for an order; answers the saga's id."""
        request = self.request_id(f"order-{order_id}")
        answer = self.agent.post("/plans", plan(request, steps(order_id, amount)))
        story.check("the plan is admitted", answer.status == 201, answer.body)  # noqa: PLR2004
        return str(answer.body.get("saga_id", ""))

    def wait(self, saga_id: str, *statuses: str, within: float = _LONG) -> dict[str, Any]:
        """The saga as the agent sees it, once it has one of these statuses. Raises SceneStuck."""

        def look() -> dict[str, Any] | None:
            seen = self.agent.get(f"/sagas/{saga_id}").body
            return seen if seen.get("status") in statuses else None

        return self.until(look, f"saga {saga_id} to be {' or '.join(statuses)}", within)

    def until(
        self, look: Callable[[], dict[str, Any] | None], what: str, within: float = _LONG
    ) -> dict[str, Any]:
        """What `look` answers, as soon as it answers something."""
        ends = time.monotonic() + within
        while time.monotonic() < ends:
            if (seen := look()) is not None:
                return seen
            time.sleep(_PAUSE)
        raise SceneStuck(f"waited {within:.0f} s for {what}")

    def case(self, saga_id: str) -> dict[str, Any]:
        """The case of a saga, with its evidence."""

        def look() -> dict[str, Any] | None:
            cases = self.operator.get("/cases").body["cases"]
            return next((c for c in cases if c["saga_id"] == saga_id), None)

        case = self.until(look, f"the case of saga {saga_id}")
        return self.operator.get(f"/cases/{case['case_id']}").body

    def approval(self, saga_id: str) -> dict[str, Any]:
        """The open approval of a saga."""

        def look() -> dict[str, Any] | None:
            found = self.approver.get("/approvals").body["approvals"]
            return next((a for a in found if a["saga_id"] == saga_id), None)

        return self.until(look, f"an approval of saga {saga_id}")

    def decide(self, saga_id: str, decision: str, reason: str | None = None) -> Answer:
        """Decide the open approval of a saga."""
        approval = self.approval(saga_id)["approval_id"]
        body = {"decision": decision, **({"reason": reason} if reason else {})}
        return self.approver.post(f"/approvals/{approval}/decision", body)

    def ledger(self, saga_id: str) -> Saga:
        """The saga as the ledger holds it."""
        return the_saga(self.store, saga_id)

    def books(self, saga_id: str) -> list[str]:
        """The saga's effects in the shop's own books, in order, as `operation key`."""
        return [
            f"{entry['operation']} {entry['key'].removeprefix(saga_id + ':')}"
            for entry in self.shop.books()
            if entry["key"].startswith(f"{saga_id}:")
        ]

    def check_books(self, story: Story, saga_id: str, *expected: str) -> None:
        """The books hold exactly these effects of the saga."""
        found = self.books(saga_id)
        story.check(f"the shop's books: {', '.join(expected)}", found == list(expected), found)
