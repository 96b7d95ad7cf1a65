"""The two tables. They are two so that authority can be told apart: the agents' function reaches the ledger alone."""

from __future__ import annotations

from aws_cdk import RemovalPolicy
from aws_cdk import aws_dynamodb as dynamodb
from constructs import Construct

from infra.settings import Settings

FORGOTTEN_AT = "forgotten_at"
"""From when on a table may forget an item. Only what is over has it: see `functions/usecases/retention.py`."""

_KNOWN_OF_OPEN = ["saga_id", "catalogue", "catalogue_version"]
"""Set once, so that the index of open sagas is written when one begins and when it ends, and not in between."""


class Tables(Construct):
    """`ledger`: sagas, steps, requests. `people`: approvals and cases."""

    def __init__(self, scope: Construct, id_: str, *, settings: Settings) -> None:
        super().__init__(scope, id_)
        self.ledger = self._table(
            "Ledger", settings=settings, stream=dynamodb.StreamViewType.NEW_IMAGE
        )
        _index(self.ledger, "due", "due_shard", "due_at")
        _index(self.ledger, "listed", "listed", "created_at")
        _index(self.ledger, "open", "open", "created_at", only=_KNOWN_OF_OPEN)
        _index(self.ledger, "review", "review", "ended_at")
        self.people = self._table("People", settings=settings)
        _index(self.people, "due", "due_shard", "due_at")
        _index(self.people, "open", "open", "created_at")

    def _table(
        self,
        id_: str,
        *,
        settings: Settings,
        stream: dynamodb.StreamViewType | None = None,
    ) -> dynamodb.Table:
        return dynamodb.Table(
            self,
            id_,
            partition_key=_text("pk"),
            sort_key=_text("sk"),
            billing_mode=dynamodb.BillingMode.PAY_PER_REQUEST,
            point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(
                point_in_time_recovery_enabled=True
            ),
            time_to_live_attribute=FORGOTTEN_AT,
            stream=stream,
            deletion_protection=not settings.local,
            removal_policy=RemovalPolicy.DESTROY if settings.local else RemovalPolicy.RETAIN,
        )


def _index(
    table: dynamodb.Table, name: str, partition: str, sort: str, *, only: list[str] | None = None
) -> None:
    table.add_global_secondary_index(
        index_name=name,
        partition_key=_text(partition),
        sort_key=dynamodb.Attribute(name=sort, type=dynamodb.AttributeType.NUMBER),
        projection_type=dynamodb.ProjectionType.INCLUDE if only else dynamodb.ProjectionType.ALL,
        non_key_attributes=only,
    )


def _text(name: str) -> dynamodb.Attribute:
    return dynamodb.Attribute(name=name, type=dynamodb.AttributeType.STRING)
