"""A step's own function: run it, or settle it where it is a plan's boundary."""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.handlers.tasks import parsed
from functions.handlers.wiring import logger, step_world
from functions.usecases.errors import StepError
from functions.usecases.run_step import run_step
from functions.usecases.settle_step import settle_boundary


def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, str]:
    """Answer once the receipt is durable; raise what the machine has to know."""
    task = parsed(event, "index", "operation")
    logger.append_keys(saga_id=task.saga_id, index=task.index, operation=task.operation)
    try:
        if task.operation == "settle":
            settle_boundary(step_world(), task.ref)
            answer = {"outcome": "applied"}
        else:
            answer = run_step(step_world(), task.ref)
    except StepError as error:
        logger.info("step did not end well", error=type(error).__name__)
        raise
    logger.info("step ended", outcome=answer["outcome"])
    return answer
