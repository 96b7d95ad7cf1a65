"""One OpenAPI document from the two resolvers: their routes and models, and what they cannot know of themselves.

Powertools describes routes, parameters and answers. The plan's own model, who may call, and the problems (RFC 9457) are
added here, from the same models and the same list of codes that the handlers use.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any

from pydantic import BaseModel

from functions.domain.codes import Code
from functions.domain.plan import Plan
from functions.domain.problems import PROBLEM_JSON, ProblemDetails
from functions.handlers import agent_api, people_api
from infra.documents.operations import AGENTS, OPERATIONS, PEOPLE, Operation
from infra.sources import ROOT

JSON = dict[str, Any]
SCOPES = {
    "catalogue.read": "Read the catalogue of steps",
    "plans.submit": "Propose a plan",
    "sagas.read": "Follow its own requests and sagas",
}
_RESOURCE_SERVER = "sagaplane"
_REF = "#/components/schemas/"
_GATEWAY = {401, 403, 429, 503}
"""Statuses that API Gateway also answers by itself, before any code of ours has seen the request."""
_LEFT_OUT = {"HTTPValidationError", "ValidationError", "ResponseValidationError"}
"""Powertools' own errors: ours are problems."""


def text() -> str:
    """The document as it is committed."""
    return json.dumps(document(), indent=2, ensure_ascii=False) + "\n"


def document() -> JSON:
    """The whole description. Raises KeyError for a route that `operations.py` does not know."""
    resolved = [json.loads(api.app.get_openapi_json_schema()) for api in (agent_api, people_api)]
    paths = _merged(description["paths"] for description in resolved)
    return {
        "openapi": "3.1.0",
        "info": _info(),
        "servers": [
            {
                "url": "{api_url}",
                "description": "The output `ApiUrl` of the deployment.",
                "variables": {"api_url": {"default": "https://api.example.com"}},
            }
        ],
        "paths": {path: _path(path, methods) for path, methods in sorted(paths.items())},
        "components": {
            "schemas": dict(sorted(_schemas(resolved).items())),
            "securitySchemes": _security_schemes(),
        },
    }


def _info() -> JSON:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return {
        "title": "sagaplane",
        "version": project["version"],
        "summary": "Agents propose plans, people decide, the orchestrator runs and undoes.",
        "description": (
            f"Every refusal is `{PROBLEM_JSON}` (RFC 9457) with stable codes, see problems.md; "
            "`x-codes` lists those that an answer may hold. Preconditions of a catalogue add codes of "
            "their own, which answer as `precondition_failed` does. API Gateway itself refuses a missing "
            "or invalid token, a missing scope, and too many requests with a plain JSON `message`."
        ),
        "license": {"name": "Apache-2.0", "identifier": project["license"]},
    }


def _path(path: str, methods: Mapping[str, JSON]) -> JSON:
    return {
        method: _operation(_known(method, path), described)
        for method, described in sorted(methods.items())
    }


def _known(method: str, path: str) -> Operation:
    for operation in OPERATIONS:
        if (operation.method, operation.path) == (method, path):
            return operation
    raise KeyError(f"{method} {path} is not in operations.py")


def _operation(operation: Operation, described: JSON) -> JSON:
    summary, _, more = (operation.handler.__doc__ or "").strip().partition(". ")
    made: JSON = {
        "operationId": operation.handler.__name__,
        "tags": [AGENTS if operation.scope else PEOPLE],
        "summary": summary.rstrip("."),
        **({"description": more} if more else {}),
        "security": _security(operation),
        **{k: v for k, v in described.items() if k in {"parameters", "requestBody"}},
    }
    answered = described["responses"]["200"] | {"description": "Done."}
    made["responses"] = {"200": answered, **_refusals(operation)}
    if operation.handler is agent_api.post_plan:
        made["requestBody"] = _json_content(Plan) | {"required": True}
        made["responses"] = {
            "200": answered | {"description": "This very plan was admitted before."},
            "201": answered | {"description": "Admitted: a saga was made for it."},
            **_refusals(operation),
        }
    return made


def _security(operation: Operation) -> list[JSON]:
    agents = [{AGENTS: [f"{_RESOURCE_SERVER}/{operation.scope}"]}] if operation.scope else []
    return [*agents, *([{PEOPLE: []}] if operation.people else [])]


def _refusals(operation: Operation) -> JSON:
    by_status = sorted(operation.all_codes, key=lambda code: code.status)
    return {
        str(status): _refusal(status, list(codes))
        for status, codes in groupby(by_status, key=lambda code: code.status)
    }


def _refusal(status: int, codes: list[Code]) -> JSON:
    content = {PROBLEM_JSON: {"schema": {"$ref": f"{_REF}{ProblemDetails.__name__}"}}}
    if status in _GATEWAY:
        content["application/json"] = {"schema": {"$ref": f"{_REF}GatewayMessage"}}
    return {
        "description": "\n".join(f"- `{code.value}`: {code.doc}" for code in codes),
        "content": content,
        "x-codes": [code.value for code in codes],
    }


def _json_content(model: type[BaseModel]) -> JSON:
    return {"content": {"application/json": {"schema": {"$ref": f"{_REF}{model.__name__}"}}}}


def _schemas(resolved: Iterable[JSON]) -> JSON:
    gateway = {
        "type": "object",
        "description": "What API Gateway says by itself.",
        "properties": {"message": {"type": "string"}},
        "required": ["message"],
    }
    schemas = _merged(description["components"]["schemas"] for description in resolved)
    kept = {name: schema for name, schema in schemas.items() if name not in _LEFT_OUT}
    # What an agent claims, beside the ledger's Provenance, which has the actor of the token too.
    plan = _defined(Plan, renamed={"Provenance": "ClaimedProvenance"})
    return _merged([kept, plan, _defined(ProblemDetails), {"GatewayMessage": gateway}])


def _defined(model: type[BaseModel], renamed: Mapping[str, str] | None = None) -> JSON:
    """The schemas of a model and of all that it is made of, by name."""
    schema = model.model_json_schema(ref_template=_REF + "{model}")
    found = {model.__name__: schema, **schema.pop("$defs", {})}
    written = json.dumps(found)
    for old, new in (renamed or {}).items():
        written = written.replace(f'"{_REF}{old}"', f'"{_REF}{new}"')
        written = written.replace(f'"{old}": {{', f'"{new}": {{')
    # As Powertools writes them: a default of null says nothing.
    made: JSON = json.loads(
        written,
        object_hook=lambda o: {k: v for k, v in o.items() if (k, v) != ("default", None)},
    )
    return made


def _merged(parts: Iterable[Mapping[str, Any]]) -> JSON:
    """All parts in one. Raises ValueError where two of them mean different things by one name."""
    whole: JSON = {}
    for part in parts:
        for name, value in part.items():
            if whole.setdefault(name, value) != value:
                raise ValueError(f"two different things are called {name}")
    return whole


def _security_schemes() -> JSON:
    auth = "https://auth.example.com/oauth2"
    scopes = {f"{_RESOURCE_SERVER}/{name}": told for name, told in SCOPES.items()}
    return {
        AGENTS: {
            "type": "oauth2",
            "description": "An agent's client credentials, at the deployment's output `AuthUrl`.",
            "flows": {"clientCredentials": {"tokenUrl": f"{auth}/token", "scopes": scopes}},
        },
        PEOPLE: {
            "type": "oauth2",
            "description": "A person's sign-in with PKCE, at the same address. Groups decide what they may do.",
            "flows": {
                "authorizationCode": {
                    "authorizationUrl": f"{auth}/authorize",
                    "tokenUrl": f"{auth}/token",
                    "scopes": {"openid": "Sign in", "profile": "Be called by name"},
                }
            },
        },
    }
