"""Attempts: how often a request may be planned anew, and what a further plan for it meets.

Seed one: "the agent may re-plan a bounded number of times before the request is handed to a person". The server counts, for
the request and for its source document, so that a new request id resets nothing. Rejections and admissions count; asking
again with the very plan that was admitted does not. What a plan claims as its source document is the agent's word: where
documents come in through a channel of one's own, that channel should set it.

Pure rules over two small records. `decide` comes first; then exactly one of the `record_` functions gives the records to
write, on condition that both still have the versions that were read. The store raises `version`, nothing here does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Literal, assert_never

from pydantic import Field, StringConstraints

from functions.domain.ledger.head import due_shard
from functions.domain.outcome import Frozen, Identifier
from functions.domain.problems import Code, Problem, problem, quoted

ATTEMPTS = 3
MOST_ATTEMPTS = 20
"""No catalogue's limit goes beyond this, and no person's: a request's history stays one small record."""
MOST_REOPENED = 10
"""For how many more plans a person may reopen a request at once."""
_MOST_BYTES = 12_000
_MOST_REQUESTS = 20

Millis = int


class RequestState(StrEnum):
    """Open: plans are accepted. Admitted: a saga was made. Escalated: a person has it, and may reopen it."""

    OPEN = "open"
    ADMITTED = "admitted"
    ESCALATED = "escalated"


class SagaStanding(StrEnum):
    """What has become of the saga that was admitted last. Running is all that has not ended."""

    RUNNING = "running"
    COMPLETED = "completed"
    COMPENSATED = "compensated"
    RESOLVED_MANUALLY = "resolved_manually"


class Attempt(Frozen):
    """One plan and what it met: a saga, or problems (`omitted` more did not fit into the record)."""

    at: Millis
    plan_digest: Identifier
    saga_id: Identifier | None = None
    problems: tuple[Problem, ...] = ()
    omitted: int = 0


class RequestRecord(Frozen):
    """A request of one tenant. `plan_digest` and `saga_id` are those of the last admission."""

    tenant: Identifier
    request_id: Identifier
    source_document_id: Identifier | None = None
    state: RequestState = RequestState.OPEN
    attempts: int = 0
    granted: int | None = None
    """How many plans in all a person has granted, where one has reopened it: counts instead of the catalogue's limit."""
    history: Annotated[tuple[Attempt, ...], Field(max_length=MOST_ATTEMPTS)] = ()
    plan_digest: Identifier | None = None
    saga_id: Identifier | None = None
    catalogue: Identifier | None = None
    rationale: Annotated[str, StringConstraints(max_length=4000)] | None = None
    """The agent's words about its latest plan, for the person who may get the request."""
    wanted: Literal["case"] | None = None
    """Set with the escalation: the table's stream has the case opened that `case` then names."""
    case: Identifier | None = None
    escalations: int = 0
    due_shard: Identifier | None = None
    due_at: Millis | None = None
    created_at: Millis
    updated_at: Millis
    forgotten_at: int | None = None
    """Set with the end of its last saga, and taken back by every further plan: see `records.Seconds`."""
    version: int = 0

    def saga_of(self, plan_digest: str) -> str | None:
        """The saga that was admitted for this very plan, however long ago."""
        return next(
            (a.saga_id for a in self.history if a.saga_id and a.plan_digest == plan_digest), None
        )


class DocumentRecord(Frozen):
    """The attempts that one source document has had, over all requests made from it (the last few are named)."""

    tenant: Identifier
    source_document_id: Identifier
    attempts: int = 0
    granted: int | None = None
    escalated: bool = False
    requests: Annotated[tuple[Identifier, ...], Field(max_length=_MOST_REQUESTS)] = ()
    created_at: Millis
    updated_at: Millis
    version: int = 0


@dataclass(frozen=True, slots=True)
class Proceed:
    """Validate the plan; `attempts_left` includes this one."""

    attempts_left: int


@dataclass(frozen=True, slots=True)
class SameSaga:
    """The plan was admitted before: answer with its saga. Nothing is counted."""

    saga_id: str


@dataclass(frozen=True, slots=True)
class Conflict:
    """Another plan was admitted, and its saga has not been compensated."""

    saga_id: str


@dataclass(frozen=True, slots=True)
class Spent:
    """No attempt is left and no person has the request yet: record the escalation and open a case."""


@dataclass(frozen=True, slots=True)
class Escalated:
    """A person has the request, or its source document."""


Decision = Proceed | SameSaga | Conflict | Spent | Escalated


def decide(
    request: RequestRecord | None,
    document: DocumentRecord | None,
    plan_digest: str,
    standing: SagaStanding | None,
    *,
    limit: int = ATTEMPTS,
) -> Decision:
    """What a plan meets before it is validated. `standing` is that of `request.saga_id`, None where there is none."""
    if request is not None:
        same = request.saga_of(plan_digest)
        if same is not None:
            return SameSaga(same)
        if request.state is RequestState.ADMITTED and request.saga_id is not None:
            if standing is None:
                raise ValueError(f"the standing of saga {request.saga_id} was not given")
            if standing is not SagaStanding.COMPENSATED:
                return Conflict(request.saga_id)
        if request.state is RequestState.ESCALATED:
            return Escalated()
    if document is not None and document.escalated:
        return Escalated()
    left = attempts_left(request, document, limit=limit)
    return Proceed(left) if left else Spent()


def attempts_left(
    request: RequestRecord | None, document: DocumentRecord | None, *, limit: int = ATTEMPTS
) -> int:
    """How many more plans will be looked at, by the request's count or its document's, whichever is further."""
    own = _left(request, limit) if request is not None else min(limit, MOST_ATTEMPTS)
    shared = _left(document, limit) if document is not None else own
    return max(0, min(own, shared))


def _left(record: RequestRecord | DocumentRecord, limit: int) -> int:
    granted = limit if record.granted is None else record.granted
    return min(granted, MOST_ATTEMPTS) - record.attempts


def refusal(decision: Conflict | Spent | Escalated) -> Problem:
    """What the agent is told, all of it 409."""
    match decision:
        case Conflict(saga_id):
            return problem(
                Code.PLAN_CONFLICT,
                f"Another plan was admitted for this request; its saga is {quoted(saga_id)}.",
                "Follow that saga. Another plan is accepted only after it has been compensated.",
            )
        case Spent():
            return problem(
                Code.ATTEMPTS_SPENT,
                "No attempts are left for this request and its source document.",
                "Send no further plan: a person will look at it.",
            )
        case Escalated():
            return problem(
                Code.REQUEST_ESCALATED,
                "This request, or its source document, has been handed to a person.",
                "Send no further plan, under this request id or another.",
            )
    assert_never(decision)


@dataclass(frozen=True, slots=True)
class Subject:
    """Whose attempt it is. `source_document_id` is None only for a plan too malformed to name one."""

    tenant: str
    request_id: str
    source_document_id: str | None


@dataclass(frozen=True, slots=True)
class Recorded:
    """The records to write, both or neither. `escalated`: in the same write a case opens for a person."""

    request: RequestRecord
    document: DocumentRecord | None
    attempts_left: int
    escalated: bool


def record_rejection(
    request: RequestRecord | None,
    document: DocumentRecord | None,
    subject: Subject,
    *,
    plan_digest: str,
    problems: Sequence[Problem],
    at: Millis,
    limit: int = ATTEMPTS,
) -> Recorded:
    """Counts a rejected plan and keeps why. The last one that is allowed escalates."""
    kept = _bounded(problems)
    attempt = Attempt(
        at=at,
        plan_digest=plan_digest,
        problems=kept,
        omitted=len(problems) - len(kept),
    )
    counted = _counted(request, document, subject, attempt, limit)
    if counted.attempts_left:
        return counted
    return _escalated(counted.request, counted.document, limit)


def record_admission(
    request: RequestRecord | None,
    document: DocumentRecord | None,
    subject: Subject,
    *,
    plan_digest: str,
    saga_id: str,
    at: Millis,
    limit: int = ATTEMPTS,
) -> Recorded:
    """Counts an admitted plan and names its saga: part of the transaction that writes the saga."""
    attempt = Attempt(at=at, plan_digest=plan_digest, saga_id=saga_id)
    return _counted(request, document, subject, attempt, limit)


def record_escalation(
    request: RequestRecord | None,
    document: DocumentRecord | None,
    subject: Subject,
    *,
    at: Millis,
    limit: int = ATTEMPTS,
) -> Recorded:
    """After `Spent`: the request goes to a person, and with it the document if that is what was used up."""
    own = _request(request, subject, at)
    return _escalated(own, _document(document, subject, at), limit)


def most_more(request: RequestRecord, document: DocumentRecord | None) -> int:
    """For how many more plans the request could be reopened."""
    used = max(request.attempts, document.attempts if document else 0)
    return max(0, min(MOST_REOPENED, MOST_ATTEMPTS - used))


def reopened(
    request: RequestRecord, document: DocumentRecord | None, *, attempts: int, at: Millis
) -> Recorded:
    """An escalated request that takes so many more plans, and with it its source document.

    Where a saga was admitted before, its standing still decides whether another plan is looked at.
    """
    again = request.model_copy(
        update={
            "state": RequestState.ADMITTED if request.saga_id else RequestState.OPEN,
            "granted": request.attempts + attempts,
            "wanted": None,
            "due_at": None,
            "due_shard": None,
            "updated_at": at,
        }
    )
    shared = document
    if document is not None:
        granted = document.attempts + attempts
        shared = document.model_copy(
            update={"escalated": False, "granted": granted, "updated_at": at}
        )
    return Recorded(again, shared, attempts, escalated=False)


def _counted(
    request: RequestRecord | None,
    document: DocumentRecord | None,
    subject: Subject,
    attempt: Attempt,
    limit: int,
) -> Recorded:
    if not attempts_left(request, document, limit=limit):
        raise ValueError(f"request {subject.request_id} has no attempt left: decide first")
    own = _request(request, subject, attempt.at)
    admitted = attempt.saga_id is not None
    own = own.model_copy(
        update={
            "state": RequestState.ADMITTED if admitted else RequestState.OPEN,
            "attempts": own.attempts + 1,
            "history": (*own.history, attempt),
            "plan_digest": attempt.plan_digest if admitted else own.plan_digest,
            "saga_id": attempt.saga_id or own.saga_id,
        }
    )
    shared = _document(document, subject, attempt.at)
    if shared is not None:
        shared = shared.model_copy(update={"attempts": shared.attempts + 1})
    return Recorded(own, shared, attempts_left(own, shared, limit=limit), escalated=False)


def _escalated(request: RequestRecord, document: DocumentRecord | None, limit: int) -> Recorded:
    own = request.model_copy(
        update={
            "state": RequestState.ESCALATED,
            "escalations": request.escalations + 1,
            "wanted": "case",
            "due_at": request.updated_at,
            "due_shard": due_shard(request.request_id),
        }
    )
    if document is not None and not attempts_left(None, document, limit=limit):
        document = document.model_copy(update={"escalated": True})
    return Recorded(own, document, 0, escalated=True)


def _request(request: RequestRecord | None, subject: Subject, at: Millis) -> RequestRecord:
    """The record as it is, or a new one, touched now."""
    if request is None:
        return RequestRecord(
            tenant=subject.tenant,
            request_id=subject.request_id,
            source_document_id=subject.source_document_id,
            created_at=at,
            updated_at=at,
        )
    document = subject.source_document_id or request.source_document_id
    touched = {"source_document_id": document, "updated_at": at, "forgotten_at": None}
    return request.model_copy(update=touched)


def _document(
    document: DocumentRecord | None, subject: Subject, at: Millis
) -> DocumentRecord | None:
    if document is None:
        if subject.source_document_id is None:
            return None
        return DocumentRecord(
            tenant=subject.tenant,
            source_document_id=subject.source_document_id,
            requests=(subject.request_id,),
            created_at=at,
            updated_at=at,
        )
    others = tuple(r for r in document.requests if r != subject.request_id)
    requests = (*others, subject.request_id)[-_MOST_REQUESTS:]
    return document.model_copy(update={"requests": requests, "updated_at": at})


def _bounded(problems: Sequence[Problem]) -> tuple[Problem, ...]:
    """As many of the first problems as fit into 12,000 bytes: twenty attempts stay far below DynamoDB's 400 KB."""
    kept: list[Problem] = []
    left = _MOST_BYTES
    for each in problems:
        left -= len(each.model_dump_json().encode())
        if left < 0:
            break
        kept.append(each)
    return tuple(kept)
