"""Handing to a person what automation can not settle: the evidence, the obligation in one sentence, what may be done."""

from __future__ import annotations

from typing import Literal

from functions.domain.cases import Case, CaseCause, Resolution, case_id
from functions.domain.evidence import (
    allowed,
    alternates,
    cause_of,
    evidence,
    obligation,
    other_actions,
    reason,
    saga_evidence,
)
from functions.domain.ledger import head as heads
from functions.domain.ledger import undo as undos
from functions.domain.ledger.records import (
    Attention,
    Direction,
    ForwardState,
    Head,
    Saga,
    StepRecord,
)
from functions.ports import Change, Clock, Notices, Stale, Store
from functions.usecases import errors
from functions.usecases.announce_case import announce_case
from functions.usecases.records import changed, created, the_saga
from functions.usecases.world import StepRef

TRIES = 20
Side = Literal["do", "undo"]


def open_case(store: Store, clock: Clock, notices: Notices, ref: StepRef, side: Side) -> str | None:
    """Open the case of a step that its Task gave up; answers the case's id, or None where nothing is owed.

    A step that turns out to be completed needs no person but a new driver: its own one is ending.
    """
    for _ in range(TRIES):
        saga = the_saga(store, ref.saga_id)
        if ref.epoch < saga.head.epoch:
            raise errors.Superseded(f"{ref.saga_id}: driver {ref.epoch} of {saga.head.epoch}")
        step = saga.steps[ref.index]
        if step.case is not None:
            announce_case(store, clock, notices, step.case)
            return step.case
        if _nothing_owed(saga, step, side):
            _drive_again(store, clock, saga.head)
            return None
        # Opened by this write or by somebody else's: the next look finds it, and announces it.
        if undos.came_too_late(step):
            _open(store, clock, saga, step, "do", CaseCause.LATE_EFFECT)
        else:
            _open(store, clock, saga, step, side, None)
    raise errors.StillRunning(f"{ref.saga_id} keeps changing")


def open_late_case(
    store: Store, clock: Clock, notices: Notices, saga: Saga, step: StepRecord
) -> None:
    """Open the case of an effect that arrived too late, at a step that has none open."""
    cause = CaseCause.SECOND_EFFECT if step.doubled else CaseCause.LATE_EFFECT
    opened = _open(store, clock, saga, step, "do", cause)
    if opened is not None:
        announce_case(store, clock, notices, opened)


def open_saga_case(
    store: Store, clock: Clock, notices: Notices, saga: Saga, why: str | None = None
) -> None:
    """Open the case of a saga that automation could not bring to an end, or can not even begin to drive."""
    head, now = saga.head, clock.now()
    case = Case(
        id=case_id(head.saga_id, 0, "saga", head.version),
        tenant=head.tenant,
        catalogue=head.catalogue,
        group=head.operators,
        saga_id=head.saga_id,
        request_id=head.request_id,
        direction="saga",
        cause=CaseCause.CANNOT_RESUME,
        obligation="This saga has not ended, and no execution could bring it to an end.",
        why=why or f"{head.epoch} executions were started; the last was {head.execution}.",
        evidence=saga_evidence(saga),
        allowed=(Resolution.RETRY,),
        created_at=now,
        open=f"case#{head.tenant}",
        due_shard=heads.due_shard(head.saga_id),
        due_at=now,
    )
    attended = heads.attend(head, Attention.MANUAL, now=now)
    attended = attended.model_copy(update={"cases": (*head.cases, case.id)})
    try:
        store.write([created(case), changed(head, attended)])
    except Stale:
        # Somebody else has moved the saga on, or opened this very case.
        return
    announce_case(store, clock, notices, case.id)


def _nothing_owed(saga: Saga, step: StepRecord, side: Side) -> bool:
    if side == "do":
        return step.forward.state is ForwardState.COMPLETED
    turned = saga.head.direction is Direction.COMPENSATING
    return not turned or undos.is_settled(step) or bool(undos.unmet(saga, step.index))


def _drive_again(store: Store, clock: Clock, head: Head) -> None:
    if head.outcome is not None or head.direction is Direction.COMPENSATING:
        return
    try:
        store.write([changed(head, heads.want(head, "resume", now=clock.now()))])
    except Stale:
        # Whoever wrote the head meanwhile knows more; the sweeper looks again in any case.
        return


def _open(
    store: Store, clock: Clock, saga: Saga, step: StepRecord, side: Side, why: CaseCause | None
) -> str | None:
    now = clock.now()
    case = _case(saga, step, side, why or cause_of(step, side), now)
    handed = step.model_copy(update={"case": case.id, "cases": step.cases + 1})
    if why is not None:
        # A late effect has its case now; one that turned up beside another case gets its own after that.
        handed = handed.model_copy(update={"late": None, "doubled": False})
    if side == "undo":
        handed = undos.block(handed)
    attention = Attention.BLOCKED if side == "undo" else Attention.MANUAL
    head = heads.attend(saga.head, attention, now=now)
    changes: list[Change] = [created(case), changed(step, handed)]
    if head != saga.head:
        changes.append(changed(saga.head, head))
    try:
        store.write(changes)
    except Stale:
        return None
    return case.id


def _case(saga: Saga, step: StepRecord, side: Side, why: CaseCause, now: int) -> Case:
    head = saga.head
    return Case(
        id=case_id(head.saga_id, step.index, side, step.cases + 1),
        tenant=head.tenant,
        catalogue=head.catalogue,
        group=head.operators,
        saga_id=head.saga_id,
        request_id=head.request_id,
        index=step.index,
        direction=side,
        cause=why,
        obligation=obligation(step, side, why),
        why=reason(step, side, why),
        evidence=evidence(saga, step),
        allowed=allowed(head, step, why, side),
        alternates=alternates(step, why) if side == "undo" else (),
        other_actions=other_actions(step) if side == "undo" else (),
        created_at=now,
        open=f"case#{head.tenant}",
        due_shard=heads.due_shard(head.saga_id),
        due_at=now,
    )
