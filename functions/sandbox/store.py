"""Where the shop keeps its documents: read one, commit several or none.

Every document has a version, and every write says which version it expects. That is all that the rules need to be exact
under any number of callers, and it is what both a dictionary and DynamoDB can do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, NamedTuple, Protocol

JSONObject = Mapping[str, Any]


class Ref(NamedTuple):
    """Which document: a collection and an id within it."""

    collection: str
    id: str


@dataclass(frozen=True, slots=True)
class Document:
    """A JSON object and its version, which is 1 when it is written first."""

    ref: Ref
    version: int
    body: JSONObject


@dataclass(frozen=True, slots=True)
class Write:
    """One part of a commit. `expected` is the version that must be there now, 0 for none.

    `body` is what is stored as the next version; None stores nothing and only checks.
    """

    ref: Ref
    expected: int
    body: JSONObject | None


class Store(Protocol):
    """What the shop needs of its storage."""

    def read(self, ref: Ref) -> Document | None:
        """The document as of every commit that has returned."""

    def commit(self, writes: Sequence[Write]) -> bool:
        """All of the writes, or none (False) where one of them expected another version."""

    def every(self, collection: str) -> list[Document]:
        """A collection, in the order of its ids."""

    def remove(self, refs: Iterable[Ref]) -> None:
        """Forget documents, whatever their versions."""


class MemoryStore:
    """A store in this process, for tests and for a shop without AWS."""

    def __init__(self) -> None:
        self._documents: dict[Ref, Document] = {}
        self._lock = Lock()

    def read(self, ref: Ref) -> Document | None:
        """See Store."""
        with self._lock:
            return self._documents.get(ref)

    def commit(self, writes: Sequence[Write]) -> bool:
        """See Store."""
        with self._lock:
            if any(self._version(write.ref) != write.expected for write in writes):
                return False
            for write in writes:
                if write.body is not None:
                    document = Document(write.ref, write.expected + 1, dict(write.body))
                    self._documents[write.ref] = document
            return True

    def every(self, collection: str) -> list[Document]:
        """See Store."""
        with self._lock:
            return [self._documents[ref] for ref in sorted(self._documents) if ref[0] == collection]

    def remove(self, refs: Iterable[Ref]) -> None:
        """See Store."""
        with self._lock:
            for ref in refs:
                self._documents.pop(ref, None)

    def _version(self, ref: Ref) -> int:
        document = self._documents.get(ref)
        return document.version if document else 0


class Transaction:
    """What was read and what is to be written, so that a commit holds only if all of it is still so."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._read: dict[Ref, Document | None] = {}
        self._written: dict[Ref, JSONObject] = {}

    def get(self, ref: Ref) -> JSONObject | None:
        """A document's body; within a transaction always the same one."""
        document = self._document(ref)
        return document.body if document else None

    def version(self, ref: Ref) -> int:
        """The version that was read, 0 where there is none."""
        document = self._document(ref)
        return document.version if document else 0

    def put(self, ref: Ref, body: JSONObject) -> int:
        """Write a document; returns the version that it will have."""
        self._written[ref] = body
        return self.version(ref) + 1

    def commit(self) -> bool:
        """Write all, on condition that nothing that was read has changed."""
        return self._store.commit(
            [Write(ref, self.version(ref), self._written.get(ref)) for ref in self._read]
        )

    def _document(self, ref: Ref) -> Document | None:
        if ref not in self._read:
            self._read[ref] = self._store.read(ref)
        return self._read[ref]
