"""An escalated request: closed by a person, or given back to its agent for a few more plans."""

from __future__ import annotations

from typing import Any

import pytest

from functions.domain.cases import Case, CaseState, Resolution
from functions.domain.problems import Code
from functions.domain.requests import RequestState
from functions.usecases.claim_case import claim_case
from functions.usecases.records import read_case, read_request
from functions.usecases.reopen_request import NotReopened
from functions.usecases.resolve_case import Settled, resolve_case
from functions.usecases.submit_plan import Admitted
from tests.unit.kernel import Bench
from tests.unit.test_usecases_submit import BAD, codes, escalate, submit

WHO: dict[str, Any] = {
    "tenants": frozenset({"acme"}),
    "person": "operator-1",
    "groups": frozenset({"operators"}),
}


def escalated() -> tuple[Bench, Case]:
    bench = Bench()
    for _ in range(3):
        submit(bench, *BAD)
    escalate(bench)
    return bench, the_case(bench)


def the_case(bench: Bench) -> Case:
    case = read_case(bench.store, bench.notices.cases[-1])
    assert case is not None
    return case


def resolve(bench: Bench, case: Case, resolution: Resolution, attempts: int | None = None) -> Any:
    claim_case(bench.store, bench.clock, case.id, **WHO)
    return resolve_case(
        bench.store,
        bench.clock,
        case.id,
        **WHO,
        resolution=resolution,
        evidence="The customer has told us more.",
        settles_after=0,
        attempts=attempts,
    )


def test_a_closed_request_takes_no_further_plan() -> None:
    bench, case = escalated()
    assert case.allowed == (Resolution.CLOSE, Resolution.REOPEN)
    assert isinstance(resolve(bench, case, Resolution.CLOSE), Settled)
    assert codes(submit(bench)) == [Code.REQUEST_ESCALATED]


def test_a_reopened_request_admits_a_good_plan() -> None:
    bench, case = escalated()
    assert isinstance(resolve(bench, case, Resolution.REOPEN, 2), Settled)
    request = read_request(bench.store, "acme", "request-1")
    assert request is not None
    assert request.state is RequestState.OPEN
    answer = submit(bench)
    assert isinstance(answer, Admitted)
    assert answer.attempts_left == 1
    settled = the_case(bench)
    assert settled.state is CaseState.SETTLED
    assert settled.events[-1].facts == {"attempts": "2"}


def test_a_request_that_is_reopened_without_a_number_takes_one_more_plan() -> None:
    bench, case = escalated()
    assert isinstance(resolve(bench, case, Resolution.REOPEN), Settled)
    answer = submit(bench)
    assert isinstance(answer, Admitted)
    assert answer.attempts_left == 0
    assert the_case(bench).events[-1].facts == {}


def test_a_request_that_is_escalated_again_gets_another_case() -> None:
    bench, case = escalated()
    resolve(bench, case, Resolution.REOPEN, 1)
    assert codes(submit(bench, *BAD)) != [Code.REQUEST_ESCALATED]
    assert escalate(bench) == "case"
    again = the_case(bench)
    assert again.id != case.id
    assert again.state is CaseState.OPEN


def test_a_request_is_not_reopened_beyond_what_its_record_holds() -> None:
    bench, case = escalated()
    request = read_request(bench.store, "acme", "request-1")
    assert request is not None
    bench.put(request, request.model_copy(update={"attempts": 18}))
    assert resolve(bench, case, Resolution.REOPEN, 3) == NotReopened(2)
    assert the_case(bench).state is CaseState.OPEN
    assert isinstance(resolve(bench, case, Resolution.REOPEN, 2), Settled)


@pytest.mark.parametrize("resolution", [Resolution.RETRY, Resolution.DONE, Resolution.ACCEPT])
def test_a_request_is_settled_in_no_other_way(resolution: Resolution) -> None:
    bench, case = escalated()
    assert not isinstance(resolve(bench, case, resolution), Settled)
