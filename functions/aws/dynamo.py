"""The two tables on DynamoDB. One kind of write: conditional, all or none; the store decides nothing.

Expression names are generated, values are typed attribute values: no text of a caller becomes part of an expression.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, cast

from boto3.dynamodb.types import TypeDeserializer, TypeSerializer
from botocore.exceptions import ClientError

from functions.ports import JSON, BadCursor, Change, Item, Key, Stale, Table, TooLarge, checked

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

INDEXES = {
    "due": ("due_shard", "due_at"),
    "listed": ("listed", "created_at"),
    "open": ("open", "created_at"),
    "review": ("review", "ended_at"),
}
_LOST = {"ConditionalCheckFailedException", "TransactionConflictException"}
"""Somebody else wrote first, or is just about to."""
_TO = TypeSerializer()
_FROM = TypeDeserializer()


class DynamoStore:
    """A Store over the ledger and people tables. `people` is None in functions that may not touch it."""

    def __init__(self, client: DynamoDBClient, *, ledger: str, people: str | None) -> None:
        self._client = client
        self._tables = {Table.LEDGER: ledger, Table.PEOPLE: people}

    def get(self, key: Key) -> Item | None:
        """One record, read consistently."""
        found = self._client.get_item(
            TableName=self._name(key.table), Key=_keys(key), ConsistentRead=True
        )
        return _item(found["Item"]) if "Item" in found else None

    def collection(self, table: Table, pk: str) -> list[Item]:
        """All records under `pk` in order of `sk`, read consistently, across pages."""
        pages = self._client.get_paginator("query").paginate(
            TableName=self._name(table),
            KeyConditionExpression="pk = :pk",
            ExpressionAttributeValues={":pk": {"S": pk}},
            ConsistentRead=True,
        )
        return [_item(item) for page in pages for item in page["Items"]]

    def write(self, changes: Sequence[Change]) -> list[Item]:
        """One change as an UpdateItem that returns the new record, several as a transaction."""
        if len(checked(changes)) == 1:
            return [self._write_one(changes[0])]
        self._write_all(changes)
        return []

    def index(
        self,
        table: Table,
        name: str,
        value: str,
        *,
        up_to: int | None = None,
        newest_first: bool = False,
        limit: int = 100,
        start: str | None = None,
    ) -> tuple[list[Item], str | None]:
        """One page of an index. `start` is the opaque text that the page before returned."""
        partition, sort = INDEXES[name]
        condition = "#p = :p" if up_to is None else "#p = :p AND #s <= :s"
        names = {"#p": partition} if up_to is None else {"#p": partition, "#s": sort}
        values: dict[str, Any] = {":p": {"S": value}}
        if up_to is not None:
            values[":s"] = {"N": str(up_to)}
        begin: dict[str, Any] = (
            {"ExclusiveStartKey": _cursor(start, frozenset({"pk", "sk", partition, sort}))}
            if start
            else {}
        )
        try:
            found = self._client.query(
                TableName=self._name(table),
                IndexName=name,
                KeyConditionExpression=condition,
                ExpressionAttributeNames=names,
                ExpressionAttributeValues=values,
                ScanIndexForward=not newest_first,
                Limit=limit,
                **begin,
            )
        except ClientError as error:
            # All but the cursor is our own.
            if begin and error.response["Error"]["Code"] == "ValidationException":
                raise BadCursor("not a key of this index") from error
            raise
        more = found.get("LastEvaluatedKey")
        return [_item(i) for i in found["Items"]], _text(more) if more else None

    def _name(self, table: Table) -> str:
        name = self._tables[table]
        if name is None:
            raise PermissionError(f"this function may not touch the {table} table")
        return name

    def _write_one(self, change: Change) -> Item:
        try:
            found = self._client.update_item(
                **self._update(change),
                ReturnValues="ALL_NEW",
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            )
        except ClientError as error:
            if error.response["Error"]["Code"] not in _LOST:
                raise _named(error) from error
            raise Stale({change.key: self._current(change.key, error.response)}) from error
        return _item(found["Attributes"])

    def _current(self, key: Key, response: Mapping[str, Any]) -> Item | None:
        return _item(response["Item"]) if response.get("Item") else self.get(key)

    def _write_all(self, changes: Sequence[Change]) -> None:
        try:
            self._client.transact_write_items(
                TransactItems=[{"Update": self._transacted(change)} for change in changes]
            )
        except ClientError as error:
            reasons = _reasons(error)
            raise Stale(
                {
                    change.key: self._current(change.key, reason)
                    for change, reason in zip(changes, reasons, strict=True)
                    if reason.get("Code") in {"ConditionalCheckFailed", "TransactionConflict"}
                }
            ) from error

    def _transacted(self, change: Change) -> Any:
        return {**self._update(change), "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}

    def _update(self, change: Change) -> Any:
        # Any: the stubs spell the same request differently for an update and for a transaction's item.
        expression = _Expression()
        sets = [f"{expression.path('version')} = {_next_version(expression, change)}"]
        removes = []
        for path, value in change.set.items():
            if value is None:
                removes.append(expression.path(path))
            else:
                sets.append(f"{expression.path(path)} = {expression.value(value)}")
        update = "SET " + ", ".join(sets)
        if removes:
            update += " REMOVE " + ", ".join(removes)
        return {
            "TableName": self._name(change.key.table),
            "Key": _keys(change.key),
            "UpdateExpression": update,
            "ConditionExpression": _condition(expression, change),
            "ExpressionAttributeNames": expression.names,
            "ExpressionAttributeValues": expression.values,
        }


class _Expression:
    """Generated placeholders for the names and values of one expression."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.values: dict[str, Any] = {}
        self._seen: dict[str, str] = {}

    def path(self, dotted: str) -> str:
        return ".".join(self._name(part) for part in dotted.split("."))

    def _name(self, part: str) -> str:
        if part not in self._seen:
            self._seen[part] = f"#n{len(self._seen)}"
            self.names[self._seen[part]] = part
        return self._seen[part]

    def value(self, value: JSON) -> str:
        placeholder = f":v{len(self.values)}"
        self.values[placeholder] = _TO.serialize(value)
        return placeholder


def _next_version(expression: _Expression, change: Change) -> str:
    if change.expect is None:
        return expression.value(0)
    return f"{expression.path('version')} + {expression.value(1)}"


def _condition(expression: _Expression, change: Change) -> str:
    if change.expect is None:
        return f"attribute_not_exists({expression.path('pk')})"
    parts = [f"attribute_exists({expression.path('pk')})"]
    for path, value in change.expect.items():
        if value is None:
            name, null = expression.path(path), expression.value("NULL")
            parts.append(f"(attribute_not_exists({name}) OR attribute_type({name}, {null}))")
        else:
            parts.append(f"{expression.path(path)} = {expression.value(value)}")
    return " AND ".join(parts)


def _reasons(error: ClientError) -> list[Mapping[str, Any]]:
    if error.response["Error"]["Code"] != "TransactionCanceledException":
        raise _named(error) from error
    reasons = cast("list[Mapping[str, Any]]", error.response.get("CancellationReasons", []))
    expected = {"None", "ConditionalCheckFailed", "TransactionConflict"}
    if not reasons or any(r.get("Code", "None") not in expected for r in reasons):
        raise _named(error) from error
    return reasons


def _named(error: ClientError) -> Exception:
    """The port's own exception where there is one for it. DynamoDB has no code for this one, only words."""
    reasons = error.response.get("CancellationReasons", [])
    said = [error.response["Error"], *cast("list[Any]", reasons)]
    if any("Item size" in (each.get("Message") or "") for each in said):
        return TooLarge("an item would exceed 400 KB")
    return error


def _keys(key: Key) -> dict[str, Any]:
    return {"pk": {"S": key.pk}, "sk": {"S": key.sk}}


def _item(attributes: Mapping[str, Any]) -> Item:
    item = {name: _plain(_FROM.deserialize(value)) for name, value in attributes.items()}
    item.pop("pk", None)
    item.pop("sk", None)
    return item


def _plain(value: Any) -> JSON:
    if isinstance(value, Decimal):
        return int(value)
    if isinstance(value, list):
        return [_plain(v) for v in value]
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    return value


def _text(key: Mapping[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(key).encode()).decode()


def _cursor(text: str, names: frozenset[str]) -> dict[str, Any]:
    try:
        key = json.loads(base64.urlsafe_b64decode(text.encode("ascii")))
    except ValueError as error:
        raise BadCursor("not a cursor") from error
    if not isinstance(key, dict) or key.keys() != names:
        raise BadCursor("not a key of this index")
    return key
