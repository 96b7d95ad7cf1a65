"""Whatever agents send in whatever order: the counts hold, and a plan never gets two sagas."""

from __future__ import annotations

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from functions.domain.problems import Code, problem
from functions.domain.requests import (
    Conflict,
    DocumentRecord,
    Escalated,
    Proceed,
    RequestRecord,
    RequestState,
    SagaStanding,
    SameSaga,
    Spent,
    Subject,
    decide,
    record_admission,
    record_escalation,
    record_rejection,
)

LIMIT = 3
BAD = [problem(Code.UNKNOWN_STEP, "m", "h")]


class Requests(RuleBasedStateMachine):
    """A store with two tables of records, agents that post, and sagas that end."""

    def __init__(self) -> None:
        super().__init__()
        self.requests: dict[str, RequestRecord] = {}
        self.documents: dict[str, DocumentRecord] = {}
        self.sagas: dict[str, SagaStanding] = {}
        self.made_for: dict[tuple[str, str], str] = {}
        self.looked_at: dict[str, int] = {}
        self.cases: list[str] = []

    @rule(
        request_id=st.sampled_from("ABC"),
        document_id=st.sampled_from("xy"),
        digest=st.sampled_from(["p", "q", "r", "s"]),
        good=st.booleans(),
    )
    def post(self, request_id: str, document_id: str, digest: str, *, good: bool) -> None:
        subject = Subject("acme", request_id, document_id)
        request, document = self.requests.get(request_id), self.documents.get(document_id)
        current = self.sagas.get(request.saga_id) if request and request.saga_id else None
        found: tuple[Any, Any] = (request, document)
        common: dict[str, Any] = {"at": 1, "limit": LIMIT}
        match decide(*found, digest, current, limit=LIMIT):
            case SameSaga(saga_id):
                assert self.made_for[request_id, digest] == saga_id
                return
            case Conflict(saga_id):
                assert self.sagas[saga_id] is not SagaStanding.COMPENSATED
                return
            case Escalated():
                assert self.cases
                return
            case Spent():
                recorded = record_escalation(*found, subject, **common)
            case Proceed(left):
                self.looked_at[document_id] = self.looked_at.get(document_id, 0) + 1
                if good:
                    saga_id = f"saga-{len(self.sagas)}"
                    assert (request_id, digest) not in self.made_for, "a second saga for a plan"
                    assert current in {None, SagaStanding.COMPENSATED}, "two sagas at once"
                    self.made_for[request_id, digest] = saga_id
                    self.sagas[saga_id] = SagaStanding.RUNNING
                    recorded = record_admission(
                        *found, subject, plan_digest=digest, saga_id=saga_id, **common
                    )
                else:
                    recorded = record_rejection(
                        *found, subject, plan_digest=digest, problems=BAD, **common
                    )
                assert recorded.attempts_left == left - 1
        if recorded.escalated:
            self.cases.append(request_id)
        self.requests[request_id] = recorded.request
        assert recorded.document is not None
        self.documents[document_id] = recorded.document

    @rule(data=st.data())
    def a_saga_ends(self, data: st.DataObject) -> None:
        running = sorted(s for s, how in self.sagas.items() if how is SagaStanding.RUNNING)
        if running:
            saga = data.draw(st.sampled_from(running))
            self.sagas[saga] = data.draw(
                st.sampled_from([s for s in SagaStanding if s is not SagaStanding.RUNNING])
            )

    @invariant()
    def no_document_and_no_request_is_looked_at_more_often_than_the_limit(self) -> None:
        assert all(count <= LIMIT for count in self.looked_at.values())
        assert all(r.attempts <= LIMIT for r in self.requests.values())

    @invariant()
    def every_escalated_request_has_exactly_one_case(self) -> None:
        escalated = [n for n, r in self.requests.items() if r.state is RequestState.ESCALATED]
        assert sorted(self.cases) == sorted(escalated)

    @invariant()
    def history_and_count_agree(self) -> None:
        for record in self.requests.values():
            assert len(record.history) == record.attempts


TestRequests = Requests.TestCase
TestRequests.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
