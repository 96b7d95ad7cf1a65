"""A small shop as a catalogue, and plans for it: what the unit tests of plans, validation and requests are about."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from functions.domain.catalogue import (
    Authority,
    Catalogue,
    Fact,
    Kind,
    Operation,
    Precondition,
    Retry,
    Settlement,
    Step,
    Undo,
    Violation,
)
from functions.domain.money import Money
from functions.domain.plan import Plan, parse_plan

_OPERATION = Operation("shop.adapters:call", Authority(scope="shop"))
_SETTLEMENT = Settlement(settles_after=timedelta(seconds=5), keys_kept_for=timedelta(days=1))
_CLOSED = ConfigDict(frozen=True, extra="forbid", strict=True)


class OfOrder(BaseModel):
    model_config = _CLOSED
    order_id: Annotated[str, StringConstraints(pattern=r"^[0-9]{1,10}$", max_length=10)]


class Reserve(OfOrder):
    quantity: Annotated[int, Field(ge=1, le=10, description="How many units.")]
    gift: bool = False


class Payment(OfOrder, Money):
    pass


class Notify(OfOrder):
    template: Literal["shipped", "delayed"]


class Order(BaseModel):
    """The fact: what the shop says."""

    model_config = _CLOSED
    shipped: bool
    amount: str


def _order_id(arguments: BaseModel) -> str:
    assert isinstance(arguments, OfOrder)
    return arguments.order_id


def _order_open(_: BaseModel, order: Order | None) -> list[Violation]:
    if order is None:
        return [
            Violation("order_unknown", "No such order.", "Use the customer's order.", "order_id")
        ]
    if order.shipped:
        return [Violation("order_shipped", "The order has shipped.", "It is too late for a plan.")]
    return []


def _amount_of_order(arguments: BaseModel, order: Order | None) -> list[Violation]:
    assert isinstance(arguments, Payment)
    if order is None or arguments.amount == order.amount:
        return []
    return [Violation("amount_mismatch", "Not the order's.", f"It is {order.amount}.", "amount")]


def make_step(name: str, kind: Kind, arguments: type[BaseModel] = OfOrder, **more: Any) -> Step:
    if kind is Kind.COMPENSABLE:
        more.setdefault("undo", _undo(f"un_{name}"))
    return Step(
        name=name,
        version="1",
        kind=kind,
        description=f"Does {name}.",
        arguments=arguments,
        run=_OPERATION,
        settlement=_SETTLEMENT,
        retry=Retry(attempts=3),
        call_timeout=timedelta(seconds=2),
        retain_for=timedelta(days=30),
        sentence=f"{name} for order {{order_id}}",
        **more,
    )


def _undo(name: str) -> Undo:
    return Undo(
        name=name,
        run=_OPERATION,
        settlement=_SETTLEMENT,
        retry=Retry(attempts=3),
        call_timeout=timedelta(seconds=2),
        fixed_inputs=lambda _arguments, _receipt: {},
    )


def make_catalogue(*steps: Step) -> Catalogue:
    return Catalogue(
        name="shop",
        steps=steps,
        facts=(Fact("order", _OPERATION, Order, _order_id),),
        preconditions=(
            Precondition("order_open", "order", _order_open),
            Precondition("amount_of_order", "order", _amount_of_order),
        ),
        policy="shop.policy:decide",
        policy_version="1",
        approvers="approvers",
        operators="operators",
    )


@pytest.fixture(scope="session")
def step() -> Callable[..., Step]:
    """A step of a small catalogue: `step(name, kind, arguments=…, requires=…)`."""
    return make_step


@pytest.fixture(scope="session")
def catalogue() -> Callable[..., Catalogue]:
    """A catalogue called shop from these steps, with the fact `order` and two preconditions."""
    return make_catalogue


@pytest.fixture(scope="session")
def shop() -> Catalogue:
    """reserve, hold → charge (pivot, requires hold) → ship (requires reserve), notify; and send_fax, retired."""
    return make_catalogue(
        make_step("reserve", Kind.COMPENSABLE, Reserve, preconditions=("order_open",)),
        make_step("hold", Kind.COMPENSABLE, Payment, preconditions=("amount_of_order",)),
        make_step(
            "charge",
            Kind.PIVOT,
            Payment,
            requires=("hold",),
            preconditions=("order_open", "amount_of_order"),
        ),
        make_step("ship", Kind.RETRIABLE, requires=("reserve",)),
        make_step("notify", Kind.RETRIABLE, Notify),
        make_step("send_fax", Kind.RETRIABLE, retired=True),
    )


@pytest.fixture(scope="session")
def facts() -> Callable[..., dict[tuple[str, str], BaseModel | None]]:
    """Order 4471 as the shop has it: `facts(shipped=…, amount=…)`."""

    def read(*, shipped: bool = False, amount: str = "180.00") -> dict[Any, BaseModel | None]:
        return {("order", "4471"): Order(shipped=shipped, amount=amount)}

    return read


_ORDER = {"order_id": "4471"}
_PAYMENT = {**_ORDER, "amount": "180.00", "currency": "EUR"}
_ARGUMENTS: dict[str, dict[str, Any]] = {
    "reserve": {**_ORDER, "quantity": 1},
    "hold": _PAYMENT,
    "charge": _PAYMENT,
    "notify": {**_ORDER, "template": "shipped"},
}


@pytest.fixture(scope="session")
def planned() -> Callable[..., dict[str, Any]]:
    """One step as an agent would send it; the arguments fit unless others are given."""

    def make(name: str, step_id: str | None = None, **more: Any) -> dict[str, Any]:
        arguments = _ARGUMENTS.get(name, _ORDER)
        return {"id": step_id or name, "name": name, "arguments": dict(arguments), **more}

    return make


@pytest.fixture(scope="session")
def proposal(planned: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    """A plan as JSON: names or whole steps, then anything else that should differ."""

    def make(*steps: Any, **more: Any) -> dict[str, Any]:
        chosen = steps or ("reserve", "hold", "charge", "ship", "notify")
        return {
            "request_id": "request-1",
            "catalogue": "shop",
            "steps": [planned(s) if isinstance(s, str) else s for s in chosen],
            "provenance": {
                "run_id": "run-1",
                "prompt_version": "7",
                "source_document_id": "mail-88",
            },
            "rationale": "The customer asked for the closer warehouse.",
            **more,
        }

    return make


@pytest.fixture(scope="session")
def plan(proposal: Callable[..., dict[str, Any]]) -> Callable[..., Plan]:
    """A plan that is well formed, made as `proposal` makes it."""

    def make(*steps: Any, **more: Any) -> Plan:
        parsed = parse_plan(json.dumps(proposal(*steps, **more)).encode())
        assert isinstance(parsed, Plan), parsed
        return parsed

    return make
