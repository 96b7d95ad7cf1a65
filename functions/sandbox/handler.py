"""The shop as a Lambda function behind an HTTP API.

Environment: SANDBOX_TABLE, the table (string keys `pk` and `sk`); SANDBOX_ADMIN_TOKEN_HASH, the SHA-256 in hex of the
one token that may set the scene. The function's timeout is above the longest fault, 6 seconds.
"""

from __future__ import annotations

import os
from functools import cache
from typing import Any

import boto3

from functions.sandbox.api import Api
from functions.sandbox.dynamo import DynamoStore
from functions.sandbox.shop import Shop


@cache
def _api() -> Api:
    store = DynamoStore(boto3.client("dynamodb"), os.environ["SANDBOX_TABLE"])
    return Api(Shop(store), os.environ["SANDBOX_ADMIN_TOKEN_HASH"])


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """One HTTP request."""
    return _api()(event, context)
