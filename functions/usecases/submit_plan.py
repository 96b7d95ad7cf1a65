"""A plan arrives: read it strictly, count it, hold it against the catalogue and the facts, and admit it or say why not.

This is all that an agent's token may cause: records in the ledger. Nothing here starts anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import assert_never

from pydantic import BaseModel

from functions.domain import requests
from functions.domain.calls import FactUnavailable
from functions.domain.catalogue import Catalogue
from functions.domain.ledger.records import Head, SagaOutcome
from functions.domain.plan import Claim, Plan, claim_of, parse_plan, plan_digest
from functions.domain.problems import Code, Problem, is_temporary, problem, quoted
from functions.domain.requests import (
    DocumentRecord,
    Recorded,
    RequestRecord,
    SagaStanding,
    Subject,
)
from functions.domain.validation import Static, Validated, check_facts, check_static
from functions.ports import Change, Clock, Key, Stale, Store, Table
from functions.usecases.admission import Actor, admit
from functions.usecases.ask_policy import what_policy_forbids
from functions.usecases.records import (
    HEAD,
    created,
    parsed,
    read_document,
    read_request,
    saga_pk,
    written,
)
from functions.usecases.targets import Targets

TRIES = 20


@dataclass(frozen=True, slots=True)
class Admitted:
    """There is a saga for this plan; `fresh` says whether this very call made it."""

    saga_id: str
    request_id: str
    attempts_left: int
    fresh: bool


@dataclass(frozen=True, slots=True)
class Rejected:
    """Nothing will run. `attempts_left` is None where the plan does not even say which request it is for."""

    problems: tuple[Problem, ...]
    attempts_left: int | None = None
    escalated: bool = False
    saga_id: str | None = None


@dataclass(frozen=True, slots=True)
class Intake:
    """What the agents' function submits plans with."""

    store: Store
    clock: Clock
    catalogues: Mapping[str, Catalogue]
    targets: Callable[[Catalogue], Targets]
    new_id: Callable[[], str]


@dataclass(slots=True)
class _Submission:
    """One plan on its way in: parsed once, judged at most once, however often a write has to be repeated."""

    claim: Claim
    catalogue: Catalogue | None
    plan: Plan | None
    problems: list[Problem] | None = None
    validated: Validated | None = None
    limit: int = field(default=requests.ATTEMPTS)


def submit_plan(intake: Intake, actor: Actor, body: bytes) -> Admitted | Rejected:
    """Admit the plan in `body`, or answer every problem it has. Never raises for bad input."""
    plan = parse_plan(body)
    if isinstance(plan, list):
        claim = claim_of(body)
        if claim is None:
            return Rejected(tuple(plan))
        submission = _Submission(claim, None, None, problems=plan)
    else:
        digest = plan_digest(plan)
        document = plan.provenance.source_document_id
        submission = _Submission(
            Claim(plan.request_id, document, digest), intake.catalogues.get(plan.catalogue), plan
        )
        if submission.catalogue is not None:
            submission.limit = submission.catalogue.attempts_per_request
    for _ in range(TRIES):
        try:
            return _decide(intake, actor, submission)
        except Stale:
            continue
    hint = "Send the same plan again in a moment."
    return Rejected((problem(Code.WRITE_CONFLICT, "The request keeps changing.", hint),))


def _decide(intake: Intake, actor: Actor, submission: _Submission) -> Admitted | Rejected:
    claim = submission.claim
    request = read_request(intake.store, actor.tenant, claim.request_id)
    document = None
    if claim.source_document_id is not None:
        document = read_document(intake.store, actor.tenant, claim.source_document_id)
    decision = requests.decide(
        request,
        document,
        claim.plan_digest,
        _standing(intake.store, request),
        limit=submission.limit,
    )
    match decision:
        case requests.SameSaga(saga_id=saga_id):
            left = requests.attempts_left(request, document, limit=submission.limit)
            return Admitted(saga_id, claim.request_id, left, fresh=False)
        case requests.Conflict(saga_id=saga_id):
            return Rejected((requests.refusal(decision),), saga_id=saga_id)
        case requests.Escalated():
            return Rejected((requests.refusal(decision),), 0, escalated=True)
        case requests.Spent():
            _escalate(intake, actor, submission, request, document)
            return Rejected((requests.refusal(decision),), 0, escalated=True)
        case requests.Proceed(attempts_left=left):
            problems = _judged(intake, submission)
            if problems and is_temporary(problems):
                return Rejected(tuple(problems), left)
            if submission.validated is None:
                return _reject(intake, actor, submission, request, document)
            return _admit(intake, actor, submission, submission.validated, request, document)
        case _:
            assert_never(decision)


def _standing(store: Store, request: RequestRecord | None) -> SagaStanding | None:
    if request is None or request.saga_id is None:
        return None
    found = store.get(Key(Table.LEDGER, saga_pk(request.saga_id), HEAD))
    head = parsed(Head, found) if found is not None else None
    if head is None or head.outcome is None:
        return SagaStanding.RUNNING
    return {
        SagaOutcome.COMPLETED: SagaStanding.COMPLETED,
        SagaOutcome.COMPENSATED: SagaStanding.COMPENSATED,
        SagaOutcome.RESOLVED_MANUALLY: SagaStanding.RESOLVED_MANUALLY,
    }[head.outcome]


def _judged(intake: Intake, submission: _Submission) -> list[Problem]:
    if submission.problems is not None or submission.validated is not None:
        return submission.problems or []
    if submission.plan is None or submission.catalogue is None:
        submission.problems = [_unknown_catalogue(intake, submission)]
        return submission.problems
    static = check_static(submission.plan, submission.catalogue)
    facts = _facts(intake, static)
    verdict = check_facts(static, facts)
    if isinstance(verdict, Validated):
        adapters = intake.targets(verdict.catalogue).adapters
        forbidden = what_policy_forbids(adapters, verdict, facts, intake.clock.now())
        if not forbidden:
            submission.validated = verdict
            return []
        verdict = forbidden
    if not is_temporary(verdict):
        submission.problems = verdict
    return verdict


def _facts(intake: Intake, static: Static) -> dict[tuple[str, str], BaseModel | None]:
    targets = intake.targets(static.catalogue)
    facts: dict[tuple[str, str], BaseModel | None] = {}
    for read in static.reads:
        try:
            facts[read.fact, read.query] = targets.fact(
                static.catalogue.fact(read.fact), read.query
            )
        except FactUnavailable:
            # Left out: the verdict says which fact is missing, and decides nothing without it.
            continue
    return facts


def _unknown_catalogue(intake: Intake, submission: _Submission) -> Problem:
    name = submission.plan.catalogue if submission.plan is not None else ""
    return problem(
        Code.UNKNOWN_CATALOGUE,
        f"There is no catalogue {quoted(name)} here.",
        "Name the catalogue whose steps you use.",
        at=("catalogue",),
        allowed=sorted(intake.catalogues),
    )


def _subject(actor: Actor, claim: Claim) -> Subject:
    return Subject(actor.tenant, claim.request_id, claim.source_document_id)


def _reject(
    intake: Intake,
    actor: Actor,
    submission: _Submission,
    request: RequestRecord | None,
    document: DocumentRecord | None,
) -> Rejected:
    problems = submission.problems or []
    recorded = requests.record_rejection(
        request,
        document,
        _subject(actor, submission.claim),
        plan_digest=submission.claim.plan_digest,
        problems=problems,
        at=intake.clock.now(),
        limit=submission.limit,
    )
    intake.store.write(_counted(request, document, recorded, submission))
    return Rejected(tuple(problems), recorded.attempts_left, escalated=recorded.escalated)


def _escalate(
    intake: Intake,
    actor: Actor,
    submission: _Submission,
    request: RequestRecord | None,
    document: DocumentRecord | None,
) -> None:
    recorded = requests.record_escalation(
        request,
        document,
        _subject(actor, submission.claim),
        at=intake.clock.now(),
        limit=submission.limit,
    )
    intake.store.write(_counted(request, document, recorded, submission))


def _admit(
    intake: Intake,
    actor: Actor,
    submission: _Submission,
    validated: Validated,
    request: RequestRecord | None,
    document: DocumentRecord | None,
) -> Admitted:
    saga_id, now = intake.new_id(), intake.clock.now()
    admission = admit(
        validated,
        saga_id=saga_id,
        actor=actor,
        plan_digest=submission.claim.plan_digest,
        now=now,
    )
    recorded = requests.record_admission(
        request,
        document,
        _subject(actor, submission.claim),
        plan_digest=submission.claim.plan_digest,
        saga_id=saga_id,
        at=now,
        limit=submission.limit,
    )
    intake.store.write(
        [
            created(admission.head),
            *(created(step) for step in admission.steps),
            *_counted(request, document, recorded, submission),
        ]
    )
    return Admitted(saga_id, submission.claim.request_id, recorded.attempts_left, fresh=True)


def _counted(
    request: RequestRecord | None,
    document: DocumentRecord | None,
    recorded: Recorded,
    submission: _Submission,
) -> list[Change]:
    plan, catalogue = submission.plan, submission.catalogue
    told = {"rationale": plan.rationale} if plan is not None else {}
    known = {"catalogue": catalogue.name} if catalogue is not None else {}
    changes = [written(request, recorded.request.model_copy(update={**told, **known}))]
    if recorded.document is not None:
        changes.append(written(document, recorded.document))
    return changes
