"""The stage of whole sagas; see `stage.py`."""

from __future__ import annotations

import functools
import json
import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from moto import mock_aws
from moto.stepfunctions.parser.asl.component.common.retry import retrier_decl
from moto.stepfunctions.parser.asl.component.state.exec.state_task import lambda_eval_utils
from moto.stepfunctions.parser.asl.parse.asl_parser import AmazonStateLanguageParser

from functions.aws.clock import SystemClock
from functions.aws.dynamo import DynamoStore
from functions.catalogues import http
from functions.catalogues.fulfilment.catalogue import CATALOGUE
from functions.memory.store import MemoryStore
from tests.sagas import lambdas, shopfront
from tests.sagas.lambdas import AWS, Function
from tests.sagas.stage import Stage, Ticking

_INDEXES = {
    lambdas.LEDGER: {
        "due": ("due_shard", "due_at"),
        "listed": ("listed", "created_at"),
        "open": ("open", "created_at"),
        "review": ("review", "ended_at"),
    },
    lambdas.PEOPLE: {"due": ("due_shard", "due_at"), "open": ("open", "created_at")},
}


@pytest.fixture(scope="session")
def functions() -> Mapping[str, Function]:
    """Every function of the deployment: loaded once, cold again for each test."""
    return lambdas.functions(CATALOGUE)


@pytest.fixture(scope="session")
def parse() -> Callable[[str], Any]:
    """Moto's parser, which keeps no state in what it makes: the same few machines are parsed once."""
    return functools.cache(AmazonStateLanguageParser.parse)


@pytest.fixture
def stage(
    functions: Mapping[str, Function],
    parse: Callable[[str], Any],
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> Iterator[Stage]:
    """A deployment for one test; modules that set `TABLES = "memory"` do without DynamoDB."""
    on_dynamodb = getattr(request.module, "TABLES", "dynamodb") == "dynamodb"
    with deployed(functions, parse, monkeypatch, on_dynamodb=on_dynamodb) as made:
        yield made


@contextmanager
def deployed(
    functions: Mapping[str, Function],
    parse: Callable[[str], Any],
    monkeypatch: pytest.MonkeyPatch,
    *,
    on_dynamodb: bool = True,
) -> Iterator[Stage]:
    """A deployment, a shop, and a clock that moves on instead of anybody sleeping.

    Records in memory are held to DynamoDB's contract (tests/contract), and three times as fast as moto's tables.
    """
    memory = None if on_dynamodb else MemoryStore()
    clock = Ticking()
    monkeypatch.setattr(SystemClock, "now", lambda _: clock.now())
    monkeypatch.setattr(retrier_decl, "time", SimpleNamespace(sleep=clock.pass_))
    monkeypatch.setattr(AmazonStateLanguageParser, "parse", staticmethod(parse))
    monkeypatch.setenv("FULFILMENT_SHOP_URL", shopfront.URL)
    random.seed(4471)
    with mock_aws(config={"stepfunctions": {"execute_state_machine": True}}):
        AWS.forget()
        for function in functions.values():
            function.start_cold()
            function.keep_records_in(memory)
        _deploy(tables=on_dynamodb)
        made = Stage(functions, clock, memory or _tables())
        monkeypatch.setattr(lambda_eval_utils, "_invoke_lambda_function", made.machines.invoke)
        monkeypatch.setattr(http, "_POOL", made.shop)
        yield made
        made.clear_up()


def _tables() -> DynamoStore:
    return DynamoStore(AWS.client("dynamodb"), ledger=lambdas.LEDGER, people=lambdas.PEOPLE)


def _deploy(*, tables: bool) -> None:
    for table, indexes in _INDEXES.items() if tables else ():
        _create_table(table, indexes)
    for queue in (lambdas.APPROVALS_QUEUE, lambdas.CASES_QUEUE):
        _create_queue(queue)
    for service in shopfront.SERVICES:
        AWS.client("secretsmanager").create_secret(
            Name=f"{lambdas.SECRET_PREFIX}/{CATALOGUE.name}/{service}",
            SecretString=shopfront.token(service),
        )
    AWS.client("events").create_event_bus(Name=lambdas.EVENT_BUS)
    AWS.client("ssm").put_parameter(
        Name=lambdas.PARAMETER, Value=lambdas.published(CATALOGUE), Type="String"
    )


def _create_table(name: str, indexes: Mapping[str, tuple[str, str]]) -> None:
    texts = {"pk", "sk", *(partition for partition, _ in indexes.values())}
    numbers = {sort for _, sort in indexes.values()}
    AWS.client("dynamodb").create_table(
        TableName=name,
        BillingMode="PAY_PER_REQUEST",
        KeySchema=_keys("pk", "sk"),
        AttributeDefinitions=[
            *({"AttributeName": text, "AttributeType": "S"} for text in sorted(texts)),
            *({"AttributeName": number, "AttributeType": "N"} for number in sorted(numbers)),
        ],
        GlobalSecondaryIndexes=[
            {
                "IndexName": index,
                "KeySchema": _keys(*parts),
                "Projection": {"ProjectionType": "ALL"},
            }
            for index, parts in indexes.items()
        ],
    )


def _keys(partition: str, sort: str) -> list[dict[str, str]]:
    return [
        {"AttributeName": partition, "KeyType": "HASH"},
        {"AttributeName": sort, "KeyType": "RANGE"},
    ]


def _create_queue(name: str) -> None:
    client = AWS.client("sqs")
    dead = client.create_queue(QueueName=f"{name}-dead")["QueueUrl"]
    arn = client.get_queue_attributes(QueueUrl=dead, AttributeNames=["QueueArn"])["Attributes"]
    redrive = {"deadLetterTargetArn": arn["QueueArn"], "maxReceiveCount": "5"}
    client.create_queue(QueueName=name, Attributes={"RedrivePolicy": json.dumps(redrive)})
