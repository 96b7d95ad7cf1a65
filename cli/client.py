"""A typed client of the public API: what the commands, scripts and the demonstration use.

Each method is one call and gives the parsed JSON object of the answer. A refusal raises `ApiProblem` (status and the
problem's body), no usable answer `Unreachable`. Nothing is repeated by itself, but one renewal of an expired token.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from typing import Any, Protocol
from urllib.parse import quote

import httpx

from cli.errors import ApiProblem, Stop, Unreachable
from cli.http import checked_url, http_client, reaching

__all__ = ["ApiProblem", "Client", "TokenSource", "Unreachable"]

Body = dict[str, Any]
_UNAUTHORIZED = 401
# What the gateway before the API says for itself, without a problem's body.
_GATEWAYS_OWN = {
    401: "Not signed in, or the token is no longer valid",
    403: "Not allowed",
    413: "Body too large",
    429: "Too many requests",
}


class TokenSource(Protocol):
    """Where access tokens come from."""

    def current(self) -> str:
        """A token that should still be valid."""

    def renewed(self) -> str | None:
        """Another one, after `current` was refused; None where there is none."""


class Client:
    """The API at one address, as one caller. `token` is an access token, or a source that renews it."""

    def __init__(
        self, api_url: str, token: str | TokenSource, http: httpx.Client | None = None
    ) -> None:
        self._url = checked_url(api_url, "the API")
        self._http = http or http_client(self._url)
        self._auth = _Bearer(_Fixed(token) if isinstance(token, str) else token)

    def catalogue(self, name: str) -> Body:
        """The steps that a plan may choose from."""
        return self._get(f"/catalogues/{_part(name)}")

    def submit(self, plan: bytes | str | Mapping[str, Any]) -> Body:
        """Submit a plan; bytes and text are sent as they are. Gives `saga_id`, `request_id`, `attempts_left`."""
        if isinstance(plan, Mapping):
            plan = json.dumps(plan, ensure_ascii=False)
        content = plan.encode() if isinstance(plan, str) else plan
        return self._call("POST", "/plans", content=content)

    def request(self, request_id: str) -> Body:
        """How far a request has come: its attempts, their problems, its saga."""
        return self._get(f"/requests/{_part(request_id)}")

    def saga(self, saga_id: str) -> Body:
        """A saga: an agent sees its own and how it ended, people see all of it."""
        return self._get(f"/sagas/{_part(saga_id)}")

    def sagas(
        self,
        *,
        status: str | None = None,
        request_id: str | None = None,
        source_document_id: str | None = None,
        since: int | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Body:
        """One page of sagas, newest first: `sagas`, and `next` if there are more. `since` is in milliseconds."""
        return self._get(
            "/sagas",
            status=status,
            request_id=request_id,
            source_document_id=source_document_id,
            since=since,
            limit=limit,
            cursor=cursor,
        )

    def audit(self, saga_id: str) -> Body:
        """Who did what when, and what was seen, the first thing first: `entries`."""
        return self._get(f"/sagas/{_part(saga_id)}/audit")

    def review(self, *, since: int, limit: int | None = None, cursor: str | None = None) -> Body:
        """One page of sagas that ended otherwise than completed, the last one first: `sagas`, and `next`."""
        return self._get("/review", since=since, limit=limit, cursor=cursor)

    def cancel(self, saga_id: str) -> Body:
        """Turn a saga back before its point of no return."""
        return self._call("POST", f"/sagas/{_part(saga_id)}/cancel")

    def approvals(self, *, limit: int | None = None, cursor: str | None = None) -> Body:
        """One page of open approvals: `approvals`, and `next` if there are more."""
        return self._get("/approvals", limit=limit, cursor=cursor)

    def approval(self, approval_id: str) -> Body:
        """One approval: facts, what follows on yes and on no, and the agent's own words."""
        return self._get(f"/approvals/{_part(approval_id)}")

    def approve(
        self, approval_id: str, reason: str | None = None, *, binds: str | None = None
    ) -> Body:
        """Agree. Saying the same again is answered the same. `binds` is the digest that was shown."""
        return self._decide(approval_id, "approve", reason, binds)

    def reject(self, approval_id: str, reason: str, *, binds: str | None = None) -> Body:
        """Refuse, with the reason that the agent and the operators read."""
        return self._decide(approval_id, "reject", reason, binds)

    def cases(self, *, limit: int | None = None, cursor: str | None = None) -> Body:
        """One page of open cases: `cases`, and `next` if there are more."""
        return self._get("/cases", limit=limit, cursor=cursor)

    def case(self, case_id: str) -> Body:
        """One case with all of its evidence."""
        return self._get(f"/cases/{_part(case_id)}")

    def claim(self, case_id: str) -> Body:
        """Take a case for fifteen minutes, or renew one's own claim."""
        return self._call("POST", f"/cases/{_part(case_id)}/claim")

    def renew(self, case_id: str) -> Body:
        """Keep one's own claim for another fifteen minutes."""
        return self._on_case(case_id, "renewal", None)

    def release(self, case_id: str, note: str | None = None) -> Body:
        """Give one's own claim back."""
        return self._on_case(case_id, "release", {"note": note})

    def hand_over(self, case_id: str, to: str, note: str | None = None) -> Body:
        """Give one's own claim to a named person of the group."""
        return self._on_case(case_id, "handover", {"to": to, "note": note})

    def observe(self, case_id: str, kind: str, text: str, facts: Mapping[str, str]) -> Body:
        """Add what one found (`observed`), or is about to do by hand (`attempted`)."""
        body = {"kind": kind, "text": text, "facts": dict(facts)}
        return self._on_case(case_id, "observations", body)

    def resolve(
        self,
        case_id: str,
        resolution: str,
        evidence: str | None = None,
        attempts: int | None = None,
    ) -> Body:
        """Settle a case that one holds; only `retry` needs no evidence, and `reopen` a number of attempts."""
        body = {"resolution": resolution, "evidence": evidence, "attempts": attempts}
        return self._on_case(case_id, "resolution", body)

    def propose(
        self,
        case_id: str,
        resolution: str,
        reason: str,
        alternate: str | None = None,
        action: str | None = None,
    ) -> Body:
        """Propose what two people have to agree to, for a case that one holds."""
        body = {
            "resolution": resolution,
            "reason": reason,
            "alternate": alternate,
            "action": action,
        }
        return self._on_case(case_id, "proposal", body)

    def answer_proposal(
        self, case_id: str, proposal_id: str, answer: str, reason: str | None = None
    ) -> Body:
        """Confirm or refuse another person's proposal, or withdraw one's own."""
        body = {"proposal_id": proposal_id, "answer": answer, "reason": reason}
        return self._on_case(case_id, "proposal/answer", body)

    def _on_case(self, case_id: str, what: str, body: Mapping[str, Any] | None) -> Body:
        said = None if body is None else {k: v for k, v in body.items() if v is not None}
        content = None if said is None else _json(said)
        return self._call("POST", f"/cases/{_part(case_id)}/{what}", content=content)

    def _decide(
        self, approval_id: str, decision: str, reason: str | None, binds: str | None
    ) -> Body:
        said = {"decision": decision, "reason": reason, "binds": binds}
        body = {name: value for name, value in said.items() if value is not None}
        return self._call("POST", f"/approvals/{_part(approval_id)}/decision", content=_json(body))

    def take_notices(self, *, most: int = 1, wait: int = 0) -> Body:
        """Notices of open cases from the queue, hidden from others for fifteen minutes: `notices`."""
        return self._call("POST", "/notices/take", content=_json({"most": most, "wait": wait}))

    def acknowledge(self, case_id: str, receipt: str) -> Body:
        """Take a notice off the queue; refused as long as its case is open."""
        body = {"case_id": case_id, "receipt": receipt}
        return self._call("POST", "/notices/acknowledgement", content=_json(body))

    def _get(self, path: str, **query: str | int | None) -> Body:
        return self._call("GET", path, query={k: v for k, v in query.items() if v is not None})

    def _call(
        self,
        method: str,
        path: str,
        *,
        content: bytes | None = None,
        query: Mapping[str, str | int] | None = None,
    ) -> Body:
        headers = {} if content is None else {"content-type": "application/json"}
        with reaching(self._url):
            response = self._http.request(
                method,
                self._url + path,
                content=content,
                params=dict(query) if query else None,
                headers=headers,
                auth=self._auth,
            )
        return _answer(response)


class _Bearer(httpx.Auth):
    """Puts the token in, and once more a fresh one if it was refused: a refused call has done nothing."""

    def __init__(self, tokens: TokenSource) -> None:
        self._tokens = tokens

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        request.headers["Authorization"] = f"Bearer {self._tokens.current()}"
        response = yield request
        if response.status_code == _UNAUTHORIZED and (fresh := self._tokens.renewed()):
            request.headers["Authorization"] = f"Bearer {fresh}"
            yield request


class _Fixed:
    """One token, and no other."""

    def __init__(self, token: str) -> None:
        self._token = token

    def current(self) -> str:
        return self._token

    def renewed(self) -> None:
        return None


def _answer(response: httpx.Response) -> Body:
    try:
        body = json.loads(response.content)
    except ValueError:
        body = None
    if response.is_success and isinstance(body, dict):
        return body
    status = response.status_code
    if isinstance(body, dict) and isinstance(body.get("problems"), list):
        raise ApiProblem(status, body)
    if status in _GATEWAYS_OWN:
        raise ApiProblem(status, {"title": _GATEWAYS_OWN[status], "status": status})
    raise Unreachable(
        f"{response.url.copy_with(query=None)} answered {status}, and not as sagaplane does.",
        "Is this the address of its API? Otherwise ask again in a moment.",
    )


def _part(value: str) -> str:
    if value in {"", ".", ".."}:
        raise Stop(f"“{value}” is no id.")
    return quote(value, safe="")


def _json(body: Mapping[str, Any]) -> bytes:
    return json.dumps(body, ensure_ascii=False).encode()
