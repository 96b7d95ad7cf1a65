"""What an agent may do to an order: reserve, authorise, capture, ship, confirm. And how the first two are undone.

The shop is one address with five services, each with its own credential. All of them keep idempotency keys, answer by
key, and cancel by key.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from pydantic import BaseModel

from functions.catalogues.fulfilment import policy, preconditions
from functions.catalogues.fulfilment.arguments import (
    AuthorizePayment,
    CapturePayment,
    CreateShipment,
    OfOrder,
    ReserveStock,
    SendConfirmation,
)
from functions.catalogues.fulfilment.facts import Order
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
)

_ADAPTERS = "functions.catalogues.fulfilment.adapters"
_CALL = timedelta(seconds=2)
_KEYS = timedelta(days=90)
_RECORDS = timedelta(days=365)
_SETTLES = timedelta(seconds=5)
"""The shop decides a call within 6 seconds of its arrival, or never; ours gives up after 2."""


def _call(service: str, does: str) -> Operation:
    return Operation(
        adapter=f"{_ADAPTERS}.{service}:{does}",
        authority=Authority(scope=f"{service}:{does}", credential=service),
    )


def _settles_at(service: str) -> Settlement:
    return Settlement(
        settles_after=_SETTLES,
        keys_kept_for=_KEYS,
        status=_call(service, "status"),
        tombstone=_call(service, "cancel"),
    )


def _reservation_to_release(arguments: BaseModel, receipt: Any) -> dict[str, str]:
    return {"reservation_id": receipt.resource, "order_id": _order_id(arguments)}


def _authorization_to_void(arguments: BaseModel, receipt: Any) -> dict[str, str]:
    return {"authorization_id": receipt.resource, "order_id": _order_id(arguments)}


def _order_id(arguments: BaseModel) -> str:
    if not isinstance(arguments, OfOrder):
        raise TypeError(f"not about an order: {type(arguments).__name__}")
    return arguments.order_id


_UNDO = Retry(attempts=5)

RESERVE_STOCK = Step(
    name="reserve_stock",
    version="1",
    kind=Kind.COMPENSABLE,
    description=(
        "Hold units of one article of an order in a warehouse, so that nobody else can sell them. Use it once for each "
        "article that is to be sent, before any payment step. It sends nothing and moves nothing between warehouses. "
        "If the plan fails before the capture, the units are released without your doing."
    ),
    arguments=ReserveStock,
    run=_call("inventory", "reserve"),
    settlement=_settles_at("inventory"),
    retry=Retry(attempts=3),
    call_timeout=_CALL,
    retain_for=_RECORDS,
    sentence="Reserve {quantity} of {sku} in warehouse {warehouse} for order {order_id}",
    preconditions=("order_exists", "order_open", "line_of_order"),
    undo=Undo(
        name="release_stock",
        run=_call("inventory", "release"),
        settlement=_settles_at("inventory"),
        retry=_UNDO,
        call_timeout=_CALL,
        fixed_inputs=_reservation_to_release,
        sentence="Release {quantity} of {sku} in warehouse {warehouse}, held for order {order_id}",
    ),
)

AUTHORIZE_PAYMENT = Step(
    name="authorize_payment",
    version="1",
    kind=Kind.COMPENSABLE,
    description=(
        "Hold the order's total on the customer's card. Use it before capture_payment, with exactly the amount and the "
        "currency of the order: no discount, no credit and no part of it. No money moves yet. If the plan fails before "
        "the capture, the hold is lifted without your doing."
    ),
    arguments=AuthorizePayment,
    run=_call("payments", "authorize"),
    settlement=_settles_at("payments"),
    retry=Retry(attempts=3),
    call_timeout=_CALL,
    retain_for=_RECORDS,
    sentence="Authorise {amount} {currency} for order {order_id}",
    preconditions=("order_exists", "order_open", "payment_of_order"),
    undo=Undo(
        name="void_authorization",
        run=_call("payments", "void"),
        settlement=_settles_at("payments"),
        retry=_UNDO,
        call_timeout=_CALL,
        fixed_inputs=_authorization_to_void,
        sentence="Lift the hold of {amount} {currency} for order {order_id}",
    ),
)

CAPTURE_PAYMENT = Step(
    name="capture_payment",
    version="1",
    kind=Kind.PIVOT,
    description=(
        "Take the authorised amount from the customer's card. This is the point of no return: at most one in a plan, "
        "after every reservation and authorisation, before shipment and confirmation. Larger amounts wait for a "
        "person, who reads your rationale. It never pays anything back."
    ),
    arguments=CapturePayment,
    run=_call("payments", "capture"),
    settlement=_settles_at("payments"),
    retry=Retry(attempts=4),
    call_timeout=_CALL,
    retain_for=_RECORDS,
    sentence="Capture {amount} {currency} for order {order_id}",
    requires=("authorize_payment",),
    preconditions=("order_exists", "order_open", "payment_of_order"),
)

CREATE_SHIPMENT = Step(
    name="create_shipment",
    version="1",
    kind=Kind.RETRIABLE,
    description=(
        "Have the reserved units sent from the warehouse in which they were reserved. Use it after the capture, once "
        "for each reservation. It cannot be recalled, and it cannot send what was not reserved in this plan."
    ),
    arguments=CreateShipment,
    run=_call("shipping", "ship"),
    settlement=_settles_at("shipping"),
    retry=Retry(attempts=4),
    call_timeout=_CALL,
    retain_for=_RECORDS,
    sentence="Ship order {order_id} from warehouse {warehouse}",
    requires=("reserve_stock",),
    preconditions=("order_exists", "order_open"),
)

SEND_CONFIRMATION = Step(
    name="send_confirmation",
    version="1",
    kind=Kind.RETRIABLE,
    description=(
        "Send the customer one of the prepared texts about the order. Use it last. It cannot be unsent, and it carries "
        "no free text: what a person should know or decide belongs into the plan's notes."
    ),
    arguments=SendConfirmation,
    run=_call("mail", "send"),
    settlement=_settles_at("mail"),
    retry=Retry(attempts=4),
    call_timeout=_CALL,
    retain_for=_RECORDS,
    sentence="Send {template} to the customer of order {order_id}",
    preconditions=("order_exists",),
)

CATALOGUE = Catalogue(
    name="fulfilment",
    steps=(RESERVE_STOCK, AUTHORIZE_PAYMENT, CAPTURE_PAYMENT, CREATE_SHIPMENT, SEND_CONFIRMATION),
    facts=(Fact(name="order", read=_call("orders", "read"), model=Order, query=_order_id),),
    preconditions=tuple(
        Precondition(name=check.__name__, fact="order", check=check)
        for check in (
            preconditions.order_exists,
            preconditions.order_open,
            preconditions.line_of_order,
            preconditions.payment_of_order,
        )
    ),
    policy=f"{policy.__name__}:{policy.decide.__name__}",
    policy_version=policy.VERSION,
    approvers=policy.GROUP,
    operators="fulfilment-operators",
    settings=("FULFILMENT_SHOP_URL",),
)
