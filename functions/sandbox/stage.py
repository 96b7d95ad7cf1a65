"""Setting the scene: orders, stock, tokens, trouble, a change by somebody else, and a clean table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from functions.sandbox import asks
from functions.sandbox.access import token_ref
from functions.sandbox.faults import Fault, order_trouble
from functions.sandbox.rules import order_ref, stock_ref
from functions.sandbox.store import Ref, Store, Transaction

COLLECTIONS = (
    "order", "stock", "reservation", "authorization", "capture", "shipment", "message", "key", "entry", "fault",
)  # fmt: skip
"""All that a clean table forgets. Tokens stay: they are the callers', not the scene's."""


class Stage:
    """What tests and demonstrations do to a shop. Each call is done when it returns."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def put_order(self, order_id: str, order: asks.Order) -> None:
        """Enter an order, or replace it."""
        self._put(order_ref(order_id), order.model_dump(mode="json"))

    def put_stock(self, stock: asks.Stock) -> None:
        """Say what lies on a shelf; what is held stays held, even if it is no longer there."""
        ref = stock_ref(stock.warehouse, stock.sku)
        while True:
            tx = Transaction(self._store)
            tx.put(ref, {"reserved": 0, **(tx.get(ref) or {}), "on_hand": stock.on_hand})
            if tx.commit():
                return

    def put_token(self, token: asks.Token) -> None:
        """Accept a token from now on, with exactly these scopes."""
        self._put(token_ref(token.sha256), {"scopes": list(token.scopes)})

    def remove_token(self, sha256: str) -> None:
        """Accept a token no longer."""
        self._store.remove([token_ref(sha256)])

    def order_trouble(self, fault: Fault) -> None:
        """Make the next calls that match go wrong."""
        order_trouble(self._store, fault)

    def calm(self) -> None:
        """Forget all trouble that was ordered."""
        self._store.remove([fault.ref for fault in self._store.every("fault")])

    def change(self, change: asks.Change) -> bool:
        """Move a resource's version on, as somebody else's change would; False where there is none."""
        while True:
            tx = Transaction(self._store)
            resource = tx.get(Ref(change.kind, change.id))
            if resource is None:
                return False
            tx.put(Ref(change.kind, change.id), resource)
            if tx.commit():
                return True

    def clear(self) -> None:
        """Forget everything but the tokens."""
        for collection in COLLECTIONS:
            self._store.remove([document.ref for document in self._store.every(collection)])

    def _put(self, ref: Ref, body: Mapping[str, Any]) -> None:
        while True:
            tx = Transaction(self._store)
            tx.put(ref, body)
            if tx.commit():
                return
