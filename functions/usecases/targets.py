"""Calls at targets: by reference, with the recorded credential, and an answer whatever happens."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, cast

from pydantic import TypeAdapter

from functions.domain.calls import Call, FactCall, FactUnavailable
from functions.domain.catalogue import Fact, Operation
from functions.domain.outcome import (
    Finding,
    NotFound,
    Outcome,
    RefusalCause,
    Refused,
    Tombstoned,
    Unknown,
    UnknownCause,
)
from functions.ports import Adapters, CredentialLost, Credentials

OUTCOME: TypeAdapter[Outcome] = TypeAdapter(Outcome)
FINDING: TypeAdapter[Finding] = TypeAdapter(Finding)
FACT_TIMEOUT = 5.0


def _no_role(_: str) -> str | None:
    return None


@dataclass(frozen=True, slots=True)
class Targets:
    """The targets of one catalogue."""

    catalogue: str
    adapters: Adapters
    credentials: Credentials
    roles: Callable[[str], str | None] = _no_role
    """From the name of a declared role to its ARN, as this function has been told it."""

    def act(self, operation: Operation, call: Call) -> Outcome:
        """Make a run or an undo call. A lost credential is read again once through the same reference."""
        answer = self._ask(operation, call)
        if isinstance(answer, NotFound | Tombstoned):
            return Unknown(
                reason=f"{operation.adapter} answered {answer.kind} to a call",
                cause=UnknownCause.UNPLANNED,
            )
        return cast("Outcome", answer)

    def inquire(self, operation: Operation, call: Call) -> Finding:
        """Make a status query or a tombstone call, under the run's own key and authority."""
        return cast("Finding", self._ask(operation, call))

    def fact(self, fact: Fact, query: str, timeout: timedelta | None = None) -> Any:
        """Read a fact: an instance of its model, or None. Raises FactUnavailable.

        A credential that was rotated since it was last read is the same authority: with the new one it is read again.
        """
        seconds = timeout.total_seconds() if timeout else FACT_TIMEOUT
        read = self.adapters.resolve(fact.read.adapter)
        credential = self._fact_credential(fact, fresh=False)
        try:
            return read(FactCall(query, credential, seconds))
        except FactUnavailable:
            fresh = self._fact_credential(fact, fresh=True)
            if fresh == credential:
                raise
        return read(FactCall(query, fresh, seconds))

    def _fact_credential(self, fact: Fact, *, fresh: bool) -> str:
        try:
            return self._credential(fact.read, fresh=fresh)
        except CredentialLost as lost:
            raise FactUnavailable(f"{fact.name}: the credential is gone") from lost

    def _ask(self, operation: Operation, call: Call) -> Any:
        answer = self._once(operation, call, fresh=False)
        if isinstance(answer, Refused) and answer.cause is RefusalCause.AUTHORITY:
            return self._once(operation, call, fresh=True)
        return answer

    def _once(self, operation: Operation, call: Call, *, fresh: bool) -> Any:
        try:
            credential = self._credential(operation, fresh=fresh)
        except CredentialLost:
            return Refused(
                reason=f"the credential {operation.authority.credential} can not be read",
                cause=RefusalCause.AUTHORITY,
            )
        role = self._role(operation)
        if role is None:
            return Refused(
                reason=f"the role {operation.authority.role} can not be taken on here",
                cause=RefusalCause.AUTHORITY,
            )
        adapter: Callable[[Call], Any] = self.adapters.resolve(operation.adapter)
        asked = replace(call, credential=credential, role=role)
        try:
            return FINDING.validate_python(adapter(asked))
        except Exception as error:  # noqa: BLE001 - an exception nobody planned for is an unknown outcome
            return Unknown(
                reason=f"{operation.adapter} raised {type(error).__name__}",
                cause=UnknownCause.UNPLANNED,
            )

    def _role(self, operation: Operation) -> str | None:
        name = operation.authority.role
        return "" if name is None else self.roles(name)

    def _credential(self, operation: Operation, *, fresh: bool) -> str:
        name = operation.authority.credential
        if name is None:
            return ""
        return self.credentials.read(f"{self.catalogue}/{name}", fresh=fresh)
