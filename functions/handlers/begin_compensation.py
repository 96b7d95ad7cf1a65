"""A machine's *begin*: the saga turns, once and for all."""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.handlers.tasks import parsed
from functions.handlers.wiring import clock, logger, store
from functions.usecases.begin_compensation import begin_compensation


def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, str]:
    """Turn the saga because of the step that the Task names."""
    task = parsed(event, "index")
    begin_compensation(store(), clock, task.ref)
    logger.info("compensating", saga_id=task.saga_id, index=task.index)
    return {"direction": "compensating"}
