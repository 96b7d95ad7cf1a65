"""Giving an escalated request back to its agent: the request and its source document take a few more plans."""

from __future__ import annotations

from dataclasses import dataclass

from functions.domain import requests
from functions.domain.cases import Case
from functions.domain.requests import RequestState
from functions.ports import Change, Store
from functions.usecases.records import changed, read_document, read_request


@dataclass(frozen=True, slots=True)
class Reopening:
    """How many more plans may be looked at."""

    attempts: int


@dataclass(frozen=True, slots=True)
class NotReopened:
    """So many plans can still be looked at, at most, in the life of this request; 0 where it is not a person's any more."""

    most: int


def reopening(store: Store, case: Case, wanted: Reopening, now: int) -> list[Change] | NotReopened:
    """The writes that go with the case's own."""
    request = read_request(store, case.tenant, case.request_id or "")
    if request is None or request.state is not RequestState.ESCALATED:
        return NotReopened(0)
    document = None
    if request.source_document_id is not None:
        document = read_document(store, case.tenant, request.source_document_id)
    most = requests.most_more(request, document)
    if wanted.attempts > most:
        return NotReopened(most)
    again = requests.reopened(request, document, attempts=wanted.attempts, at=now)
    changes = [changed(request, again.request)]
    if document is not None and again.document is not None:
        changes.append(changed(document, again.document))
    return changes
