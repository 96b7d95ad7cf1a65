"""Whole sagas in this process: our handlers, tables, machines and the shop; people and agents come in by the two APIs.

The test drives what AWS would: the stream's starter, the sweep each minute, the rule on executions that ended badly.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from boto3.dynamodb.types import TypeSerializer
from moto.sqs.models import sqs_backends
from moto.stepfunctions.parser.models import stepfunctions_parser_backends

from functions.aws.dynamo import DynamoStore
from functions.domain.approvals import Approval
from functions.domain.cases import Case
from functions.domain.ledger.records import Saga
from functions.domain.ledger.status import status
from functions.memory.store import MemoryStore
from functions.memory.world import TestClock
from functions.ports import Table
from functions.usecases.records import parsed, read_saga
from tests.sagas import lambdas
from tests.sagas.callers import (
    APPROVER,
    OPERATOR,
    Answer,
    Caller,
    agent,
    answered_by,
    http_event,
    person,
)
from tests.sagas.lambdas import AWS, ApiCall, Function, Invocation, Killed, Lambda
from tests.sagas.shopfront import Shopfront
from tests.sagas.signin import UserPool

__all__ = ["APPROVER", "OPERATOR", "Answer", "Caller", "Stage", "Ticking", "agent", "person"]

PATIENCE = 60.0
"""Real seconds after which a saga that does not come to rest is a failed test."""
BADLY = {"FAILED", "TIMED_OUT", "ABORTED"}


class Ticking(TestClock):
    """A millisecond passes each time that anybody looks, so that what happened in order is written in order."""

    def now(self) -> int:
        """The time, later each time."""
        self.at += 1
        return self.at


class Stage:
    """One deployment with its shop."""

    def __init__(
        self, functions: Mapping[str, Function], clock: TestClock, store: MemoryStore | DynamoStore
    ) -> None:
        self.clock = clock
        self.functions = functions
        self.machines = Lambda(functions)
        self.shop = Shopfront(clock)
        self.store = store
        self.pool = UserPool()
        for function in functions.values():
            function.ask_of(self.pool.id)
        self.sfn = AWS.client("stepfunctions")
        self.rescued: set[str] = set()

    # What agents and people do

    def call(
        self,
        who: Caller | None,
        method: str,
        path: str,
        body: object = None,
        *,
        headers: Mapping[str, str] | None = None,
        encoded: bool = False,
    ) -> Answer:
        """One request to the API. `body` is sent as it is where it is text; `encoded` says that it is Base64."""
        if who is not None:
            self.pool.enrol(who.claims)
        event = http_event(who, method, path, body, headers or {}, encoded=encoded)
        said = self.functions[answered_by(method, path)](event)
        found = {name: str(value) for name, value in (said.get("headers") or {}).items()}
        return Answer(said["statusCode"], said.get("body") or "", found)

    def submit(self, plan: Mapping[str, Any], who: Caller | None = None) -> Answer:
        """Post a plan."""
        return self.call(who or agent(), "POST", "/plans", plan)

    def run(self, plan: Mapping[str, Any]) -> str:
        """Submit a plan that is admitted, and let its saga come to rest; its id."""
        answer = self.submit(plan)
        assert answer.status == 201, answer.text
        self.deliver()
        self.rest()
        return str(answer.body["saga_id"])

    def approve(self, saga_id: str, who: Caller = APPROVER) -> Answer:
        """Approve what the saga waits for, and let it come to rest."""
        return self.decide(saga_id, {"decision": "approve"}, who)

    def decide(self, saga_id: str, said: Mapping[str, str], who: Caller = APPROVER) -> Answer:
        """Decide on the latest thing that the saga asked, and let it come to rest."""
        path = f"/approvals/{self.approval(saga_id).id}/decision"
        answer = self.call(who, "POST", path, said)
        self.rest()
        return answer

    def settle(self, case_id: str, resolution: str, who: Caller = OPERATOR) -> Answer:
        """Claim a case and settle it; the saga goes on if something wakes it, and comes to rest."""
        claimed = self.call(who, "POST", f"/cases/{case_id}/claim")
        assert claimed.status == 200, claimed.text
        said = {"resolution": resolution, "evidence": "looked at the shop's own records"}
        answer = self.call(who, "POST", f"/cases/{case_id}/resolution", said)
        self.deliver()
        self.rest()
        return answer

    # What AWS does

    def stream(self) -> list[dict[str, Any]]:
        """The records of the ledger's stream that pass its filter: those that ask for something, as they are now."""
        return [
            {
                "eventID": str(number),
                "eventName": "MODIFY",
                "eventSource": "aws:dynamodb",
                "dynamodb": {
                    "NewImage": {name: _TO.serialize(value) for name, value in item.items()},
                    "SequenceNumber": str(number),
                },
            }
            for number, item in enumerate(self._records(Table.LEDGER))
            if "wanted" in item
        ]

    def deliver(self, records: list[dict[str, Any]] | None = None) -> None:
        """The stream reaches the starter."""
        records = self.stream() if records is None else records
        if records:
            answer = self.functions["starter"]({"Records": records})
            assert answer == {"batchItemFailures": []}

    def sweep(self) -> dict[str, int]:
        """The minute's sweep; what was done."""
        done: dict[str, int] = self.functions["sweeper"]({})
        return done

    def later(self, **duration: float) -> None:
        """Time passes, with a sweep after it."""
        self.clock.pass_(sum(_SECONDS[unit] * number for unit, number in duration.items()))
        self.sweep()
        self.rest()

    def rescue(self, execution: str) -> str:
        """The rule on executions that ended badly: what the rescue did."""
        done: dict[str, str] = self.functions["rescue"]({"detail": {"name": execution}})
        return done["done"]

    def rest(self, *, rescuing: bool = True) -> None:
        """Until every execution has ended or waits for people; those that ended badly are rescued."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            if all(self._at_rest(execution) for execution in self._executions()):
                badly = [e for e in self.ended_badly() if e not in self.rescued]
                if not badly or not rescuing:
                    return
                for execution in badly:
                    self.rescued.add(execution)
                    self.rescue(execution)
            time.sleep(0.002)
        raise AssertionError(f"not at rest: {[str(i) for i in self.machines.invocations]}")

    def ended_badly(self) -> list[str]:
        """Names of executions that failed, timed out or were stopped, in the order of their start."""
        return [e["name"] for e in self._executions() if e["status"] in BADLY]

    def stop(self, execution: str, *, under_way: bool = False) -> None:
        """A person stops an execution in the console; `under_way`: one of its functions is running just now."""
        arn = next(e["executionArn"] for e in self._executions() if e["name"] == execution)
        self._abort(arn)
        until = time.monotonic() + PATIENCE
        while not under_way and self.executions()[execution] == "RUNNING":
            assert time.monotonic() < until
            time.sleep(0.002)

    # What there is to see

    def saga(self, saga_id: str) -> Saga:
        """The ledger's records of a saga."""
        saga = read_saga(self.store, saga_id)
        assert saga is not None
        return saga

    def status(self, saga_id: str) -> str:
        """What everyone sees of it."""
        return status(self.saga(saga_id)).value

    def approval(self, saga_id: str) -> Approval:
        """The latest round of asking people."""
        found = [a for a in self.approvals() if a.saga_id == saga_id]
        return max(found, key=lambda a: a.round)

    def approvals(self) -> list[Approval]:
        """All there are."""
        return [parsed(Approval, i) for i in self._records(Table.PEOPLE) if "binds" in i]

    def cases(self) -> list[Case]:
        """All there are, the oldest first."""
        found = [parsed(Case, i) for i in self._records(Table.PEOPLE) if "obligation" in i]
        return sorted(found, key=lambda c: (c.created_at, c.id))

    def open_case(self) -> Case:
        """The one open case."""
        [case] = [c for c in self.cases() if c.state == "open"]
        return case

    def states(self, execution: str) -> list[str]:
        """The states that an execution entered, in order."""
        [arn] = [e["executionArn"] for e in self._executions() if e["name"] == execution]
        return [
            event["stateEnteredEventDetails"]["name"]
            for event in self._history(arn)
            if event["type"].endswith("StateEntered")
        ]

    def executions(self) -> dict[str, str]:
        """Name to status, in the order of their start."""
        return {e["name"]: e["status"] for e in self._executions()}

    def invoked(self) -> list[str]:
        """What machines invoked, in order: `<step>-run <index> run` and the like."""
        return [str(each) for each in self.machines.invocations]

    def errors(self) -> list[str]:
        """Error names that invocations ended with, in order."""
        return [each.error for each in self.machines.invocations if each.error]

    def notices(self, queue: str) -> list[str]:
        """Bodies in a queue, each once."""
        bodies = []
        while (
            found := AWS.client("sqs")
            .receive_message(
                QueueUrl=lambdas.queue_url(queue), MaxNumberOfMessages=10, VisibilityTimeout=600
            )
            .get("Messages")
        ):
            bodies += [message["Body"] for message in found]
        return bodies

    def put_back(self, queue: str) -> None:
        """Time passes for a queue: what is hidden on it can be taken again."""
        found = sqs_backends[lambdas.ACCOUNT][lambdas.REGION].get_queue(queue)
        for message in found._messages:
            message.change_visibility(0)

    def when(self, call: str, do: Callable[[Invocation], None], *, after: bool = False) -> None:
        """Do something once, just before or just after the next invocation that reads like `call`."""
        looks = self.machines.after if after else self.machines.before
        left = [1]

        def look(made: Invocation) -> None:
            if str(made) == call and left[0]:
                left[0] = 0
                do(made)

        looks.append(look)

    def kill_at(self, operation: str) -> None:
        """The next function that makes this call of AWS (`<service>:<Operation>`) dies before it is made."""
        left = [1]

        def look(made: ApiCall) -> None:
            if made.operation == operation and left[0]:
                left[0] = 0
                raise Killed

        AWS.before.append(look)

    def clear_up(self) -> None:
        """Let no thread outlive the test."""
        self.shop.land_late_calls()
        for execution in self._executions():
            if execution["status"] == "RUNNING":
                self._abort(execution["executionArn"])

    def _abort(self, arn: str) -> None:
        """Moto marks a stopped execution, and lets it wait for its callback all the same: that wait is broken off."""
        self.sfn.stop_execution(executionArn=arn)
        backend = stepfunctions_parser_backends[lambdas.ACCOUNT][lambdas.REGION]
        [execution] = [e for e in backend._get_executions() if e.exec_arn == arn]
        for waiting in [*execution.exec_worker.env.callback_pool_manager._pool.values()]:
            waiting.interrupt_all()

    def _executions(self) -> list[dict[str, Any]]:
        machines = self.sfn.list_state_machines()["stateMachines"]
        found = [
            execution
            for machine in machines
            for execution in self.sfn.list_executions(stateMachineArn=machine["stateMachineArn"])[
                "executions"
            ]
        ]
        return sorted(found, key=lambda e: e["startDate"])

    def _at_rest(self, execution: Mapping[str, Any]) -> bool:
        if execution["status"] != "RUNNING":
            return True
        history = self._history(execution["executionArn"])
        if not history or history[-1]["type"] != "TaskSubmitted":
            return False
        gates = [
            i.payload["token"]
            for i in self.machines.invocations
            if i.payload["execution"] == execution["name"] and "token" in i.payload
        ]
        answered = {
            call.parameters["taskToken"]
            for call in AWS.calls
            if call.operation.startswith("stepfunctions:SendTask")
        }
        return bool(gates) and gates[-1] not in answered

    def _history(self, arn: str) -> list[Mapping[str, Any]]:
        pages = self.sfn.get_paginator("get_execution_history").paginate(executionArn=arn)
        return [event for page in pages for event in page["events"]]

    def _records(self, table: Table) -> list[Mapping[str, Any]]:
        if isinstance(self.store, MemoryStore):
            return [item for key, item in [*self.store._items.items()] if key.table is table]
        pages = AWS.client("dynamodb").get_paginator("scan").paginate(TableName=table.value)
        keys = [(i["pk"]["S"], i["sk"]["S"]) for page in pages for i in page["Items"]]
        return [item for pk in {pk for pk, _ in keys} for item in self.store.collection(table, pk)]


_TO = TypeSerializer()
_SECONDS = {"seconds": 1, "minutes": 60, "hours": 3600, "days": 86_400}
