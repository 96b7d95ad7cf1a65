"""The shop: each mutation once for its key, written with its key, and entered in the books with both.

A key that is known answers for itself: with the first result, or that it stands for other parameters, is in use, or
was cancelled. A refusal leaves no key behind, since nothing was done under it.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from time import sleep as real_sleep
from typing import Any

from functions.domain.keys import digest
from functions.sandbox.asks import Answer, Ask
from functions.sandbox.faults import INSTEAD, Fault, Trouble, declined, take
from functions.sandbox.rules import RULES, order_of, order_ref
from functions.sandbox.store import Ref, Store, Transaction

_OK, _NOT_FOUND, _CONFLICT, _GONE, _INVALID = 200, 404, 409, 410, 422
_MOST_RACES = 50
_IN_USE = Answer.refused(_CONFLICT, "key_in_use", "a call with this key is under way")
_CONFLICTING = Answer.refused(_INVALID, "key_conflict", "this key stands for other parameters")
_CANCELLED = Answer.refused(_GONE, "key_cancelled", "this key was cancelled: nothing was done")
_NO_KEY = Answer.refused(_NOT_FOUND, "key_not_found", "no call with this key did anything")
_BUSY = INSTEAD[Trouble.ERROR_503]


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Shop:
    """The shop over a store. `now` and `sleep` (seconds) are what the clock does; ids are unguessable."""

    store: Store
    now: Callable[[], datetime] = _now
    sleep: Callable[[float], None] = real_sleep

    def do(self, ask: Ask) -> Answer:
        """Do what is asked, with whatever trouble was ordered for it."""
        order_id = order_of(Transaction(self.store), ask)
        fault = take(self.store, ask.service, ask.operation, order_id)
        if fault is None:
            return self._once(ask)
        if fault.fault is Trouble.DECLINE:
            return declined(ask.operation)
        if instead := INSTEAD.get(fault.fault):
            return instead
        return self._in_trouble(ask, fault)

    def order(self, order_id: str) -> Answer:
        """An order as it is now."""
        fault = take(self.store, "orders", "read", order_id)
        if instead := self._instead_of_reading(fault):
            return instead
        found = self.store.read(order_ref(order_id))
        if found is None:
            return Answer.refused(_NOT_FOUND, "order_not_found", f"no order {order_id}")
        return Answer(_OK, {"order_id": order_id, **found.body})

    def status(self, service: str, key: str) -> Answer:
        """What a key stands for: the first result, nothing, nothing ever, or not yet decided."""
        known = self.store.read(_key_ref(service, key))
        fault = take(self.store, service, "status", _order_under(known.body if known else None))
        if instead := self._instead_of_reading(fault):
            return instead
        if known is None:
            return _NO_KEY
        return self._told(known.body) or _NO_KEY

    def cancel(self, service: str, key: str) -> Answer:
        """Make a key unusable for good, unless its effect exists: then that is the answer."""
        ref = _key_ref(service, key)
        known = Transaction(self.store).get(ref)
        fault = take(self.store, service, "cancel", _order_under(known))
        if instead := self._instead_of_reading(fault):
            return instead
        for _ in range(_MOST_RACES):
            tx = Transaction(self.store)
            known = tx.get(ref)
            if known and known["state"] in {"done", "cancelled"}:
                return self._told(known) or _NO_KEY
            tx.put(ref, {"state": "cancelled"})
            if tx.commit():
                return _CANCELLED
        return _BUSY

    def books(self, order_id: str | None = None) -> list[Mapping[str, Any]]:
        """Every effect there ever was, in order, or those of one order."""
        entries = [entry.body for entry in self.store.every("entry")]
        return [entry for entry in entries if order_id in {None, entry["order_id"]}]

    def _in_trouble(self, ask: Ask, fault: Fault) -> Answer:
        if fault.fault is Trouble.SLOW:
            claim = self._claim(ask, fault)
            self.sleep(fault.seconds)
            return self._once(ask, claim)
        answer = self._once(ask)
        if fault.fault is Trouble.ERROR_AFTER:
            return INSTEAD[Trouble.ERROR_500]
        self.sleep(fault.seconds)
        return answer

    def _instead_of_reading(self, fault: Fault | None) -> Answer | None:
        if fault is None:
            return None
        if fault.fault in {Trouble.SLOW, Trouble.LOST_ANSWER}:
            self.sleep(fault.seconds)
        return INSTEAD.get(fault.fault)

    def _claim(self, ask: Ask, fault: Fault) -> str | None:
        """Mark a new key as in use. None where it is known already: then it answers for itself."""
        tx = Transaction(self.store)
        ref = _key_ref(ask.service, ask.key)
        if tx.get(ref) is not None:
            return None
        claim = secrets.token_hex(8)
        until = self.now() + timedelta(seconds=fault.seconds + 1)
        tx.put(
            ref, {**_entry(tx, ask), "state": "in_use", "claim": claim, "until": until.isoformat()}
        )
        return claim if tx.commit() else None

    def _once(self, ask: Ask, claim: str | None = None) -> Answer:
        """Decide, and commit the decision with its key; again from the start where another caller was faster."""
        for _ in range(_MOST_RACES):
            tx = Transaction(self.store)
            ref = _key_ref(ask.service, ask.key)
            known = tx.get(ref)
            if known and (told := self._told(known, ask, claim)):
                return told
            answer = RULES[ask.service, ask.operation](tx, ask)
            if not answer.is_effect:
                self._give_up(ask, claim)
                return answer
            entry = _entry(tx, ask)
            at = self.now().isoformat(timespec="microseconds")
            tx.put(ref, {**entry, "state": "done", "status": answer.status, "body": answer.body})
            tx.put(_page(at, ask), {**entry, "resource": answer.made, "time": at})
            if tx.commit():
                return answer
        return _BUSY

    def _give_up(self, ask: Ask, claim: str | None) -> None:
        if claim is None:
            return
        tx = Transaction(self.store)
        ref = _key_ref(ask.service, ask.key)
        known = tx.get(ref)
        if known and known.get("claim") == claim:
            tx.put(ref, {**known, "until": self.now().isoformat()})
            tx.commit()

    def _told(
        self, known: Mapping[str, Any], ask: Ask | None = None, claim: str | None = None
    ) -> Answer | None:
        """What a known key answers; None where it is free to be used."""
        if known["state"] == "cancelled":
            return _CANCELLED
        if ask is not None and known["digest"] != digest(ask.parameters):
            return _CONFLICTING
        if known["state"] == "done":
            return replace(
                Answer(known["status"], known["body"]), headers={"Idempotency-Replayed": "true"}
            )
        mine = claim is not None and known["claim"] == claim
        busy = self.now() < datetime.fromisoformat(known["until"])
        return _IN_USE if busy and not mine else None


def _key_ref(service: str, key: str) -> Ref:
    return Ref("key", f"{service} {key}")


def _page(at: str, ask: Ask) -> Ref:
    """Where in the books: by time, and effects of the same instant by key."""
    return Ref("entry", f"{at} {ask.service} {ask.key}")


def _entry(tx: Transaction, ask: Ask) -> dict[str, Any]:
    return {
        "key": ask.key,
        "service": ask.service,
        "operation": ask.operation,
        "order_id": order_of(tx, ask),
        "parameters": ask.parameters,
        "digest": digest(ask.parameters),
    }


def _order_under(known: Mapping[str, Any] | None) -> str | None:
    return known.get("order_id") if known else None
