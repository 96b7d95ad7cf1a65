"""A client of moto that several threads may use at once."""

from __future__ import annotations

from threading import Lock
from typing import Any


class OneCallAtATime:
    """A client of moto whose calls are atomic, as DynamoDB's are and moto's are not among threads."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._lock = Lock()

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._client, name)
        if name not in {"get_item", "put_item", "update_item", "transact_write_items"}:
            return found

        def call(**parameters: Any) -> Any:
            with self._lock:
                return found(**parameters)

        return call
