"""The orders of the scenes, and the plans that an agent makes for them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from functions.sandbox import asks
from tests.sagas.stage import Stage


def enter(
    stage: Stage,
    order_id: str = "4471",
    amount: str = "180.00",
    *,
    tier: str = "standard",
    shipped: bool = False,
) -> None:
    """Enter an order of two lamps, which lie in warehouse B, to be packed within a day."""
    now = datetime.fromtimestamp(stage.clock.at / 1000, tz=UTC)
    stage.shop.scene.put_stock(asks.Stock(warehouse="B", sku="LAMP-1", on_hand=10))
    stage.shop.scene.put_order(
        order_id,
        asks.Order(
            amount=amount,
            currency="EUR",
            tier=tier,
            shipped=shipped,
            lines=(asks.Line(sku="LAMP-1", quantity=2),),
            cutoff_at=now + timedelta(days=1),
        ),
    )


def step(name: str, **arguments: Any) -> dict[str, Any]:
    """One planned step, its name for its id."""
    return {"id": name, "name": name, "arguments": arguments}


def plan(
    order_id: str = "4471", amount: str = "180.00", *names: str, **changes: Any
) -> dict[str, Any]:
    """The five steps that move an order to warehouse B, or those of `names`. `changes` replaces members."""
    money = {"order_id": order_id, "amount": amount, "currency": "EUR"}
    steps = [
        step("reserve_stock", order_id=order_id, warehouse="B", sku="LAMP-1", quantity=2),
        step("authorize_payment", **money),
        step("capture_payment", **money),
        step("create_shipment", order_id=order_id, warehouse="B"),
        step("send_confirmation", order_id=order_id, template="warehouse_changed"),
    ]
    made: dict[str, Any] = {
        "request_id": f"req-{order_id}",
        "catalogue": "fulfilment",
        "steps": [each for each in steps if not names or each["name"] in names],
        "provenance": {
            "run_id": "run-1",
            "prompt_version": "prompt-1",
            "source_document_id": f"mail-{order_id}",
        },
        "rationale": "The customer asks for the lamps from another warehouse.",
    }
    return {**made, **changes}
