"""Who may come in, what they may see, and what they may not break: every answer is a problem, never a traceback."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from functions.ports import Change
from functions.sandbox.faults import Trouble
from functions.usecases.records import key_of
from tests.sagas.orders import enter, plan, step
from tests.sagas.stage import APPROVER, OPERATOR, Caller, Stage, agent, person

TABLES = "memory"

PEOPLES = [
    ("GET", "/sagas"),
    ("POST", "/sagas/{saga}/cancel"),
    ("GET", "/approvals"),
    ("GET", "/approvals/{approval}"),
    ("POST", "/approvals/{approval}/decision"),
    ("GET", "/cases"),
    ("GET", "/cases/{case}"),
    ("POST", "/cases/{case}/claim"),
    ("POST", "/cases/{case}/resolution"),
]
BODIES = {"decision": {"decision": "approve"}, "resolution": {"resolution": "retry"}}


def body_for(path: str) -> object:
    return BODIES.get(path.rpartition("/")[2])


def waiting(stage: Stage) -> dict[str, str]:
    """One saga that waits for an approver, and another one whose shipment is a case."""
    enter(stage)
    saga_id = stage.run(plan())
    enter(stage, "4472", "99.00")
    stage.shop.trouble(Trouble.ERROR_503, operation="ship", times=4)
    stage.run(plan("4472", "99.00"))
    return {
        "saga": saga_id,
        "approval": stage.approval(saga_id).id,
        "case": stage.open_case().id,
    }


def test_an_agents_token_is_refused_on_every_route_of_people(stage: Stage) -> None:
    ids = waiting(stage)
    for method, path in PEOPLES:
        answer = stage.call(agent(), method, path.format(**ids), body_for(path))
        assert (answer.status, answer.codes) == (403, ["forbidden"]), path
    assert stage.status(ids["saga"]) == "awaiting_approval"


def test_a_call_without_a_verified_token_is_refused_everywhere(stage: Stage) -> None:
    for method, path in [*PEOPLES, ("GET", "/catalogues/fulfilment"), ("POST", "/plans")]:
        ids = {"saga": "s", "approval": "a", "case": "c"}
        answer = stage.call(None, method, path.format(**ids), body_for(path))
        assert (answer.status, answer.codes) == (401, ["unauthenticated"]), path


def test_an_agent_needs_the_scope_for_what_it_does(stage: Stage) -> None:
    enter(stage)
    reader = agent(scope="sagaplane/sagas.read")
    assert stage.submit(plan(), reader).codes == ["forbidden"]
    assert stage.call(reader, "GET", "/catalogues/fulfilment").codes == ["forbidden"]
    assert stage.call(agent("client-unknown"), "GET", "/catalogues/fulfilment").status == 403


def test_no_tenant_sees_or_touches_what_is_another_ones(stage: Stage) -> None:
    ids = waiting(stage)
    groups = ("fulfilment-approvers", "fulfilment-operators", "tenant.globex")
    stranger = person("approver-of-globex", *groups)
    for method, path in PEOPLES:
        answer = stage.call(stranger, method, path.format(**ids), body_for(path))
        if path in {"/sagas", "/approvals", "/cases"}:
            assert answer.status == 200
            assert next(iter(answer.body.values())) == []
        else:
            assert (answer.status, answer.codes) == (404, ["not_found"]), path
    theirs = agent("client-globex")
    assert stage.call(theirs, "GET", f"/sagas/{ids['saga']}").status == 404
    assert stage.call(theirs, "GET", "/requests/req-4471").status == 404
    assert stage.call(stranger, "GET", f"/sagas/{ids['saga']}").status == 404


def test_two_tenants_may_use_the_same_request_id(stage: Stage) -> None:
    enter(stage)
    ours, theirs = stage.submit(plan()), stage.submit(plan(), agent("client-globex"))
    assert (ours.status, theirs.status) == (201, 201)
    assert ours.body["saga_id"] != theirs.body["saga_id"]


def test_another_agent_of_the_tenant_sees_no_saga_that_is_not_its_own(stage: Stage) -> None:
    enter(stage)
    saga_id = stage.run(plan())
    assert stage.call(agent("client-sales"), "GET", f"/sagas/{saga_id}").status == 404


def test_an_agent_sees_no_key_no_authority_and_no_evidence(stage: Stage) -> None:
    enter(stage)
    saga_id = stage.run(plan())
    told = stage.call(agent(), "GET", f"/sagas/{saga_id}").text
    for secret in (f"{saga_id}:0:do", "inventory", "fulfilment-reserve_stock-run", "receipt"):
        assert secret not in told


def test_who_submitted_or_owns_the_agent_may_not_decide_and_other_groups_neither(
    stage: Stage,
) -> None:
    enter(stage)
    saga_id = stage.run(plan())
    owner = person("support-lead", "fulfilment-approvers", "tenant.acme")
    outsider = person("somebody", "other-approvers", "tenant.acme")
    for who in (owner, outsider):
        assert stage.approve(saga_id, who).codes == ["forbidden"]
    assert stage.approval(saga_id).decisions == ()


def test_the_third_rejected_plan_escalates_and_a_person_gets_the_request(stage: Stage) -> None:
    """Re-plan loops: an agent that varies its bad plan is not given more tries for it."""
    enter(stage)
    bad = plan(steps=[step("apply_goodwill_credit", order_id="4471")])
    left = []
    for attempt in range(3):
        answer = stage.submit({**bad, "rationale": f"try {attempt}"})
        assert answer.codes == ["unknown_step"]
        left.append(answer.body["attempts_left"])
    assert left == [2, 1, 0]
    stage.deliver()
    case = stage.open_case()
    assert (case.cause.value, case.request_id) == ("request_escalated", "req-4471")
    assert len(case.evidence["attempts"]) == 3
    assert stage.notices("cases") == [f'{{"case": "{case.id}"}}']
    for further in (plan(), plan(request_id="req-again")):
        answer = stage.submit(further)
        assert (answer.status, answer.codes) == (409, ["request_escalated"])
    told = stage.call(agent(), "GET", "/requests/req-4471").body
    assert (told["state"], told["attempts_left"]) == ("escalated", 0)
    assert stage.settle(case.id, "close").body["state"] == "settled"


def test_after_a_compensated_saga_the_agent_may_propose_again_within_what_is_left(
    stage: Stage,
) -> None:
    enter(stage)
    for attempt in range(3):
        stage.shop.trouble(Trouble.DECLINE, operation="authorize")
        saga_id = stage.run(plan(rationale=f"try {attempt}"))
        assert stage.status(saga_id) == "compensated"
    answer = stage.submit(plan(rationale="try 3"))
    assert answer.codes == ["attempts_spent"]
    stage.deliver()
    assert stage.open_case().cause.value == "request_escalated"


PLAN = json.dumps(plan())
HOSTILE: dict[str, tuple[str, bool, str]] = {
    "deep": ("[" * 100_000, False, "too_large"),
    "deep, small": ("[" * 60_000, False, "too_deep"),
    "deep object": ('{"a":' * 5_000, False, "too_deep"),
    "repeated key": ('{"request_id":"a","request_id":"b"}', False, "duplicate_key"),
    "300 KB": (json.dumps({"a": "x" * 300_000}), False, "too_large"),
    "not JSON": ("{", False, "invalid_json"),
    "nothing": ("", False, "invalid_json"),
    "a number": ("5", False, "wrong_type"),
    "NaN": ('{"a": NaN}', False, "not_finite_number"),
    "a long integer": ('{"a": 9007199254740993}', False, "unsafe_integer"),
    "half a surrogate": ('{"a": "\\ud800"}', False, "lone_surrogate"),
    "no UTF-8": (base64.b64encode(b"\xff\xfe{}").decode(), True, "invalid_utf8"),
    "no Base64": ("!!!", True, "invalid_json"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_plan_is_a_problem_and_never_a_failure(stage: Stage, name: str) -> None:
    body, encoded, code = HOSTILE[name]
    answer = stage.call(agent(), "POST", "/plans", body, encoded=encoded)
    assert 400 <= answer.status < 500
    assert code in answer.codes
    assert answer.headers["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("path", ["/approvals/{approval}/decision", "/cases/{case}/resolution"])
def test_a_hostile_decision_is_a_problem_and_decides_nothing(
    stage: Stage, name: str, path: str
) -> None:
    body, encoded, _ = HOSTILE[name]
    who = APPROVER if "approval" in path else OPERATOR
    at = path.format(approval="a-2-1", case="c-2-do-1")
    answer = stage.call(who, "POST", at, body, encoded=encoded)
    assert 400 <= answer.status < 500, answer.text
    assert answer.headers["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize(
    "said",
    [
        '{"decision":"reject","decision":"approve"}',
        {"decision": "Approve"},
        {"decision": "approve", "as": "somebody"},
        {"decision": ["approve"]},
        {"decision": "reject"},
        {"decision": "reject", "reason": ""},
        {"decision": "approve", "reason": "x" * 501},
        "approve",
        [],
        None,
    ],
    ids=str,
)
def test_an_unclear_decision_decides_nothing(stage: Stage, said: object) -> None:
    enter(stage)
    saga_id = stage.run(plan())
    path = f"/approvals/{stage.approval(saga_id).id}/decision"
    answer = stage.call(APPROVER, "POST", path, said)
    assert 400 <= answer.status < 500, answer.text
    assert stage.approval(saga_id).decisions == ()


@pytest.mark.parametrize(
    ("who", "path", "status"),
    [
        (APPROVER, "/approvals?limit=0", 400),
        (APPROVER, "/approvals?limit=many", 400),
        (APPROVER, "/approvals?cursor=acme|garbage", 400),
        (APPROVER, "/approvals?cursor=acme|eyJhIjogMX0=", 400),
        (OPERATOR, "/sagas?status=lost", 400),
        (OPERATOR, "/sagas?since=yesterday", 400),
        (OPERATOR, "/cases/..%2F..%2Fx", 400),
        (agent(), "/sagas/nobody", 404),
        (agent(), "/requests/nothing", 404),
        (agent(), "/catalogues/none", 404),
        (agent(), "/plans", 404),
        (APPROVER, "/nowhere", 404),
    ],
    ids=str,
)
def test_a_useless_address_is_a_problem(stage: Stage, who: Caller, path: str, status: int) -> None:
    answer = stage.call(who, "GET", path)
    assert answer.status == status, answer.text
    assert answer.headers["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize("kind", ["text/plain", "application/xml", "multipart/form-data"])
def test_what_is_sent_as_something_else_than_json_is_a_problem(stage: Stage, kind: str) -> None:
    answer = stage.call(
        APPROVER,
        "POST",
        "/approvals/a-2-1/decision",
        {"decision": "approve"},
        headers={"content-type": kind},
    )
    assert 400 <= answer.status < 500, answer.text


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_looking_at_an_approval_decides_nothing(stage: Stage, method: str) -> None:
    """Link scanners that follow every address in a mail: activepieces issue 14252."""
    enter(stage)
    saga_id = stage.run(plan())
    at = f"/approvals/{stage.approval(saga_id).id}"
    for path in (at, f"{at}/decision", f"{at}/decision?decision=approve"):
        stage.call(APPROVER, method, path)
    assert stage.approval(saga_id).decisions == ()
    assert stage.status(saga_id) == "awaiting_approval"


def test_the_task_token_is_in_no_answer_no_message_and_no_log(
    stage: Stage, capfd: Any, caplog: pytest.LogCaptureFixture
) -> None:
    ids = waiting(stage)
    said = [
        stage.call(who, method, path.format(**ids)).text
        for who in (APPROVER, OPERATOR, agent())
        for method, path in [*PEOPLES, ("GET", "/sagas/{saga}"), ("GET", "/requests/req-4471")]
        if method == "GET"
    ]
    said += [stage.approve(ids["saga"]).text, stage.settle(ids["case"], "done").text]
    said += stage.notices("approvals") + stage.notices("cases")
    printed = capfd.readouterr()
    said += [printed.out, printed.err, caplog.text]
    [token] = [i.payload["token"] for i in stage.machines.invocations if "token" in i.payload]
    assert len(token) > 20
    assert [text for text in said if token in text] == []
    assert stage.approval(ids["saga"]).token == token


def test_not_even_a_record_that_cannot_be_read_brings_its_token_into_a_log(
    stage: Stage, capfd: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """A validation error quotes what it was given, and tracebacks end in logs and in an execution's history."""
    enter(stage)
    saga_id = stage.run(plan())
    approval = stage.approval(saga_id)
    stage.store.write([Change(key_of(approval), {"sentence": None}, {"version": approval.version})])
    assert stage.call(APPROVER, "GET", f"/approvals/{approval.id}").status == 500
    again = stage.machines.invoke(stage.machines.invocations[-2].as_parameters())
    assert again["FunctionError"]
    printed = capfd.readouterr()
    for text in (printed.out, printed.err, caplog.text, str(again)):
        assert str(approval.token)[:20] not in text
