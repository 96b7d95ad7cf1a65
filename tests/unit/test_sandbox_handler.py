"""The shop as it is deployed: the Lambda handler on its table, with events as an HTTP API sends them."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from moto import mock_aws

from functions.sandbox import handler as deployed


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    monkeypatch.setenv("SANDBOX_TABLE", "sandbox")
    monkeypatch.setenv("SANDBOX_ADMIN_TOKEN_HASH", hashlib.sha256(b"admin").hexdigest())
    deployed._api.cache_clear()
    with mock_aws():
        boto3.client("dynamodb").create_table(
            TableName="sandbox",
            BillingMode="PAY_PER_REQUEST",
            KeySchema=[
                {"AttributeName": "pk", "KeyType": "HASH"},
                {"AttributeName": "sk", "KeyType": "RANGE"},
            ],
            AttributeDefinitions=[
                {"AttributeName": "pk", "AttributeType": "S"},
                {"AttributeName": "sk", "AttributeType": "S"},
            ],
        )
        yield
    deployed._api.cache_clear()


def event(method: str, path: str, body: Any = None, *, stage: str = "$default") -> dict[str, Any]:
    return {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": "",
        "headers": {"authorization": "Bearer admin", "content-type": "application/json"},
        "requestContext": {"stage": stage, "http": {"method": method, "path": path}},
        "body": base64.b64encode(json.dumps(body).encode()).decode(),
        "isBase64Encoded": True,
    }


@pytest.mark.usefixtures("table")
def test_the_deployed_shop_keeps_its_scene_in_its_table() -> None:
    stock = {"warehouse": "B", "sku": "LAMP", "on_hand": 2}
    assert deployed.handler(event("PUT", "/_sandbox/stock", stock), None)["statusCode"] == 200
    item = boto3.client("dynamodb").get_item(
        TableName="sandbox", Key={"pk": {"S": "stock"}, "sk": {"S": "B LAMP"}}
    )["Item"]
    assert json.loads(item["body"]["S"]) == {"on_hand": 2, "reserved": 0}
    books = deployed.handler(event("GET", "/books"), None)
    assert json.loads(books["body"]) == {"entries": []}


@pytest.mark.usefixtures("table")
def test_a_named_stage_is_not_part_of_the_address() -> None:
    told = deployed.handler(event("GET", "/demo/books", stage="demo"), None)
    assert told["statusCode"] == 200


@pytest.mark.usefixtures("table")
def test_a_body_that_is_no_text_is_refused() -> None:
    sent = event("PUT", "/_sandbox/stock") | {"body": base64.b64encode(b"\xff\xfe").decode()}
    assert deployed.handler(sent, None)["statusCode"] == 422
