"""Records of the ledger for tests of its transitions, and strategies that make them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from functions.domain.catalogue import Kind
from functions.domain.ledger.forward import Lease
from functions.domain.ledger.records import (
    AttemptEntry,
    AuthorityReference,
    Forward,
    ForwardState,
    Head,
    Pivot,
    Provenance,
    Saga,
    StepRecord,
    Undo,
    UndoState,
)
from functions.domain.outcome import (
    Applied,
    Finding,
    NotApplied,
    NotFound,
    Outcome,
    Receipt,
    RefusalCause,
    Refused,
    Tombstoned,
    Unknown,
    UnknownCause,
)

NOW = 1_800_000_000_000
LEASE = Lease(call=16_000, grace=5_000)
HOLDS = LEASE.call + LEASE.grace
SETTLES_AFTER = 60_000
DIGEST = "d" * 64
AUTHORITY = AuthorityReference(role="shop-run", scope="shop", credential="shop")
ONE, OTHER = Receipt(resource="res-1", version="1"), Receipt(resource="res-2", version="2")
INPUTS = {"resource": "res-1"}


def step(index: int = 0, **changes: Any) -> StepRecord:
    """A compensable step as admission leaves it; `changes` to its forward command."""
    return StepRecord(
        saga_id="saga-1",
        index=index,
        step_id=f"s{index}",
        name=f"step_{index}",
        step_version="1",
        kind=Kind.COMPENSABLE,
        boundary=False,
        last=False,
        arguments="{}",
        arguments_digest=DIGEST,
        forward=Forward(
            key=f"saga-1:{index}:do", authority=AUTHORITY, budget=3, digest=DIGEST
        ).model_copy(update=changes),
        undo=Undo(
            key=f"saga-1:{index}:undo",
            authority=AUTHORITY,
            budget=3,
            operation=f"un_step_{index}",
        ),
    )


def undoing(record: StepRecord, **changes: Any) -> StepRecord:
    """The record with changes to its undo command."""
    assert record.undo is not None
    return record.model_copy(update={"undo": record.undo.model_copy(update=changes)})


def completed(index: int = 0, **changes: Any) -> StepRecord:
    """A step whose effect exists; `changes` to its undo command."""
    done = step(index, state=ForwardState.COMPLETED, receipt=ONE, fence=1, attempts=1)
    return undoing(done, inputs=INPUTS, condition="1", **changes)


def head(**changes: Any) -> Head:
    """The head of a saga that goes forward with its pivot ahead."""
    return Head(
        saga_id="saga-1",
        tenant="acme",
        request_id="request-1",
        catalogue="shop",
        catalogue_version="c",
        policy_version="1",
        plan_digest="p",
        step_count=2,
        provenance=Provenance(
            actor_type="agent",
            actor="agent-1",
            run_id="r",
            prompt_version="1",
            source_document_id="m",
        ),
        approvers="approvers",
        operators="operators",
        pivot=Pivot.AHEAD,
        created_at=NOW,
        updated_at=NOW,
        retain_for=30 * 86_400_000,
    ).model_copy(update=changes)


def saga(*steps: StepRecord, **changes: Any) -> Saga:
    """A saga of these steps; `changes` to its head."""
    return Saga(head=head(**changes), steps=steps)


receipts = st.sampled_from([ONE, OTHER])
refusals = st.builds(Refused, reason=st.just("no"), cause=st.sampled_from(RefusalCause))
unknowns = st.builds(Unknown, reason=st.just("silence"), cause=st.sampled_from(UnknownCause))
not_applied = st.just(NotApplied(reason="busy"))
negatives: st.SearchStrategy[Outcome] = st.one_of(refusals, not_applied)
outcomes: st.SearchStrategy[Outcome] = st.one_of(
    st.builds(Applied, receipt=receipts), negatives, unknowns
)
findings: st.SearchStrategy[Finding] = st.one_of(
    outcomes, st.just(NotFound()), st.just(Tombstoned())
)
entries = st.builds(
    AttemptEntry,
    fence=st.integers(0, 9),
    purpose=st.sampled_from(["call", "settle"]),
    started_at=st.integers(NOW - 10**6, NOW),
    by=st.just("saga-1-1"),
)


@st.composite
def steps(draw: st.DrawFn) -> StepRecord:
    """A step in any state that its fields allow, reachable or not."""
    state = draw(st.sampled_from(ForwardState))
    lease = draw(st.sampled_from([0, NOW - 1, NOW, NOW + 5_000]))
    forward = {
        "state": state,
        "attempts": draw(st.integers(0, 4)),
        "settlings": draw(st.integers(0, 9)),
        "fence": draw(st.integers(0, 5)),
        "lease_until": lease,
        "deadline": draw(st.sampled_from([0, NOW - SETTLES_AFTER, NOW])),
        "unsettled": draw(st.booleans()) and state is not ForwardState.COMPLETED,
        "barred": draw(st.booleans()),
        "conflicted": draw(st.booleans()),
        "history": tuple(draw(st.lists(entries, max_size=3))),
        "receipt": ONE if state is ForwardState.COMPLETED else None,
    }
    record = step(**forward)
    return undoing(
        record.model_copy(update={"case": draw(st.sampled_from([None, "case-1"]))}),
        state=draw(st.sampled_from(UndoState)),
        attempts=draw(st.integers(0, 4)),
        settlings=draw(st.integers(0, 9)),
        fence=draw(st.integers(0, 5)),
        lease_until=draw(st.sampled_from([0, NOW - 1, NOW, NOW + 5_000])),
        deadline=draw(st.sampled_from([0, NOW - SETTLES_AFTER, NOW])),
        unsettled=draw(st.booleans()),
        conflicted=draw(st.booleans()),
        needs_person=draw(st.booleans()),
        inputs=draw(st.sampled_from([None, INPUTS])),
    )
