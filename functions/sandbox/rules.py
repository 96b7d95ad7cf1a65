"""The shop's business: what each mutation needs, changes and answers. Pure; all of it goes through the transaction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from functions.domain.money import as_decimal
from functions.sandbox import asks
from functions.sandbox.asks import Answer, Ask, Rule
from functions.sandbox.store import Ref, Transaction

_CREATED, _OK = 201, 200
_NOT_FOUND, _CONFLICT, _MOVED_ON, _INVALID = 404, 409, 412, 422

JSONObject = Mapping[str, Any]
Wanted = TypeVar("Wanted")


def order_ref(order_id: str) -> Ref:
    """Where an order is kept."""
    return Ref("order", order_id)


def stock_ref(warehouse: str, sku: str) -> Ref:
    """Where a warehouse's count of an article is kept."""
    return Ref("stock", f"{warehouse} {sku}")


def reserve(tx: Transaction, ask: Ask) -> Answer:
    """Hold units, of which there must be enough that nobody holds."""
    wanted = _body(ask, asks.Reservation)
    if refusal := _closed(tx, wanted.order_id):
        return refusal
    shelf = tx.get(stock_ref(wanted.warehouse, wanted.sku)) or {"on_hand": 0, "reserved": 0}
    free = max(0, shelf["on_hand"] - shelf["reserved"])
    if free < wanted.quantity:
        return Answer.refused(
            _CONFLICT,
            "out_of_stock",
            f"warehouse {wanted.warehouse} has {free} of {wanted.sku} left, not {wanted.quantity}",
        )
    _shift(tx, wanted.warehouse, wanted.sku, reserved=wanted.quantity)
    return _store(tx, _new("reservation", ask), {**wanted.model_dump(), "state": "held"})


def release(tx: Transaction, ask: Ask) -> Answer:
    """Give held units back. If someone took them off the shelf meanwhile, that is said, not hidden."""
    ref = Ref("reservation", ask.resource or "")
    held = tx.get(ref)
    if held is None:
        return _unknown(ref)
    if refusal := _changed(tx, ref, ask) or _not_in(held, "held"):
        return refusal
    shelf = tx.get(stock_ref(held["warehouse"], held["sku"])) or {"on_hand": 0, "reserved": 0}
    taken = min(held["quantity"], max(0, shelf["reserved"] - shelf["on_hand"]))
    _shift(tx, held["warehouse"], held["sku"], reserved=-held["quantity"])
    answer = _store(tx, ref, {**held, "state": "released"}, status=_OK)
    if not taken:
        return answer
    notice = (
        f"{taken} of the {held['quantity']} units of {held['sku']} were taken from warehouse "
        f"{held['warehouse']} while order {held['order_id']} held them; they do not go back on sale"
    )
    return Answer.done(answer.status, {**answer.body, "notice": notice})


def authorize(tx: Transaction, ask: Ask) -> Answer:
    """Hold an amount, no more than the order's total."""
    wanted = _body(ask, asks.Authorization)
    order = tx.get(order_ref(wanted.order_id))
    if order is None:
        return _unknown(order_ref(wanted.order_id))
    if wanted.currency != order["currency"] or as_decimal(wanted.amount) > as_decimal(
        order["amount"]
    ):
        return Answer.refused(
            _INVALID,
            "not_the_orders_amount",
            f"order {wanted.order_id} is over {order['amount']} {order['currency']}",
        )
    return _store(tx, _new("authorization", ask), {**wanted.model_dump(), "state": "open"})


def void(tx: Transaction, ask: Ask) -> Answer:
    """Let a held amount go."""
    ref = Ref("authorization", ask.resource or "")
    held = tx.get(ref)
    if held is None:
        return _unknown(ref)
    if refusal := _changed(tx, ref, ask) or _not_in(held, "open"):
        return refusal
    return _store(tx, ref, {**held, "state": "voided"}, status=_OK)


def capture(tx: Transaction, ask: Ask) -> Answer:
    """Take a held amount, once and no more than was held."""
    wanted = _body(ask, asks.Capture)
    ref = Ref("authorization", wanted.authorization_id)
    held = tx.get(ref)
    if held is None:
        return _unknown(ref)
    if refusal := _not_in(held, "open"):
        return refusal
    if wanted.currency != held["currency"] or as_decimal(wanted.amount) > as_decimal(
        held["amount"]
    ):
        return Answer.refused(
            _INVALID,
            "more_than_authorized",
            f"{held['amount']} {held['currency']} are authorised",
        )
    tx.put(ref, {**held, "state": "captured"})
    taken = {**wanted.model_dump(), "order_id": held["order_id"], "state": "captured"}
    return _store(tx, _new("capture", ask), taken)


def ship(tx: Transaction, ask: Ask) -> Answer:
    """Send reserved units. An order has shipped when all of its lines have."""
    wanted = _body(ask, asks.Shipment)
    if refusal := _closed(tx, wanted.order_id):
        return refusal
    ref = Ref("reservation", wanted.reservation_id)
    held = tx.get(ref)
    if held is None:
        return _unknown(ref)
    if refusal := _not_in(held, "held"):
        return refusal
    if (held["order_id"], held["warehouse"]) != (wanted.order_id, wanted.warehouse):
        return Answer.refused(
            _CONFLICT,
            "other_reservation",
            f"reservation {ref.id} is for order {held['order_id']} in warehouse {held['warehouse']}",
        )
    tx.put(ref, {**held, "state": "shipped"})
    _shift(
        tx, held["warehouse"], held["sku"], reserved=-held["quantity"], on_hand=-held["quantity"]
    )
    _note_shipped(tx, held)
    parcel = {**wanted.model_dump(), "sku": held["sku"], "quantity": held["quantity"]}
    return _store(tx, _new("shipment", ask), {**parcel, "state": "created"})


def send(tx: Transaction, ask: Ask) -> Answer:
    """Send a prepared text to an order's customer."""
    wanted = _body(ask, asks.Message)
    if tx.get(order_ref(wanted.order_id)) is None:
        return _unknown(order_ref(wanted.order_id))
    return _store(tx, _new("message", ask), {**wanted.model_dump(), "state": "sent"})


RULES: Mapping[tuple[str, str], Rule] = {
    ("inventory", "reserve"): reserve,
    ("inventory", "release"): release,
    ("payments", "authorize"): authorize,
    ("payments", "void"): void,
    ("payments", "capture"): capture,
    ("shipping", "ship"): ship,
    ("mail", "send"): send,
}


def order_of(tx: Transaction, ask: Ask) -> str | None:
    """Which order a mutation is about: said by its body, or by the resource that it names."""
    if said := getattr(ask.body, "order_id", None):
        return str(said)
    kind = {"release": "reservation", "void": "authorization", "capture": "authorization"}
    named = ask.resource or str(getattr(ask.body, "authorization_id", ""))
    resource = tx.get(Ref(kind[ask.operation], named)) if ask.operation in kind else None
    return str(resource["order_id"]) if resource else None


def _new(kind: str, ask: Ask) -> Ref:
    return Ref(kind, f"{kind}-{ask.new_id}")


def _store(tx: Transaction, ref: Ref, body: JSONObject, status: int = _CREATED) -> Answer:
    version = tx.put(ref, body)
    return Answer.done(status, {"id": ref.id, "version": str(version), **body})


def _shift(
    tx: Transaction, warehouse: str, sku: str, *, reserved: int = 0, on_hand: int = 0
) -> None:
    ref = stock_ref(warehouse, sku)
    shelf = tx.get(ref) or {"on_hand": 0, "reserved": 0}
    tx.put(
        ref,
        {
            "on_hand": max(0, shelf["on_hand"] + on_hand),
            "reserved": max(0, shelf["reserved"] + reserved),
        },
    )


def _note_shipped(tx: Transaction, held: JSONObject) -> None:
    ref = order_ref(held["order_id"])
    order = dict(tx.get(ref) or {})
    sent = dict(order.get("sent", {}))
    sent[held["sku"]] = sent.get(held["sku"], 0) + held["quantity"]
    wanted: dict[str, int] = {}
    for line in order["lines"]:
        wanted[line["sku"]] = wanted.get(line["sku"], 0) + line["quantity"]
    all_sent = all(sent.get(sku, 0) >= quantity for sku, quantity in wanted.items())
    tx.put(ref, {**order, "sent": sent, "shipped": order["shipped"] or all_sent})


def _closed(tx: Transaction, order_id: str) -> Answer | None:
    order = tx.get(order_ref(order_id))
    if order is None:
        return _unknown(order_ref(order_id))
    if order["shipped"]:
        return Answer.refused(_CONFLICT, "already_shipped", f"order {order_id} has shipped")
    if order["status"] != "open":
        return Answer.refused(_CONFLICT, "order_closed", f"order {order_id} is {order['status']}")
    return None


def _changed(tx: Transaction, ref: Ref, ask: Ask) -> Answer | None:
    version = str(tx.version(ref))
    if ask.condition in {None, version}:
        return None
    return Answer.refused(
        _MOVED_ON,
        "moved_on",
        f"{ref.collection} {ref.id} is at version {version}, not {ask.condition}",
    )


def _not_in(resource: JSONObject, state: str) -> Answer | None:
    if resource["state"] == state:
        return None
    return Answer.refused(_CONFLICT, f"already_{resource['state']}", f"it is {resource['state']}")


def _unknown(ref: Ref) -> Answer:
    return Answer.refused(
        _NOT_FOUND, f"{ref.collection}_not_found", f"no {ref.collection} {ref.id}"
    )


def _body(ask: Ask, model: type[Wanted]) -> Wanted:
    if not isinstance(ask.body, model):
        raise TypeError(f"{ask.operation} takes {model.__name__}")
    return ask.body
