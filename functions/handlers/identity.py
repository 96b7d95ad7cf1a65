"""Who calls, from the token's claims alone: an agent by its registered client, a person by name and groups."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from functions.domain.membership import tenants_of
from functions.domain.problems import Code, problem
from functions.handlers.http import Refusal


@dataclass(frozen=True, slots=True)
class Agent:
    """A registered agent: its name, its tenant, who answers for it, and the scopes of this token."""

    name: str
    tenant: str
    owner: str | None
    scopes: frozenset[str]

    def must(self, scope: str) -> None:
        """Refuse a token without this scope."""
        if f"sagaplane/{scope}" not in self.scopes:
            raise forbidden(f"The token lacks the scope sagaplane/{scope}.")


@dataclass(frozen=True, slots=True)
class Person:
    """A person who signed in: the name, the groups, and the tenants that these groups open."""

    name: str
    groups: frozenset[str]

    @property
    def tenants(self) -> frozenset[str]:
        """The tenants whose sagas, approvals and cases this person may see."""
        return tenants_of(self.groups)


def forbidden(why: str) -> Refusal:
    """403, with the reason."""
    hint = "Use a token that was issued for this: agents submit and follow, people decide."
    return Refusal(problem(Code.FORBIDDEN, why, hint))


def caller(event: Mapping[str, Any]) -> Agent | Person:
    """The caller behind the verified claims. A token of neither kind is refused."""
    claims = _claims(event)
    person_ = _person(claims)
    if person_ is not None:
        return person_
    registered = _registry().get(str(claims.get("client_id", "")))
    if registered is None:
        raise forbidden("This client is not registered as an agent.")
    scopes = frozenset(str(claims.get("scope", "")).split())
    return Agent(registered["name"], registered["tenant"], registered.get("owner"), scopes)


def agent(event: Mapping[str, Any]) -> Agent:
    """The calling agent, or 403."""
    who = caller(event)
    if not isinstance(who, Agent):
        raise forbidden("Only agents may do this.")
    return who


def person(event: Mapping[str, Any]) -> Person:
    """The calling person, or 403."""
    who = _person(_claims(event))
    if who is None:
        raise forbidden("Only people may do this, and this is an agent's token.")
    if not who.tenants:
        raise forbidden("You belong to no tenant: an administrator adds you to a group.")
    return who


def _person(claims: Mapping[str, Any]) -> Person | None:
    name = claims.get("username")
    if not isinstance(name, str) or not name or claims.get("sub") == claims.get("client_id"):
        return None
    return Person(name, _listed(claims.get("cognito:groups")))


def _claims(event: Mapping[str, Any]) -> Mapping[str, Any]:
    authorizer = event.get("requestContext", {}).get("authorizer") or {}
    claims: Mapping[str, Any] = authorizer.get("jwt", {}).get("claims") or {}
    if not claims:
        hint = "Sign in, or ask for a token with your client's credentials."
        raise Refusal(problem(Code.UNAUTHENTICATED, "There is no verified token.", hint))
    if claims.get("token_use") not in {None, "access"}:
        raise forbidden("This is not an access token.")
    return claims


def _listed(groups: object) -> frozenset[str]:
    # API Gateway hands lists of claims over as text: "[a b]".
    if isinstance(groups, str):
        groups = groups.strip("[]").replace(",", " ").split()
    return frozenset(str(g) for g in groups) if isinstance(groups, list) else frozenset()


@cache
def _registry() -> dict[str, dict[str, str]]:
    registry: dict[str, dict[str, str]] = json.loads(os.environ.get("AGENTS", "{}"))
    return registry
