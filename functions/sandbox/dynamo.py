"""The shop's documents in one DynamoDB table: a key and the mutation that it stands for are one transaction."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from functions.sandbox.store import Document, Ref, Write

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

_LOST_RACES = frozenset({"None", "ConditionalCheckFailed", "TransactionConflict"})
_BATCH = 25


class DynamoStore:
    """A Store over a table with the string keys `pk` (the collection) and `sk` (the id)."""

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        self._client = client
        self._table = table

    def read(self, ref: Ref) -> Document | None:
        """See Store."""
        found = self._client.get_item(TableName=self._table, Key=_key(ref), ConsistentRead=True)
        return _document(found["Item"]) if "Item" in found else None

    def commit(self, writes: Sequence[Write]) -> bool:
        """See Store."""
        try:
            self._client.transact_write_items(
                TransactItems=[self._action(write) for write in writes]
            )
        except self._client.exceptions.TransactionCanceledException as cancelled:
            reasons = {
                str(reason.get("Code")) for reason in cancelled.response["CancellationReasons"]
            }
            if not reasons <= _LOST_RACES:
                raise
            return False
        except ClientError as error:
            if error.response["Error"]["Code"] != "TransactionInProgressException":
                raise
            return False
        return True

    def every(self, collection: str) -> list[Document]:
        """See Store."""
        pages = self._client.get_paginator("query").paginate(
            TableName=self._table,
            KeyConditionExpression="pk = :collection",
            ExpressionAttributeValues={":collection": {"S": collection}},
            ConsistentRead=True,
        )
        return [_document(item) for page in pages for item in page["Items"]]

    def remove(self, refs: Iterable[Ref]) -> None:
        """See Store."""
        left = iter(refs)
        while batch := list(islice(left, _BATCH)):
            requests: Mapping[str, Any] = {
                self._table: [{"DeleteRequest": {"Key": _key(ref)}} for ref in batch]
            }
            while requests:
                requests = self._client.batch_write_item(RequestItems=requests)["UnprocessedItems"]

    def _action(self, write: Write) -> Any:
        values: dict[str, Any] = {}
        condition = "attribute_not_exists(pk)"
        if write.expected:
            condition = "version = :expected"
            values = {"ExpressionAttributeValues": {":expected": {"N": str(write.expected)}}}
        rest = {"TableName": self._table, "ConditionExpression": condition, **values}
        if write.body is None:
            return {"ConditionCheck": {"Key": _key(write.ref), **rest}}
        item = {
            **_key(write.ref),
            "version": {"N": str(write.expected + 1)},
            "body": {"S": json.dumps(write.body)},
        }
        return {"Put": {"Item": item, **rest}}


def _key(ref: Ref) -> dict[str, Any]:
    return {"pk": {"S": ref.collection}, "sk": {"S": ref.id}}


def _document(item: Mapping[str, Any]) -> Document:
    return Document(
        ref=Ref(item["pk"]["S"], item["sk"]["S"]),
        version=int(item["version"]["N"]),
        body=json.loads(item["body"]["S"]),
    )
