"""Powertools idempotency as it comes: the DynamoDB layer, the decorator, a queue that delivers again.

Set up as its documentation advises: a table of its own with the key `id`, the decorator on the handler so that the
Lambda context is registered (an execution in progress then expires with the function's timeout), errors where the key
is missing. The queue follows Lambda's documentation: a visibility timeout of six times the function's, five receives.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import boto3
from aws_lambda_powertools.utilities.idempotency import (
    DynamoDBPersistenceLayer,
    IdempotencyConfig,
    idempotent,
)

from benchmarks.safety import workers
from benchmarks.safety.count import Knows
from benchmarks.safety.effect import Act

TABLE = "idempotency"
FUNCTION_TIMEOUT = 3.0
VISIBILITY = 6 * FUNCTION_TIMEOUT
RECEIVES = 5
_QUEUES = 150


@dataclass(slots=True)
class Context:
    """What Lambda gives a handler, as far as Powertools asks for it."""

    function_name: str = "charge"
    ends: float = field(default_factory=lambda: time.monotonic() + FUNCTION_TIMEOUT)

    def get_remaining_time_in_millis(self) -> int:
        """Until the function's timeout."""
        return int(1000 * (self.ends - time.monotonic()))


def deliver(act: Act, reference: str) -> str:
    """One delivery of one message, in a process of its own."""
    config = IdempotencyConfig(event_key_jmespath="reference", raise_on_no_idempotency_key=True)

    @idempotent(persistence_store=DynamoDBPersistenceLayer(table_name=TABLE), config=config)
    def handler(event: dict[str, Any], _context: Any) -> dict[str, str]:
        return {"id": act(event["reference"])}

    answer: dict[str, str] = handler({"reference": reference}, Context())
    return answer["id"]


def play(act: Act, references: list[str]) -> dict[str, Knows]:
    """Deliver every message until it is handled, or received too often; answers what the table says in the end."""
    client = boto3.client("dynamodb")
    client.create_table(
        TableName=TABLE,
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
    )
    with ThreadPoolExecutor(_QUEUES) as pool:
        handled = list(pool.map(lambda reference: _until_handled(act, reference), references))
    done = sum(
        item["status"]["S"] == "COMPLETED"
        for page in client.get_paginator("scan").paginate(TableName=TABLE)
        for item in page["Items"]
    )
    client.delete_table(TableName=TABLE)
    # The table's keys are hashes: what can be told of one message is whether its delivery succeeded.
    if done != sum(handled):
        raise RuntimeError(f"{sum(handled)} messages were handled, {done} records are complete")
    return {
        reference: Knows.DONE if ok else Knows.NOTHING
        for reference, ok in zip(references, handled, strict=True)
    }


def _until_handled(act: Act, reference: str) -> bool:
    for _ in range(RECEIVES):
        ended = workers.run(deliver, act, reference)
        if ended.answer is not None:
            return True
        time.sleep(VISIBILITY)
    return False
