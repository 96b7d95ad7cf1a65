"""The eye sees: for each invariant a kernel that is broken on purpose, and a run in which that shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from functions.domain import evidence
from functions.domain.cases import NotHeld
from functions.domain.ledger import by_person, forward, head, undo
from functions.domain.ledger.records import (
    Direction,
    ForwardState,
    Head,
    ReplacedAction,
    SagaOutcome,
    StepRecord,
    UndoState,
)
from functions.domain.outcome import Applied
from functions.ports import Change
from functions.usecases import boundary, conclusion, forward_intent
from functions.usecases.change_case import Operator
from functions.usecases.decide_approval import decide_approval
from functions.usecases.targets import Targets
from simulation import people
from simulation.faults import give_up
from simulation.scheduler import Verdict, Worker
from simulation.ways import leaves
from tests.simulation.scenario import Scenario
from tests.simulation.world import World

Break = pytest.MonkeyPatch


def violated(scenario: Scenario, prepare: Callable[[World], None] | None = None) -> str:
    """What the eye has seen in a run, in lines."""
    world = World(scenario)
    if prepare is not None:
        prepare(world)
    world.begin()
    world.run()
    found = "\n".join(world.watch.violations)
    world.close()
    return found


def refuses(index: int) -> Callable[[World], None]:
    def prepare(world: World) -> None:
        world.target.behaviours[index, "do"].refuses = True

    return prepare


def full(kinds: str, **more: Any) -> Scenario:
    return Scenario(kinds, ("full",) * len(kinds), **more)


def cancelled_at(role: str, index: int, phase: str) -> Callable[[World], None]:
    def prepare(world: World) -> None:
        def act(_: Worker) -> Verdict:
            world.people.cancels()
            world.scheduler.pause(0)
            return None

        world.scheduler.arm((role, index, phase), act)

    return prepare


def test_a_sound_kernel_violates_nothing() -> None:
    assert violated(full("ccprr", ask=True)) == ""
    assert violated(full("ccprr", ask=True), refuses(2)) == ""


def test_1_a_call_that_is_repeated_before_it_is_settled(monkeypatch: Break) -> None:
    monkeypatch.setattr(forward, "is_unsettled", lambda _: False)

    def prepare(world: World) -> None:
        world.scheduler.arm(("run", 0, "call:after"), lambda _: "lost")

    found = violated(Scenario("cc", ("status", "status")), prepare)
    assert "invariant 1: 2 effects of (0, 'do')" in found


def test_2_a_saga_that_is_called_completed_at_its_pivot(monkeypatch: Break) -> None:
    sound = head.crossed
    monkeypatch.setattr(
        head, "crossed", lambda h, *, now, last: sound(h, now=now, last=last or True)
    )
    assert "invariant 2: completed, and r1 is unfinished" in violated(full("pr"))


def test_3_a_saga_that_ends_with_an_effect_that_nobody_undid(monkeypatch: Break) -> None:
    def blind(saga: Any, index: int, **_: Any) -> undo.UndoDecision:
        return undo.NotNeeded(undo.moved(saga.steps[index], UndoState.NOT_NEEDED))

    monkeypatch.setattr(undo, "claim", blind)
    found = violated(full("cp"), refuses(1))
    assert "invariant 3: lost obligation: the effect of step 0" in found


def test_4_an_undo_after_the_pivot(monkeypatch: Break) -> None:
    monkeypatch.setattr(head, "may_compensate", lambda h: h.direction is Direction.FORWARD)
    found = violated(full("cp"), cancelled_at("run", 1, "call:after"))
    assert "invariant 4: undo of c0 starts after the boundary was applied" in found


def test_5_a_pivot_that_asks_nobody(monkeypatch: Break) -> None:
    monkeypatch.setattr(boundary, "_approved", lambda *_: [])
    found = violated(full("p", ask=True))
    assert "invariant 5: p0 runs without an approval that matches it" in found


def test_5_an_approval_that_is_for_something_else(monkeypatch: Break) -> None:
    monkeypatch.setattr(boundary, "_binds", lambda *_: "anything")
    found = violated(full("p", ask=True))
    assert "invariant 5: p0 runs without an approval that matches it" in found


def test_5_an_approval_of_somebody_who_may_no_longer_give_it(monkeypatch: Break) -> None:
    assert violated(full("p", ask=True), lambda world: leaves(world, 0)) == ""
    monkeypatch.setattr(boundary, "_revoked", lambda *_: [])
    found = violated(full("p", ask=True), lambda world: leaves(world, 0))
    assert "invariant 5: p0 runs without an approval that matches it" in found


def test_6_a_step_that_starts_in_a_saga_that_has_turned(monkeypatch: Break) -> None:
    monkeypatch.setattr(forward, "bar", lambda record: record)
    found = violated(full("cc"), cancelled_at("run", 0, "record:before"))
    assert "invariant 6: c1 starts in a compensating saga" in found


def test_7_a_step_that_starts_before_the_one_before_it_is_recorded(monkeypatch: Break) -> None:
    monkeypatch.setattr(forward_intent, "conclude_forward", lambda _w, record, *_: record)
    assert "invariant 7: c1 starts before c0 is recorded" in violated(full("cc"))


def test_8_a_receipt_that_a_second_answer_overwrites(monkeypatch: Break) -> None:
    sound = forward.conclude

    def forgetful(record: StepRecord, fence: int, outcome: Any, **how: Any) -> StepRecord | None:
        if record.forward.state is ForwardState.COMPLETED and isinstance(outcome, Applied):
            receipt = outcome.receipt.model_copy(update={"version": "2"})
            changed = record.forward.model_copy(update={"receipt": receipt})
            return record.model_copy(update={"forward": changed})
        return sound(record, fence, outcome, **how)

    monkeypatch.setattr(forward, "conclude", forgetful)

    def prepare(world: World) -> None:
        def stalls(worker: Worker) -> Verdict:
            give_up(world, worker, 60)
            return None

        world.scheduler.arm(("run", 0, "record:before"), stalls)

    assert "invariant 8: the receipt of c0 changed" in violated(full("c"), prepare)


def test_9_a_direction_that_turns_back(monkeypatch: Break) -> None:
    sound = head.finish_compensation

    def back(saga: Any, *, now: int) -> Head | None:
        ended = sound(saga, now=now)
        return ended.model_copy(update={"direction": Direction.FORWARD}) if ended else None

    monkeypatch.setattr(head, "finish_compensation", back)
    found = violated(full("cp"), refuses(1))
    assert "invariant 9: direction: compensating -> forward" in found


def test_9_a_transition_that_the_table_does_not_know(monkeypatch: Break) -> None:
    def bar(record: StepRecord) -> StepRecord:
        update = {"barred": True, "state": ForwardState.RELEASED}
        return record.model_copy(update={"forward": record.forward.model_copy(update=update)})

    monkeypatch.setattr(forward, "bar", bar)
    found = violated(full("ccp"), refuses(0))
    assert "invariant 9: c1: prepared -> released" in found


def test_10_an_attempt_beyond_the_budget(monkeypatch: Break) -> None:
    sound = forward.claim

    def claim(record: StepRecord, **how: Any) -> forward.ClaimDecision:
        rich = record.forward.model_copy(update={"budget": 99})
        said = sound(record.model_copy(update={"forward": rich}), **how)
        if not isinstance(said, forward.Proceed):
            return said
        poor = said.record.forward.model_copy(update={"budget": record.forward.budget})
        return replace(said, record=said.record.model_copy(update={"forward": poor}))

    monkeypatch.setattr(forward, "claim", claim)

    def prepare(world: World) -> None:
        world.target.behaviours[0, "do"].unavailable = 9

    assert "invariant 10: r0: attempt 4 of 3" in violated(full("r"), prepare)


def test_11_an_undo_that_does_not_wait(monkeypatch: Break) -> None:
    monkeypatch.setattr(undo, "unmet", lambda *_: ())

    def prepare(world: World) -> None:
        world.target.behaviours[2, "do"].refuses = True
        world.target.behaviours[1, "undo"].refuses = True

    found = violated(full("ccp"), prepare)
    assert "invariant 11: undo of c0 starts before that of step 1 is settled" in found


def test_12_a_call_with_another_authority(monkeypatch: Break) -> None:
    sound = Targets._credential

    def fallback(self: Targets, operation: Any, *, fresh: bool) -> str:
        if fresh:
            return "administrator#1"
        return sound(self, operation, fresh=fresh)

    monkeypatch.setattr(Targets, "_credential", fallback)

    def prepare(world: World) -> None:
        world.credentials.revoke("c0_do")

    found = violated(full("c"), prepare)
    assert "invariant 12: c0 was called with administrator#1, not c0_do" in found


def lost_undo(world: World) -> None:
    """The second step is refused, and the first one's undo has lost its credential."""
    world.target.behaviours[1, "do"].refuses = True
    world.credentials.revoke("c0_undo")


def test_an_alternate_that_two_people_agree_to_violates_nothing() -> None:
    world = World(full("cc", operator="alternate"))
    lost_undo(world)
    world.begin()
    world.run()
    undo_ = world.watch.step(0)["undo"]
    assert world.watch.violations == []
    assert (undo_["state"], undo_["authority"]["credential"]) == ("succeeded", "c0_on_call")
    assert world.watch.head()["outcome"] == "compensated"
    world.close()


def test_12_another_authority_that_nobody_has_agreed_to(monkeypatch: Break) -> None:
    sound = by_person.retry_undo

    def helpful(record: StepRecord) -> StepRecord:
        after = sound(record)
        assert after.undo is not None
        other = after.undo.alternates[0]
        return after.model_copy(update={"undo": after.undo.model_copy(update={"authority": other})})

    monkeypatch.setattr(by_person, "retry_undo", helpful)
    found = violated(full("cc", operator="retry"), lost_undo)
    assert "invariant 12: the authority of the undo of c0 changed, and not by two people" in found


def refused_undo(world: World) -> None:
    """The second step is refused, and so is the first one's undo."""
    world.target.behaviours[1, "do"].refuses = True
    world.target.behaviours[0, "undo"].refuses = True


def test_another_action_that_two_people_agree_to_violates_nothing() -> None:
    world = World(full("cc", operator="another"))
    refused_undo(world)
    world.begin()
    world.run()
    undo_ = world.watch.step(0)["undo"]
    assert world.watch.violations == []
    assert (undo_["state"], undo_["key"]) == ("succeeded", "s4471:0:undo:refund_c0")
    assert undo_["authority"]["credential"] == "c0_refund"
    assert world.target.count((0, "undo")) == 1
    assert world.watch.head()["outcome"] == "compensated"
    world.close()


def test_12_another_action_that_nobody_has_agreed_to(monkeypatch: Break) -> None:
    def helpful(record: StepRecord) -> StepRecord:
        assert record.undo is not None
        return by_person.undo_otherwise(
            record,
            ReplacedAction(
                at=1,
                case="none",
                proposed_by="operator-1",
                confirmed_by="operator-1",
                operation=record.undo.operation,
                key=record.undo.key,
                authority=record.undo.authority,
                attempts=record.undo.attempts,
                since=record.undo.since,
                history=record.undo.history,
                instead="refund_c0",
            ),
        )

    monkeypatch.setattr(by_person, "retry_undo", helpful)
    found = violated(full("cc", operator="retry"), refused_undo)
    assert "invariant 12: c0 is undone otherwise, and not by two people" in found


def test_1_another_action_while_the_undo_may_still_land(monkeypatch: Break) -> None:
    sound = by_person.undo_otherwise

    def careless(record: StepRecord, replaced: ReplacedAction) -> StepRecord:
        assert record.undo is not None
        known = record.undo.model_copy(update={"unsettled": False})
        return sound(record.model_copy(update={"undo": known}), replaced)

    def never_heard(world: World) -> None:
        world.target.behaviours[1, "do"].refuses = True
        world.scheduler.arm(("undo", 0, "call:before"), lambda _: "lost")

    scenario = Scenario("cc", ("nothing", "nothing"), operator="another")
    assert violated(scenario, never_heard) == ""
    monkeypatch.setattr(evidence, "undo_unsettled", lambda _: False)
    monkeypatch.setattr(by_person, "undo_otherwise", careless)
    found = violated(scenario, never_heard)
    assert "invariant 1: c0 is undone otherwise while its undo may land" in found
    assert "invariant 1: 2 effects of (0, 'undo')" in found


def test_13_one_person_who_agrees_with_themselves_settles_nothing(monkeypatch: Break) -> None:
    sound = people.People._operator

    def alone(self: people.People, name: str) -> Operator:
        return sound(self, "operator-1" if name.startswith("second") else name)

    monkeypatch.setattr(people.People, "_operator", alone)

    monkeypatch.setattr(people, "MOST_VISITS", 1)
    found = violated(full("cc", operator="alternate"), lost_undo)
    assert "invariant 13: people cannot settle it: ['authority_lost']" in found


def test_an_accepted_effect_violates_nothing_and_shows_in_the_outcome() -> None:
    world = World(full("cc", operator="accept"))
    lost_undo(world)
    world.begin()
    world.run()
    assert world.watch.violations == []
    assert world.watch.head()["outcome"] == "resolved_manually"
    assert world.watch.step(0)["undo"]["state"] == "accepted"
    assert world.target.exists(0)
    world.close()


def test_9_an_accepted_effect_that_the_outcome_hides(monkeypatch: Break) -> None:
    sound = head._ended

    def tidy(one: Head, outcome: Any, now: int) -> Head:
        ended = sound(one, outcome, now)
        return ended.model_copy(update={"outcome": SagaOutcome.COMPENSATED})

    monkeypatch.setattr(head, "_ended", tidy)
    found = violated(full("cc", operator="accept"), lost_undo)
    assert "an effect was accepted, and the saga is called compensated" in found


def test_13_a_saga_that_nobody_will_look_at_again(monkeypatch: Break) -> None:
    sound = head.driven

    def forgotten(*args: Any, **how: Any) -> Head:
        return sound(*args, **how).model_copy(update={"due_at": None, "due_shard": None})

    monkeypatch.setattr(head, "driven", forgotten)
    assert "invariant 13: no live driver, no deadline, no open case" in violated(full("c"))


def test_13_a_case_that_people_can_never_settle(monkeypatch: Break) -> None:
    monkeypatch.setattr(people, "resolve_case", lambda *_, **__: NotHeld())
    found = violated(full("pr"), refuses(1))
    assert "invariant 13: people cannot settle it: ['step_refused']" in found


def test_14_a_decision_by_somebody_of_another_tenant(monkeypatch: Break) -> None:
    sound = decide_approval

    def careless(*args: Any, **how: Any) -> Any:
        return sound(*args, **{**how, "tenants": frozenset({"tenant-1", "tenant-2"})})

    monkeypatch.setattr(people, "decide_approval", careless)

    def prepare(world: World) -> None:
        def act(_: Worker) -> Verdict:
            world.people.decides("s4471-0-1", "stranger", "approve", tenant="tenant-2")
            return None

        world.scheduler.arm(("gate", 0, "token:after"), act)

    found = violated(full("p", ask=True), prepare)
    assert "invariant 14: a stranger changed approval#s4471-0-1" in found


def test_a_decision_by_a_stranger_changes_nothing() -> None:
    def prepare(world: World) -> None:
        def act(_: Worker) -> Verdict:
            world.people.decides("s4471-0-1", "stranger", "reject", tenant="tenant-2")
            return None

        world.scheduler.arm(("gate", 0, "token:after"), act)

    assert violated(full("p", ask=True), prepare) == ""


def test_an_error_that_nobody_planned_for_is_an_illegal_state(monkeypatch: Break) -> None:
    def broken(*_: Any, **__: Any) -> list[Change]:
        raise TypeError("a bug")

    monkeypatch.setattr(conclusion, "_head_changes", broken)
    assert "unplanned: run 0" in violated(full("c"))


def test_15_a_saga_is_marked_while_a_person_has_it(monkeypatch: Break) -> None:
    sound = head.attend

    def careless(*args: Any, **how: Any) -> Head:
        return sound(*args, **how).model_copy(update={"forgotten_at": 2_000_000_000})

    monkeypatch.setattr(head, "attend", careless)
    found = violated(full("pr"), refuses(1))
    assert "invariant 15: the head of a saga that is not over is to be forgotten" in found


def test_15_a_saga_that_is_over_is_kept_for_ever(monkeypatch: Break) -> None:
    monkeypatch.setattr(head, "retained", lambda before, until: head.rest(before))  # noqa: ARG005
    assert "invariant 15: over, and kept for ever" in violated(full("cpr"))


def test_15_a_step_of_a_saga_that_is_not_over_is_marked(monkeypatch: Break) -> None:
    sound = forward.claim

    def marking(*args: Any, **how: Any) -> Any:
        decision = sound(*args, **how)
        record = getattr(decision, "record", None)
        if record is None:
            return decision
        return replace(decision, record=record.model_copy(update={"forgotten_at": 1}))

    monkeypatch.setattr(forward, "claim", marking)
    found = violated(full("cr"), refuses(1))
    assert "invariant 15: " in found
    assert "may be forgotten by now" in found
