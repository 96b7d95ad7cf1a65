"""What must be true, always: the fourteen invariants of the protocol, checked at every change of anything.

And a fifteenth of the tables, which delete what is marked to be forgotten: nothing that is not over is marked.

Between two changes nothing can become false, so each write, each call and each effect is held against the invariants that
it can break, with the store and the target as they are at that moment. Written from the protocol, not from the code: the
tables of what may follow what stand here a second time, on purpose.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from functions.domain.approvals import bound_digest
from functions.domain.calls import Call
from functions.domain.ledger.records import StepRecord
from functions.ports import Key, Table
from functions.usecases.records import parsed, saga_pk, step_key
from functions.usecases.world import epoch_of
from simulation.scheduler import Worker
from simulation.target import SAGA, Command, Effect

if TYPE_CHECKING:
    from simulation.world import World

Item = Mapping[str, Any]
UNDO_SETTLED = frozenset({"succeeded", "not_needed", "resolved", "accepted"})
DIRECTIONS = {("forward", "compensating"), ("forward", "finishing")}
PIVOTS = {("ahead", "crossing"), ("crossing", "crossed"), ("crossing", "ahead")}
OUTCOMES = {("completed", "resolved_manually"), ("compensated", "resolved_manually")}
FORWARD = {
    "prepared": {"started", "refused"},
    "started": {"started", "completed", "refused", "released", "unknown"},
    "unknown": {"started", "completed", "released", "unknown"},
    "released": {"started", "completed", "refused"},
    "refused": {"released", "completed"},
    "completed": set[str](),
}
UNDO = {
    "pending": {"running", "not_needed", "blocked", "resolved", "accepted", "succeeded", "unknown"},
    "running": {"running", "succeeded", "pending", "blocked", "unknown"},
    "unknown": {"unknown", "running", "succeeded", "pending", "blocked", "resolved", "accepted"},
    "blocked": {"pending", "unknown", "succeeded", "resolved", "accepted"},
    "not_needed": {"pending"},
    "succeeded": set[str](),
    "resolved": {"pending"},
    "accepted": set[str](),
}


class Violated(AssertionError):
    """Something that must always be true is not."""


class Watch:
    """The eye on one world."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.violations: list[str] = []
        self.lost = 0
        self.duplicates = 0
        self.illegal = 0
        self.callers: dict[str, set[int]] = {}
        self._steps: tuple[Key, ...] = tuple(
            step_key(SAGA, index) for index in range(len(world.play.steps))
        )
        self._head = Key(Table.LEDGER, saga_pk(SAGA), "saga")
        self._waits = {
            index: _transitive(index, world.play.shape.steps)
            for index in range(len(world.play.steps))
        }

    # Reporting

    def violated(self, number: int, what: str) -> None:
        """An invariant does not hold."""
        self.illegal += 1
        self.violations.append(f"invariant {number}: {what}")
        self.world.note(f"!!! invariant {number}: {what}")

    # Looking

    def head(self) -> Item:
        """The head as stored now."""
        found: Item = self.world.store.records[self._head]
        return found

    def step(self, index: int) -> Item:
        """A step as stored now."""
        found: Item = self.world.store.records[self._steps[index]]
        return found

    def open_cases(self) -> list[Item]:
        """The open cases."""
        return [
            item
            for key, item in self.world.store.records.items()
            if key.sk == "case" and item.get("state") == "open"
        ]

    # Every write

    def changed(self, key: Key, old: Item | None, new: Item) -> None:
        """A record has changed."""
        if key.sk == "saga":
            self._head_changed(old, new)
        elif key.sk.startswith("step#"):
            self._step_changed(old, new)
        elif key.sk in {"approval", "case"}:
            if key.sk == "case" and old is None:
                self._by_the_driver(f"{key.pk} written")
            if key.sk == "approval" and old is not None and old.get("token") != new.get("token"):
                self._by_no_older_driver(key, old)
            if old is None:
                self.world.people.listed(new)
            else:
                self._person_changed(key, old, new)

    def settled_step(self) -> None:
        """After a whole write: invariant 13, with head and cases as they are now."""
        head = self.world.store.records.get(self._head)
        if head is None:
            return
        self._none_forgotten(head)
        if head.get("outcome") is not None:
            return
        if head.get("due_at") is not None or self.open_cases():
            return
        execution = self.world.machines.executions.get(head.get("execution") or "")
        if execution is None or execution.status != "RUNNING":
            self.violated(13, "no live driver, no deadline, no open case")

    def _none_forgotten(self, head: Item) -> None:
        """Invariant 15. Steps of a saga that a late effect opens again keep their marks until the starter comes."""
        marked = self._marked()
        if not marked or not self._unfinished(head):
            return
        if head.get("forgotten_at") is not None:
            self.violated(15, "the head of a saga that is not over is to be forgotten")
        elif head.get("due_at") is None:
            self.violated(15, f"{marked[0]} of a saga that is not over is to be forgotten")
        elif any(
            self.world.store.records[k]["forgotten_at"] * 1000 < self.world.now() for k in marked
        ):
            self.violated(15, f"{marked[0]} of a saga that is not over may be forgotten by now")

    def _marked(self) -> list[Key]:
        return [
            key
            for key, item in self.world.store.records.items()
            if item.get("forgotten_at") is not None
        ]

    def _unfinished(self, head: Item) -> bool:
        """Not ended, in a person's hands, or with an effect that nobody has accounted for."""
        steps = [self.world.store.records[key] for key in self._steps]
        return (
            head.get("outcome") is None
            or bool(self.open_cases())
            or any(step.get("case") or step.get("late") for step in steps)
        )

    def _head_changed(self, old: Item | None, new: Item) -> None:
        if old is None:
            return
        for field, legal in (("direction", DIRECTIONS), ("pivot", PIVOTS)):
            if old[field] != new[field] and (old[field], new[field]) not in legal:
                self.violated(9, f"{field}: {old[field]} -> {new[field]}")
        outcome = old.get("outcome"), new.get("outcome")
        if outcome[0] is not None and outcome[0] != outcome[1] and outcome not in OUTCOMES:
            self.violated(9, f"outcome: {outcome[0]} -> {outcome[1]}")
        if old.get("accepted") and not new.get("accepted"):
            self.violated(9, "what was accepted is forgotten")
        if new.get("accepted") and outcome[1] not in {None, "resolved_manually"}:
            self.violated(9, f"an effect was accepted, and the saga is called {outcome[1]}")
        if new["epoch"] < old["epoch"]:
            self.violated(9, "the epoch went back")
        if new["direction"] == "compensating" and old["direction"] != "compensating":
            self._turned(new)
        if new.get("outcome") is not None and old.get("outcome") is None:
            self._ended(new)

    def _turned(self, head: Item) -> None:
        if head["pivot"] in {"crossing", "crossed"}:
            self.violated(9, f"turned with the boundary {head['pivot']}")
        for key, item in self.world.store.records.items():
            if key.sk == "approval" and item["state"] in {"open", "approved"}:
                self.violated(6, f"turned, and {item['id']} is {item['state']}")
        self._by_the_driver("turned")

    def _by_the_driver(self, what: str) -> None:
        """Of all executions only the newest one's begin, gate and case may change anything."""
        worker = self.world.scheduler.current
        if worker is None or worker.role not in {"begin", "gate", "case"}:
            return
        if epoch_of(worker.execution) < self.head()["epoch"]:
            self.violated(9, f"{what} by {worker.execution}, of {self.head()['epoch']} drivers")

    def _by_no_older_driver(self, key: Key, old: Item) -> None:
        """The token of a newer execution is never replaced by an older one's: nobody would answer the one that waits."""
        worker = self.world.scheduler.current
        waiting = old.get("execution")
        if worker is None or worker.role != "gate" or waiting is None:
            return
        if epoch_of(worker.execution) < epoch_of(waiting):
            self.violated(9, f"{key.pk}: {waiting} is replaced by {worker.execution}")

    def _ended(self, head: Item) -> None:
        outcome = head["outcome"]
        steps = [self.step(i) for i in range(len(self._steps))]
        if head["direction"] == "compensating":
            owed = [s for s in steps if s.get("undo") and s["undo"]["state"] not in UNDO_SETTLED]
            if owed:
                self.violated(3, f"{outcome}, and {owed[0]['name']} is not undone")
            if outcome == "completed":
                self.violated(9, "a compensated saga is called completed")
            return
        # The last step's record is written in the same transaction as the head: look at it afterwards.
        self.world.later(0, lambda: self._completed(outcome))

    def _completed(self, outcome: str) -> None:
        for index in range(len(self._steps)):
            if self.step(index)["forward"]["state"] != "completed":
                self.violated(2, f"{outcome}, and {self.step(index)['name']} is unfinished")

    def _step_changed(self, old: Item | None, new: Item) -> None:
        if old is None:
            return
        before, after = old["forward"], new["forward"]
        legal = FORWARD[before["state"]] | ({"completed"} if after.get("by_hand") else set())
        if before["state"] != after["state"] and after["state"] not in legal:
            self.violated(9, f"{new['name']}: {before['state']} -> {after['state']}")
        if before.get("receipt") is not None and after.get("receipt") != before["receipt"]:
            self.violated(8, f"the receipt of {new['name']} changed")
        if before.get("barred") and not after.get("barred"):
            self.violated(6, f"the bar of {new['name']} was lifted")
        if after["fence"] < before["fence"] or after["attempts"] < before["attempts"]:
            self.violated(9, f"fence or attempts of {new['name']} went back")
        if after["attempts"] > before["attempts"]:
            self._forward_starts(new, after)
        if after["settlings"] > before["settlings"] and old.get("case") is not None:
            self.violated(9, f"{new['name']} is asked about while a person has it")
        if new.get("undo") is not None:
            self._undo_changed(new, old["undo"], new["undo"])

    def _forward_starts(self, step: Item, command: Item) -> None:
        name, index = step["name"], step["index"]
        if command["attempts"] > command["budget"]:
            self.violated(10, f"{name}: attempt {command['attempts']} of {command['budget']}")
        # In the boundary's first claim the head is part of the write, and is looked at after it.
        if self.head()["direction"] == "compensating":
            self.violated(6, f"{name} starts in a compensating saga")
        if step.get("case") is not None:
            self.violated(9, f"{name} starts while a person has it")
        if command.get("barred"):
            self.violated(6, f"{name} starts although it is barred")
        for earlier in range(index):
            if self.step(earlier)["forward"]["state"] != "completed":
                self.violated(7, f"{name} starts before {self.step(earlier)['name']} is recorded")

    def _undo_changed(self, step: Item, before: Item, after: Item) -> None:
        name = step["name"]
        if before["state"] != after["state"] and after["state"] not in UNDO[before["state"]]:
            self.violated(9, f"undo of {name}: {before['state']} -> {after['state']}")
        replaced = len(after.get("replaced", ())) > len(before.get("replaced", ()))
        for fixed in ("key", "operation", "alternates", "other_actions", "inputs", "condition"):
            may = replaced and fixed in {"key", "operation"}
            if not may and before.get(fixed) is not None and after.get(fixed) != before[fixed]:
                self.violated(8, f"{fixed} of the undo of {name} changed")
        if replaced:
            self._replaced(name, before, after)
        elif after["authority"] != before["authority"]:
            self._substituted(name, before, after)
        if after["state"] == "accepted" != before["state"] and not self._by_two(step, "accept"):
            self.violated(3, f"the effect of {name} was accepted, and not by two people")
        counted_anew = replaced and after["attempts"] == 0
        forgets = after["attempts"] < before["attempts"] and not counted_anew
        if after["fence"] < before["fence"] or forgets:
            self.violated(9, f"fence or attempts of the undo of {name} went back")
        if after["attempts"] > before["attempts"]:
            if after["attempts"] > after["budget"]:
                self.violated(10, f"undo of {name}: attempt {after['attempts']}")
            if step.get("case") is not None:
                self.violated(9, f"the undo of {name} starts while a person has it")
            self._undo_starts(step["index"], name)

    def _substituted(self, name: str, before: Item, after: Item) -> None:
        """Invariant 12: another authority is a declared one, and two people have agreed to it in this very write."""
        last = (after.get("substitutions") or [{}])[-1]
        agreed = (
            after["authority"] in before.get("alternates", ())
            and last.get("authority") == after["authority"]
            and self._agreed_in(last, "retry_with_alternate")
        )
        if not agreed:
            self.violated(12, f"the authority of the undo of {name} changed, and not by two people")

    def _replaced(self, name: str, before: Item, after: Item) -> None:
        """Invariant 12: another action is a declared one under a key of its own, and two people agreed in this write.

        Nothing that was asked for under the earlier key may have landed, or may still.
        """
        declared = {each["name"]: each["authority"] for each in before.get("other_actions", ())}
        used = {before["key"], *(each["key"] for each in before.get("replaced", ()))}
        agreed = declared.get(after["operation"]) == after["authority"] and self._agreed_in(
            after["replaced"][-1], "another_action"
        )
        if not agreed:
            self.violated(12, f"{name} is undone otherwise, and not by two people")
        if after["key"] in used or after["fence"] <= before["fence"]:
            self.violated(1, f"{name} is undone otherwise under a key or fence of before")
        if before["unsettled"] or before["state"] not in {"pending", "blocked"}:
            self.violated(1, f"{name} is undone otherwise while its undo may land")

    def _agreed_in(self, entry: Item, resolution: str) -> bool:
        """Whether the entry of a change names two people, and the case in which they settled it so."""
        case = self.world.store.records.get(self.world.case_key(entry.get("case", ""))) or {}
        two = entry.get("proposed_by") not in {None, entry.get("confirmed_by")}
        return two and self._settled_by_two(case, resolution)

    def _by_two(self, step: Item, resolution: str) -> bool:
        """Whether two people have settled a case of this step so."""
        return any(
            item.get("index") == step["index"] and self._settled_by_two(item, resolution)
            for key, item in self.world.store.records.items()
            if key.sk == "case"
        )

    @staticmethod
    def _settled_by_two(case: Item, resolution: str) -> bool:
        said = {e["what"]: e for e in case.get("events", ()) if e["what"] != "claimed"}
        one, other = said.get("proposed", {}), said.get("confirmed", {})
        return (
            case.get("resolution") == resolution
            and one.get("facts", {}).get("proposal") == other.get("facts", {}).get("proposal")
            and None not in {one.get("who"), other.get("who")}
            and one.get("who") != other.get("who")
        )

    def _undo_starts(self, index: int, name: str) -> None:
        if self.head()["direction"] != "compensating":
            self.violated(
                9, f"undo of {name} starts in a saga that goes {self.head()['direction']}"
            )
        if self._boundary_applied():
            self.violated(4, f"undo of {name} starts after the boundary was applied")
        for other in self._waits[index]:
            if self.step(other)["undo"]["state"] not in UNDO_SETTLED:
                self.violated(11, f"undo of {name} starts before that of step {other} is settled")

    def _boundary_applied(self) -> bool:
        boundary = self.world.play.boundary
        return boundary is not None and self.world.target.exists(boundary)

    def _person_changed(self, key: Key, old: Item, new: Item) -> None:
        tenant = new["tenant"]
        if tenant != old["tenant"] or tenant != "tenant-1":
            self.violated(14, f"{key.pk} changed its tenant")
        if old.get("state") == "consumed" and new.get("state") != "consumed":
            self.violated(5, "a consumed approval is used again")
        if new.get("claimed_by", "").startswith("stranger") or any(
            d["person"].startswith("stranger") for d in new.get("decisions", ())
        ):
            self.violated(14, f"a stranger changed {key.pk}")

    # Every call

    def called(self, command: Command, call: Call, worker: Worker | None) -> None:
        """A run or an undo is sent."""
        index, side = command
        record = self.step(index)
        mine = record["forward"] if side == "do" else record["undo"]
        self._authority(record["name"], mine, call)
        if call.key != mine["key"]:
            self.violated(1, f"{record['name']} was called with the key {call.key}")
        if worker is not None:
            callers = self.callers.setdefault(call.key, set())
            callers.add(worker.number)
            if len(callers) > mine["attempts"]:
                self.violated(
                    10, f"{len(callers)} calls of {command} for {mine['attempts']} claims"
                )
        if side == "do" and index == self.world.play.boundary:
            self._permitted(record)

    def inquired(self, command: Command, call: Call) -> None:
        """A status query or a tombstone is sent: under the command's own key and authority."""
        index, side = command
        record = self.step(index)
        mine = record["forward"] if side == "do" else record["undo"]
        self._authority(record["name"], mine, call)
        if call.key != mine["key"]:
            self.violated(12, f"{record['name']} was asked about by the key {call.key}")

    def _authority(self, name: str, mine: Item, call: Call) -> None:
        recorded = mine["authority"]["credential"]
        if call.credential.partition("#")[0] != recorded:
            self.violated(12, f"{name} was called with {call.credential}, not {recorded}")

    def _permitted(self, record: Item) -> None:
        """Invariant 5: what runs at the pivot is exactly what people agreed to, if they were to be asked."""
        if record["kind"] != "pivot" or not self.world.habits.ask:
            return
        step = parsed(StepRecord, record)
        approvals = [
            item
            for key, item in self.world.store.records.items()
            if key.sk == "approval" and item["index"] == record["index"]
        ]
        head = self.head()
        binds = bound_digest(
            tenant=head["tenant"],
            saga_id=SAGA,
            step=step,
            forward_digest=record["forward"]["digest"],
            catalogue_version=head["catalogue_version"],
            policy_version=head["policy_version"],
        )
        agreed = [
            a
            for a in approvals
            if a["state"] == "consumed"
            and a["binds"] == binds
            and any(self._may_approve(d["person"]) for d in a["decisions"])
            and all(d["decision"] == "approve" for d in a["decisions"])
        ]
        if not agreed:
            self.violated(5, f"{record['name']} runs without an approval that matches it")

    def _may_approve(self, person: str) -> bool:
        return self.world.play.catalogue.approvers in self.world.directory.groups(person)

    # Every effect

    def effect(self, effect: Effect) -> None:
        """Something has been done at a target."""
        index, side = effect.command
        count = self.world.target.count(effect.command)
        if count > 1:
            self.duplicates += 1
            self.violations.append(f"invariant 1: {count} effects of {effect.command}")
            self.world.note(f"!!! invariant 1: {count} effects of {effect.command}")
        if side == "undo" and not effect.hand and self._boundary_applied():
            self.violated(4, f"step {index} was undone after the boundary was applied")
        if side == "undo" and effect.resource == "nothing":
            self.violated(9, f"step {index} was undone without anything to undo")

    # At rest

    def at_rest(self, *, rested: bool) -> None:
        """Nothing moves any more: every effect is accounted for, and every saga has an end or a person."""
        for error in self.world.scheduler.unplanned:
            self.illegal += 1
            self.violations.append(f"unplanned: {error}")
        cases = self.open_cases()
        self._accounts(cases)
        head = self.head()
        self._kept(head, rested=rested)
        if head.get("outcome") is not None:
            return
        if not rested:
            self.violated(13, "the saga never comes to rest")
        elif not cases:
            self.violated(13, f"at rest without an end or a case: {head['direction']}")
        elif self.world.habits.operator != "silent" and self.world.people.visits:
            self.violated(13, f"people cannot settle it: {[c['cause'] for c in cases]}")

    def _kept(self, head: Item, *, rested: bool) -> None:
        """Invariant 15 at rest: all of a saga that is over is marked, and nothing of any other."""
        marked = set(self._marked())
        if self._unfinished(head):
            if marked:
                self.violated(15, f"at rest, not over, and {min(marked, key=str)} is marked")
        elif rested and not {self._head, *self._steps} <= marked:
            self.violated(15, "over, and kept for ever")

    def _accounts(self, cases: list[Item]) -> None:
        """Invariant 3, and 2 for what lies beyond the boundary."""
        head = self.head()
        in_cases = {case.get("index") for case in cases}
        boundary = self.world.play.boundary
        completed = head.get("outcome") is not None and head["direction"] != "compensating"
        for index in range(len(self._steps)):
            exists = self.world.target.exists(index)
            state = self.step(index)["forward"]["state"]
            before = boundary is None or index < boundary
            if completed:
                if not exists:
                    self._lost(2, f"the saga is completed, and step {index} has no effect")
            elif not exists or None in in_cases or in_cases & {index, *self._waits[index]}:
                # In a case, or waiting for an undo that is in one.
                continue
            elif index in self.world.people.lies and state != "completed":
                # A named person has said so, and nobody has ever reported otherwise.
                continue
            elif self._by_two(self.step(index), "accept"):
                continue
            elif before and head["direction"] == "compensating":
                if (self.step(index).get("undo") or {}).get("state") != "accepted":
                    self._lost(3, f"the effect of step {index} is neither undone nor in a case")
            elif head.get("outcome") is not None:
                self._lost(3, f"step {index} took effect in a saga that was compensated")
            elif state != "completed" and not cases:
                self._lost(3, f"the effect of step {index} is recorded nowhere")

    def _lost(self, number: int, what: str) -> None:
        self.lost += 1
        self.violations.append(f"invariant {number}: lost obligation: {what}")
        self.world.note(f"!!! invariant {number}: lost obligation: {what}")


def _transitive(index: int, steps: Any) -> frozenset[int]:
    """All steps whose undo has to be settled before that of step `index`, however far away."""
    found: set[int] = set()
    ahead = [index]
    while ahead:
        fresh = set(steps[ahead.pop()].undo_waits_for) - found
        found |= fresh
        ahead.extend(fresh)
    return frozenset(found)
