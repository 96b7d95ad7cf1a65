"""Agents and people as the API sees them: verified claims, requests as HTTP API events (payload 2.0), and answers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Answer:
    """What an API answered."""

    status: int
    text: str
    headers: Mapping[str, str]

    @property
    def body(self) -> Any:
        """The JSON value."""
        return json.loads(self.text)

    @property
    def codes(self) -> list[str]:
        """The codes of the problems."""
        return [p["code"] for p in self.body["problems"]]


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls: verified claims as API Gateway hands them over, all of them text."""

    claims: Mapping[str, str]


def agent(client: str = "client-support", scope: str | None = None) -> Caller:
    """An agent's token from its client credentials."""
    scopes = "sagaplane/catalogue.read sagaplane/plans.submit sagaplane/sagas.read"
    return Caller(
        {"sub": client, "client_id": client, "token_use": "access", "scope": scope or scopes}
    )


def person(name: str, *groups: str) -> Caller:
    """A person's token: `cognito:groups` comes as "[a b]"."""
    return Caller(
        {
            "sub": f"sub-of-{name}",
            "client_id": "people",
            "token_use": "access",
            "username": name,
            "cognito:groups": f"[{' '.join(groups)}]",
        }
    )


APPROVER = person("approver-1", "fulfilment-approvers", "tenant.acme")
OPERATOR = person("operator-1", "fulfilment-operators", "tenant.acme")


def answered_by(method: str, path: str) -> str:
    """The function behind a route, as the API's table of routes has it (infra/api.py)."""
    parts = path.partition("?")[0].strip("/").split("/")
    of_agents = parts[0] in {"catalogues", "plans", "requests"}
    one_saga = method == "GET" and parts[0] == "sagas" and len(parts) == 2
    return "agent-api" if of_agents or one_saga else "people-api"


def http_event(
    who: Caller | None,
    method: str,
    path: str,
    body: object,
    headers: Mapping[str, str],
    *,
    encoded: bool,
) -> dict[str, Any]:
    raw, _, query = path.partition("?")
    authorizer = {"jwt": {"claims": dict(who.claims), "scopes": None}} if who else None
    event: dict[str, Any] = {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": raw,
        "rawQueryString": query,
        "headers": {"content-type": "application/json", **headers},
        "requestContext": {
            "stage": "$default",
            "http": {"method": method, "path": raw, "sourceIp": "203.0.113.7"},
            **({"authorizer": authorizer} if authorizer else {}),
        },
        "isBase64Encoded": encoded,
    }
    if query:
        pairs = (part.partition("=") for part in query.split("&"))
        event["queryStringParameters"] = {name: value for name, _, value in pairs}
    if body is not None:
        event["body"] = body if isinstance(body, str) else json.dumps(body)
    return event
