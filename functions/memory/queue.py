"""The manual-resolution queue in memory, as SQS behaves: at least once, hidden for a while, dead letters at last."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from functions.ports import BadReceipt, Clock, Notice


@dataclass(slots=True)
class _Message:
    number: int
    case_id: str | None
    hidden_until: int = 0
    deliveries: int = 0


class MemoryCaseQueue:
    """Notices of cases; thread-safe. `dead` holds what was delivered too often."""

    def __init__(self, clock: Clock, *, deliveries: int = 50) -> None:
        self._clock = clock
        self._deliveries = deliveries
        self._lock = threading.Lock()
        self._messages: dict[int, _Message] = {}
        self._sent = 0
        self.dead: list[str | None] = []

    def __len__(self) -> int:
        return len(self._messages)

    def send(self, case_id: str | None) -> None:
        """Announce a case; None for what nobody can read."""
        with self._lock:
            self._sent += 1
            self._messages[self._sent] = _Message(self._sent, case_id)

    def take(self, most: int, *, wait: int, hidden: int) -> list[Notice]:
        """Up to `most` of those that are not hidden. Nothing is waited for: time stands still here."""
        del wait
        now = self._clock.now()
        with self._lock:
            seen = [m for m in self._messages.values() if m.hidden_until <= now]
            for spent in (m for m in seen if m.deliveries >= self._deliveries):
                self.dead.append(self._messages.pop(spent.number).case_id)
            given = [m for m in seen if m.number in self._messages][:most]
            for message in given:
                message.hidden_until = now + hidden * 1000
                message.deliveries += 1
            return [Notice(m.case_id, f"{m.number}/{m.deliveries}") for m in given]

    def hide(self, receipt: str, seconds: int) -> None:
        """Let it come back after so many seconds."""
        with self._lock:
            message = self._messages.get(self._number(receipt))
            if message is not None:
                message.hidden_until = self._clock.now() + seconds * 1000

    def delete(self, receipt: str) -> None:
        """Take it off the queue."""
        with self._lock:
            self._messages.pop(self._number(receipt), None)

    @staticmethod
    def _number(receipt: str) -> int:
        number = receipt.partition("/")[0]
        if not number.isdecimal():
            raise BadReceipt("no receipt of this queue")
        return int(number)
