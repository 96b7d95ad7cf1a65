"""Our functions as Lambda would run them, in this process: each its own copy of the handlers, with its own environment.

An exception that leaves a handler becomes the payload that AWS's runtime client makes of it, so `errorType` is the name
of its class. A function may be killed on the way, like a process that runs out of time or memory.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType, SimpleNamespace
from typing import Any

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver
from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEventV2

from functions.aws.dynamo import DynamoStore
from functions.domain.catalogue import Catalogue, Kind
from functions.memory.store import MemoryStore
from tests.sagas.clients import ACCOUNT, AWS, REGION, ApiCall, LedgerAlone

__all__ = ["ACCOUNT", "AWS", "REGION", "ApiCall"]

LEDGER, PEOPLE = "ledger", "people"
EVENT_BUS = "sagaplane-test"
APPROVALS_QUEUE, CASES_QUEUE = "approvals", "cases"
SECRET_PREFIX, PARAMETER = "sagaplane/test", "/sagaplane/test/functions"
USER_POOL = "USER_POOL_ID"
MACHINE_ROLE = f"arn:aws:iam::{ACCOUNT}:role/sagaplane-machines"
CATALOGUES = "functions.catalogues.fulfilment.catalogue:CATALOGUE"
AGENTS = {
    "client-support": {"name": "support-agent", "tenant": "acme", "owner": "support-lead"},
    "client-sales": {"name": "sales-agent", "tenant": "acme", "owner": "sales-lead"},
    "client-globex": {"name": "globex-agent", "tenant": "globex", "owner": "globex-lead"},
}
_HANDLERS = "functions.handlers."


class Killed(BaseException):
    """The process is gone: nothing in it can catch that, and nothing is recorded any more."""


@dataclass(slots=True)
class Invocation:
    """One call of one function, and the error's name that it ended with."""

    function: str
    payload: Mapping[str, Any]
    error: str | None = None

    def as_parameters(self) -> dict[str, Any]:
        """What the machine called it with, to deliver it again."""
        return {"FunctionName": arn(self.function), "Payload": json.dumps(self.payload)}

    def __str__(self) -> str:
        said = (self.payload.get("operation"), self.payload.get("direction"))
        parts = (self.function.removeprefix("fulfilment-"), self.payload.get("index"), *said)
        return " ".join(str(p) for p in parts if p is not None)


class Function:
    """One function: its name, its environment, its own copy of the handlers' modules."""

    def __init__(self, name: str, handler: str, environment: Mapping[str, str]) -> None:
        self.name = name
        self.environment: dict[str, str] = {**environment, "POWERTOOLS_SERVICE_NAME": name}
        self._modules = _copied(handler)
        self._handler = self._modules[handler].handler
        stand_ins = {
            "os": SimpleNamespace(environ=self.environment),
            "boto3": SimpleNamespace(client=AWS.client),
        }
        for module in self._modules.values():
            for known, stand_in in stand_ins.items():
                if known in vars(module):
                    vars(module)[known] = stand_in

    def __call__(self, event: Mapping[str, Any]) -> Any:
        """Call the handler as the runtime client does. Raises what the handler raises, and Killed."""
        context = SimpleNamespace(
            function_name=self.name,
            memory_limit_in_mb=256,
            invoked_function_arn=arn(self.name),
            aws_request_id="00000000-0000-4000-8000-000000000000",
            get_remaining_time_in_millis=lambda: 30_000,
        )
        received = json.loads(json.dumps(event))
        with AWS.running(self.name):
            self._hold(received)
            return self._handler(received, context)

    def _hold(self, event: dict[str, Any]) -> None:
        """Powertools keeps an API's current event on a class that all resolvers of a process share; here they are many."""
        for module in self._modules.values():
            app = vars(module).get("app")
            if isinstance(app, APIGatewayHttpResolver):
                app.current_event = APIGatewayProxyEventV2(event)

    def keep_records_in(self, memory: MemoryStore | None) -> None:
        """Let this function's tables be in memory, as far as it has been told of them; None: on DynamoDB."""

        def store(_client: object, *, ledger: str, people: str | None) -> object:
            del ledger
            return memory if people else LedgerAlone(memory)

        vars(self._modules["wiring"])["DynamoStore"] = store if memory else DynamoStore

    def ask_of(self, pool: str) -> None:
        """Tell this function the user pool, if it is one that is told."""
        if USER_POOL in self.environment:
            self.environment[USER_POOL] = pool

    def module(self, name: str) -> ModuleType:
        """This function's copy of a module of the handlers."""
        return self._modules[name]

    def start_cold(self) -> None:
        """Forget everything that a warm function keeps."""
        for module in self._modules.values():
            for kept in vars(module).values():
                if hasattr(kept, "cache_clear"):
                    kept.cache_clear()


def _copied(handler: str) -> dict[str, ModuleType]:
    package = importlib.import_module("functions.handlers")
    kept = _taken_out(package)
    try:
        importlib.import_module(_HANDLERS + handler)
        return _taken_out(package)
    finally:
        _taken_out(package)
        for name, module in kept.items():
            sys.modules[_HANDLERS + name] = module
            setattr(package, name, module)


def _taken_out(package: ModuleType) -> dict[str, ModuleType]:
    """The handlers' modules, which nobody can import any more: neither by their names nor from their package."""
    loaded = [name for name in sys.modules if name.startswith(_HANDLERS)]
    taken = {name.removeprefix(_HANDLERS): sys.modules.pop(name) for name in loaded}
    for name in taken:
        vars(package).pop(name, None)
    return taken


def arn(function: str) -> str:
    """A function's published version."""
    return f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:{function}:1"


def functions(catalogue: Catalogue) -> dict[str, Function]:
    """Every function of a deployment, with the environment that the stacks give it (infra/stacks.py)."""
    ledger = {"LEDGER_TABLE": LEDGER}
    tables = {**ledger, "PEOPLE_TABLE": PEOPLE}
    known = {"CATALOGUES": CATALOGUES}
    secrets = {"SECRET_PREFIX": SECRET_PREFIX}
    approvals = {"APPROVALS_QUEUE_URL": queue_url(APPROVALS_QUEUE)}
    cases = {"CASES_QUEUE_URL": queue_url(CASES_QUEUE)}
    machines = {"MACHINE_ROLE_ARN": MACHINE_ROLE, "MACHINE_PREFIX": "sagaplane-test"}
    driving = {
        **tables,
        **known,
        **approvals,
        **cases,
        **machines,
        "EVENT_BUS": EVENT_BUS,
        "FUNCTIONS_PARAMETER": PARAMETER,
    }
    made = [
        Function(
            "agent-api", "agent_api", {**ledger, **known, **secrets, "AGENTS": json.dumps(AGENTS)}
        ),
        Function("people-api", "people_api", {**tables, **known, **cases, USER_POOL: ""}),
        *(Function(name, name, driving) for name in ("starter", "sweeper", "rescue")),
        Function("guard", "guard", ledger),
        Function("known-machines", "known_machines", {**known, **machines}),
        Function("begin-compensation", "begin_compensation", tables),
        Function("finish-compensation", "finish_compensation", ledger),
        Function("gate", "request_approval", {**tables, **approvals}),
        Function("open-case", "open_case", {**tables, **cases}),
    ]
    for step in catalogue.steps:
        own = {**ledger, **known, **secrets, "SAGAPLANE_STEP": f"{catalogue.name}/{step.name}"}
        pivot = {"PEOPLE_TABLE": PEOPLE, USER_POOL: ""} if step.kind is Kind.PIVOT else {}
        made.append(Function(f"{catalogue.name}-{step.name}-run", "run_step", {**own, **pivot}))
        if step.undo is not None:
            made.append(Function(f"{catalogue.name}-{step.name}-undo", "undo_step", own))
    return {function.name: function for function in made}


def published(catalogue: Catalogue) -> str:
    """What the deployment writes into the parameter of version ARNs."""
    steps = {
        step.name: {
            side: arn(f"{catalogue.name}-{step.name}-{side}")
            for side in ("run", "undo")
            if side == "run" or step.undo is not None
        }
        for step in catalogue.steps
    }
    return json.dumps(
        {
            "begin": arn("begin-compensation"),
            "finish": arn("finish-compensation"),
            "gate": arn("gate"),
            "open_case": arn("open-case"),
            "steps": {catalogue.name: steps},
        }
    )


def queue_url(name: str) -> str:
    """Where a queue is."""
    return f"https://sqs.{REGION}.amazonaws.com/{ACCOUNT}/{name}"


Hook = Callable[[Invocation], None]
"""Looks at an invocation just before or just after its handler; may raise Killed."""


class Lambda:
    """Invokes functions for Step Functions: what moto calls instead of Lambda's API."""

    def __init__(self, known: Mapping[str, Function]) -> None:
        self.functions = known
        self.invocations: list[Invocation] = []
        self.before: list[Hook] = []
        self.after: list[Hook] = []

    def invoke(self, parameters: Mapping[str, Any], **_: object) -> dict[str, Any]:
        """As `lambda:Invoke` answers."""
        name = parameters["FunctionName"].split(":")[6]
        payload = json.loads(parameters["Payload"])
        made = Invocation(name, payload)
        self.invocations.append(made)
        try:
            for look in [*self.before]:
                look(made)
            answer = self.functions[name](payload)
            for look in [*self.after]:
                look(made)
        except Killed:
            # What Lambda says of a function that ran out of time.
            made.error = "Sandbox.Timedout"
            return _failed("Sandbox.Timedout", "Task timed out")
        except Exception as error:  # noqa: BLE001 - the runtime client reports whatever it is
            made.error = type(error).__name__
            return _failed(type(error).__name__, str(error))
        return {"StatusCode": 200, "Payload": answer}


def _failed(kind: str, message: str) -> dict[str, Any]:
    return {
        "StatusCode": 200,
        "FunctionError": "Unhandled",
        "Payload": {"errorMessage": message, "errorType": kind, "stackTrace": []},
    }
