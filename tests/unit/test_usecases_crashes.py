"""Whole sagas, killed at every point on their way, and pairs of workers that meet at every point: what must hold after."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from functions.domain.cases import CaseState, Resolution
from functions.domain.ledger.records import Attention, Direction, SagaOutcome
from functions.usecases import errors
from functions.usecases.begin_compensation import begin_compensation
from functions.usecases.cancel_saga import cancel_saga
from functions.usecases.claim_case import claim_case
from functions.usecases.decide_approval import decide_approval
from functions.usecases.open_case import open_case
from functions.usecases.records import read_case
from functions.usecases.resolve_case import AttemptAlive, NotAllowed, resolve_case
from functions.usecases.run_step import run_step
from functions.usecases.settle_step import settle_boundary
from functions.usecases.undo_step import undo_step
from tests.unit.kernel import SAGA, SETTLES_AFTER, Bench, Killed, needs
from tests.unit.kernel_machine import attend, rest

Act = Callable[[Bench], object]
OPERATOR: dict[str, Any] = {
    "tenants": frozenset({"acme"}),
    "person": "operator-1",
    "groups": frozenset({"operators"}),
}


def approve(bench: Bench, approval_id: str) -> None:
    decide(bench, approval_id, "approve")


def reject(bench: Bench, approval_id: str) -> None:
    decide(bench, approval_id, "reject")


def decide(bench: Bench, approval_id: str, decision: Any) -> None:
    decide_approval(
        bench.store,
        bench.clock,
        bench.callbacks,
        approval_id,
        tenants=frozenset({"acme"}),
        person="approver-1",
        groups=frozenset({"approvers"}),
        decision=decision,
        reason=None,
    )


def operate(bench: Bench) -> int:
    """A person settles every open case: by retrying where that is allowed."""
    settled = 0
    for case_id in dict.fromkeys(bench.notices.cases):
        case = read_case(bench.store, case_id)
        if case is None or case.state is CaseState.SETTLED:
            continue
        if case.index is not None:
            bench.lapse(case.index)
        retry = Resolution.RETRY if Resolution.RETRY in case.allowed else Resolution.DONE
        claim_case(bench.store, bench.clock, case_id, **OPERATOR)
        answer = resolve_case(
            bench.store,
            bench.clock,
            case_id,
            **OPERATOR,
            resolution=retry,
            evidence="looked at it",
            settles_after=int(SETTLES_AFTER.total_seconds() * 1000),
        )
        assert not isinstance(answer, AttemptAlive | NotAllowed), answer
        settled += 1
    return settled


def to_the_end(bench: Bench, at_gate: Any = approve) -> None:
    """Everybody does their work, the target is well again: the saga comes to its end."""
    bench.wire.hook, bench.wire.kill_at = None, None
    attend(bench)
    for _ in range(6):
        rest(bench, at_gate)
        if bench.head.outcome is not None and bench.head.attention is Attention.NONE:
            return
        bench.target.troubles.clear()
        assert operate(bench), bench.head
        attend(bench)
    raise AssertionError(f"never ended: {bench.head}")


def holds(bench: Bench) -> None:
    """What must be true of an ended saga, by the target's own books."""
    saga = bench.saga
    done = [bench.target.count(bench.key(s.index)) for s in saga.steps]
    undone = [bench.target.count(bench.key(s.index, "undo")) for s in saga.steps]
    assert all(n <= 1 for n in done + undone), bench.target.effects
    if saga.head.outcome is SagaOutcome.COMPLETED:
        by_hand = [s.forward.by_hand for s in saga.steps]
        assert [n == 1 or hand for n, hand in zip(done, by_hand, strict=True)] == [True] * len(done)
        assert sum(undone) == 0
    else:
        assert saga.head.direction is Direction.COMPENSATING
        assert [d for s, d in zip(saga.steps, done, strict=True) if s.undo is None and d] == []
        assert done == undone
    order = [key for side, key, _ in bench.target.effects if side == "undo"]
    assert order == sorted(order, reverse=True)


PLANS = {
    "whole": ("reserve", "hold", "charge", "ship", "notify"),
    "compensable": ("reserve", "hold"),
    "pivot last": ("reserve", "hold", "charge"),
}


def stage(name: str, plan: str, kind: str) -> tuple[Bench, Any]:
    """A saga that is about to start, with its troubles, and what people will say."""
    bench = Bench(kind)
    bench.admit(*PLANS[plan], epoch=0)
    last = len(PLANS[plan]) - 1
    at_gate = approve
    match name:
        case "refused":
            bench.target.trouble(bench.key(1), *["refuse"] * 20)
        case "lost answers":
            for index in range(last + 1):
                bench.target.trouble(bench.key(index), "lost")
        case "unknown, then undone with lost answers":
            bench.target.trouble(bench.key(1), *["refuse"] * 20)
            bench.target.trouble(bench.key(0, "undo"), "lost")
        case "approved":
            bench.verdict = needs()
        case "rejected":
            bench.verdict = needs()
            at_gate = reject
        case "a case after the boundary":
            bench.target.trouble(bench.key(last), *["busy"] * 8)
        case "a blocked undo":
            bench.target.trouble(bench.key(1), *["refuse"] * 20)
            bench.target.trouble(bench.key(0, "undo"), *["refuse"] * 20)
    return bench, at_gate


STAGES = [
    ("smooth", "whole"),
    ("refused", "whole"),
    ("lost answers", "whole"),
    ("unknown, then undone with lost answers", "compensable"),
    ("approved", "pivot last"),
    ("rejected", "pivot last"),
    ("a case after the boundary", "whole"),
    ("a blocked undo", "compensable"),
]


@pytest.mark.parametrize(("name", "plan"), STAGES)
def test_a_saga_whose_every_process_dies_once_at_any_point_still_ends_as_it_should(
    name: str, plan: str
) -> None:
    kind = "keys+status+tombstone"
    clean, at_gate = stage(name, plan, kind)
    to_the_end(clean, at_gate)
    holds(clean)
    expected = clean.head.outcome
    telling = {"after write", "after do", "after undo", "after status", "after cancel"}
    for point in [n for n, what in enumerate(clean.wire.points, 1) if what in telling]:
        bench, at_gate = stage(name, plan, kind)
        bench.wire.kill_after(point)
        try:
            attend(bench)
            rest(bench, at_gate)
        except Killed:
            bench.clock.pass_(60)
        to_the_end(bench, at_gate)
        holds(bench)
        assert bench.head.outcome is expected, point


# Two workers at once


def run(index: int) -> Act:
    return lambda bench: run_step(bench.world_at(index), bench.ref(index))


def undo(index: int) -> Act:
    return lambda bench: undo_step(bench.world_at(index), bench.ref(index))


def begin(index: int) -> Act:
    return lambda bench: begin_compensation(bench.store, bench.clock, bench.ref(index))


def settle(index: int) -> Act:
    return lambda bench: settle_boundary(bench.world_at(index), bench.ref(index))


def hand_over(index: int, side: Any) -> Act:
    return lambda bench: open_case(bench.store, bench.clock, bench.notices, bench.ref(index), side)


def cancel(bench: Bench) -> object:
    return cancel_saga(bench.store, bench.clock, bench.callbacks, SAGA, person="operator-1")


def later(act: Act, index: int) -> Act:
    """The same, when every lease of a step has lapsed: whoever stalls at this point is taken for dead."""

    def acting(bench: Bench) -> object:
        bench.lapse(index)
        return act(bench)

    return acting


def again(*acts: Act) -> Act:
    """One after the other; what one is told does not keep the next from its turn."""

    def acting(bench: Bench) -> None:
        for act in acts:
            quietly(act, bench)

    return acting


def quietly(act: Act, bench: Bench) -> None:
    try:
        act(bench)
    except errors.StepError:
        return


def up_to(index: int, *more: Act) -> Act:
    return again(*(run(i) for i in range(index)), *more)


MEETINGS: dict[str, tuple[Act, Act, Act]] = {
    "two deliveries": (up_to(0), run(0), run(0)),
    "a stalled delivery and its successor": (up_to(0), run(0), later(run(0), 0)),
    "a stalled delivery and the turn": (up_to(0), run(0), later(again(begin(0), undo(0)), 0)),
    "a stalled last step and a cancel": (up_to(1), run(1), again(cancel)),
    "two deliveries of the pivot": (up_to(2), run(2), run(2)),
    "the pivot and a cancel": (up_to(2), run(2), cancel),
    "a stalled pivot and a cancel": (up_to(2), run(2), later(cancel, 2)),
    "a stalled pivot and its settling": (
        up_to(2),
        run(2),
        later(again(settle(2), begin(2), undo(1)), 2),
    ),
    "the pivot's settling and a stalled delivery": (
        up_to(2, lambda b: b.target.trouble(b.key(2), "busy"), run(2)),
        again(settle(2), begin(2), undo(1)),
        run(2),
    ),
    "two undos": (up_to(1, begin(1)), undo(0), undo(0)),
    "a stalled undo and its successor": (up_to(1, begin(1)), undo(0), later(undo(0), 0)),
    "undos out of order": (up_to(2, begin(2)), undo(1), undo(0)),
    "a stalled undo and its case": (
        up_to(1, begin(1)),
        undo(0),
        later(again(hand_over(0, "undo"), operate), 0),
    ),
    "a stalled step and its case": (
        up_to(3),
        run(3),
        later(again(hand_over(3, "do"), operate, run(3)), 3),
    ),
    "the last step and its case": (
        up_to(4),
        run(4),
        later(again(hand_over(4, "do"), operate), 4),
    ),
    "a case and the turn": (up_to(1), begin(1), again(begin(1), undo(0), hand_over(0, "undo"))),
}


TOMBSTONES = "keys+status+tombstone"
NO_TOMBSTONES = "keys+status"
OUTLIVING = {"a stalled pivot and its settling"}
"""Meetings of a call that outlives its function: only a tombstone keeps such a call from its effect."""


@pytest.mark.parametrize(
    ("meeting", "kind"),
    [
        *((meeting, TOMBSTONES) for meeting in MEETINGS),
        *((meeting, NO_TOMBSTONES) for meeting in MEETINGS if meeting not in OUTLIVING),
    ],
)
def test_whoever_meets_whom_at_any_point_everything_holds_in_the_end(
    meeting: str, kind: str
) -> None:
    before, one, other = MEETINGS[meeting]
    point = 0
    while True:
        point += 1
        bench = Bench(kind)
        bench.admit(*(PLANS["compensable"] if "last step and a cancel" in meeting else ()))
        before(bench)
        left = iter(range(point - 1))
        met = []

        def meet(what: str, bench: Bench = bench, left: Any = left, met: Any = met) -> None:
            reading = what.endswith(("get", "collection"))
            if not met and not reading and next(left, None) is None:
                met.append(True)
                bench.wire.hook = None
                quietly(other, bench)

        bench.wire.hook = meet
        quietly(one, bench)
        bench.wire.hook = None
        if not met:
            assert point > 2
            return
        for execution in ("machine-1", f"{SAGA}-1"), ("machine-1", f"{SAGA}-2"):
            bench.machines.executions[execution] = "ended"
        bench.clock.pass_(300)
        to_the_end(bench)
        holds(bench)
