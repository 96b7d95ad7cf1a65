"""Approvers and operators with their habits. They come when a notice tells them, and look at their lists now and then."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from functions.domain.cases import (
    BY_TWO,
    AlreadySettled,
    Case,
    CaseCause,
    Claimed,
    Resolution,
)
from functions.domain.ledger.records import Direction, StepRecord
from functions.domain.proposals import Pending, Wanted
from functions.usecases.cancel_saga import cancel_saga
from functions.usecases.case_effects import AttemptAlive, alive
from functions.usecases.change_case import Operator
from functions.usecases.claim_case import claim_case
from functions.usecases.decide_approval import decide_approval
from functions.usecases.propose_resolution import (
    Confirmed,
    confirm_resolution,
    propose_resolution,
)
from functions.usecases.records import read_saga, the_saga
from functions.usecases.resolve_case import Settled, resolve_case
from simulation.disturbances import AccessDenied, Unreachable
from simulation.target import SAGA

if TYPE_CHECKING:
    from simulation.world import World

LOOKS_AGAIN = 20 * 60_000
"""How often people look at their lists, in milliseconds: longer than a claim lasts."""
_AROUND_IT = frozenset({Resolution.RETRY_WITH_ALTERNATE, Resolution.ANOTHER_ACTION})
"""What people choose where the trouble itself is not mended."""
_ANOTHER = (
    Resolution.ANOTHER_ACTION,
    Resolution.DID_NOT_HAPPEN,
    Resolution.ANOTHER_ACTION,
    Resolution.DID_NOT_HAPPEN,
    Resolution.ANOTHER_ACTION,
)
"""Where the undo may still have landed, that it did not is said first."""
SOON = 1_000
MOST_VISITS = 40


class People:
    """Everybody with a screen."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.tried: Counter[tuple[int | None, str]] = Counter()
        self.told = True
        """Whether notices reach anybody. Without them people find things on their lists."""
        self.visits = 0
        self.lies: set[int] = set()
        """Steps of which somebody said, without looking, that they never happened."""

    def noticed(self, what: str, name: str) -> None:
        """A notice has come."""
        if not self.told:
            return
        if what == "approval":
            self.world.later(SOON, lambda: self.approver_comes(name))
        else:
            self.world.later(SOON, lambda: self.operator_comes(name))

    def listed(self, item: Mapping[str, Any]) -> None:
        """Something new is on a list: it will be seen, notice or not."""
        name = item["id"]
        if "binds" in item:
            self.world.later(LOOKS_AGAIN, lambda: self.approver_comes(name))
        else:
            self.world.later(LOOKS_AGAIN, lambda: self.operator_comes(name))

    # Approvers

    def approver_comes(self, approval_id: str) -> None:
        """What the approvers of this scenario do about an approval."""
        match self.world.habits.approver:
            case "approve":
                self.decides(approval_id, self._approver(), "approve")
            case "reject":
                self.decides(approval_id, "ann", "reject")
            case "twice":
                self.decides(approval_id, "ann", "approve")
                self.decides(approval_id, "ann", "approve")
                self.decides(approval_id, "bob", "approve")
            case "race":
                self.decides(approval_id, "ann", "approve")
                self.decides(approval_id, "bob", "reject")
            case "late":
                self.decides(approval_id, "ann", "approve", delay=61 * 60_000)
            case _:
                return

    def _approver(self) -> str:
        """Whoever of the approvers is still one."""
        group = self.world.play.catalogue.approvers
        return next(p for p in ("ann", "bob") if group in self.world.directory.groups(p))

    def decides(
        self,
        approval_id: str,
        person: str,
        decision: Literal["approve", "reject"],
        delay: int = 0,
        tenant: str = "tenant-1",
    ) -> None:
        """One person answers."""
        world = self.world
        world.scheduler.spawn(
            "approver",
            None,
            lambda: decide_approval(
                world.store,
                world,
                world.callbacks,
                approval_id,
                tenants=frozenset({tenant}),
                person=person,
                groups=frozenset({world.play.catalogue.approvers}),
                decision=decision,
                reason="because",
            ),
            delay=delay,
        )

    def cancels(self) -> None:
        """A person stops the saga."""
        world = self.world
        world.scheduler.spawn(
            "cancel",
            None,
            lambda: cancel_saga(world.store, world, world.callbacks, SAGA, person="olga"),
        )

    # Operators

    def operator_comes(self, case_id: str) -> None:
        """An operator takes a case, if it is still open."""
        if self.world.habits.operator == "silent" or self.visits >= MOST_VISITS:
            return
        if not self.world.store.records[self.world.case_key(case_id)].get("open"):
            return
        self.visits += 1
        person = f"operator-{self.visits}"

        def report(error: str | None) -> None:
            if error is not None:
                self.world.later(LOOKS_AGAIN, lambda: self.operator_comes(case_id))

        self.world.scheduler.spawn(
            "operator", None, lambda: self._settles(case_id, person), report=report
        )

    def _settles(self, case_id: str, person: str) -> None:
        world = self.world
        who: dict[str, Any] = {
            "tenants": frozenset({"tenant-1"}),
            "person": person,
            "groups": frozenset({world.play.catalogue.operators}),
        }
        claimed = claim_case(world.store, world, case_id, **who)
        if isinstance(claimed, AlreadySettled):
            return
        if not isinstance(claimed, Claimed):
            self._again(case_id)
            return
        case = claimed.case
        resolution = self._choice(case)
        if resolution not in _AROUND_IT:
            self._mends(case)
        if resolution in BY_TWO:
            self._in_twos(case, person, resolution)
            return
        says_first = world.habits.operator == "first"
        if not says_first and not self._acts(case, resolution):
            self._again(case_id, 30_000)
            return
        world.note(f"{case.id} ({case.cause.value}): {resolution.value}")
        disturbed = world.scheduler.point("by-hand")
        if disturbed == "denied":
            raise AccessDenied("resolution")
        answer = resolve_case(
            world.store,
            world,
            case_id,
            **who,
            resolution=resolution,
            evidence="done and seen",
            settles_after=world.play.settles_after(case.index or 0),
        )
        if disturbed == "lost":
            raise Unreachable("resolution")
        if isinstance(answer, AttemptAlive):
            self._again(case_id, answer.until - world.now() + SOON)
        elif not isinstance(answer, Settled | AlreadySettled):
            self._again(case_id)
        else:
            self.tried[case.index, case.direction] += 1
            if says_first and isinstance(answer, Settled):
                self._now_by_hand(case, resolution)

    def _in_twos(self, case: Case, person: str, resolution: Resolution) -> None:
        """One proposes, and another one agrees: also to what somebody else has proposed who was never heard of again."""
        world = self.world
        one, other = (self._operator(name) for name in (person, f"second-{person}"))
        wanted = Wanted(resolution, "it has to be")
        if resolution is Resolution.RETRY_WITH_ALTERNATE:
            wanted = replace(wanted, alternate=case.alternates[0].alternate)
        elif resolution is Resolution.ANOTHER_ACTION:
            wanted = replace(wanted, action=case.other_actions[0].name)
        proposed = propose_resolution(world.store, world, case.id, one, wanted)
        waiting = proposed.proposal if isinstance(proposed, Case | Pending) else None
        if waiting is None:
            self._again(case.id)
            return
        if isinstance(proposed, Pending):
            other = one
        world.note(f"{case.id} ({case.cause.value}): {waiting.resolution.value} is proposed")
        disturbed = world.scheduler.point("by-hand")
        if disturbed == "denied":
            raise AccessDenied("confirmation")
        answer = confirm_resolution(
            world.store,
            world,
            case.id,
            other,
            proposal_id=waiting.id,
            settles_after=world.play.settles_after(case.index or 0),
        )
        if disturbed == "lost":
            raise Unreachable("confirmation")
        if isinstance(answer, AttemptAlive):
            self._again(case.id, answer.until - world.now() + SOON)
        elif not isinstance(answer, Confirmed | AlreadySettled):
            self._again(case.id)
        else:
            self.tried[case.index, case.direction] += 1

    def _operator(self, name: str) -> Operator:
        groups = frozenset({self.world.play.catalogue.operators})
        return Operator(name, groups, frozenset({"tenant-1"}))

    def _again(self, case_id: str, wait: int = LOOKS_AGAIN) -> None:
        self.world.later(wait, lambda: self.operator_comes(case_id))

    def _choice(self, case: Case) -> Resolution:
        """Try again first, then say what did not happen, then do it by hand: as far as the case allows, and it is true."""
        tried = self.tried[case.index, case.direction]
        habits = {
            "retry": (Resolution.RETRY,) * 4,
            "done": (),
            "accept": (Resolution.ACCEPT,) * 4,
            "alternate": (Resolution.RETRY_WITH_ALTERNATE,) * 4,
            "another": _ANOTHER,
        }.get(self.world.habits.operator, (Resolution.RETRY, Resolution.DID_NOT_HAPPEN))
        wanted = [*habits[tried:], Resolution.DONE, Resolution.RETRY]
        return next(w for w in wanted if w in case.allowed and self._true(case, w))

    def _true(self, case: Case, resolution: Resolution) -> bool:
        """Whether a person who looks at the target may say so, or has reason to ask for it."""
        if resolution is Resolution.RETRY and case.cause is CaseCause.LATE_EFFECT:
            # What somebody has undone by hand already is not to be undone once more.
            return case.index is None or self.world.target.exists(case.index)
        if resolution is not Resolution.DID_NOT_HAPPEN or case.index is None:
            return True
        known = self.world.watch.step(case.index)["forward"]["state"] == "completed"
        exists = self.world.target.exists(case.index)
        if self.world.habits.operator == "careless" and case.direction == "undo" and not known:
            self.lies.add(case.index)
            return True
        return exists if case.direction == "undo" and known else not exists

    def _mends(self, case: Case) -> None:
        """Mend what can be mended: credentials are given back, and the target is talked to."""
        self.world.credentials.restore()
        for side in ("do", "undo"):
            behaviour = self.world.target.behaviours.get((case.index or 0, side))
            if behaviour is not None and case.index is not None:
                behaviour.refuses, behaviour.unavailable, behaviour.conflicts = False, 0, False

    def _acts(self, case: Case, resolution: Resolution) -> bool:
        """Do by hand what is owed, once nothing of it can still happen by itself. False: it is too early for that."""
        if case.index is None or resolution is Resolution.RETRY:
            return True
        saga = read_saga(self.world.store, SAGA)
        if saga is None:
            return False
        step = saga.steps[case.index]
        if (
            alive(step, self.world.now(), self.world.play.settles_after(case.index), by_hand=True)
            is not None
        ):
            return False
        if resolution is Resolution.DONE:
            self._by_hand(step, back=saga.head.direction is Direction.COMPENSATING)
        elif not self._true(case, resolution):
            return False
        return True

    def _now_by_hand(self, case: Case, resolution: Resolution) -> None:
        """Do what one has just put on record as done."""
        if case.index is None or resolution is not Resolution.DONE:
            return
        saga = the_saga(self.world.store.inner, SAGA)
        back = saga.head.direction is Direction.COMPENSATING
        self._by_hand(saga.steps[case.index], back=back)

    def _by_hand(self, step: StepRecord, *, back: bool) -> None:
        target = self.world.target
        if back and step.undo is not None:
            if target.exists(step.index):
                target.by_hand(step.index, "undo", step.undo.key)
        elif not back and not target.exists(step.index):
            target.by_hand(step.index, "do", step.forward.key)
