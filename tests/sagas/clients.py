"""What our functions reach of AWS: clients that are watched, and tables in memory that know who may touch them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import boto3
from botocore.config import Config

from functions.ports import Change, Item, Key, Table

REGION, ACCOUNT = "eu-central-1", "123456789012"


@dataclass(slots=True)
class ApiCall:
    """One call of AWS: by which function, of which service and operation, with which parameters."""

    function: str
    operation: str
    parameters: Mapping[str, Any]


@dataclass(slots=True)
class Aws:
    """Clients that all functions share, with a record of what each function calls, and one call at a time.

    Moto's tables are plain dictionaries: without the lock a conditional write could be torn between two threads,
    which DynamoDB's never are.
    """

    calls: list[ApiCall] = field(default_factory=list)
    before: list[Callable[[ApiCall], None]] = field(default_factory=list)
    after: list[Callable[[ApiCall], None]] = field(default_factory=list)
    _clients: dict[str, Any] = field(default_factory=dict)
    _lock: Any = field(default_factory=threading.RLock)
    _running: Any = field(default_factory=threading.local)

    def client(self, service: str, config: Config | None = None) -> Any:
        """The client of a service; what handlers ask for instead of boto3's."""
        del config
        if service not in self._clients:
            client = boto3.client(
                service,  # type: ignore[call-overload]
                region_name=REGION,
                aws_access_key_id="test",
                aws_secret_access_key="test",
            )
            client._make_api_call = self._watched(service, client._make_api_call)
            self._clients[service] = client
        return self._clients[service]

    @contextmanager
    def running(self, function: str) -> Iterator[None]:
        """Calls of this thread are that function's."""
        outer = getattr(self._running, "function", "test")
        self._running.function = function
        try:
            yield
        finally:
            self._running.function = outer

    def forget(self) -> None:
        """Start anew."""
        for each in (self.calls, self.before, self.after):
            each.clear()

    def _watched(self, service: str, make: Callable[..., Any]) -> Callable[..., Any]:
        def call(operation: str, parameters: Mapping[str, Any]) -> Any:
            function = getattr(self._running, "function", "test")
            made = ApiCall(function, f"{service}:{operation}", parameters)
            for look in [*self.before]:
                look(made)
            with self._lock:
                self.calls.append(made)
                answer = make(operation, parameters)
            for look in [*self.after]:
                look(made)
            return answer

        return call


AWS = Aws()


class LedgerAlone:
    """Tables in memory for a function that may not touch the people table."""

    def __init__(self, memory: Any) -> None:
        self._memory = memory

    def get(self, key: Key) -> Item | None:
        return self._memory.get(self._own(key))  # type: ignore[no-any-return]

    def collection(self, table: Table, pk: str) -> list[Item]:
        self._own(Key(table, pk, ""))
        return self._memory.collection(table, pk)  # type: ignore[no-any-return]

    def write(self, changes: Sequence[Change]) -> list[Item]:
        for change in changes:
            self._own(change.key)
        return self._memory.write(changes)  # type: ignore[no-any-return]

    def index(self, table: Table, name: str, value: str, **more: Any) -> Any:
        self._own(Key(table, value, ""))
        return self._memory.index(table, name, value, **more)

    @staticmethod
    def _own(key: Key) -> Key:
        if key.table is not Table.LEDGER:
            raise PermissionError("this function may not touch the people table")
        return key
