"""Notices of open cases: who gets one, what takes it off the queue, and that draining settles every case once."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from functions.domain import cases
from functions.domain.cases import CLAIM_LASTS, Case, CaseState, Claimed, Resolution
from functions.domain.notices import BACK_SOON, HIDDEN, Drop, Give, PutBack, becomes
from functions.memory.queue import MemoryCaseQueue
from functions.usecases import errors
from functions.usecases.begin_compensation import begin_compensation
from functions.usecases.claim_case import claim_case
from functions.usecases.open_case import open_case
from functions.usecases.records import read_case
from functions.usecases.resolve_case import Settled, resolve_case
from functions.usecases.run_step import run_step
from functions.usecases.take_notices import (
    Acknowledged,
    StillOpen,
    acknowledge_notice,
    take_notices,
)
from functions.usecases.undo_step import undo_step
from functions.usecases.world import StepRef
from tests.unit.kernel import SECRET, SETTLES_AFTER, Bench

TEAM: dict[str, Any] = {"tenants": frozenset({"acme"}), "groups": frozenset({"operators"})}
MILLIS = int(SETTLES_AFTER.total_seconds() * 1000)
CASES, WORKERS = 200, 4


def blocked(bench: Bench, saga_id: str) -> str:
    """A saga whose undo has lost its authority; answers its case's id."""
    bench.admit("reserve", "hold", saga_id=saga_id)
    ref = StepRef(saga_id, 0, f"{saga_id}-1")
    run_step(bench.world("reserve"), ref)
    begin_compensation(bench.store, bench.clock, StepRef(saga_id, 1, f"{saga_id}-1"))
    bench.credentials.values.clear()
    with pytest.raises(errors.AuthorityLost):
        undo_step(bench.world("reserve"), ref)
    bench.credentials.values["shop/shop"] = SECRET
    opened = open_case(bench.store, bench.clock, bench.notices, ref, "undo")
    assert opened is not None
    return opened


def the_case(bench: Bench, case_id: str) -> Case:
    case = read_case(bench.store, case_id)
    assert case is not None
    return case


def settle(bench: Bench, case_id: str, person: str) -> bool:
    """Claim a case and have it tried again; whether it was this person who settled it."""
    claimed = claim_case(bench.store, bench.clock, case_id, person=person, **TEAM)
    if not isinstance(claimed, Claimed):
        return False
    settled = resolve_case(
        bench.store,
        bench.clock,
        case_id,
        person=person,
        resolution=Resolution.RETRY,
        evidence=None,
        settles_after=MILLIS,
        **TEAM,
    )
    return isinstance(settled, Settled)


def take(bench: Bench, queue: MemoryCaseQueue, person: str = "olga", most: int = 10) -> Any:
    return take_notices(bench.store, bench.clock, queue, person=person, most=most, wait=0, **TEAM)


@pytest.fixture
def bench() -> Bench:
    return Bench()


@pytest.fixture
def queue(bench: Bench) -> MemoryCaseQueue:
    return MemoryCaseQueue(bench.clock)


# What becomes of one


def test_an_open_case_is_given_to_those_who_own_it(bench: Bench) -> None:
    case = the_case(bench, blocked(bench, "saga-1"))
    who: dict[str, Any] = {**TEAM, "person": "olga", "now": bench.clock.now()}
    assert becomes(case, **who) == Give(case)
    for other in ({"tenants": frozenset({"globex"})}, {"groups": frozenset({"approvers"})}):
        assert becomes(case, **{**who, **other}) == PutBack(BACK_SOON)


def test_a_case_that_somebody_works_on_comes_back_when_the_claim_ends(bench: Bench) -> None:
    case = the_case(bench, blocked(bench, "saga-1"))
    held = cases.claim(case, person="olga", now=bench.clock.now())
    assert isinstance(held, Claimed)
    who: dict[str, Any] = {**TEAM, "now": bench.clock.now() + 60_000}
    assert becomes(held.case, person="omar", **who) == PutBack(CLAIM_LASTS // 1000 - 60 + 1)
    assert becomes(held.case, person="olga", **who) == Give(held.case)
    lapsed = {**who, "now": bench.clock.now() + CLAIM_LASTS}
    assert becomes(held.case, person="omar", **lapsed) == Give(held.case)


def test_a_settled_case_is_nobody_s_any_more_whoever_asks(bench: Bench) -> None:
    case_id = blocked(bench, "saga-1")
    assert settle(bench, case_id, "olga")
    who: dict[str, Any] = {"tenants": frozenset(), "groups": frozenset(), "person": "x", "now": 0}
    assert becomes(the_case(bench, case_id), **who) == Drop()


def test_a_notice_that_names_no_case_is_left_to_the_dead_letters(bench: Bench) -> None:
    assert becomes(None, person="olga", now=bench.clock.now(), **TEAM) == PutBack(BACK_SOON)


# The queue


def test_a_notice_is_taken_off_once_its_case_is_settled_and_not_before(
    bench: Bench, queue: MemoryCaseQueue
) -> None:
    case_id = blocked(bench, "saga-1")
    queue.send(case_id)
    [taken] = take(bench, queue)
    said = acknowledge_notice(bench.store, queue, case_id, taken.receipt, **TEAM)
    assert isinstance(said, StillOpen)
    assert len(queue) == 1
    assert settle(bench, case_id, "olga")
    said = acknowledge_notice(bench.store, queue, case_id, taken.receipt, **TEAM)
    assert isinstance(said, Acknowledged)
    assert len(queue) == 0


def test_a_case_of_others_is_acknowledged_by_nobody_else(
    bench: Bench, queue: MemoryCaseQueue
) -> None:
    case_id = blocked(bench, "saga-1")
    queue.send(case_id)
    [taken] = take(bench, queue)
    assert settle(bench, case_id, "olga")
    for other in ({"tenants": frozenset({"globex"})}, {"groups": frozenset({"approvers"})}):
        who = {**TEAM, **other}
        assert acknowledge_notice(bench.store, queue, case_id, taken.receipt, **who) is None
    assert len(queue) == 1


def test_a_case_that_nobody_settles_comes_back_and_is_given_to_the_next(
    bench: Bench, queue: MemoryCaseQueue
) -> None:
    case_id = blocked(bench, "saga-1")
    queue.send(case_id)
    assert len(take(bench, queue)) == 1
    assert take(bench, queue, "omar") == []
    bench.clock.pass_(HIDDEN)
    [again] = take(bench, queue, "omar")
    assert again.case.id == case_id


def test_a_notice_that_outlives_its_case_is_taken_off_by_the_next_who_looks(
    bench: Bench, queue: MemoryCaseQueue
) -> None:
    """Settled in the browser, or by somebody whose terminal died before it could say so."""
    case_id = blocked(bench, "saga-1")
    queue.send(case_id)
    assert settle(bench, case_id, "olga")
    assert take(bench, queue, "omar") == []
    assert len(queue) == 0


def test_a_poisoned_notice_ends_among_the_dead_letters_while_its_case_stays_open(
    bench: Bench,
) -> None:
    queue = MemoryCaseQueue(bench.clock, deliveries=5)
    case_id = blocked(bench, "saga-1")
    queue.send(None)
    queue.send("no-such-case")
    for _ in range(6):
        assert take(bench, queue) == []
        bench.clock.pass_(BACK_SOON)
    assert queue.dead == [None, "no-such-case"]
    assert the_case(bench, case_id).state is CaseState.OPEN


# Draining


def test_two_hundred_open_cases_drained_by_four_workers_are_each_settled_once(
    bench: Bench, queue: MemoryCaseQueue
) -> None:
    """Every notice comes twice, so that workers meet at the same case."""
    opened = [blocked(bench, f"saga-{number}") for number in range(CASES)]
    for case_id in [*opened, *reversed(opened)]:
        queue.send(case_id)
    settled: Counter[str] = Counter()

    def drain(person: str) -> None:
        for _ in range(CASES):
            for each in take(bench, queue, person, most=3):
                if settle(bench, each.case.id, person):
                    settled[each.case.id] += 1
                acknowledge_notice(bench.store, queue, each.case.id, each.receipt, **TEAM)

    for _ in range(3):  # what a worker left because another held it comes back
        with ThreadPoolExecutor(WORKERS) as workers:
            list(workers.map(drain, [f"worker-{n}" for n in range(WORKERS)]))
        bench.clock.pass_(HIDDEN)
    assert settled == Counter(opened)
    assert (len(queue), queue.dead) == (0, [])
    for number, case_id in enumerate(opened):
        case = the_case(bench, case_id)
        assert case.state is CaseState.SETTLED
        assert [e.what for e in case.events].count("retry") == 1
        undo = bench.saga_of(f"saga-{number}").steps[0].undo
        assert undo is not None
        assert undo.budget == bench.catalogue.steps[0].undo.retry.attempts + 1  # type: ignore[union-attr]
