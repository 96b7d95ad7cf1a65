"""How long a saga is known: never less than until it is over, and then as long as its steps ask for."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from functions.domain.cases import Resolution
from functions.domain.ledger import head as heads
from functions.domain.ledger.records import Saga
from functions.domain.requests import RequestRecord, RequestState
from functions.ports import Key, Table
from functions.usecases.claim_case import claim_case
from functions.usecases.records import (
    HEAD,
    changed,
    created,
    read_approval,
    read_case,
    read_request,
    read_saga,
    saga_pk,
    step_key,
)
from functions.usecases.resolve_case import resolve_case
from functions.usecases.start_saga import attend_to
from tests.unit.kernel import SAGA, Bench, Killed, needs, shop
from tests.unit.kernel_machine import attend, compiled, rest, swept

DAY = 86_400
SHOP = shop(ship={"retain_for": timedelta(days=400)})


def request_of(bench: Bench, saga_id: str = SAGA) -> RequestRecord:
    head = bench.head
    now = bench.clock.now()
    return RequestRecord(
        tenant=head.tenant,
        request_id=head.request_id,
        state=RequestState.ADMITTED,
        saga_id=saga_id,
        created_at=now,
        updated_at=now,
    )


def ran(bench: Bench | None = None, *names: str) -> Bench:
    """A saga that has come to rest, with the request that it was admitted for."""
    bench = bench or Bench(catalogue=SHOP)
    bench.admit(*names, epoch=0)
    bench.store.write([created(request_of(bench))])
    attend(bench)
    rest(bench)
    return bench


def marks(bench: Bench) -> dict[str, int | None]:
    saga, head = bench.saga, bench.head
    request = read_request(bench.store, head.tenant, head.request_id)
    assert request is not None
    return {
        "head": head.forgotten_at,
        **{step.name: step.forgotten_at for step in saga.steps},
        "request": request.forgotten_at,
    }


def in_days(bench: Bench, days: int) -> int:
    return -(-bench.clock.at // 1000) + days * DAY


def reopened(bench: Bench) -> str:
    """A second effect turns up, long after the end: the write that reports it, as `conclusion` makes it."""
    step, head = bench.step(0), bench.head
    late = step.model_copy(update={"late": "a second effect", "doubled": True})
    bench.store.write(
        [changed(step, late), changed(head, heads.want(head, "case", now=bench.clock.now()))]
    )
    assert bench.head.forgotten_at is None, "the head is kept from this very write on"
    assert attend(bench) == "case"
    assert bench.step(0).case is not None
    return bench.step(0).case or ""


def settled(bench: Bench, case: str) -> None:
    who: dict[str, Any] = {
        "tenants": frozenset({"acme"}),
        "groups": frozenset({"operators"}),
        "person": "op",
    }
    claim_case(bench.store, bench.clock, case, **who)
    resolve_case(
        bench.store,
        bench.clock,
        case,
        **who,
        resolution=Resolution.DONE,
        evidence="looked",
        settles_after=0,
    )


@pytest.mark.parametrize("ending", ["completed", "compensated"])
def test_after_its_end_all_of_a_saga_is_kept_as_long_as_its_longest_step_asks_for(
    ending: str,
) -> None:
    bench = Bench(catalogue=SHOP)
    if ending == "compensated":
        bench.target.trouble(f"{SAGA}:1:do", "refuse")
    ran(bench)
    assert bench.head.outcome == ending
    swept(bench)
    assert set(marks(bench).values()) == {in_days(bench, 400)}


def test_a_saga_that_is_told_of_again_is_kept_no_longer_and_not_told_again() -> None:
    bench = ran()
    swept(bench)
    before = marks(bench)
    bench.clock.pass_(10 * DAY)
    told: list[Saga] = []
    said = attend_to(
        bench.store, bench.clock, bench.machines, bench.notices, compiled, SAGA, told.append
    )
    assert said == "nothing"
    assert marks(bench) == before
    assert told == []


def test_a_plan_without_that_step_is_kept_for_less() -> None:
    bench = ran(None, "reserve", "hold")
    swept(bench)
    assert set(marks(bench).values()) == {in_days(bench, 30)}


def test_the_table_is_told_in_seconds_and_never_early() -> None:
    """DynamoDB takes milliseconds for a year far away, and would forget nothing."""
    assert heads.expiry(1_800_000_000_000) == 1_800_000_000
    assert heads.expiry(1_800_000_000_001) == 1_800_000_001


def test_nothing_of_a_saga_that_has_not_ended_is_ever_marked() -> None:
    bench = Bench(catalogue=SHOP)
    bench.target.trouble(f"{SAGA}:4:do", "refuse")
    ran(bench)
    assert bench.step(4).case is not None
    for _ in range(5):
        bench.clock.pass_(100 * DAY)
        swept(bench)
    assert set(marks(bench).values()) == {None}
    settled(bench, bench.step(4).case or "")
    rest(bench)
    swept(bench)
    assert set(marks(bench).values()) == {in_days(bench, 400)}


def test_a_late_effect_takes_every_mark_back_until_its_case_is_settled() -> None:
    bench = ran()
    swept(bench)
    bench.clock.pass_(10 * DAY)
    case = reopened(bench)
    assert set(marks(bench).values()) == {None}
    for _ in range(5):
        bench.clock.pass_(100 * DAY)
        swept(bench)
    assert set(marks(bench).values()) == {None}
    settled(bench, case)
    swept(bench)
    assert set(marks(bench).values()) == {in_days(bench, 400)}


def test_what_people_have_settled_goes_with_the_saga() -> None:
    bench = Bench(catalogue=SHOP)
    bench.verdict = needs()
    ran(bench)
    asked = read_approval(bench.store, bench.step(2).approval or "")
    assert asked is not None
    swept(bench)
    assert asked.forgotten_at is None
    bench.clock.pass_(2 * DAY)
    swept(bench)
    rest(bench)
    swept(bench)
    assert bench.head.outcome == "compensated"
    asked = read_approval(bench.store, asked.id)
    assert asked is not None
    assert asked.forgotten_at == bench.head.forgotten_at


def test_a_case_that_was_settled_goes_with_the_saga() -> None:
    bench = ran()
    case = reopened(bench)
    settled(bench, case)
    swept(bench)
    found = read_case(bench.store, case)
    assert found is not None
    assert found.forgotten_at == bench.head.forgotten_at
    assert found.forgotten_at is not None


def test_a_saga_that_changes_while_its_marks_are_taken_back_is_looked_at_again() -> None:
    bench = ran()
    swept(bench)
    step, head = bench.step(0), bench.head
    wanted = heads.want(head, "case", now=bench.clock.now())
    late = step.model_copy(update={"late": "a second effect", "doubled": True})
    bench.store.write([changed(step, late), changed(head, wanted)])

    def meanwhile(point: str) -> None:
        if point == "before write":
            bench.wire.hook = None
            bench.put(bench.step(1), bench.step(1).model_copy(update={"late": "another"}))

    bench.wire.hook = meanwhile
    assert attend(bench) == "raced"
    assert bench.step(0).case is None
    assert attend(bench) == "case"
    assert set(marks(bench).values()) == {None}


def test_whoever_takes_a_saga_up_in_that_very_moment_keeps_all_of_it() -> None:
    bench = ran()

    def late(point: str) -> None:
        if point == "before write":
            bench.wire.hook = None
            head = bench.head
            bench.store.write([changed(head, heads.want(head, "case", now=bench.clock.now()))])

    bench.wire.hook = late
    assert swept(bench) == {"raced": 1}
    assert set(marks(bench).values()) == {None}


def test_a_sweeper_that_dies_at_any_point_is_made_good_by_the_next() -> None:
    for point in range(1, 60):
        bench = ran()
        bench.wire.kill_after(point)
        try:
            swept(bench)
        except Killed:
            bench.wire.kill_at = None
            swept(bench)
            assert None not in marks(bench).values(), point
            assert bench.head.due_at is None
            continue
        assert point > 6
        return
    raise AssertionError("never ran to its end")


# The request


def test_a_request_with_a_newer_saga_is_kept_for_that_one() -> None:
    bench = ran()
    request = read_request(bench.store, bench.head.tenant, bench.head.request_id)
    assert request is not None
    bench.store.write([changed(request, request.model_copy(update={"saga_id": "saga-2"}))])
    swept(bench)
    found = marks(bench)
    assert found.pop("request") is None
    assert None not in found.values()


# What the table has begun to forget


def forget(bench: Bench, *keys: Key) -> None:
    for key in keys:
        del bench.store._items[key]


@pytest.mark.parametrize(
    "gone",
    [
        [Key(Table.LEDGER, saga_pk(SAGA), HEAD)],
        [step_key(SAGA, 2)],
        [step_key(SAGA, 4)],
    ],
    ids=["head", "a step", "the last step"],
)
def test_a_saga_of_which_something_was_forgotten_is_none_any_more(gone: list[Key]) -> None:
    bench = ran()
    swept(bench)
    forget(bench, *gone)
    assert read_saga(bench.store, SAGA) is None
    assert (
        attend_to(bench.store, bench.clock, bench.machines, bench.notices, compiled, SAGA)
        == "unknown"
    )


def test_a_catalogue_that_changes_what_it_keeps_changes_nothing_for_sagas_that_it_had() -> None:
    bench = Bench(catalogue=SHOP)
    bench.admit(epoch=0)
    bench.store.write([created(request_of(bench))])
    bench.catalogue = replace(shop(), policy_version="2")
    attend(bench)
    rest(bench)
    swept(bench)
    assert set(marks(bench).values()) == {in_days(bench, 400)}
