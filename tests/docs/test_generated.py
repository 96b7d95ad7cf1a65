"""What is made from code is what the code says, and says all of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from functions.catalogues.environments import preconditions as environments
from functions.catalogues.fulfilment import preconditions
from functions.domain.codes import Code
from functions.handlers import agent_api, identity
from functions.memory.store import MemoryStore
from infra.documents import openapi
from infra.documents.__main__ import DOCUMENTS
from infra.documents.operations import OPERATIONS, Operation
from infra.documents.preconditions import provoked

PARAMETER = re.compile(r"\{\w+\}")
WITH_SCOPE = [o for o in OPERATIONS if o.scope]


@pytest.fixture(scope="module")
def description() -> dict[str, Any]:
    return openapi.document()


@pytest.fixture
def _deployed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    registered = {"client": {"name": "support", "tenant": "default"}}
    monkeypatch.setenv("AGENTS", json.dumps(registered))
    monkeypatch.setattr(agent_api, "store", MemoryStore)
    identity._registry.cache_clear()
    yield
    identity._registry.cache_clear()


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: p.name)
def test_a_document_that_is_made_from_code_is_current(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == DOCUMENTS[path](), "run `make openapi`"


def test_every_route_of_both_resolvers_is_described_once(description: dict[str, Any]) -> None:
    described = {(m, p) for p, methods in description["paths"].items() for m in methods}
    assert described == {(o.method, o.path) for o in OPERATIONS}
    assert len(OPERATIONS) == len(described)


def test_every_route_that_is_deployed_is_described_with_its_scope() -> None:
    from infra.api import ROUTES  # noqa: PLC0415 - the CDK takes its time
    from infra.people import RESOURCE_SERVER, SCOPES  # noqa: PLC0415 - the same

    described = {(o.method.upper(), o.path): o for o in OPERATIONS}
    assert {(r.method.value, r.path) for r in ROUTES} == described.keys()
    for route in ROUTES:
        operation = described[route.method.value, route.path]
        for scope in route.scopes:
            assert scope == f"{RESOURCE_SERVER}/{operation.scope}"
            assert not operation.people
    assert openapi.SCOPES == SCOPES


@pytest.mark.usefixtures("_deployed")
@pytest.mark.parametrize("operation", WITH_SCOPE, ids=lambda o: o.handler.__name__)
def test_a_route_refuses_a_token_without_the_scope_that_is_described(operation: Operation) -> None:
    answer = agent_api.app.resolve(_event(operation, scope="sagaplane/other"), None)
    assert answer["statusCode"] == 403
    assert f"sagaplane/{operation.scope}" in answer["body"]


@pytest.mark.usefixtures("_deployed")
@pytest.mark.parametrize("operation", [o for o in WITH_SCOPE if not o.people])
def test_a_route_that_only_agents_may_call_refuses_a_person(operation: Operation) -> None:
    event = _event(operation, scope="openid", username="somebody", groups="[tenant.default]")
    answer = agent_api.app.resolve(event, None)
    assert answer["statusCode"] == 403
    assert openapi.document()["paths"][operation.path][operation.method]["security"] == [
        {"agents": [f"sagaplane/{operation.scope}"]}
    ]


def test_every_code_is_among_the_answers_of_some_route(description: dict[str, Any]) -> None:
    answers = [
        (int(status), answer["x-codes"])
        for methods in description["paths"].values()
        for operation in methods.values()
        for status, answer in operation["responses"].items()
        if "x-codes" in answer
    ]
    assert {code for _, codes in answers for code in codes} == {code.value for code in Code}
    assert all(Code(code).status == status for status, codes in answers for code in codes)


def test_every_refusal_is_described_as_a_problem(description: dict[str, Any]) -> None:
    for methods in description["paths"].values():
        for operation in methods.values():
            for status, answer in operation["responses"].items():
                if int(status) >= 400:
                    schema = answer["content"]["application/problem+json"]["schema"]
                    assert schema == {"$ref": "#/components/schemas/ProblemDetails"}


def test_every_reference_in_the_description_leads_somewhere(description: dict[str, Any]) -> None:
    used = set(re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(description)))
    assert used <= description["components"]["schemas"].keys()


def test_a_name_that_would_mean_two_things_is_refused() -> None:
    with pytest.raises(ValueError, match="two different things are called Step"):
        openapi._merged([{"Step": {"type": "object"}}, {"Step": {"type": "string"}}])


def test_every_code_and_its_status_stand_in_the_page_of_problems(root: Path) -> None:
    page = (root / "docs" / "problems.md").read_text(encoding="utf-8")
    for code in Code:
        assert f"| `{code.value}` | {code.status} | {code.summary} |" in page


def test_every_code_of_the_catalogues_preconditions_is_provoked() -> None:
    states = {"order_shipped", "order_cancelled"}  # written as order_{state}
    for name, module in (("fulfilment", preconditions), ("environments", environments)):
        written = set(re.findall(r'code="([a-z_]+)"', Path(module.__file__).read_text()))
        codes = {each.code for each in provoked()[name]}
        assert codes == written | (states if name == "fulfilment" else set())
        assert not codes & {code.value for code in Code}


def _event(operation: Operation, *, scope: str, **person: str) -> dict[str, Any]:
    claims = {
        "client_id": "client",
        "scope": scope,
        "token_use": "access",
        "sub": "person" if person else "client",
    }
    if person:
        claims |= {"username": person["username"], "cognito:groups": person["groups"]}
    path = PARAMETER.sub("something", operation.path)
    return {
        "version": "2.0",
        "rawPath": path,
        "rawQueryString": "",
        "headers": {},
        "isBase64Encoded": False,
        "body": "{}",
        "requestContext": {
            "http": {"method": operation.method.upper(), "path": path},
            "stage": "$default",
            "authorizer": {"jwt": {"claims": claims}},
        },
    }
