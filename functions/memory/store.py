"""The two tables in memory, with the same conditions as DynamoDB."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from functions.ports import JSON, BadCursor, Change, Item, Key, Stale, Table, TooLarge, checked

INDEXES = {
    "due": ("due_shard", "due_at"),
    "listed": ("listed", "created_at"),
    "open": ("open", "created_at"),
    "review": ("review", "ended_at"),
}


MOST_BYTES = 400 * 1024
T = TypeVar("T", bound=Item | None)


class MemoryStore:
    """A Store in a dictionary; thread-safe, all changes of a call or none."""

    def __init__(self) -> None:
        self._items: dict[Key, dict[str, Any]] = {}
        self._lock = threading.RLock()
        self.reads = 0
        self.writes = 0

    def _shown(self, item: T) -> T:
        """What a reader gets of a stored record: a copy, so that nobody changes what is stored."""
        copied: T = _copied(item)
        return copied

    def get(self, key: Key) -> Item | None:
        """One record, or None."""
        with self._lock:
            self.reads += 1
            return self._shown(self._items.get(key))

    def collection(self, table: Table, pk: str) -> list[Item]:
        """All records under `pk`, in order of `sk`."""
        with self._lock:
            self.reads += 1
            keys = sorted(
                (k for k in self._items if k.table is table and k.pk == pk), key=lambda k: k.sk
            )
            return [self._shown(self._items[k]) for k in keys]

    def write(self, changes: Sequence[Change]) -> list[Item]:
        """Check every expectation, then apply every change."""
        with self._lock:
            checked(changes)
            failed = {
                c.key: self._shown(self._items.get(c.key))
                for c in changes
                if not _holds(self._items.get(c.key), c.expect)
            }
            if failed:
                raise Stale(failed)
            after = {c.key: _applied(self._items.get(c.key), c) for c in changes}
            self.writes += 1
            self._items |= after
            if len(changes) == 1:
                return [self._shown(self._items[changes[0].key])]
            return []

    def index(
        self,
        table: Table,
        name: str,
        value: str,
        *,
        up_to: int | None = None,
        newest_first: bool = False,
        limit: int = 100,
        start: str | None = None,
    ) -> tuple[list[Item], str | None]:
        """Records whose index key is `value`, in order of the index's sort key."""
        partition, sort = INDEXES[name]
        with self._lock:
            self.reads += 1
            found = [
                (item[sort], key.pk, item)
                for key, item in self._items.items()
                if key.table is table
                and item.get(partition) == value
                and item.get(sort) is not None
                and (up_to is None or item[sort] <= up_to)
            ]
            found.sort(key=lambda f: f[:2], reverse=newest_first)
            begin = _position(start) if start else 0
            page: list[Item] = [self._shown(item) for *_, item in found[begin : begin + limit]]
            more = str(begin + limit) if begin + limit < len(found) else None
            return page, more


def _position(start: str) -> int:
    if not (start.isascii() and start.isdecimal()):
        raise BadCursor("not a position in this index")
    return int(start)


def _at(item: Mapping[str, Any], path: str) -> JSON:
    value: Any = item
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _holds(item: Mapping[str, Any] | None, expect: Mapping[str, JSON] | None) -> bool:
    if expect is None:
        return item is None
    return item is not None and all(_same(_at(item, path), value) for path, value in expect.items())


def _same(found: JSON, expected: JSON) -> bool:
    """Equal, and of one type as well: to Python 1 and True are equal, and to DynamoDB they are not."""
    if isinstance(expected, dict | list):
        return json.dumps(found, sort_keys=True) == json.dumps(expected, sort_keys=True)
    return bool(found == expected) and isinstance(found, bool) == isinstance(expected, bool)


def _applied(item: Mapping[str, Any] | None, change: Change) -> dict[str, Any]:
    """The next record. Shares with the last one what has not changed: records are never changed in place."""
    after: dict[str, Any] = dict(item) if item is not None else {}
    after["version"] = after.get("version", -1) + 1
    for path, value in change.set.items():
        *parents, name = path.split(".")
        target = after
        for parent in parents:
            target[parent] = dict(target[parent])
            target = target[parent]
        if value is None:
            target.pop(name, None)
        else:
            target[name] = _copied(value)
    if len(json.dumps(after, ensure_ascii=False).encode()) > MOST_BYTES:
        raise TooLarge(change.key)
    return after


def _copied(value: Any) -> Any:
    """A copy of a JSON value. A float would not survive DynamoDB, so it does not survive here either."""
    if isinstance(value, dict):
        return {name: _copied(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_copied(each) for each in value]
    if isinstance(value, float):
        raise TypeError("a float is not exact")
    return value
