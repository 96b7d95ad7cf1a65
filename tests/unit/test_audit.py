"""The audit of a saga: everything that happened, who did it and what was seen, in order; and what the review lists."""

from __future__ import annotations

from typing import Any

import pytest

from functions.domain.approvals import ApprovalState
from functions.domain.cases import Resolution
from functions.domain.ledger import head as heads
from functions.domain.ledger.records import Attention, SagaOutcome
from functions.memory.store import MemoryStore
from functions.usecases import errors
from functions.usecases.audit_saga import audit_saga
from functions.usecases.begin_compensation import begin_compensation
from functions.usecases.claim_case import claim_case
from functions.usecases.decide_approval import decide_approval
from functions.usecases.finish_compensation import finish_compensation
from functions.usecases.list_records import ended_otherwise
from functions.usecases.open_case import open_case, open_saga_case
from functions.usecases.records import changed, created
from functions.usecases.request_approval import request_approval
from functions.usecases.resolve_case import resolve_case
from functions.usecases.run_step import run_step
from functions.usecases.undo_step import undo_step
from functions.usecases.views.audit import AuditEntry, audit
from tests.unit.kernel import SAGA, SECRET, SETTLES_AFTER, Bench, needs

TENANTS = frozenset({"acme"})
OPERATOR: dict[str, Any] = {
    "tenants": TENANTS,
    "person": "olga",
    "groups": frozenset({"operators"}),
}
TOKEN = "the-machines-token"


def entries(bench: Bench) -> list[AuditEntry]:
    gathered = audit_saga(bench.store, SAGA, tenants=TENANTS)
    assert gathered is not None
    return audit(gathered).entries


def lines(bench: Bench) -> list[str]:
    return [
        " ".join(str(p) for p in (e.kind, e.step, e.name, e.what, e.who) if p is not None)
        for e in entries(bench)
    ]


@pytest.fixture
def told() -> Bench:
    """Reserved and held; rejected; an undo that lost its authority; a person; undone."""
    bench = Bench()
    bench.verdict = needs()
    bench.admit()
    for index in (0, 1):
        bench.clock.pass_(1)
        run_step(bench.world_at(index), bench.ref(index))
    bench.clock.pass_(1)
    with pytest.raises(errors.ApprovalRequired):
        run_step(bench.world_at(2), bench.ref(2))
    request_approval(bench.store, bench.callbacks, bench.notices, bench.ref(2), TOKEN)
    bench.clock.pass_(1)
    decide_approval(
        bench.store,
        bench.clock,
        bench.callbacks,
        bench.step(2).approval or "",
        tenants=TENANTS,
        person="ann",
        groups=frozenset({"approvers"}),
        decision="reject",
        reason="not this one",
    )
    bench.clock.pass_(1)
    begin_compensation(bench.store, bench.clock, bench.ref(2))
    bench.credentials.values.clear()
    bench.clock.pass_(1)
    with pytest.raises(errors.AuthorityLost):
        undo_step(bench.world_at(1), bench.ref(1))
    bench.clock.pass_(1)
    case = open_case(bench.store, bench.clock, bench.notices, bench.ref(1), "undo")
    bench.credentials.values["shop/shop"] = SECRET
    bench.clock.pass_(60)
    claim_case(bench.store, bench.clock, case or "", **OPERATOR)
    bench.clock.pass_(1)
    resolve_case(
        bench.store,
        bench.clock,
        case or "",
        **OPERATOR,
        resolution=Resolution.RETRY,
        evidence=None,
        settles_after=int(SETTLES_AFTER.total_seconds() * 1000),
    )
    for index in (1, 0):
        bench.clock.pass_(1)
        undo_step(bench.world_at(index), bench.ref(index))
    bench.clock.pass_(1)
    finish_compensation(bench.store, bench.clock, SAGA)
    return bench


def test_everything_that_happened_is_there_in_order_with_who_did_it(told: Bench) -> None:
    driver = f"{SAGA}-1"
    assert lines(told) == [
        "saga admitted agent agent-1",
        f"forward 0 reserve call: applied {driver}",
        f"forward 1 hold call: applied {driver}",
        "approval 2 charge asked",
        "approval 2 charge reject ann",
        "saga turned back",
        f"undo 1 un_hold call: refused (authority) {driver}",
        "case 1 hold opened",
        "case 1 hold claimed olga",
        "case 1 hold retry olga",
        f"undo 1 un_hold call: applied {driver}",
        f"undo 0 un_reserve call: applied {driver}",
        "saga compensated",
    ]


def test_what_was_seen_is_there_and_what_it_was_done_with(told: Bench) -> None:
    found = {(e.kind, e.step, e.what): e for e in entries(told)}
    reserved = found["forward", 0, "call: applied"]
    receipt = told.step(0).forward.receipt
    assert receipt is not None
    assert reserved.facts["receipt"] == receipt.resource
    assert reserved.ref == told.key(0)
    assert found["approval", 2, "asked"].text == "above the limit"
    assert found["approval", 2, "reject"].text == "not this one"
    assert found["case", 1, "opened"].facts["cause"] == "authority_lost"
    assert "not this one" in (found["saga", None, "turned back"].text or "")


def test_no_token_and_no_credential_is_in_it(told: Bench) -> None:
    gathered = audit_saga(told.store, SAGA, tenants=TENANTS)
    assert gathered is not None
    assert gathered.approvals[0].token or gathered.approvals[0].state is ApprovalState.REJECTED
    text = audit(gathered).model_dump_json()
    assert TOKEN not in text
    assert SECRET not in text


def test_every_round_of_asking_is_there(told: Bench) -> None:
    gathered = audit_saga(told.store, SAGA, tenants=TENANTS)
    assert gathered is not None
    [first] = gathered.approvals
    second = first.model_copy(update={"id": f"{SAGA}-2-2", "round": 2, "decisions": ()})
    step = told.step(2)
    asked = step.model_copy(update={"rounds": 2, "approval": second.id})
    told.store.write([created(second), changed(step, asked)])
    assert [e.ref for e in entries(told) if e.what == "asked"] == [first.id, second.id]


def test_the_case_of_a_saga_as_a_whole_is_found_again_after_it_was_settled() -> None:
    bench = Bench()
    bench.admit()
    open_saga_case(bench.store, bench.clock, bench.notices, bench.saga)
    [case] = bench.head.cases
    assert bench.head.attention is Attention.MANUAL
    claim_case(bench.store, bench.clock, case, **OPERATOR)
    resolve_case(
        bench.store,
        bench.clock,
        case,
        **OPERATOR,
        resolution=Resolution.RETRY,
        evidence=None,
        settles_after=0,
    )
    found = [(e.what, e.who) for e in entries(bench) if e.kind == "case"]
    assert found == [("opened", None), ("claimed", "olga"), ("retry", "olga")]


def test_attempts_that_are_no_longer_kept_are_said_to_be_left_out() -> None:
    bench = Bench()
    bench.admit()
    run_step(bench.world_at(0), bench.ref(0))
    step = bench.step(0)
    [only] = step.forward.history
    many = [only.model_copy(update={"fence": only.fence + n}) for n in range(1, 60)]
    forward = step.forward
    for entry in many:
        forward = forward.model_copy(update={"history": forward.entered(entry)})
    bench.store.write([changed(step, step.model_copy(update={"forward": forward}))])
    found = [e.what for e in entries(bench) if e.kind == "forward"]
    assert found[1] == "left out"
    assert found.count("left out") == 1
    assert len(found) == 41


def test_a_saga_of_another_tenant_is_not_there(told: Bench) -> None:
    assert audit_saga(told.store, SAGA, tenants=frozenset({"globex"})) is None
    assert audit_saga(told.store, "no-such-saga", tenants=TENANTS) is None


# The review


def test_what_was_compensated_is_listed_and_what_was_completed_is_not(told: Bench) -> None:
    assert told.head.review == "acme"
    listed, more = ended_otherwise(told.store, TENANTS, since=0, limit=10, start=None)
    assert ([saga.head.saga_id for saga in listed], more) == ([SAGA], None)
    completed = heads.complete(told.head.model_copy(update={"accepted": False}), now=1)
    assert (completed.outcome, completed.review) == (SagaOutcome.COMPLETED, None)
    accepted = heads.complete(told.head.model_copy(update={"accepted": True}), now=1)
    assert (accepted.outcome, accepted.review) == (SagaOutcome.RESOLVED_MANUALLY, "acme")


def ended(store: MemoryStore, told: Bench, saga_id: str, tenant: str, at: int) -> None:
    mine = {"saga_id": saga_id, "tenant": tenant, "review": tenant, "ended_at": at}
    head = told.head.model_copy(update={**mine, "step_count": 1})
    step = told.step(0).model_copy(update={"saga_id": saga_id})
    store.write([created(head), created(step)])


def test_the_review_goes_through_all_pages_of_all_tenants_and_stops_at_its_time(
    told: Bench,
) -> None:
    store = MemoryStore()
    for number in range(5):
        ended(store, told, f"acme-{number}", "acme", 100 + number)
        ended(store, told, f"globex-{number}", "globex", 200 + number)
    ended(store, told, "other-0", "initech", 300)
    both = frozenset({"acme", "globex"})
    found, start = [], None
    while True:
        page, start = ended_otherwise(store, both, since=102, limit=2, start=start)
        found += [saga.head.saga_id for saga in page]
        if start is None:
            break
    assert found == [
        *("acme-4", "acme-3", "acme-2"),
        *("globex-4", "globex-3", "globex-2", "globex-1", "globex-0"),
    ]
