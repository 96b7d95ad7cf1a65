"""An execution failed, timed out or was stopped: its saga goes on from the ledger."""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.handlers.driving import drive_on
from functions.handlers.wiring import logger, store
from functions.usecases.rescue import rescue


def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, str]:
    """Drive on the saga whose execution the event names."""
    execution = str(event["detail"]["name"])
    done = rescue(store(), drive_on, execution)
    logger.info("rescued", execution=execution, done=done)
    return {"done": done}
