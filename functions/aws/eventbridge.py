"""Events for other systems, on a bus of this deployment's own."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from functions.domain import events
from functions.domain.ledger.records import Saga

if TYPE_CHECKING:
    from mypy_boto3_events import EventBridgeClient

SOURCE = "sagaplane"


class NotPublished(Exception):
    """The bus did not take an event: it is published again."""


class EventBridgeEvents:
    """Publishes at least once: whoever listens knows a saga by its id."""

    def __init__(self, client: EventBridgeClient, *, bus: str) -> None:
        self._client = client
        self._bus = bus

    def ended(self, saga: Saga) -> None:
        """A saga is over. Raises NotPublished."""
        answer = self._client.put_events(
            Entries=[
                {
                    "EventBusName": self._bus,
                    "Source": SOURCE,
                    "DetailType": events.ENDED,
                    "Detail": json.dumps(events.ended(saga)),
                }
            ]
        )
        if answer["FailedEntryCount"]:
            raise NotPublished(answer["Entries"][0].get("ErrorCode", "unknown"))
