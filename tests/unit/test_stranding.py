"""A deployment that takes something away asks first: what open sagas need stays."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from functions.domain.cases import Resolution
from functions.domain.catalogue import (
    Alternate,
    Authority,
    Catalogue,
    Kind,
    Operation,
    OtherAction,
)
from functions.domain.ledger import head as heads
from functions.domain.ledger.records import ReplacedAction
from functions.domain.stranding import Offer, lacking
from functions.usecases.cancel_saga import cancel_saga
from functions.usecases.claim_case import claim_case
from functions.usecases.find_stranded import Stranded, find_stranded
from functions.usecases.resolve_case import Settled, resolve_case
from tests.unit.kernel import SAGA, Bench, shop
from tests.unit.kernel_machine import attend, rest, swept

SHOP = shop()


def without(*names: str) -> Catalogue:
    """The shop after these steps, and what requires them, have been taken out."""
    kept = tuple(
        replace(step, requires=tuple(r for r in step.requires if r not in names))
        for step in SHOP.steps
        if step.name not in names
    )
    return replace(SHOP, steps=kept)


def with_step(name: str, **changes: Any) -> Catalogue:
    steps = tuple(replace(s, **changes) if s.name == name else s for s in SHOP.steps)
    return replace(SHOP, steps=steps)


def operation(credential: str | None) -> Operation:
    return Operation("target.adapters:do", Authority(scope="shop", credential=credential))


def undo_of(name: str) -> Any:
    found = SHOP.step(name)
    assert found is not None
    return found.undo


def admitted(*names: str) -> Bench:
    bench = Bench()
    bench.admit(*names, epoch=0)
    return bench


def stranded(bench: Bench, offered: Catalogue | None) -> list[Stranded]:
    offers = {} if offered is None else {offered.name: Offer.of(offered)}
    return find_stranded(bench.store, offers)


# The rule


def test_a_catalogue_that_still_has_everything_lacks_nothing() -> None:
    assert lacking(admitted().saga, {"shop": Offer.of(SHOP)}) == ()


def test_a_retired_step_is_still_there_for_those_who_need_it() -> None:
    retired = with_step("notify", retired=True)
    assert retired.version != SHOP.version
    assert lacking(admitted().saga, {"shop": Offer.of(retired)}) == ()


def test_a_new_version_of_a_step_takes_nothing_away() -> None:
    """Functions are called by published version: what the saga began with is still there."""
    assert lacking(admitted().saga, {"shop": Offer.of(with_step("notify", version="2"))}) == ()


@pytest.mark.parametrize(
    ("offered", "lacks"),
    [
        (without("notify"), "notify"),
        (without("reserve"), "reserve"),
        (with_step("charge", kind=Kind.RETRIABLE), "charge as pivot"),
        (with_step("ship", run=operation("carrier")), "the credential shop of ship"),
        (with_step("ship", run=operation(None)), "the credential shop of ship"),
        (
            with_step("hold", undo=replace(undo_of("hold"), name="un_hold_better")),
            "the undo un_hold of hold",
        ),
        (
            with_step("hold", undo=replace(undo_of("hold"), run=operation("other"))),
            "the credential shop of un_hold",
        ),
    ],
    ids=["step", "undone step", "kind", "credential", "no credential", "undo", "undo credential"],
)
def test_what_is_taken_away_is_named(offered: Catalogue, lacks: str) -> None:
    assert lacking(admitted().saga, {"shop": Offer.of(offered)}) == (lacks,)


def test_a_step_whose_undo_is_taken_out_strands_who_may_have_to_undo_it() -> None:
    offer = Offer.of(SHOP)
    bare = offer.steps["reserve"].model_copy(update={"undo": ""})
    offer = offer.model_copy(update={"steps": {**offer.steps, "reserve": bare}})
    assert lacking(admitted().saga, {"shop": offer}) == ("the undo un_reserve of reserve",)


def with_alternate(credential: str) -> Catalogue:
    alternate = Alternate("on_call", Authority("shop", credential), "The administrators on call")
    return with_step("reserve", undo=replace(undo_of("reserve"), alternates=(alternate,)))


@pytest.mark.parametrize(
    ("offered", "lacks"),
    [
        (with_alternate("admin"), ()),
        (with_alternate("other"), ("the credential admin of un_reserve",)),
        (SHOP, ("the alternate on_call of un_reserve",)),
    ],
    ids=["kept", "another credential", "taken out"],
)
def test_an_undo_that_an_alternate_has_taken_over_needs_that_one(
    offered: Catalogue, lacks: tuple[str, ...]
) -> None:
    bench = admitted()
    step = bench.step(0)
    assert step.undo is not None
    theirs = step.undo.authority.model_copy(update={"alternate": "on_call", "credential": "admin"})
    bench.put(
        step, step.model_copy(update={"undo": step.undo.model_copy(update={"authority": theirs})})
    )
    assert lacking(bench.saga, {"shop": Offer.of(offered)}) == lacks


def with_other_action(credential: str) -> Catalogue:
    refund = OtherAction(
        "refund",
        Operation("target.adapters:refund", Authority("shop", credential)),
        undo_of("reserve").settlement,
        "Refund it",
    )
    return with_step("reserve", undo=replace(undo_of("reserve"), other_actions=(refund,)))


@pytest.mark.parametrize(
    ("offered", "lacks"),
    [
        (with_other_action("admin"), ()),
        (with_other_action("other"), ("the credential admin of refund",)),
        (SHOP, ("the undo refund of reserve",)),
    ],
    ids=["kept", "another credential", "taken out"],
)
def test_an_undo_that_another_action_has_taken_the_place_of_needs_that_one(
    offered: Catalogue, lacks: tuple[str, ...]
) -> None:
    bench = admitted()
    step = bench.step(0)
    assert step.undo is not None
    own = step.undo
    replaced = ReplacedAction(
        at=1,
        case="c",
        proposed_by="a",
        confirmed_by="b",
        operation=own.operation,
        key=own.key,
        authority=own.authority,
        attempts=0,
        since=0,
        history=(),
        instead="refund",
    )
    theirs = own.authority.model_copy(update={"credential": "admin"})
    changes = {"authority": theirs, "operation": "refund", "replaced": (replaced,)}
    bench.put(step, step.model_copy(update={"undo": own.model_copy(update=changes)}))
    assert lacking(bench.saga, {"shop": Offer.of(offered)}) == lacks


def test_a_catalogue_that_is_gone_is_named_itself() -> None:
    assert lacking(admitted().saga, {}) == ("the catalogue shop",)


def test_a_saga_that_does_not_use_what_goes_does_not_mind() -> None:
    assert lacking(admitted("reserve", "hold").saga, {"shop": Offer.of(without("notify"))}) == ()


# Which sagas are asked about


def test_an_open_saga_that_needs_what_goes_is_found() -> None:
    assert stranded(admitted(), without("notify")) == [Stranded(SAGA, ("notify",))]
    assert stranded(admitted(), None) == [Stranded(SAGA, ("the catalogue shop",))]


def test_sagas_of_the_version_that_is_offered_are_not_even_read() -> None:
    bench = admitted()
    seen = bench.store.reads
    assert stranded(bench, SHOP) == []
    assert bench.store.reads == seen + 4  # one look at each shard of the index


def test_however_many_there_are_all_are_found() -> None:
    bench = Bench()
    ids = [f"saga-{n}" for n in range(1, 251)]
    for saga_id in ids:
        bench.admit("reserve", "hold", saga_id=saga_id, epoch=0)
    assert {s.saga_id for s in stranded(bench, without("hold"))} == set(ids)


def test_a_completed_saga_needs_nothing_any_more() -> None:
    bench = admitted()
    attend(bench)
    rest(bench)
    assert bench.head.outcome == "completed"
    assert stranded(bench, None) == []


def test_a_compensated_saga_needs_nothing_any_more() -> None:
    bench = admitted()
    bench.target.trouble(bench.key(1), "refuse")
    attend(bench)
    rest(bench)
    assert bench.head.outcome == "compensated"
    assert stranded(bench, None) == []


def test_a_saga_that_waits_in_a_case_is_open() -> None:
    bench = admitted()
    bench.target.trouble(bench.key(4), "refuse")
    attend(bench)
    rest(bench)
    assert bench.saga.steps[4].case is not None
    assert stranded(bench, None) == [Stranded(SAGA, ("the catalogue shop",))]


def test_a_cancelled_saga_that_was_never_started_is_open_until_it_has_ended() -> None:
    bench = admitted()
    cancel_saga(bench.store, bench.clock, bench.callbacks, SAGA, person="operator")
    assert stranded(bench, None)
    attend(bench)
    rest(bench)
    assert stranded(bench, None) == []


def test_a_late_effect_opens_a_saga_again_until_its_case_is_settled() -> None:
    bench = admitted()
    attend(bench)
    rest(bench)
    assert bench.head.open is None
    step, head = bench.step(0), bench.head
    bench.put(step, step.model_copy(update={"late": "a second effect", "doubled": True}))
    bench.put(head, heads.want(head, "case", now=bench.clock.now()))
    assert attend(bench) == "case"
    bench.clock.pass_(600)
    swept(bench)
    assert stranded(bench, None) == [Stranded(SAGA, ("the catalogue shop",))]
    case = bench.step(0).case or ""
    who = {"tenants": frozenset({"acme"}), "groups": frozenset({"operators"}), "person": "op"}
    claim_case(bench.store, bench.clock, case, **who)
    settled = resolve_case(
        bench.store,
        bench.clock,
        case,
        **who,
        resolution=Resolution.DONE,
        evidence="looked",
        settles_after=0,
    )
    assert isinstance(settled, Settled)
    assert stranded(bench, None) == []
