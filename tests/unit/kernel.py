"""The kernel on a bench: a small catalogue over one fake target, all in memory, with a switch at every point on the way."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, StringConstraints

from functions.aws.idempotency import once
from functions.domain.calls import Call, FactCall, FactUnavailable
from functions.domain.catalogue import (
    Authority,
    Catalogue,
    Fact,
    Kind,
    Operation,
    Precondition,
    Retry,
    Settlement,
    Step,
    Undo,
    Violation,
)
from functions.domain.ledger import head as heads
from functions.domain.ledger.records import Head, Saga, StepRecord
from functions.domain.outcome import (
    Applied,
    Finding,
    NotApplied,
    NotFound,
    Outcome,
    Receipt,
    RefusalCause,
    Refused,
    Tombstoned,
    Unknown,
    UnknownCause,
)
from functions.domain.plan import Plan, parse_plan
from functions.domain.policy import Allowed, NeedsApproval, Question, Verdict
from functions.domain.validation import Validated, validate
from functions.memory.store import MemoryStore
from functions.memory.world import (
    MemoryAdapters,
    MemoryCallbacks,
    MemoryCredentials,
    MemoryDirectory,
    MemoryMachines,
    MemoryNotices,
    TestClock,
)
from functions.ports import Change, Item, Key, Once, Stale, Table
from functions.usecases.admission import Actor, admit
from functions.usecases.records import changed, created, key_of, the_saga
from functions.usecases.targets import Targets
from functions.usecases.world import StepRef, StepWorld

SETTLES = {
    "keys+status+tombstone": ("keys", "status", "tombstone"),
    "keys+status": ("keys", "status"),
    "keys": ("keys",),
    "status": ("status",),
    "tombstone": ("tombstone",),
    "person": (),
}
"""The kinds of target there are, by what they offer to find out what became of a call."""

SAGA = "saga-1"
SETTLES_AFTER = timedelta(seconds=60)
KEYS_KEPT_FOR = timedelta(days=1)
CALL_TIMEOUT = timedelta(seconds=2)
SECRET = "the-secret"
Side = Literal["do", "undo"]


class Killed(BaseException):
    """The process died here: nothing after this point runs, no handler catches it."""


class Wire:
    """Every store operation and every call at the target passes here, before and after: to count, to kill, to hook in."""

    def __init__(self) -> None:
        self.points: list[str] = []
        self.kill_at: int | None = None
        self.hook: Callable[[str], None] | None = None

    def touch(self, point: str) -> None:
        self.points.append(point)
        if self.hook is not None:
            self.hook(point)
        if self.kill_at == len(self.points):
            self.kill_at = None
            raise Killed(point)

    def kill_after(self, points: int) -> None:
        """Die when that many more points have been passed."""
        self.kill_at = len(self.points) + points


class WiredStore(MemoryStore):
    """The memory store on the wire."""

    def __init__(self, wire: Wire) -> None:
        super().__init__()
        self.wire = wire

    def get(self, key: Key) -> Item | None:
        self.wire.touch("before get")
        found = super().get(key)
        self.wire.touch("after get")
        return found

    def collection(self, table: Table, pk: str) -> list[Item]:
        self.wire.touch("before collection")
        found = super().collection(table, pk)
        self.wire.touch("after collection")
        return found

    def write(self, changes: Sequence[Change]) -> list[Item]:
        self.wire.touch("before write")
        try:
            written = super().write(changes)
        except Stale:
            self.wire.touch("stale write")
            raise
        self.wire.touch("after write")
        return written


@dataclass
class Target:
    """A target that counts its effects. `offers` says whether it keeps keys, answers for them, cancels them."""

    wire: Wire
    offers: tuple[str, ...]
    undo_offers: tuple[str, ...]
    effects: list[tuple[Side, str, str]] = field(default_factory=list)
    """Every mutation that happened: direction, key, resource."""
    calls: list[tuple[str, str]] = field(default_factory=list)
    tombstones: set[str] = field(default_factory=set)
    parameters: dict[str, str] = field(default_factory=dict)
    troubles: dict[str, list[str]] = field(default_factory=dict)
    in_flight: list[tuple[Side, Call]] = field(default_factory=list)
    secret: str = SECRET
    resources: int = 0

    def trouble(self, key: str, *faults: str, operation: str = "call") -> None:
        """Order faults for the next calls under a key ("" is any key): lost, silent, delayed, refuse, …"""
        self.troubles.setdefault(f"{operation} {key}", []).extend(faults)

    def count(self, key: str) -> int:
        """How many effects a key has had."""
        return Counter(k for _, k, _ in self.effects)[key]

    def resource(self, key: str) -> str | None:
        return next((r for _, k, r in self.effects if k == key), None)

    def do(self, call: Call) -> Outcome:
        return self._call("do", call)

    def undo(self, call: Call) -> Outcome:
        return self._call("undo", call)

    def status(self, call: Call) -> Finding:
        self.calls.append(("status", call.key))
        self.wire.touch("before status")
        answer = self._status(call)
        self.wire.touch("after status")
        return answer

    def cancel(self, call: Call) -> Finding:
        self.calls.append(("cancel", call.key))
        self.wire.touch("before cancel")
        answer = self._cancel(call)
        self.wire.touch("after cancel")
        return answer

    def arrive(self) -> list[Outcome]:
        """What was delayed on the way reaches the target now; nobody hears its answers unless a test passes them on."""
        arrived, self.in_flight = self.in_flight, []
        return [self._mutate(side, call) for side, call in arrived]

    def _call(self, side: Side, call: Call) -> Outcome:
        self.calls.append((side, call.key))
        self.wire.touch(f"before {side}")
        fault = self._next(f"call {call.key}") or self._next("call ")
        answer = self._answer(side, call, fault)
        self.wire.touch(f"after {side}")
        return answer

    def _answer(self, side: Side, call: Call, fault: str | None) -> Outcome:
        if call.credential != self.secret:
            return Refused(reason="401", cause=RefusalCause.AUTHORITY)
        match fault:
            case None:
                return self._mutate(side, call)
            case "lost":
                self._mutate(side, call)
                return Unknown(reason="no answer")
            case "boom":
                self._mutate(side, call)
                raise RuntimeError("after the effect")
            case "silent":
                return Unknown(reason="no answer")
            case "delayed":
                self.in_flight.append((side, call))
                return Unknown(reason="no answer")
            case "refuse":
                return Refused(reason="declined")
            case "busy":
                return NotApplied(reason="503")
            case "authority":
                return Refused(reason="401", cause=RefusalCause.AUTHORITY)
            case "conflict":
                return Unknown(reason="other parameters", cause=UnknownCause.KEY_CONFLICT)
            case _:
                raise AssertionError(f"no such trouble: {fault}")

    def _mutate(self, side: Side, call: Call) -> Outcome:
        if call.key in self.tombstones:
            return Refused(reason="the key was cancelled")
        said = json.dumps([str(call.arguments), sorted(call.inputs.items())])
        if self._keeps_keys(side, call.key):
            known = self.resource(call.key)
            if known is not None and self.parameters[call.key] != said:
                return Unknown(reason="other parameters", cause=UnknownCause.KEY_CONFLICT)
            if known is not None:
                return Applied(receipt=Receipt(resource=known))
        self.resources += 1
        resource = f"{side}-{self.resources}"
        self.effects.append((side, call.key, resource))
        self.parameters[call.key] = said
        return Applied(receipt=Receipt(resource=resource, version="1"))

    def _keeps_keys(self, side: Side, key: str) -> bool:
        if side == "undo":
            return "keys" in self.undo_offers
        # A compensable step has to be observable: where nothing else is offered, these two have keys.
        return "keys" in self.offers or (not self.offers and key.split(":")[1] in {"0", "1"})

    def _status(self, call: Call) -> Finding:
        fault = self._next(f"status {call.key}") or self._next("status ")
        if call.credential != self.secret or fault == "authority":
            return Refused(reason="401", cause=RefusalCause.AUTHORITY)
        if fault == "refuse":
            return Refused(reason="not a question we answer")
        if fault is not None:
            return Unknown(reason="no answer")
        if call.key in self.tombstones:
            return Tombstoned()
        known = self.resource(call.key)
        return Applied(receipt=Receipt(resource=known, version="1")) if known else NotFound()

    def _cancel(self, call: Call) -> Finding:
        answer = self._status(call)
        if isinstance(answer, NotFound):
            self.tombstones.add(call.key)
            return Tombstoned()
        return answer

    def _next(self, what: str) -> str | None:
        waiting = self.troubles.get(what)
        return waiting.pop(0) if waiting else None


class Order(BaseModel):
    """The arguments of every step."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)
    order_id: Annotated[str, StringConstraints(pattern=r"^[0-9]{1,10}$", max_length=10)]


class OrderFact(BaseModel):
    """What the shop says of an order."""

    shipped: bool


def _order_id(arguments: BaseModel) -> str:
    return str(getattr(arguments, "order_id", ""))


def _order_open(_: BaseModel, order: OrderFact | None) -> list[Violation]:
    if order is None or order.shipped:
        return [Violation("order_shipped", "The order has shipped.", "It is too late.")]
    return []


def _operation(does: str) -> Operation:
    return Operation(f"target.adapters:{does}", Authority(scope="shop", credential="shop"))


def _settlement(offers: tuple[str, ...], kind: Kind = Kind.COMPENSABLE) -> Settlement:
    repeatable = "keys" in offers or "tombstone" in offers
    by_machine = repeatable or (kind is Kind.COMPENSABLE and offers)
    return Settlement(
        settles_after=SETTLES_AFTER,
        keys_kept_for=KEYS_KEPT_FOR if "keys" in offers else None,
        status=_operation("status") if "status" in offers else None,
        tombstone=_operation("cancel") if "tombstone" in offers else None,
        reconcile="machine" if by_machine else "person",
    )


def shop(
    settles: str = "keys+status+tombstone",
    undo_settles: str = "keys+status",
    *,
    attempts: int = 3,
    **changes: Mapping[str, Any],
) -> Catalogue:
    """reserve, hold → charge (pivot, requires hold) → ship (requires reserve), notify. `changes` by step name."""
    offers, undo_offers = SETTLES[settles], SETTLES[undo_settles]
    compensable = offers or SETTLES["keys"]

    def step(name: str, kind: Kind, **more: Any) -> Step:
        undo = Undo(
            name=f"un_{name}",
            run=_operation("undo"),
            settlement=_settlement(undo_offers),
            retry=Retry(attempts=attempts),
            call_timeout=CALL_TIMEOUT,
            fixed_inputs=lambda arguments, receipt: {
                "order": _order_id(arguments),
                "resource": receipt.resource,
            },
        )
        own: dict[str, Any] = {
            "name": name,
            "version": "1",
            "kind": kind,
            "description": f"Does {name}.",
            "arguments": Order,
            "run": _operation("do"),
            "settlement": _settlement(compensable if kind is Kind.COMPENSABLE else offers, kind),
            "retry": Retry(attempts=attempts),
            "call_timeout": CALL_TIMEOUT,
            "retain_for": timedelta(days=30),
            "sentence": f"{name} for order {{order_id}}",
            "undo": undo if kind is Kind.COMPENSABLE else None,
            **more,
            **changes.get(name, {}),
        }
        return Step(**own)

    return Catalogue(
        name="shop",
        steps=(
            step("reserve", Kind.COMPENSABLE),
            step("hold", Kind.COMPENSABLE),
            step("charge", Kind.PIVOT, requires=("hold",), preconditions=("order_open",)),
            step("ship", Kind.RETRIABLE, requires=("reserve",)),
            step("notify", Kind.RETRIABLE),
        ),
        facts=(Fact("order", _operation("order"), OrderFact, _order_id),),
        preconditions=(Precondition("order_open", "order", _order_open),),
        policy="shop.policy:decide",
        policy_version="1",
        approvers="approvers",
        operators="operators",
    )


def needs(approvers: int = 1, *, group: str = "approvers", minutes: int = 60) -> NeedsApproval:
    """A policy's verdict: people have to agree."""
    return NeedsApproval(approvers, group, timedelta(minutes=minutes), "above the limit")


class Bench:
    """One saga of the shop, and everything around it."""

    def __init__(
        self,
        settles: str = "keys+status+tombstone",
        undo_settles: str = "keys+status",
        *,
        catalogue: Catalogue | None = None,
        once: Once = once,
        **more: Any,
    ) -> None:
        self.wire = Wire()
        self.clock = TestClock()
        self.store = WiredStore(self.wire)
        self.catalogue = catalogue or shop(settles, undo_settles, **more)
        self.target = Target(self.wire, SETTLES[settles], SETTLES[undo_settles])
        self.credentials = MemoryCredentials({"shop/shop": SECRET})
        self.callbacks, self.notices = MemoryCallbacks(), MemoryNotices()
        self.directory = MemoryDirectory(
            strangers=frozenset({"approvers", "directors", "tenant.acme"})
        )
        self.machines = MemoryMachines()
        self.verdict: Verdict = Allowed()
        self.asked: list[Question] = []
        self.shipped = False
        self.facts_down = False
        self.once = once
        adapters = {
            "target.adapters:do": self.target.do,
            "target.adapters:undo": self.target.undo,
            "target.adapters:refund": self.target.undo,
            "target.adapters:status": self.target.status,
            "target.adapters:cancel": self.target.cancel,
            "target.adapters:order": self._order,
            "shop.policy:decide": self._policy,
        }
        self.targets = Targets("shop", MemoryAdapters(adapters), self.credentials)

    def admit(self, *names: str, saga_id: str = SAGA, epoch: int = 1) -> Saga:
        """Admit a plan of these steps (all five without any), driven by execution number `epoch`."""
        plan = self.plan(*names)
        validated = validate(plan, self.catalogue, {("order", "4471"): OrderFact(shipped=False)})
        assert isinstance(validated, Validated), validated
        admission = admit(
            validated,
            saga_id=saga_id,
            actor=Actor("acme", "agent-1", "agent", owner="owner-1"),
            plan_digest="digest",
            now=self.clock.now(),
        )
        head = admission.head
        for number in range(1, epoch + 1):
            head = heads.driven(
                head,
                machine="machine-1",
                execution=f"{saga_id}-{number}",
                now=self.clock.now(),
                look_again=self.clock.now() + 30_000,
            )
        self.store.write([created(head), *(created(s) for s in admission.steps)])
        return self.saga_of(saga_id)

    def plan(self, *names: str, **more: Any) -> Plan:
        parsed = parse_plan(self.body(*names, **more))
        assert isinstance(parsed, Plan), parsed
        return parsed

    def body(self, *names: str, **more: Any) -> bytes:
        """A plan as an agent would send it."""
        chosen = names or ("reserve", "hold", "charge", "ship", "notify")
        return json.dumps(
            {
                "request_id": "request-1",
                "catalogue": "shop",
                "steps": [
                    {"id": f"s{i}", "name": n, "arguments": {"order_id": "4471"}}
                    for i, n in enumerate(chosen)
                ],
                "provenance": {
                    "run_id": "run-1",
                    "prompt_version": "7",
                    "source_document_id": "mail-88",
                },
                "rationale": "The customer asked.",
                **more,
            }
        ).encode()

    def world(self, name: str) -> StepWorld:
        """The world of a step's own function."""
        step = self.catalogue.step(name)
        assert step is not None
        return StepWorld(
            self.catalogue,
            step,
            self.store,
            self.targets,
            self.directory,
            self.clock,
            self.once,
        )

    def world_at(self, index: int) -> StepWorld:
        return self.world(self.step(index).name)

    def ref(self, index: int = 0, epoch: int | None = None) -> StepRef:
        """A Task's input."""
        return StepRef(SAGA, index, f"{SAGA}-{self.head.epoch if epoch is None else epoch}")

    @property
    def saga(self) -> Saga:
        return self.saga_of(SAGA)

    def saga_of(self, saga_id: str) -> Saga:
        """The saga as it is stored, without passing the wire."""
        quiet = self.store.wire
        self.store.wire = Wire()
        try:
            return the_saga(self.store, saga_id)
        finally:
            self.store.wire = quiet

    @property
    def head(self) -> Head:
        return self.saga.head

    def step(self, index: int) -> StepRecord:
        return self.saga.steps[index]

    def put(self, before: Any, after: Any) -> None:
        """Write a record as a test wants it."""
        self.store.write([changed(before, after)])

    def stored(self, record: Any) -> Item | None:
        return MemoryStore.get(self.store, key_of(record))

    def key(self, index: int, side: Side = "do") -> str:
        return f"{SAGA}:{index}:{side}"

    def lapse(self, index: int) -> None:
        """Let every lease and every late effect of a step become impossible."""
        step = self.step(index)
        until = max(
            step.forward.lease_until,
            step.forward.deadline,
            step.undo.lease_until if step.undo else 0,
            step.undo.deadline if step.undo else 0,
            self.clock.at,
        )
        self.clock.at = until + int(SETTLES_AFTER.total_seconds() * 1000) + 1

    def _order(self, _: FactCall) -> OrderFact:
        if self.facts_down:
            raise FactUnavailable("down")
        return OrderFact(shipped=self.shipped)

    def _policy(self, question: Question) -> Verdict:
        self.asked.append(question)
        return self.verdict
