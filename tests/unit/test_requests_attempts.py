"""Three attempts, counted by the server: for the request, and for its source document too."""

from __future__ import annotations

import json
from typing import Any

import pytest

from functions.domain import requests
from functions.domain.problems import Code, problem
from functions.domain.requests import (
    Conflict,
    DocumentRecord,
    Escalated,
    Proceed,
    Recorded,
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
    refusal,
)

NOW = 1_760_000_000_000
BAD = [problem(Code.UNKNOWN_STEP, "no such step", "leave it out", at=("steps", 2, "name"))]


class Desk:
    """One tenant's records, as a store would keep them between attempts."""

    def __init__(self, limit: int = 3) -> None:
        self.requests: dict[str, RequestRecord] = {}
        self.documents: dict[str, DocumentRecord] = {}
        self.limit = limit

    def _read(self, subject: Subject) -> tuple[RequestRecord | None, DocumentRecord | None]:
        document = self.documents.get(subject.source_document_id or "")
        return self.requests.get(subject.request_id), document

    def _write(self, recorded: Recorded) -> Recorded:
        self.requests[recorded.request.request_id] = recorded.request
        if recorded.document is not None:
            self.documents[recorded.document.source_document_id] = recorded.document
        return recorded

    def decide(self, subject: Subject, digest: str, standing: SagaStanding | None = None) -> Any:
        return decide(*self._read(subject), digest, standing, limit=self.limit)

    def reject(self, subject: Subject, digest: str, problems: Any = BAD) -> Recorded:
        return self._write(
            record_rejection(
                *self._read(subject),
                subject,
                plan_digest=digest,
                problems=problems,
                at=NOW,
                limit=self.limit,
            )
        )

    def admit(self, subject: Subject, digest: str, saga_id: str) -> Recorded:
        return self._write(
            record_admission(
                *self._read(subject),
                subject,
                plan_digest=digest,
                saga_id=saga_id,
                at=NOW,
                limit=self.limit,
            )
        )

    def escalate(self, subject: Subject) -> Recorded:
        return self._write(
            record_escalation(*self._read(subject), subject, at=NOW, limit=self.limit)
        )


def of(request_id: str, document: str | None = "mail-88") -> Subject:
    return Subject("acme", request_id, document)


R1 = of("request-1")


def test_each_rejection_says_what_is_left_and_keeps_the_digest_and_the_problems() -> None:
    desk = Desk()
    assert desk.decide(R1, "d1") == Proceed(3)
    first = desk.reject(R1, "d1")
    assert (first.attempts_left, first.escalated) == (2, False)
    assert first.request.state is RequestState.OPEN
    (kept,) = first.request.history
    assert (kept.at, kept.plan_digest, kept.saga_id) == (NOW, "d1", None)
    assert [(p.code, p.pointer) for p in kept.problems] == [("unknown_step", "/steps/2/name")]
    assert desk.decide(R1, "d2") == Proceed(2)


def test_the_third_rejection_hands_the_request_to_a_person_and_no_further_plan_is_accepted() -> (
    None
):
    desk = Desk()
    lefts = [desk.reject(R1, digest).attempts_left for digest in ("d1", "d2", "d3")]
    assert lefts == [2, 1, 0]
    assert desk.requests["request-1"].state is RequestState.ESCALATED
    decision = desk.decide(R1, "a-good-plan-at-last")
    assert decision == Escalated()
    assert refusal(decision).code == "request_escalated"


def test_only_the_last_rejection_asks_for_a_case() -> None:
    desk = Desk()
    assert [desk.reject(R1, "same").escalated for _ in range(3)] == [False, False, True]


def test_the_same_bad_plan_ten_times_is_looked_at_three_times() -> None:
    desk, looked_at = Desk(), 0
    for _ in range(10):
        if isinstance(desk.decide(R1, "bad"), Proceed):
            desk.reject(R1, "bad")
            looked_at += 1
    assert looked_at == 3


def test_a_new_request_id_or_a_trivially_varied_plan_resets_nothing() -> None:
    desk, looked_at = Desk(), 0
    for i in range(10):
        subject = of(f"request-{i}")
        if isinstance(desk.decide(subject, f"variant-{i}"), Proceed):
            last = desk.reject(subject, f"variant-{i}")
            looked_at += 1
    assert looked_at == 3
    assert last.escalated
    assert desk.documents["mail-88"].escalated
    assert desk.documents["mail-88"].requests == ("request-0", "request-1", "request-2")


def test_changing_the_source_document_resets_nothing_for_the_same_request() -> None:
    desk = Desk()
    for i in range(3):
        desk.reject(of("request-1", f"mail-{i}"), f"d{i}")
    assert desk.decide(of("request-1", "mail-9"), "d9") == Escalated()
    assert not desk.documents["mail-2"].escalated


def test_another_document_of_another_request_is_not_held_back() -> None:
    desk = Desk()
    for digest in ("d1", "d2", "d3"):
        desk.reject(R1, digest)
    assert desk.decide(of("request-2", "mail-89"), "d") == Proceed(3)


def test_a_plan_too_malformed_to_name_its_document_counts_for_its_request() -> None:
    desk = Desk()
    for _ in range(3):
        recorded = desk.reject(of("request-1", None), "d")
    assert recorded.document is None
    assert recorded.escalated
    assert desk.decide(R1, "d") == Escalated()


def test_admissions_count_as_attempts() -> None:
    desk = Desk()
    desk.reject(R1, "d1")
    admitted = desk.admit(R1, "d2", "saga-1")
    assert (admitted.attempts_left, admitted.escalated) == (1, False)
    assert admitted.request.state is RequestState.ADMITTED
    assert (admitted.request.saga_id, admitted.request.plan_digest) == ("saga-1", "d2")


@pytest.mark.parametrize("standing", list(SagaStanding))
def test_the_admitted_plan_again_answers_with_its_saga_however_that_stands(
    standing: SagaStanding,
) -> None:
    desk = Desk()
    desk.admit(R1, "d1", "saga-1")
    before = dict(desk.requests)
    assert desk.decide(R1, "d1", standing) == SameSaga("saga-1")
    assert desk.requests == before, "asking again is not an attempt"


@pytest.mark.parametrize(
    "standing",
    [SagaStanding.RUNNING, SagaStanding.COMPLETED, SagaStanding.RESOLVED_MANUALLY],
)
def test_another_plan_conflicts_while_the_saga_runs_and_when_it_has_done_its_work(
    standing: SagaStanding,
) -> None:
    desk = Desk()
    desk.admit(R1, "d1", "saga-1")
    decision = desk.decide(R1, "d2", standing)
    assert decision == Conflict("saga-1")
    assert refusal(decision).code == "plan_conflict"
    assert "saga-1" in refusal(decision).message


def test_after_a_compensated_saga_the_agent_may_propose_again_within_what_is_left() -> None:
    desk = Desk()
    desk.admit(R1, "d1", "saga-1")
    assert desk.decide(R1, "d2", SagaStanding.COMPENSATED) == Proceed(2)
    desk.reject(R1, "d2")
    assert desk.decide(R1, "d3", SagaStanding.COMPENSATED) == Proceed(1)
    third = desk.admit(R1, "d3", "saga-2")
    assert third.attempts_left == 0
    assert third.request.state is RequestState.ADMITTED, "an admitted plan is not escalated"
    assert desk.decide(R1, "d4", SagaStanding.RUNNING) == Conflict("saga-2")


def test_when_nothing_is_left_after_a_compensated_saga_the_next_plan_escalates_once() -> None:
    desk = Desk()
    desk.reject(R1, "d1")
    desk.reject(R1, "d2")
    desk.admit(R1, "d3", "saga-1")
    decision = desk.decide(R1, "d4", SagaStanding.COMPENSATED)
    assert decision == Spent()
    assert refusal(decision).code == "attempts_spent"
    recorded = desk.escalate(R1)
    assert recorded.escalated
    assert recorded.request.attempts == 3
    assert recorded.request.state is RequestState.ESCALATED
    assert recorded.document is not None
    assert recorded.document.escalated
    assert desk.decide(R1, "d5") == Escalated()


def test_a_late_repeat_of_a_plan_whose_saga_was_compensated_makes_no_second_saga() -> None:
    desk = Desk()
    desk.admit(R1, "d1", "saga-1")
    desk.admit(R1, "d2", "saga-2")
    assert desk.decide(R1, "d1", SagaStanding.RUNNING) == SameSaga("saga-1")
    assert desk.decide(R1, "d2", SagaStanding.RUNNING) == SameSaga("saga-2")


def test_a_spent_document_escalates_the_next_request_made_from_it() -> None:
    desk = Desk()
    for i in range(3):
        desk.admit(of(f"request-{i}"), f"d{i}", f"saga-{i}")
    late = of("request-9")
    assert desk.decide(late, "d9") == Spent()
    assert desk.escalate(late).request.state is RequestState.ESCALATED
    assert desk.decide(of("request-10"), "d10") == Escalated()


def test_the_limit_is_the_catalogues() -> None:
    desk = Desk(limit=1)
    assert desk.decide(R1, "d1") == Proceed(1)
    assert desk.reject(R1, "d1").escalated


def test_recording_an_attempt_that_nobody_had_is_a_fault_of_the_caller() -> None:
    desk = Desk()
    for i in range(3):
        desk.admit(of(f"request-{i}"), f"d{i}", f"saga-{i}")
    with pytest.raises(ValueError, match="no attempt left"):
        desk.admit(R1, "d9", "saga-9")


def test_an_admitted_requests_saga_must_be_looked_at_before_another_plan_is() -> None:
    desk = Desk()
    desk.admit(R1, "d1", "saga-1")
    with pytest.raises(ValueError, match="standing"):
        desk.decide(R1, "d2", None)


def test_records_keep_the_version_that_was_read_so_that_the_write_can_be_conditional() -> None:
    stored = RequestRecord(
        tenant="acme", request_id="request-1", created_at=1, updated_at=1, version=7
    )
    document = DocumentRecord(
        tenant="acme", source_document_id="mail-88", created_at=1, updated_at=1, version=4
    )
    recorded = record_rejection(stored, document, R1, plan_digest="d", problems=BAD, at=NOW)
    assert recorded.request.version == 7
    assert recorded.document is not None
    assert recorded.document.version == 4
    assert (recorded.request.created_at, recorded.request.updated_at) == (1, NOW)


def test_the_largest_history_is_far_below_what_an_item_may_hold() -> None:
    worst = [
        problem(
            Code.BAD_VALUE,
            "\u6f22" * 600,
            "\u6f22" * 600,
            at=["\u6f22" * 99] * 9,
            allowed=["x"] * 99,
        )
    ] * 100
    desk = Desk(limit=1000)
    counted = 0
    while isinstance(desk.decide(R1, "d" * 64), Proceed):
        desk.reject(R1, "d" * 64, worst)
        counted += 1
    record = desk.requests["request-1"]
    assert counted == 20
    assert record.history[0].problems
    assert record.history[0].omitted + len(record.history[0].problems) == 100
    assert len(record.model_dump_json().encode()) < 350_000


def test_records_are_plain_json_without_floats_and_come_back_as_they_were() -> None:
    desk = Desk()
    desk.reject(R1, "d1")
    desk.admit(R1, "d2", "saga-1")
    for record in (desk.requests["request-1"], desk.documents["mail-88"]):
        dumped = record.model_dump(mode="json")

        def no_float(text: str) -> float:
            raise AssertionError(f"a float: {text}")

        stored = json.loads(json.dumps(dumped), parse_float=no_float)
        assert type(record).model_validate(stored, strict=False) == record
        assert type(record).model_validate_json(json.dumps(stored)) == record


@pytest.mark.parametrize(
    "subject", [Subject("", "r", "d"), Subject("acme", "", "d"), Subject("acme", "r", "")]
)
def test_an_attempt_that_lacks_its_tenant_request_or_document_is_a_hard_error_before_any_write(
    subject: Subject,
) -> None:
    with pytest.raises(ValueError, match="at least 1 character"):
        record_admission(None, None, subject, plan_digest="d1", saga_id="saga-1", at=NOW)


def test_two_tenants_with_the_same_request_id_have_records_of_their_own() -> None:
    one = record_admission(None, None, R1, plan_digest="d", saga_id="saga-1", at=NOW)
    other = record_admission(
        None,
        None,
        Subject("umbrella", "request-1", "mail-88"),
        plan_digest="d",
        saga_id="saga-2",
        at=NOW,
    )
    assert (one.request.tenant, one.request.saga_id) == ("acme", "saga-1")
    assert (other.request.tenant, other.request.saga_id) == ("umbrella", "saga-2")


# Reopened by a person


def spent(desk: Desk) -> tuple[RequestRecord, DocumentRecord | None]:
    for digest in ("d1", "d2", "d3"):
        desk.reject(R1, digest)
    return desk._read(R1)


def reopen(desk: Desk, attempts: int) -> Recorded:
    request, document = desk._read(R1)
    assert request is not None
    return desk._write(requests.reopened(request, document, attempts=attempts, at=NOW))


@pytest.mark.parametrize("attempts", [1, 2, 10])
def test_a_reopened_request_takes_exactly_so_many_more_plans(attempts: int) -> None:
    desk = Desk()
    spent(desk)
    assert desk.decide(R1, "d4") == Escalated()
    reopen(desk, attempts)
    lefts = []
    for number in range(attempts):
        said = desk.decide(R1, f"e{number}")
        assert isinstance(said, Proceed)
        lefts.append(said.attempts_left)
        desk.reject(R1, f"e{number}")
    assert lefts == list(range(attempts, 0, -1))
    assert desk.decide(R1, "last") == Escalated()
    request, _ = desk._read(R1)
    assert request is not None
    assert request.escalations == 2


def test_a_reopened_request_opens_its_document_for_as_many_plans_and_no_more() -> None:
    desk = Desk()
    spent(desk)
    reopen(desk, 1)
    other = Subject(R1.tenant, "another-request", R1.source_document_id)
    assert desk.decide(other, "x") == Proceed(1)
    desk.reject(other, "x")
    assert isinstance(desk.decide(R1, "y"), Spent | Escalated)


def test_no_person_makes_a_request_s_history_longer_than_a_record_holds() -> None:
    desk = Desk()
    request, document = spent(desk)
    assert requests.most_more(request, document) == 10
    long = request.model_copy(update={"attempts": 15})
    assert requests.most_more(long, document) == 5
    full = request.model_copy(update={"attempts": 20})
    assert requests.most_more(full, document) == 0


def test_after_an_admission_a_reopened_request_still_asks_what_became_of_its_saga() -> None:
    desk = Desk()
    desk.admit(R1, "d1", "saga-1")
    request, document = desk._read(R1)
    assert request is not None
    escalated = request.model_copy(update={"state": RequestState.ESCALATED})
    again = requests.reopened(escalated, document, attempts=1, at=NOW).request
    assert decide(again, document, "d2", SagaStanding.RUNNING) == Conflict("saga-1")
    assert isinstance(decide(again, document, "d2", SagaStanding.COMPENSATED), Proceed)
