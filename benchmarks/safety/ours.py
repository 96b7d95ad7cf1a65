"""Sagaplane: the real handlers in processes that die, over DynamoDB, driven by the machine that the compiler made.

A saga of one step is admitted by the real admission; then its machine is followed state by state, with its own retriers
and catchers, each Task in a process of its own.
"""

from __future__ import annotations

import os
import random
import time
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import boto3

from benchmarks.safety import workers
from benchmarks.safety.count import Knows
from benchmarks.safety.ours_catalogue import CATALOGUE, CHARGE, CHARGE_ON_LIST
from functions.aws.dynamo import INDEXES, DynamoStore
from functions.domain.catalogue import Step
from functions.domain.keys import forward_key
from functions.domain.ledger.records import Saga
from functions.domain.ledger.status import Status, status
from functions.domain.plan import Plan, PlannedStep, Provenance
from functions.domain.validation import Validated, validate
from functions.usecases.admission import Actor, admit
from functions.usecases.records import created, read_case, the_saga
from statemachines.bindings import bindings_for
from statemachines.compiler import compile_machine
from statemachines.verify import verified

LEDGER, PEOPLE = "ledger", "people"
_SAGAS = 150
_HANDLERS = {"run": "run_step", "open_case": "open_case"}
_DIED = "Runtime.ExitError"
"""What Lambda calls the death of a function's process."""


def invoke(function: str, step: str, event: dict[str, Any]) -> Any:
    """One invocation: the function's environment, as the stacks set it, and its handler."""
    os.environ["SAGAPLANE_STEP"] = f"{CATALOGUE.name}/{step}"
    module = import_module(f"functions.handlers.{_HANDLERS[function]}")
    return module.handler(event, None)


def play(references: list[str]) -> dict[str, Knows]:
    """A target that keeps no keys and cannot be asked."""
    return _play(CHARGE, references)


def play_on_list(references: list[str]) -> dict[str, Knows]:
    """The same target, whose list can be asked for our key."""
    return _play(CHARGE_ON_LIST, references)


def _play(step: Step, references: list[str]) -> dict[str, Knows]:
    client = boto3.client("dynamodb")
    store = DynamoStore(client, ledger=LEDGER, people=PEOPLE)
    _create_tables(client)
    queue = boto3.client("sqs").create_queue(QueueName="cases")["QueueUrl"]
    try:
        bench = Bench(store, step, queue)
        with ThreadPoolExecutor(_SAGAS) as pool:
            # What stands on our effects, and so in the target's books, is the step's key.
            keys = [forward_key(saga_id, 0) for saga_id in references]
            return dict(zip(keys, pool.map(bench.trial, references), strict=True))
    finally:
        for table in (LEDGER, PEOPLE):
            client.delete_table(TableName=table)


@dataclass(frozen=True, slots=True)
class Bench:
    """What a trial needs."""

    store: DynamoStore
    step: Step
    queue: str

    def trial(self, saga_id: str) -> Knows:
        """Admit one saga and follow its machine to the end; answers what the ledger says then."""
        validated = self._validated(saga_id)
        self._admit(validated, saga_id)
        Execution(_machine(validated), saga_id, self.step.name).follow()
        return self._knows(the_saga(self.store, saga_id))

    def _validated(self, saga_id: str) -> Validated:
        plan = Plan(
            request_id=saga_id,
            catalogue=CATALOGUE.name,
            steps=(PlannedStep(id="charge", name=self.step.name, arguments={"account": "1"}),),
            provenance=Provenance(run_id="r", prompt_version="1", source_document_id="d"),
            rationale="to be killed",
        )
        found = validate(plan, CATALOGUE, {})
        if not isinstance(found, Validated):
            raise TypeError(f"the plan is refused: {found}")
        return found

    def _admit(self, validated: Validated, saga_id: str) -> None:
        actor = Actor(tenant="bench", name="agent", kind="agent")
        now = int(time.time() * 1000)
        made = admit(validated, saga_id=saga_id, actor=actor, plan_digest="0", now=now)
        # As the starter leaves it once the execution runs.
        head = made.head.model_copy(
            update={"epoch": 1, "execution": f"{saga_id}-1", "wanted": None}
        )
        self.store.write([created(head), *(created(step) for step in made.steps)])

    def _knows(self, saga: Saga) -> Knows:
        if status(saga) is Status.COMPLETED:
            return Knows.DONE
        case = saga.steps[0].case
        return Knows.CASE if case and read_case(self.store, case) else Knows.NOTHING


def _arn(function: str) -> str:
    return f"arn:aws:lambda:us-east-1:000000000000:function:{function}:1"


def _machine(validated: Validated) -> Mapping[str, Any]:
    bindings = bindings_for(
        CATALOGUE,
        lambda _step, side: _arn(side),
        begin=_arn("begin"),
        finish=_arn("finish"),
        gate=_arn("gate"),
        open_case=_arn("open_case"),
        control_timeout=30,
        gate_timeout=60,
        role="arn:aws:iam::000000000000:role/machines",
    )
    return verified(compile_machine(validated.shape, bindings), validated.shape).definition


@dataclass(frozen=True, slots=True)
class Execution:
    """One execution of one machine."""

    machine: Mapping[str, Any]
    saga_id: str
    step: str

    def follow(self) -> None:
        """From the first state to an end."""
        name: str | None = self.machine["StartAt"]
        while name is not None:
            state = self.machine["States"][name]
            name = self._task(state) if state["Type"] == "Task" else None

    def _task(self, state: Mapping[str, Any]) -> str | None:
        tried: Counter[int] = Counter()
        while (error := self._invoke(state)) is not None:
            number, retrier = _matching(state["Retry"], error)
            if retrier is None or tried[number] >= retrier["MaxAttempts"]:
                return str(_matching(state["Catch"], error)[1]["Next"])
            time.sleep(_delay(retrier, tried[number]))
            tried[number] += 1
        return state.get("Next")

    def _invoke(self, state: Mapping[str, Any]) -> str | None:
        known = {"$.saga_id": self.saga_id, "$$.Execution.Name": f"{self.saga_id}-1"}
        event = {
            name.removesuffix(".$"): known[value] if name.endswith(".$") else value
            for name, value in state["Parameters"]["Payload"].items()
        }
        function = state["Parameters"]["FunctionName"].split(":")[-2]
        ended = workers.run(invoke, function, self.step, event)
        return _DIED if ended.killed else ended.error


def _matching(rules: list[dict[str, Any]], error: str) -> tuple[int, Any]:
    for number, rule in enumerate(rules):
        if {error, "States.ALL"} & set(rule["ErrorEquals"]):
            return number, rule
    return -1, None


def _delay(retrier: Mapping[str, Any], tried: int) -> float:
    longest = min(
        retrier["IntervalSeconds"] * retrier["BackoffRate"] ** tried, retrier["MaxDelaySeconds"]
    )
    jitter = retrier["JitterStrategy"] == "FULL"
    return random.uniform(0, longest) if jitter else longest  # noqa: S311 - pacing, no secret


def _create_tables(client: Any) -> None:
    for table, indexes in ((LEDGER, ("due", "listed")), (PEOPLE, ("due", "open"))):
        used = {name: INDEXES[name] for name in indexes}
        texts = {"pk", "sk", *(partition for partition, _ in used.values())}
        numbers = {sort for _, sort in used.values()}
        client.create_table(
            TableName=table,
            BillingMode="PAY_PER_REQUEST",
            KeySchema=_keys("pk", "sk"),
            AttributeDefinitions=[
                *({"AttributeName": name, "AttributeType": "S"} for name in sorted(texts)),
                *({"AttributeName": name, "AttributeType": "N"} for name in sorted(numbers)),
            ],
            GlobalSecondaryIndexes=[
                {
                    "IndexName": name,
                    "KeySchema": _keys(*parts),
                    "Projection": {"ProjectionType": "ALL"},
                }
                for name, parts in used.items()
            ],
        )


def _keys(partition: str, sort: str) -> list[dict[str, str]]:
    return [
        {"AttributeName": partition, "KeyType": "HASH"},
        {"AttributeName": sort, "KeyType": "RANGE"},
    ]
