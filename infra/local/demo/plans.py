"""The agent's plans for an order, as the first seed tells them."""

from __future__ import annotations

from typing import Any

SKU = "LAMP-1"
CREDIT_NOTE = "The customer expects something for the delay: please consider a credit of 20.00 EUR."
RATIONALE = (
    "The customer asks for the closer warehouse. B has the lamp in stock and is two days nearer. "
    "The card is charged as the order says."
)


def steps(order_id: str, amount: str) -> list[dict[str, Any]]:
    """Reserve, authorise, capture, ship, confirm."""
    money = {"order_id": order_id, "amount": amount, "currency": "EUR"}
    stock = {"order_id": order_id, "warehouse": "B", "sku": SKU, "quantity": 1}
    told = {"order_id": order_id, "template": "warehouse_changed"}
    return [
        {"id": "reserve", "name": "reserve_stock", "arguments": stock},
        {"id": "authorise", "name": "authorize_payment", "arguments": money},
        {"id": "capture", "name": "capture_payment", "arguments": money},
        {
            "id": "ship",
            "name": "create_shipment",
            "arguments": {"order_id": order_id, "warehouse": "B"},
        },
        {"id": "confirm", "name": "send_confirmation", "arguments": told},
    ]


def goodwill_credit(order_id: str) -> dict[str, Any]:
    """The step that the agent would like, and the catalogue does not have."""
    return {
        "id": "credit",
        "name": "apply_goodwill_credit",
        "arguments": {"order_id": order_id, "amount": "20.00", "currency": "EUR"},
    }


def plan(
    request_id: str,
    chosen: list[dict[str, Any]],
    *,
    rationale: str = RATIONALE,
    notes: tuple[str, ...] = (),
    catalogue: str = "fulfilment",
) -> dict[str, Any]:
    """A plan of these steps for one request."""
    return {
        "request_id": request_id,
        "catalogue": catalogue,
        "steps": chosen,
        "provenance": {
            "run_id": f"run-{request_id}",
            "prompt_version": f"{catalogue}-7",
            "source_document_id": f"mail-{request_id}",
        },
        "rationale": rationale,
        "notes": list(notes),
    }


def environment_steps(
    environment: str, *, audience: str = "team", access: str = "contribute", team: str = "payments"
) -> list[dict[str, Any]]:
    """Create, let a team in, publish, register, notify: as the second seed tells it."""
    return [
        {
            "id": "create",
            "name": "create_environment",
            "arguments": {"environment": environment, "purpose": "demonstration"},
        },
        {
            "id": "grant",
            "name": "grant_access",
            "arguments": {"team": team, "access": access},
        },
        {
            "id": "publish",
            "name": "publish_instruction",
            "arguments": {
                "audience": audience,
                "title": "Use the new environment",
                "text": f"From today on, work in {environment}.",
            },
        },
        {
            "id": "register",
            "name": "register_environment",
            "arguments": {"keep_for_days": 30},
        },
        {
            "id": "notify",
            "name": "notify_team",
            "arguments": {"message": "instruction_published"},
        },
    ]
