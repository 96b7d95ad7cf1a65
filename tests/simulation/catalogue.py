"""Small catalogues for every legal order of kinds, over targets of every kind, and admitted sagas of them.

A step's name says its kind and place: `c0`, `p2`, `r3`. What its target can do is a property of the catalogue, so that the
same plan runs against targets with keys, with a status query, with tombstones, with all of it, and with nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from functools import cache
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, StringConstraints

from functions.domain.catalogue import (
    Alternate,
    Authority,
    Catalogue,
    Fact,
    Kind,
    Operation,
    OtherAction,
    Precondition,
    Retry,
    Settlement,
    Step,
    Undo,
    Violation,
)
from functions.domain.outcome import Receipt
from functions.domain.shape import shape_of
from simulation.boundary import TARGETS
from simulation.play import Play, machine_of, play_of
from simulation.simulated import simulated
from statemachines.compiler import Machine

NAME = "sim"
KINDS = {"c": Kind.COMPENSABLE, "p": Kind.PIVOT, "r": Kind.RETRIABLE}
MORE_TARGETS = (*TARGETS, "brief", "person")
"""Also: keys that are forgotten soon; an undo of high impact, which a person has to allow."""
STYLES = ("plain", "bound", "waves")
"""Steps that use nothing of each other; each one the result of the one before; undos that need not wait."""

CALL = timedelta(seconds=2)
SETTLES_AFTER = timedelta(seconds=6)
"""Shorter than a function may live: an effect may land between the answer to a question and the record of it."""
BRIEF = timedelta(minutes=2)
LONGEST_WAIT = timedelta(hours=2)
BUDGET = 3
APPROVERS, OPERATORS = "approvers", "operators"


class Doing(BaseModel):
    """The arguments of every step."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)
    thing: Annotated[str, StringConstraints(pattern=r"^[a-z0-9]{1,20}$", max_length=20)]

    @classmethod
    def model_json_schema(cls, *how: Any, **more: Any) -> dict[str, Any]:
        """The schema, made once: thousands of catalogues are."""
        if not _SCHEMA:
            _SCHEMA.update(super().model_json_schema(*how, **more))
        return _SCHEMA


_SCHEMA: dict[str, Any] = {}


class Thing(BaseModel):
    """The fact that preconditions look at."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)
    open: bool


def legal_shapes(most: int = 6) -> tuple[str, ...]:
    """Every legal order of kinds of 1 to `most` steps, as letters: 48 for six."""
    return tuple(
        "c" * compensable + rest
        for length in range(1, most + 1)
        for compensable in range(length, -1, -1)
        for rest in sorted(
            {"r" * (length - compensable), ("p" + "r" * length)[: length - compensable]}
        )
    )


def is_open(_: BaseModel, thing: Thing | None) -> list[Violation]:
    """The one precondition."""
    if thing is not None and thing.open:
        return []
    return [Violation("closed", "The thing has been closed.", "There is nothing left to do.")]


def the_thing(arguments: BaseModel) -> str:
    """What the fact is asked about."""
    return str(getattr(arguments, "thing", ""))


def inputs(_: BaseModel, receipt: Receipt) -> Mapping[str, str]:
    """What an undo is told."""
    return {"resource": receipt.resource}


def _operation(step: str, side: str, does: str) -> Operation:
    return Operation(
        adapter=f"{NAME}.{step}:{side}_{does}",
        authority=Authority(scope=f"{step}:{side}", credential=f"{step}_{side}"),
    )


def settlement(step: str, side: str, target: str) -> Settlement:
    """How a target of this kind is settled."""
    status = _operation(step, side, "status") if target in {"full", "status", "person"} else None
    tombstone = _operation(step, side, "tombstone") if target in {"full", "tombstone"} else None
    kept = {"full": timedelta(days=20), "keys": timedelta(days=20), "person": timedelta(days=20)}
    return Settlement(
        settles_after=SETTLES_AFTER,
        keys_kept_for=BRIEF if target == "brief" else kept.get(target),
        status=status,
        tombstone=tombstone,
        # Beyond the boundary a machine may repeat only what keys or a tombstone protect.
        reconcile="person" if target in {"status", "nothing"} else "machine",
    )


def _step(name: str, kind: Kind, target: str, style: str, before: tuple[str, ...]) -> Step:
    compensable = kind is Kind.COMPENSABLE
    run = settlement(name, "do", target)
    if compensable and target in {"status", "nothing"}:
        run = Settlement(
            settles_after=SETTLES_AFTER,
            # Something has to tell a compensable step's effect: without a status query its keys do.
            keys_kept_for=None if target == "status" else timedelta(days=20),
            status=run.status,
        )
    return Step(
        name=name,
        version="1",
        kind=kind,
        description=f"Does {name}.",
        arguments=Doing,
        run=_operation(name, "do", "run"),
        settlement=run,
        retry=Retry(attempts=BUDGET),
        call_timeout=CALL,
        retain_for=timedelta(days=90),
        sentence=f"{name} for {{thing}}",
        requires=before[-1:] if style == "bound" else (),
        preconditions=("is_open",) if not compensable else (),
        undo=_undo(name, target) if compensable else None,
    )


def _undo(name: str, target: str) -> Undo:
    return Undo(
        name=f"un_{name}",
        run=_operation(name, "undo", "run"),
        settlement=settlement(name, "undo", target),
        retry=Retry(attempts=BUDGET),
        call_timeout=CALL,
        fixed_inputs=inputs,
        needs_person=target == "person",
        alternates=(
            Alternate(
                "on_call",
                Authority(scope=f"{name}:undo", credential=f"{name}_on_call"),
                "The people on call",
            ),
        ),
        other_actions=(_refund(name, target),),
    )


def _refund(name: str, target: str) -> OtherAction:
    authority = Authority(scope=f"{name}:refund", credential=f"{name}_refund")
    run = Operation(f"{NAME}.{name}:refund_run", authority)
    return OtherAction(f"refund_{name}", run, settlement(name, "undo", target), "Refund it")


@cache
def catalogue(kinds: str, targets: tuple[str, ...], style: str) -> Catalogue:
    """The catalogue of one shape: `targets` has one entry a step."""
    names = tuple(f"{kind}{place}" for place, kind in enumerate(kinds))
    steps = tuple(
        _step(name, KINDS[name[0]], target, style, names[:place])
        for place, (name, target) in enumerate(zip(names, targets, strict=True))
    )
    if style == "waves":
        steps = tuple(_independent(step, steps) for step in steps)
    return simulated(
        Catalogue(
            name=NAME,
            steps=steps,
            facts=(Fact("thing", _operation("thing", "fact", "read"), Thing, the_thing),),
            preconditions=(Precondition("is_open", "thing", is_open),),
            policy=f"{NAME}.policy:decide",
            policy_version="1",
            approvers=APPROVERS,
            operators=OPERATORS,
            longest_wait=LONGEST_WAIT,
        )
    )


def _independent(step: Step, steps: tuple[Step, ...]) -> Step:
    """Even steps wait for no later one but the next even one; odd ones for none: two chains side by side."""
    if step.kind is not Kind.COMPENSABLE:
        return step
    place = int(step.name[1:])
    others = tuple(
        other.name
        for other in steps
        if other.kind is Kind.COMPENSABLE
        and int(other.name[1:]) > place
        and int(other.name[1:]) % 2 != place % 2
    )
    return replace(step, independent_of=others)


@cache
def play(kinds: str, targets: tuple[str, ...], style: str) -> Play:
    """The play of all steps of such a catalogue."""
    entries = catalogue(kinds, targets, style)
    return play_of(entries, entries.steps, _plan(kinds), _machine(kinds, style))


@cache
def _machine(kinds: str, style: str) -> Machine:
    """What targets can do is in no machine, and all have the same timeouts: one machine for all of them."""
    entries = catalogue(kinds, ("full",) * len(kinds), style)
    return machine_of(entries, shape_of(entries, entries.steps))


def _plan(kinds: str) -> bytes:
    """The plan as an agent sends it."""
    return json.dumps(
        {
            "request_id": "request-1",
            "catalogue": NAME,
            "steps": [
                {"id": f"s{place}", "name": f"{kind}{place}", "arguments": {"thing": "x"}}
                for place, kind in enumerate(kinds)
            ],
            "provenance": {
                "run_id": "run-1",
                "prompt_version": "1",
                "source_document_id": "mail-1",
            },
            "rationale": "The customer asked for it.",
        }
    ).encode()
