"""Every command that answers from the API: what is typed, which call answers it, with what."""

from __future__ import annotations

from collections.abc import Callable

from tests.unit.cli import bodies

Answered = tuple[tuple[str, ...], str, Callable[[], bodies.Body]]
COMMANDS: tuple[Answered, ...] = (
    (("catalogue", "show", "fulfilment"), "GET /catalogues/fulfilment", bodies.catalogue),
    (("submit", "-"), "POST /plans", bodies.admission),
    (("request", "r1"), "GET /requests/r1", bodies.request),
    (("show", "saga1"), "GET /sagas/saga1", bodies.people_saga),
    (("show", "saga1"), "GET /sagas/saga1", bodies.agent_saga),
    (("sagas",), "GET /sagas", bodies.sagas),
    (("cancel", "saga1"), "POST /sagas/saga1/cancel", bodies.people_saga),
    (("approvals",), "GET /approvals", bodies.approvals),
    (("approvals", "show", "a1"), "GET /approvals/a1", bodies.approval),
    (("approvals", "approve", "a1"), "POST /approvals/a1/decision", bodies.approval),
    (
        ("approvals", "reject", "a1", "--reason", "no"),
        "POST /approvals/a1/decision",
        bodies.approval,
    ),
    (("cases",), "GET /cases", bodies.cases),
    (("cases", "show", "c1"), "GET /cases/c1", bodies.case),
    (("cases", "claim", "c1"), "POST /cases/c1/claim", bodies.case),
    (("cases", "resolve", "c1", "retry"), "POST /cases/c1/resolution", bodies.case),
    (("cases", "renew", "c1"), "POST /cases/c1/renewal", bodies.case),
    (("cases", "release", "c1"), "POST /cases/c1/release", bodies.case),
    (("cases", "hand-over", "c1", "olga"), "POST /cases/c1/handover", bodies.case),
    (("cases", "observe", "c1", "seen"), "POST /cases/c1/observations", bodies.case),
    (
        ("cases", "propose", "c1", "accept", "--reason", "it stays"),
        "POST /cases/c1/proposal",
        bodies.proposed_case,
    ),
)
