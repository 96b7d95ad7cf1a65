"""A plan arrives, often and at once: one saga, counted attempts, a person after the last one."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from threading import Barrier
from typing import Any

import pytest

from functions.domain.cases import CaseCause
from functions.domain.ledger.records import ForwardState, Pivot, SagaOutcome
from functions.domain.ledger.status import Status, status
from functions.domain.policy import Allowed, Forbidden, Question, Verdict
from functions.domain.problems import Code
from functions.domain.requests import RequestState
from functions.ports import Stale
from functions.usecases.admission import Actor
from functions.usecases.escalate_request import escalate_request
from functions.usecases.list_records import open_approvals, open_cases, sagas
from functions.usecases.records import read_case, read_document, read_request
from functions.usecases.run_step import run_step
from functions.usecases.submit_plan import Admitted, Intake, Rejected, submit_plan
from tests.unit.kernel import SAGA, Bench, Killed, needs

ACTOR = Actor("acme", "agent-1", "agent", owner="owner-1")
BAD = ("charge", "reserve")


def intake(bench: Bench) -> Intake:
    numbers = count(1)
    return Intake(
        bench.store,
        bench.clock,
        {"shop": bench.catalogue},
        lambda _: bench.targets,
        lambda: f"saga-{next(numbers)}",
    )


def submit(bench: Bench, *names: str, actor: Actor = ACTOR, **more: Any) -> Admitted | Rejected:
    return submit_plan(intake(bench), actor, bench.body(*names, **more))


def codes(answer: Admitted | Rejected) -> list[Code]:
    assert isinstance(answer, Rejected)
    return [p.code for p in answer.problems]


def escalate(bench: Bench, request_id: str = "request-1") -> str:
    return escalate_request(
        bench.store, bench.clock, bench.notices, lambda _: "operators", "acme", request_id
    )


def end(bench: Bench, outcome: SagaOutcome) -> None:
    bench.put(bench.head, bench.head.model_copy(update={"outcome": outcome}))


# Admission


def test_an_admission_is_one_write_of_head_steps_and_request() -> None:
    bench = Bench()
    answer = submit(bench)
    assert answer == Admitted(SAGA, "request-1", 2, fresh=True)
    assert bench.store.writes == 1
    head = bench.head
    assert (head.pivot, head.wanted, head.epoch) == (Pivot.AHEAD, "start", 0)
    assert head.due_at == bench.clock.at
    assert head.provenance.actor == "agent-1"
    assert status(bench.saga) is Status.ADMITTED
    assert bench.machines.started == []
    assert bench.target.calls == []
    for index, step in enumerate(bench.saga.steps):
        assert step.forward.state is ForwardState.PREPARED
        assert step.forward.key == bench.key(index)
        assert (step.undo is None) is (index > 1)
    assert [s.undo.waits_for for s in bench.saga.steps if s.undo] == [(1,), ()]


def test_a_submission_killed_at_any_point_admits_all_or_nothing() -> None:
    for point in range(1, 40):
        bench = Bench()
        bench.wire.kill_after(point)
        try:
            submit(bench)
        except Killed:
            bench.wire.kill_at = None
        else:
            return
        answer = submit(bench)
        assert isinstance(answer, Admitted)
        assert len(bench.saga_of(answer.saga_id).steps) == 5
        request = read_request(bench.store, "acme", "request-1")
        assert request is not None
        assert (request.attempts, request.saga_id) == (1, answer.saga_id)
    raise AssertionError("never ran to its end")


def test_the_same_plan_twenty_times_at_once_is_one_saga() -> None:
    bench = Bench()
    doors = intake(bench)
    start = Barrier(20)

    def once(_: int) -> Admitted | Rejected:
        start.wait()
        return submit_plan(doors, ACTOR, bench.body())

    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(once, range(20)))
    admitted = [a for a in answers if isinstance(a, Admitted)]
    assert len(admitted) == 20
    assert len({a.saga_id for a in admitted}) == 1
    assert sum(a.fresh for a in admitted) == 1
    heads = [k for k in bench.store._items if k.sk == "saga"]
    assert len(heads) == 1
    request = read_request(bench.store, "acme", "request-1")
    assert request is not None
    assert request.attempts == 1


def test_different_plans_for_one_request_at_once_are_one_saga_and_conflicts() -> None:
    bench = Bench()
    doors = intake(bench)
    start = Barrier(12)
    plans = [("reserve",), ("reserve", "hold"), ("reserve", "hold", "charge")]

    def once(number: int) -> Admitted | Rejected:
        start.wait()
        return submit_plan(doors, ACTOR, bench.body(*plans[number % 3]))

    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(once, range(12)))
    assert len({a.saga_id for a in answers if isinstance(a, Admitted)}) == 1
    assert sum(isinstance(a, Admitted) for a in answers) == 4
    assert all(codes(a) == [Code.PLAN_CONFLICT] for a in answers if isinstance(a, Rejected))
    assert len([k for k in bench.store._items if k.sk == "saga"]) == 1


@pytest.mark.parametrize(
    ("outcome", "again"),
    [
        (None, False),
        (SagaOutcome.COMPLETED, False),
        (SagaOutcome.RESOLVED_MANUALLY, False),
        (SagaOutcome.COMPENSATED, True),
    ],
)
def test_another_plan_is_taken_only_after_a_compensated_saga(
    outcome: SagaOutcome | None,
    again: bool,  # noqa: FBT001 - a column of the table
) -> None:
    bench = Bench()
    submit(bench)
    if outcome is not None:
        end(bench, outcome)
    doors = intake(bench)
    doors.new_id()
    answer = submit_plan(doors, ACTOR, bench.body("reserve"))
    if again:
        assert answer == Admitted("saga-2", "request-1", 1, fresh=True)
    else:
        assert codes(answer) == [Code.PLAN_CONFLICT]


def test_the_same_plan_answers_with_its_saga_however_long_ago_it_was() -> None:
    bench = Bench()
    submit(bench)
    end(bench, SagaOutcome.COMPLETED)
    bench.clock.pass_(91 * 86_400)
    assert submit(bench) == Admitted(SAGA, "request-1", 2, fresh=False)


def test_tenants_do_not_share_requests() -> None:
    bench = Bench()
    doors = intake(bench)
    first = submit_plan(doors, ACTOR, bench.body())
    other = submit_plan(doors, Actor("globex", "agent-2", "agent"), bench.body())
    assert isinstance(first, Admitted)
    assert isinstance(other, Admitted)
    assert first.saga_id != other.saga_id


# Rejection and escalation


def test_the_same_bad_plan_three_times_is_a_persons_and_the_fourth_is_told_so() -> None:
    bench = Bench()
    answers = [submit(bench, *BAD) for _ in range(5)]
    assert [a.attempts_left for a in answers] == [2, 1, 0, 0, 0]
    assert [a.escalated for a in answers if isinstance(a, Rejected)] == [False, False] + [True] * 3
    assert codes(answers[3]) == [Code.REQUEST_ESCALATED]
    assert codes(submit(bench, "reserve")) == [Code.REQUEST_ESCALATED]


def test_varying_the_request_id_resets_nothing() -> None:
    bench = Bench()
    answers = [submit(bench, *BAD, request_id=f"request-{n}") for n in range(4)]
    assert [a.escalated for a in answers if isinstance(a, Rejected)] == [False, False, True, True]


def test_bad_plans_at_once_are_each_counted() -> None:
    bench = Bench()
    doors = intake(bench)
    start = Barrier(6)

    def once(_: int) -> Admitted | Rejected:
        start.wait()
        return submit_plan(doors, ACTOR, bench.body(*BAD))

    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(once, range(6)))
    lefts = sorted((a.attempts_left for a in answers), reverse=True)
    assert lefts == [2, 1, 0, 0, 0, 0]
    request = read_request(bench.store, "acme", "request-1")
    assert request is not None
    assert (request.attempts, request.state) == (3, RequestState.ESCALATED)


def test_a_fact_that_cannot_be_read_costs_no_attempt() -> None:
    bench = Bench()
    bench.facts_down = True
    assert codes(submit(bench)) == [Code.FACTS_UNAVAILABLE]
    assert read_request(bench.store, "acme", "request-1") is None
    bench.facts_down = False
    assert isinstance(submit(bench), Admitted)


def test_what_policy_lets_nobody_approve_is_rejected_before_anything_is_prepared() -> None:
    bench = Bench()
    bench.verdict = Forbidden("over every limit")
    answer = submit(bench)
    assert isinstance(answer, Rejected)
    [found] = answer.problems
    assert (found.code, found.message) == (Code.FORBIDDEN_BY_POLICY, "over every limit")
    assert (found.pointer, found.step) == ("/steps/2", "s2")
    assert answer.attempts_left == 2
    assert [k.sk for k in bench.store._items] == ["request", "document"]
    assert isinstance(submit(bench, "reserve", "hold"), Admitted)


def test_at_submission_policy_is_asked_with_the_facts_and_without_results() -> None:
    bench = Bench()
    submit(bench)
    [question] = bench.asked
    assert (question.step, question.results) == ("charge", {})
    assert question.facts["order"].shipped is False
    assert int(question.now.timestamp() * 1000) == bench.clock.at


def test_a_policy_that_needs_a_result_decides_nothing_at_submission() -> None:
    bench = Bench()

    def wants_a_result(question: Question) -> Verdict:
        return Forbidden(question.results["hold"].resource)

    bench.targets.adapters.adapters["shop.policy:decide"] = wants_a_result  # type: ignore[attr-defined]
    assert isinstance(submit(bench), Admitted)


@pytest.mark.parametrize("verdict", [Allowed(), needs()])
def test_what_people_may_approve_is_admitted(verdict: Verdict) -> None:
    bench = Bench()
    bench.verdict = verdict
    assert isinstance(submit(bench), Admitted)


def test_what_keeps_changing_is_not_decided_and_not_an_error() -> None:
    bench = Bench()

    def lose(point: str) -> None:
        if point == "before write":
            raise Stale({})

    bench.wire.hook = lose
    assert codes(submit(bench)) == [Code.WRITE_CONFLICT]
    bench.wire.hook = None
    assert isinstance(submit(bench), Admitted)


def test_an_escalated_request_becomes_one_case_whoever_opens_it() -> None:
    bench = Bench()
    assert escalate(bench) == "nothing"
    for _ in range(3):
        submit(bench, *BAD)
    said: list[str] = []

    def another(point: str) -> None:
        if point == "before write":
            bench.wire.hook = None
            said.append(escalate(bench))

    bench.wire.hook = another
    said += [escalate(bench), escalate(bench)]
    assert sorted(said) == ["case", "nothing", "raced"]
    [case_id] = bench.notices.cases
    case = read_case(bench.store, case_id)
    assert case is not None
    assert case.cause is CaseCause.REQUEST_ESCALATED
    assert len(case.evidence["attempts"]) == 3
    assert case.evidence["rationale"] == "The customer asked."
    document = read_document(bench.store, "acme", "mail-88")
    assert document is not None
    assert document.escalated


@pytest.mark.parametrize(
    "body",
    [b"", b"[", b"{}", b"[" * 100_000, b'{"a":' * 20_000, b"\xff\xfe", b"null", b"1", b'"x"'],
)
def test_what_is_no_plan_at_all_is_a_problem_and_never_an_error(body: bytes) -> None:
    bench = Bench()
    answer = submit_plan(intake(bench), ACTOR, body)
    assert isinstance(answer, Rejected)
    assert answer.problems
    assert bench.store.writes == 0


# Lists


def everything(read: Callable[..., Any], *arguments: Any, **more: Any) -> list[Any]:
    found, start = [], None
    while True:
        page, start = read(*arguments, start=start, **more)
        found += page
        if start is None:
            return found


def listed(bench: Bench, tenants: set[str], limit: int = 2, **more: Any) -> list[str]:
    wanted = {"status": None, "request_id": None, "source_document_id": None, "since": None, **more}
    found = everything(sagas, bench.store, frozenset(tenants), limit=limit, **wanted)
    return [s.head.saga_id for s in found]


@pytest.fixture
def several() -> Bench:
    bench = Bench()
    doors = intake(bench)
    for number, tenant in enumerate(("acme", "globex", "acme", "initech", "acme"), 1):
        bench.clock.pass_(1)
        body = bench.body(
            "reserve", request_id=f"r-{number}", provenance=_provenance(f"mail-{number % 2}")
        )
        assert isinstance(submit_plan(doors, Actor(tenant, "agent-1", "agent"), body), Admitted)
    return bench


def _provenance(document: str) -> dict[str, str]:
    return {"run_id": "run-1", "prompt_version": "7", "source_document_id": document}


@pytest.mark.parametrize("limit", [1, 2, 3, 100])
def test_sagas_are_listed_newest_first_for_each_of_ones_tenants_and_no_other(
    several: Bench, limit: int
) -> None:
    assert listed(several, {"acme"}, limit) == ["saga-5", "saga-3", "saga-1"]
    assert sorted(listed(several, {"acme", "initech"}, limit)) == [
        "saga-1",
        "saga-3",
        "saga-4",
        "saga-5",
    ]
    assert listed(several, {"umbrella"}, limit) == []


def test_sagas_are_found_by_request_document_time_and_status(several: Bench) -> None:
    assert listed(several, {"acme"}, request_id="r-3") == ["saga-3"]
    assert listed(several, {"acme"}, request_id="r-2") == []
    assert listed(several, {"acme"}, source_document_id="mail-1") == ["saga-5", "saga-3", "saga-1"]
    assert listed(several, {"globex"}, source_document_id="mail-1") == []
    now = several.clock.at
    assert listed(several, {"acme"}, since=now - 2000) == ["saga-5", "saga-3"]
    run_step(several.world("reserve"), several.ref(0))
    assert listed(several, {"acme"}, status=Status.COMPLETED) == ["saga-1"]
    assert listed(several, {"acme"}, status=Status.ADMITTED) == ["saga-5", "saga-3"]


def test_a_cursor_of_a_tenant_one_has_lost_starts_again_and_shows_nothing_foreign(
    several: Bench,
) -> None:
    page, start = sagas(
        several.store,
        frozenset({"acme"}),
        status=None,
        request_id=None,
        source_document_id=None,
        since=None,
        limit=1,
        start=None,
    )
    assert [s.head.saga_id for s in page] == ["saga-5"]
    found, _ = sagas(
        several.store,
        frozenset({"initech"}),
        status=None,
        request_id=None,
        source_document_id=None,
        since=None,
        limit=5,
        start=start,
    )
    assert [s.head.saga_id for s in found] == ["saga-4"]


def test_open_cases_and_open_approvals_are_listed_apart_and_leave_when_they_are_settled() -> None:
    bench = Bench()
    for _ in range(3):
        submit(bench, *BAD)
    escalate(bench)
    acme = frozenset({"acme"})
    assert [c.id for c in everything(open_cases, bench.store, acme, limit=1)] == bench.notices.cases
    assert everything(open_approvals, bench.store, acme, limit=1) == []
    assert everything(open_cases, bench.store, frozenset({"globex"}), limit=1) == []
    case = read_case(bench.store, bench.notices.cases[0])
    assert case is not None
    bench.put(case, case.model_copy(update={"open": None}))
    assert everything(open_cases, bench.store, acme, limit=1) == []
