"""A step's own undo. Nothing but a machine's role may invoke it."""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.handlers.tasks import parsed
from functions.handlers.wiring import logger, step_world
from functions.usecases.errors import StepError
from functions.usecases.undo_step import undo_step


def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, str]:
    """Answer once the undo is settled, or waits for another; raise what the machine has to know."""
    task = parsed(event, "index")
    logger.append_keys(saga_id=task.saga_id, index=task.index)
    try:
        answer = undo_step(step_world(), task.ref)
    except StepError as error:
        logger.info("undo did not end well", error=type(error).__name__)
        raise
    logger.info("undo ended", outcome=answer["outcome"])
    return answer
