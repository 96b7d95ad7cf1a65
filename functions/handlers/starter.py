"""The ledger's stream: whatever asks for something (`wanted`) is attended to."""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools.utilities.batch import (
    BatchProcessor,
    EventType,
    process_partial_response,
)
from aws_lambda_powertools.utilities.batch.types import PartialItemFailureResponse
from aws_lambda_powertools.utilities.data_classes.dynamo_db_stream_event import DynamoDBRecord
from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.handlers.driving import attend_to_request, attend_to_saga
from functions.handlers.wiring import logger

_PROCESSOR = BatchProcessor(event_type=EventType.DynamoDBStreams)


def handler(event: dict[str, Any], context: LambdaContext) -> PartialItemFailureResponse:
    """Attend to each record; one that fails is delivered again, and the sweeper looks after the rest."""
    return process_partial_response(
        event=event, record_handler=_attend, processor=_PROCESSOR, context=context
    )


def _attend(record: DynamoDBRecord) -> None:
    image = record.dynamodb.new_image if record.dynamodb else None
    if not image or not image.get("wanted"):
        return
    if "step_count" in image:
        done = attend_to_saga(image["saga_id"])
        logger.info("attended", saga_id=image["saga_id"], wanted=image["wanted"], done=done)
    else:
        done = attend_to_request(image["tenant"], image["request_id"])
        logger.info("attended", wanted=image["wanted"], done=done)
