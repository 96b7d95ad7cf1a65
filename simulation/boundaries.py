"""The rows of the crash matrix: every boundary of every command, of the gate, of people and of the saga as a whole."""

from __future__ import annotations

from collections.abc import Callable

from simulation import ways
from simulation.boundary import (
    Boundary,
    beyond,
    boundary,
    compensable,
    every,
    first,
    pivot,
    turning,
)
from simulation.faults import Fault
from simulation.play import Habits
from simulation.scheduler import Place

NOTHING_SENT = "no answer was on its way: the request had not arrived"
ENDED = "the process has ended"
LAST = "nothing is asked of anybody any more"


def _run(phase: str) -> Callable[[int], Place]:
    return lambda index: ("run", index, phase)


def _undo(phase: str) -> Callable[[int], Place]:
    return lambda index: ("undo", index, phase)


def _settle(phase: str) -> Callable[[int], Place]:
    return lambda index: ("settle", index, phase)


def _begin(phase: str) -> Callable[[int], Place]:
    return lambda index: ("begin", index, phase)


def _gate(phase: str) -> Callable[[int], Place]:
    return lambda index: ("gate", index, phase)


def _who(role: str, phase: str) -> Callable[[int], Place]:
    return lambda _: (role, None, phase)


FORWARD = (
    Boundary("forward", "before the claim", every, _run("claim:before")),
    Boundary("forward", "after the claim, before the call", every, _run("call:before")),
    Boundary(
        "forward",
        "request lost",
        every,
        _run("call:silence"),
        begin=ways.says("run", "call:before", "request lost"),
        impossible={Fault.LOST: NOTHING_SENT},
    ),
    Boundary(
        "forward",
        "answer lost",
        every,
        _run("call:silence"),
        begin=ways.says("run", "call:after", "lost"),
        is_itself=Fault.LOST,
    ),
    Boundary("forward", "after the call, before the record", every, _run("record:before")),
    Boundary(
        "forward",
        "the record's write conflicts",
        every,
        _run("record:before"),
        nth=2,
        begin=ways.says("run", "record:before", "conflict"),
    ),
    Boundary("forward", "after the record, before the report", every, _run("record:after")),
    Boundary(
        "forward",
        "report lost",
        every,
        _run("report"),
        already=lambda _world, _worker: "lost",
        is_itself=Fault.LOST,
        impossible={Fault.CRASH: ENDED, Fault.ZOMBIE: ENDED},
    ),
    Boundary(
        "forward",
        "last attempt spent",
        every,
        _run("call:before"),
        nth=ways.attempts,
        begin=ways.nearly_spent,
    ),
    Boundary(
        "forward",
        "a zombie's answer after its lease",
        every,
        _run("call:after"),
        already=ways.lapsed,
        is_itself=Fault.ZOMBIE,
    ),
    Boundary(
        "forward",
        "its effect landing after the settling",
        every,
        _run("call:silence"),
        begin=ways.lands_late,
        is_itself=Fault.LOST,
    ),
    Boundary(
        "forward",
        "the next call, while a zombie's refusal is due",
        every,
        _run("call:before"),
        nth=2,
        begin=ways.zombie_refused("run"),
        targets=("full", "keys"),
        when=lambda step: step.settlement.keys_kept_for is not None,
    ),
    Boundary(
        "forward",
        "the next keyless call, while a zombie's refusal is due",
        compensable,
        _run("call:before"),
        nth=2,
        begin=ways.zombie_refused("run"),
        targets=("status",),
        when=lambda step: step.settlement.keys_kept_for is None,
    ),
)
UNDO = (
    Boundary(
        "undo", "before the claim", compensable, _undo("undo-claim:before"), begin=ways.turned
    ),
    Boundary(
        "undo",
        "after the claim, before the call",
        compensable,
        _undo("call:before"),
        begin=ways.turned,
    ),
    Boundary(
        "undo",
        "answer lost",
        compensable,
        _undo("call:silence"),
        begin=ways.both(ways.turned, ways.says("undo", "call:after", "lost")),
        is_itself=Fault.LOST,
    ),
    Boundary(
        "undo",
        "after the undo, before the checkpoint",
        compensable,
        _undo("undo-record:before"),
        begin=ways.turned,
    ),
    Boundary(
        "undo", "after the checkpoint", compensable, _undo("undo-record:after"), begin=ways.turned
    ),
    Boundary(
        "undo",
        "credential expired",
        compensable,
        _undo("call:before"),
        begin=ways.turned,
        already=ways.expired,
    ),
    Boundary(
        "undo",
        "credential revoked",
        compensable,
        _undo("call:before"),
        begin=ways.turned,
        already=ways.revoked,
        is_itself=Fault.DENIAL,
    ),
    Boundary(
        "undo",
        "last attempt spent",
        compensable,
        _undo("call:before"),
        nth=ways.undo_attempts,
        begin=ways.undo_nearly_spent,
    ),
    Boundary(
        "undo",
        "the next call, while a zombie's refusal is due",
        compensable,
        _undo("call:before"),
        nth=2,
        begin=ways.both(ways.turned, ways.zombie_refused("undo")),
        targets=("full", "keys", "status"),
    ),
)
ANSWERS = ("full", "status")
CANCELS = ("full", "tombstone")
SETTLING = (
    Boundary(
        "settling",
        "before the question is claimed",
        every,
        _run("ask:before"),
        begin=ways.lands_late,
        targets=ANSWERS,
    ),
    Boundary(
        "settling",
        "question claimed, not asked",
        every,
        _run("status:before"),
        begin=ways.lands_late,
        targets=ANSWERS,
    ),
    Boundary(
        "settling",
        "answered, not recorded",
        every,
        _run("status:after"),
        begin=ways.lands_late,
        targets=ANSWERS,
    ),
    Boundary(
        "settling",
        "going back, question claimed, not asked",
        compensable,
        _undo("status:before"),
        begin=ways.unknown_and_cancelled,
        targets=("status",),
    ),
    Boundary(
        "settling",
        "going back, answered, not recorded",
        compensable,
        _undo("status:after"),
        begin=ways.unknown_and_cancelled,
        targets=("status",),
    ),
    Boundary(
        "settling",
        "going back, before the tombstone",
        compensable,
        _undo("tombstone:before"),
        begin=ways.unknown_and_cancelled,
        targets=CANCELS,
    ),
    Boundary(
        "settling",
        "going back, tombstone not recorded",
        compensable,
        _undo("tombstone:after"),
        begin=ways.unknown_and_cancelled,
        targets=CANCELS,
    ),
    Boundary(
        "settling",
        "of an undo, before the question",
        compensable,
        _undo("undo-ask:before"),
        begin=ways.undo_lands_late,
        targets=ANSWERS,
    ),
    Boundary(
        "settling",
        "of an undo, answered, not recorded",
        compensable,
        _undo("status:after"),
        begin=ways.undo_lands_late,
        targets=ANSWERS,
    ),
    Boundary(
        "settling",
        "of the boundary, before the question",
        boundary,
        _settle("ask:before"),
        begin=ways.unknown_and_given_up(),
        targets=("full", "status", "tombstone"),
    ),
    Boundary(
        "settling",
        "of the boundary, settled, not stepped back",
        boundary,
        _settle("step-back:before"),
        begin=ways.unknown_and_given_up("request lost"),
        targets=("status", "tombstone"),
    ),
    Boundary(
        "settling",
        "of the boundary, stepped back",
        boundary,
        _settle("step-back:after"),
        begin=ways.unknown_and_given_up("request lost"),
        targets=("status", "tombstone"),
        impossible={Fault.DENIAL: LAST},
    ),
)
DIRECTION = (
    Boundary(
        "direction",
        "before the write that turns it",
        turning,
        _begin("turn:before"),
        begin=ways.refused,
    ),
    Boundary(
        "direction",
        "after the write that turns it",
        turning,
        _begin("turn:after"),
        begin=ways.refused,
        impossible={Fault.DENIAL: LAST},
    ),
    Boundary("direction", "crossing written, call not made", boundary, _run("claim:after")),
)
_ASK = Habits(ask=True)
GATE = (
    Boundary(
        "gate",
        "token stored, notice lost",
        pivot,
        _gate("token:after"),
        begin=ways.says("gate", "notice:before", "dropped"),
        habits=_ASK,
    ),
    Boundary(
        "gate",
        "decision written, token not answered",
        pivot,
        _who("approver", "answer:before"),
        habits=_ASK,
    ),
    Boundary(
        "gate",
        "answered twice",
        pivot,
        _who("approver", "answer:before"),
        habits=Habits(ask=True, approver="twice"),
    ),
    Boundary(
        "gate",
        "answered late",
        pivot,
        _who("sweeper", "expiry:before"),
        habits=Habits(ask=True, approver="late"),
    ),
    Boundary(
        "gate",
        "approve races reject",
        pivot,
        _who("approver", "decision:before"),
        nth=2,
        begin=ways.races,
        habits=Habits(ask=True, approver="race"),
    ),
    Boundary(
        "gate",
        "precondition changed meanwhile",
        pivot,
        _run("record:before"),
        begin=ways.closes,
        habits=_ASK,
        when=lambda step: bool(step.preconditions),
    ),
    Boundary(
        "gate",
        "agreed, and out of the group since",
        pivot,
        _run("question:before"),
        nth=2,
        begin=ways.leaves,
        habits=_ASK,
    ),
    Boundary(
        "gate",
        "cancelled while open",
        pivot,
        _who("cancel", "turn:before"),
        begin=ways.cancels,
        habits=_ASK,
    ),
    Boundary(
        "gate",
        "cancelled, and its machine not told",
        pivot,
        _who("cancel", "answer:before"),
        begin=ways.cancels,
        habits=Habits(ask=True, approver="silent"),
    ),
)
_BY_HAND = Habits(operator="done")
_ANOTHER = Habits(operator="another")
_ALTERNATE = Habits(operator="alternate")
PEOPLE = (
    Boundary(
        "people",
        "a step done by hand, and not recorded",
        beyond,
        _who("operator", "by-hand"),
        begin=ways.refused,
        habits=_BY_HAND,
    ),
    Boundary(
        "people",
        "an undo done by hand, and not recorded",
        compensable,
        _who("operator", "by-hand"),
        begin=ways.undo_refused,
        habits=_BY_HAND,
    ),
    Boundary(
        "people",
        "a step tried again when its key is forgotten",
        beyond,
        _who("operator", "resolution:before"),
        begin=ways.forgotten("do"),
        targets=("brief",),
        habits=Habits(operator="retry"),
    ),
    Boundary(
        "people",
        "an undo tried again when its key is forgotten",
        compensable,
        _who("operator", "resolution:before"),
        begin=ways.forgotten("undo"),
        targets=("brief",),
        habits=Habits(operator="retry"),
    ),
    Boundary(
        "people",
        "a remaining effect proposed to be accepted, not agreed to",
        compensable,
        _who("operator", "by-hand"),
        begin=ways.undo_refused,
        habits=Habits(operator="accept"),
    ),
    Boundary(
        "people",
        "an alternate proposed, not agreed to",
        compensable,
        _who("operator", "by-hand"),
        begin=ways.undo_unauthorised,
        habits=_ALTERNATE,
    ),
    Boundary(
        "people",
        "an alternate agreed to, not called",
        compensable,
        _undo("call:before"),
        nth=2,
        begin=ways.undo_unauthorised,
        habits=_ALTERNATE,
    ),
    Boundary(
        "people",
        "another action proposed, not agreed to",
        compensable,
        _who("operator", "by-hand"),
        begin=ways.undo_refused,
        habits=_ANOTHER,
    ),
    Boundary(
        "people",
        "another action agreed to, not called",
        compensable,
        _undo("call:before"),
        nth=2,
        begin=ways.undo_refused,
        habits=_ANOTHER,
    ),
    Boundary(
        "people",
        "another action called, not recorded",
        compensable,
        _undo("call:after"),
        nth=2,
        begin=ways.undo_refused,
        habits=_ANOTHER,
    ),
)
SAGA = (
    Boundary("saga", "start lost", first, _who("starter", "start:before")),
    Boundary(
        "saga", "stream late", first, _who("sweeper", "drive:before"), begin=ways.stream(90_000)
    ),
    Boundary(
        "saga",
        "uncatchable error, going forward",
        every,
        _run("call:after"),
        already=ways.ends("FAILED"),
    ),
    Boundary(
        "saga",
        "uncatchable error, going back",
        compensable,
        _undo("call:after"),
        begin=ways.turned,
        already=ways.ends("FAILED"),
    ),
    Boundary(
        "saga",
        "stopped from outside, going forward",
        every,
        _run("call:before"),
        already=ways.ends("ABORTED"),
    ),
    Boundary(
        "saga",
        "stopped from outside, going back",
        compensable,
        _undo("call:before"),
        begin=ways.turned,
        already=ways.ends("ABORTED"),
    ),
    Boundary("saga", "machine deleted", every, _run("call:after"), already=ways.deleted),
    Boundary(
        "saga", "sweeper dies midway", first, _who("sweeper", "drive:after"), begin=ways.stream()
    ),
    Boundary("saga", "two drivers, going forward", every, _run("claim:after"), already=ways.second),
    Boundary(
        "saga",
        "two drivers, going back",
        compensable,
        _undo("undo-claim:after"),
        begin=ways.turned,
        already=ways.second,
    ),
)
BOUNDARIES = (*FORWARD, *UNDO, *SETTLING, *DIRECTION, *GATE, *PEOPLE, *SAGA)
