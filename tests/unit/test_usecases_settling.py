"""Finding out what became of a call: who is asked, how often, and what the machine is told meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from functions.domain.catalogue import Catalogue, Settlement
from functions.domain.ledger.forward import SETTLINGS
from functions.domain.ledger.records import ForwardState, UndoState
from functions.usecases.open_case import open_case
from functions.usecases.undo_intent import UndoIntent
from tests.unit.kernel import SETTLES_AFTER, Bench, Killed, shop
from tests.unit.test_usecases_boundary import PIVOT, at_the_pivot, pivot, settled
from tests.unit.test_usecases_compensation import begin, state_of, turned, undo
from tests.unit.test_usecases_run_step import delivered

BY_A_PERSON: Any = {"reconcile": "person", "keys_kept_for": None, "tombstone": None}


def unknown(settles: str, *faults: str, **more: Any) -> Bench:
    """The first step's call was made, and nobody knows what became of it."""
    bench = Bench(settles, **more)
    bench.admit()
    bench.target.trouble(bench.key(0), *(faults or ("silent",)))
    assert delivered(bench, 0) == "OutcomeUnknown"
    bench.target.calls.clear()
    return bench


def asked(bench: Bench) -> list[str]:
    """What the target has been asked or told since."""
    return [what for what, _ in bench.target.calls]


def _killed_before_write(number: int) -> Callable[[str], None]:
    """The process dies before its write of that number."""
    writes = iter(range(1, number + 1))

    def hook(point: str) -> None:
        if point == "before write" and next(writes) == number:
            raise Killed(point)

    return hook


def settlement(catalogue: Catalogue, name: str, **changes: Any) -> Settlement:
    step = catalogue.step(name)
    assert step is not None
    return replace(step.settlement, **changes)


def undo_by_person(settles: str = "status") -> Bench:
    """Whether the first step's undo took effect may be asked, but a person decides what to make of it."""
    step = shop(undo_settles=settles).step("reserve")
    assert step is not None
    assert step.undo is not None
    by_person = replace(step.undo, settlement=replace(step.undo.settlement, reconcile="person"))
    return Bench(undo_settles=settles, reserve={"undo": by_person})


# The forward call, going forward


def test_where_nothing_can_be_asked_a_machine_says_so_at_once_and_asks_nobody() -> None:
    bench = unknown("tombstone")
    bench.lapse(0)
    assert delivered(bench, 0) == "PersonNeeded"
    assert asked(bench) == []
    assert bench.step(0).forward.settlings == 0


@pytest.mark.parametrize(
    ("trouble", "told"),
    [("authority", "AuthorityLost"), ("refuse", "OutcomeUnknown"), ("lost", "OutcomeUnknown")],
)
def test_a_status_query_that_is_refused_is_told_from_one_that_is_not_answered(
    trouble: str, told: str
) -> None:
    bench = unknown("status")
    bench.target.trouble(bench.key(0), trouble, trouble, operation="status")
    assert delivered(bench, 0) == told
    assert asked(bench).count("do") == 0


def test_waiting_for_a_late_effect_is_no_shorter_where_the_key_could_be_cancelled() -> None:
    catalogue = shop("keys+status+tombstone")
    own = settlement(catalogue, "reserve", keys_kept_for=None)
    bench = unknown("keys+status+tombstone", reserve={"settlement": own})
    assert [delivered(bench, 0) for _ in range(5)] == ["NotSettledYet"] * 5
    assert asked(bench) == ["status"]
    bench.lapse(0)
    assert delivered(bench, 0) == "applied"


def test_where_a_person_decides_the_target_is_asked_again_without_waiting() -> None:
    own = settlement(shop("status"), "reserve", **BY_A_PERSON)
    bench = unknown("status", reserve={"settlement": own})
    assert [delivered(bench, 0) for _ in range(3)] == ["PersonNeeded"] * 3
    assert asked(bench) == ["status"] * 3


# The forward call, on the way back


def test_a_tombstone_settles_at_once_what_was_not_there_a_moment_before() -> None:
    own = settlement(shop("keys+status+tombstone"), "reserve", keys_kept_for=None)
    bench = unknown("keys+status+tombstone", reserve={"settlement": own})
    assert delivered(bench, 0) == "NotSettledYet"
    begin(bench, 0)
    assert undo(bench, 0) == "settled"
    assert asked(bench) == ["status", "cancel"]


def test_a_tombstone_that_is_not_answered_is_tried_again() -> None:
    bench = unknown("tombstone")
    bench.target.trouble(bench.key(0), "lost", operation="status")
    begin(bench, 0)
    assert undo(bench, 0) == "OutcomeUnknown"
    assert undo(bench, 0) == "settled"


def test_where_a_person_decides_an_absence_still_means_that_nothing_is_to_be_undone() -> None:
    own = settlement(shop("status"), "reserve", **BY_A_PERSON)
    bench = unknown("status", reserve={"settlement": own})
    begin(bench, 0)
    assert [undo(bench, 0) for _ in range(5)] == ["NotSettledYet"] * 5
    assert asked(bench) == ["status"]
    bench.lapse(0)
    assert undo(bench, 0) == "settled"
    assert state_of(bench, 0) is UndoState.NOT_NEEDED


def test_a_key_that_would_protect_a_repeat_settles_nothing_on_the_way_back() -> None:
    bench = unknown("keys+status", "lost")
    bench.target.trouble(bench.key(0), "lost", operation="status")
    begin(bench, 0)
    assert undo(bench, 0) == "OutcomeUnknown"
    assert asked(bench) == ["status"]
    assert undo(bench, 0) == "applied"
    assert bench.target.count(bench.key(0, "undo")) == 1


# The boundary


def test_a_boundary_in_a_persons_hands_is_not_asked_about() -> None:
    bench = at_the_pivot("status")
    bench.target.trouble(bench.key(PIVOT), "lost")
    assert pivot(bench) == "OutcomeUnknown"
    open_case(bench.store, bench.clock, bench.notices, bench.ref(PIVOT), "do")
    bench.target.calls.clear()
    assert bench.step(PIVOT).forward.state is ForwardState.UNKNOWN
    assert settled(bench) == "CaseOpen"
    assert asked(bench) == []


# The undo


def test_nothing_is_called_for_an_undo_that_has_not_been_claimed() -> None:
    bench = turned(Bench(), 0, because=1)
    intent = UndoIntent(bench.world_at(0), bench.ref(0))
    for early in (intent.act, intent.call, intent.broke):
        with pytest.raises(LookupError, match=r"saga-1:0:undo has not been claimed"):
            early()
    assert asked(bench)[1:] == []


@pytest.mark.parametrize(
    ("trouble", "told"),
    [("authority", "AuthorityLost"), ("refuse", "OutcomeUnknown"), ("lost", "OutcomeUnknown")],
)
def test_a_query_about_an_undo_that_is_refused_is_told_from_one_that_is_not_answered(
    trouble: str, told: str
) -> None:
    bench = turned(Bench(undo_settles="status"), 0, because=1)
    bench.target.trouble(bench.key(0, "undo"), "silent")
    assert undo(bench, 0) == "OutcomeUnknown"
    bench.target.trouble(bench.key(0, "undo"), trouble, trouble, operation="status")
    assert undo(bench, 0) == told


def test_an_undo_that_its_key_protects_is_repeated_in_the_same_delivery() -> None:
    bench = turned(Bench(undo_settles="keys+status"), 0, because=1)
    bench.target.trouble(bench.key(0, "undo"), "silent")
    assert undo(bench, 0) == "OutcomeUnknown"
    assert undo(bench, 0) == "applied"
    assert bench.target.count(bench.key(0, "undo")) == 1


def test_an_undo_that_its_key_protects_is_repeated_though_its_question_was_the_last_thing_done() -> (
    None
):
    bench = turned(Bench(undo_settles="keys+status"), 0, because=1)
    bench.target.trouble(bench.key(0, "undo"), "silent")
    assert undo(bench, 0) == "OutcomeUnknown"
    before = len(bench.wire.points)
    bench.wire.hook = _killed_before_write(3)
    assert undo(bench, 0) == "Killed"
    bench.wire.hook = None
    assert "before status" in bench.wire.points[before:]
    command = bench.step(0).undo
    assert command is not None
    assert command.history[-1].outcome == "not_found"
    assert undo(bench, 0) == "applied"


def test_the_target_is_asked_about_an_undo_a_bounded_number_of_times_and_then_a_person() -> None:
    bench = turned(Bench(undo_settles="status"), 0, because=1)
    bench.target.trouble(bench.key(0, "undo"), "silent")
    assert undo(bench, 0) == "OutcomeUnknown"
    bench.target.trouble(bench.key(0, "undo"), *["lost"] * (SETTLINGS + 1), operation="status")
    assert [undo(bench, 0) for _ in range(SETTLINGS)] == ["OutcomeUnknown"] * SETTLINGS
    assert undo(bench, 0) == "PersonNeeded"
    assert asked(bench).count("status") == SETTLINGS


def test_where_a_person_decides_no_absence_lets_a_machine_repeat_an_undo() -> None:
    bench = turned(undo_by_person(), 0, because=1)
    bench.target.trouble(bench.key(0, "undo"), "silent")
    assert undo(bench, 0) == "OutcomeUnknown"
    assert [undo(bench, 0) for _ in range(2)] == ["PersonNeeded"] * 2
    bench.clock.pass_(10 * SETTLES_AFTER.total_seconds())
    assert [undo(bench, 0) for _ in range(3)] == ["PersonNeeded"] * 3
    assert asked(bench).count("undo") == 1
