"""What the API answers, as its own views allow it: each is checked when it is made."""

from __future__ import annotations

import json
from typing import Any

from functions.catalogues.fulfilment.catalogue import CATALOGUE
from functions.handlers.agent_api import Admission
from functions.handlers.cases_api import CaseList
from functions.handlers.notices_api import NoticeList
from functions.handlers.people_api import ApprovalList, SagaList
from functions.usecases.views.audit import Audit
from functions.usecases.views.cases import CaseView
from functions.usecases.views.catalogue import catalogue_view
from functions.usecases.views.people import ApprovalView
from functions.usecases.views.request import RequestView
from functions.usecases.views.saga import AgentSaga, PeopleSaga, View

AT = "2026-11-30T16:12:00.123Z"
Body = dict[str, Any]
STEPS = (
    ("reserve_stock", "compensable", "release_stock"),
    ("authorize_payment", "compensable", "void_authorization"),
    ("capture_payment", "pivot", None),
    ("create_shipment", "retriable", None),
)


def _as(view: type[View], body: Body) -> Body:
    view.model_validate_json(json.dumps(body))
    return body


def catalogue() -> Body:
    return json.loads(catalogue_view(CATALOGUE).model_dump_json())  # type: ignore[no-any-return]


def admission() -> Body:
    body = {"saga_id": "saga1", "request_id": "r1", "attempts_left": 2}
    return _as(Admission, body)


def agent_saga(status: str = "running", pivot: str = "ahead", done: int = 1) -> Body:
    """An agent's saga whose first `done` steps are completed."""
    steps = [
        {
            "index": index,
            "id": f"s{index}",
            "name": name,
            "kind": kind,
            "sentence": f"{name} of order 4471",
            "state": "completed" if index < done else "prepared",
            "undo": "pending" if undo else None,
            "reason": None,
            "notice": None,
        }
        for index, (name, kind, undo) in enumerate(STEPS)
    ]
    body = {
        "saga_id": "saga1",
        "request_id": "r1",
        "catalogue": "fulfilment",
        "status": status,
        "final": status in {"completed", "compensated", "resolved_manually"},
        "reason": None,
        "pivot": pivot,
        "steps": steps,
        "created_at": AT,
        "updated_at": AT,
        "ended_at": None,
    }
    return _as(AgentSaga, body)


def people_saga(status: str = "running", pivot: str = "ahead", done: int = 1) -> Body:
    """The same with everything that people see."""
    steps = [
        {
            "index": index,
            "id": f"s{index}",
            "name": name,
            "version": "1",
            "kind": kind,
            "boundary": kind == "pivot",
            "sentence": f"{name} of order 4471",
            "arguments": '{"order_id":"4471"}',
            "arguments_digest": f"digest-{index}",
            "requires": {},
            "forward": _command(index, "do", "completed" if index < done else "prepared")
            | {"barred": False, "by_hand": False, "receipt": _receipt() if index < done else None},
            "undo": _command(index, "undo", "pending")
            | {
                "operation": undo,
                "waits_for": [1] if index == 0 else [],
                "inputs": {"reservation_id": "res-1"},
                "condition": "7",
                "result": None,
                "notice": None,
            }
            if undo
            else None,
            "case": None,
            "approval": None,
        }
        for index, (name, kind, undo) in enumerate(STEPS)
    ]
    body = {
        "saga_id": "saga1",
        "tenant": "default",
        "request_id": "r1",
        "catalogue": "fulfilment",
        "catalogue_version": "c1",
        "policy_version": "p1",
        "status": status,
        "final": status in {"completed", "compensated", "resolved_manually"},
        "direction": "forward",
        "pivot": pivot,
        "reason": "a reason",
        "provenance": {
            "actor_type": "agent",
            "actor": "support",
            "owner": "customer support",
            "run_id": "run-1",
            "prompt_version": "prompt-3",
            "source_document_id": "mail-4471",
        },
        "rationale": "The customer asks for it.",
        "notes": ["A credit should be considered."],
        "machine": "machine-1",
        "execution": "saga1-1",
        "steps": steps,
        "created_at": AT,
        "updated_at": AT,
        "ended_at": None,
    }
    return _as(PeopleSaga, body)


def _command(index: int, side: str, state: str) -> Body:
    done = state == "completed"
    entry = {
        "fence": 1,
        "purpose": "call",
        "by": "saga1-1",
        "started_at": AT,
        "ended_at": AT,
        "outcome": "applied",
        "cause": None,
        "reason": "what was said",
    }
    return {
        "state": state,
        "key": f"saga1:{index}:{side}",
        "authority": {"role": f"role-{index}", "scope": "shop:write", "credential": "shop"},
        "attempts": int(done),
        "budget": 3,
        "unsettled": False,
        "history": [entry] if done else [],
    }


def _receipt() -> Body:
    return {"resource": "res-1", "version": "7", "details": {"quantity": "2"}}


def request() -> Body:
    problem = {
        "code": "unknown_step",
        "pointer": "/steps/2/name",
        "step": "credit",
        "message": "There is no such step.",
        "hint": "Leave it out.",
        "allowed": ["reserve_stock"],
    }
    attempt = {"at": AT, "plan_digest": "d" * 64, "saga_id": None, "problems": [problem]}
    body = {
        "request_id": "r1",
        "state": "open",
        "attempts_left": 2,
        "saga_id": None,
        "attempts": [attempt],
    }
    return _as(RequestView, body)


def approval(state: str = "open") -> Body:
    body = {
        "approval_id": "saga1-2-1",
        "saga_id": "saga1",
        "catalogue": "fulfilment",
        "step": "capture_payment",
        "sentence": "Capture 180.00 EUR for order 4471",
        "reason": "above 150.00 EUR",
        "state": state,
        "created_at": AT,
        "expires_at": AT,
        "group": "approvers",
        "needed": 1,
        "excluded": ["support-lead"],
        "again": None,
        "superseded_by": None,
        "arguments": '{"amount":"180.00"}',
        "binds": "b" * 64,
        "exists": ["Reserve 2 of LAMP-1"],
        "on_approve": ["Capture 180.00 EUR for order 4471"],
        "on_reject": ["release_stock: Reserve 2 of LAMP-1"],
        "decisions": [{"person": "ann", "decision": "approve", "at": AT, "reason": "fine"}],
        "agent": {"rationale": "The customer asks for it.", "notes": ["Consider a credit."]},
    }
    return _as(ApprovalView, body)


def approvals(following: str | None = None) -> Body:
    names = (
        "approval_id",
        "saga_id",
        "catalogue",
        "step",
        "sentence",
        "reason",
        "state",
        "group",
        "needed",
        "decisions",
        "created_at",
        "expires_at",
    )
    listed = {name: approval()[name] for name in names}
    return _as(ApprovalList, {"approvals": [listed], "next": following})


def case(state: str = "open") -> Body:
    body = {
        "case_id": "saga1-3-do-1",
        "saga_id": "saga1",
        "request_id": "r1",
        "catalogue": "fulfilment",
        "cause": "budget_spent",
        "obligation": "“Ship order 4471” has to be finished.",
        "state": state,
        "claimed_by": "olga",
        "claimed_until": AT,
        "handed_over_by": None,
        "proposed": None,
        "created_at": AT,
        "group": "operators",
        "why": "All 4 attempts are used up.",
        "step": 3,
        "direction": "do",
        "evidence": {
            "workflow": "saga1",
            "forward": {
                "key": "saga1:3:do",
                "history": [{"fence": 1, "started_at": 1796055961952}],
            },
            "unfinished": ["create_shipment"],
            "receipt": None,
        },
        "allowed": ["retry", "done"],
        "ways": [way("retry"), way("done")],
        "alternates": [],
        "other_actions": [],
        "proposal": None,
        "attempted": None,
        "resolution": "retry" if state == "settled" else None,
        "events": [{"at": AT, "who": "olga", "what": "claimed", "text": None, "facts": {}}],
        "settled_at": None,
        "agent": {"rationale": "The customer asks for it.", "notes": []},
    }
    return _as(CaseView, body)


def way(resolution: str, people: int = 1, **choices: list[str]) -> Body:
    """A way of settling a case, with what has to be said."""
    words = "evidence" if people == 1 else "reason"
    inputs = [{"name": words, "required": resolution != "retry", "choices": None}]
    inputs += [{"name": n, "required": True, "choices": c} for n, c in choices.items()]
    return {"resolution": resolution, "people": people, "inputs": inputs}


def proposed_case() -> Body:
    """A case of a lost authority, for which another principal is proposed."""
    other = {
        "role": "shop-on_call",
        "scope": "shop:write",
        "credential": None,
        "alternate": "on_call",
    }
    ways = [
        way("retry"),
        way("retry_with_alternate", 2, alternate=["on_call"]),
        way("another_action", 2, action=["refund"]),
        way("accept", 2),
    ]
    proposal = {
        "proposal_id": "saga1-3-do-1-p1",
        "resolution": "retry_with_alternate",
        "alternate": other,
        "action": None,
        "reason": "The role was removed.",
        "by": "olga",
        "at": AT,
    }
    noted = {"at": AT, "who": "olga", "what": "observed", "text": "Seen.", "facts": {"age": "3"}}
    changes = {
        "allowed": [way["resolution"] for way in ways],
        "ways": ways,
        "alternates": [other],
        "other_actions": [
            {
                "name": "refund",
                "authority": other | {"alternate": None},
                "budget": 3,
                "sentence": "Refund what was taken",
            }
        ],
        "proposal": proposal,
        "proposed": "retry_with_alternate",
        "handed_over_by": "otto",
        "events": [noted],
    }
    return _as(CaseView, case() | changes)


def cases() -> Body:
    left_out = {
        "group", "why", "step", "direction", "evidence", "allowed", "resolution", "events",
        "settled_at", "agent", "ways", "alternates", "other_actions", "proposal", "attempted",
    }  # fmt: skip
    listed = {name: value for name, value in case().items() if name not in left_out}
    return _as(CaseList, {"cases": [listed], "next": None})


def notices(*receipts: str) -> Body:
    [listed] = cases()["cases"]
    return _as(NoticeList, {"notices": [{"receipt": r, "case": listed} for r in receipts]})


def sagas(count: int = 1, following: str | None = None) -> Body:
    listed = {
        "saga_id": "saga1",
        "request_id": "r1",
        "source_document_id": "mail-4471",
        "catalogue": "fulfilment",
        "status": "completed",
        "reason": "a reason",
        "created_at": AT,
        "ended_at": AT,
    }
    return _as(SagaList, {"sagas": [listed] * count, "next": following})


def audit() -> Body:
    entry: Body = {
        "at": AT, "until": None, "kind": "saga", "step": None, "name": None,
        "who": "agent support-agent", "what": "admitted", "text": None, "ref": None, "facts": {},
    }  # fmt: skip
    undone = {
        **entry,
        "until": AT,
        "kind": "undo",
        "step": 0,
        "name": "release_stock",
        "who": "saga1-2",
        "what": "call: applied",
        "ref": "saga1:0:undo",
        "facts": {"result": "r-1"},
    }
    return _as(Audit, {"saga_id": "saga1", "entries": [entry, undone]})


def problems(*codes: str, **more: Any) -> Body:
    """The body of a refusal."""
    return {
        "type": "urn:sagaplane:problem:x",
        "title": "Plan rejected",
        "status": 422,
        "detail": f"{len(codes)} problems.",
        "problems": [
            {
                "code": code,
                "pointer": f"/steps/{index}/name",
                "step": f"s{index}",
                "message": f"Message of {code}.",
                "hint": f"Hint of {code}.",
                "allowed": ["reserve_stock", "authorize_payment"],
            }
            for index, code in enumerate(codes)
        ],
        **more,
    }
