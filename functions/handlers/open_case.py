"""A machine hands a step to people and ends."""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.handlers.tasks import parsed
from functions.handlers.wiring import clock, logger, notices, store
from functions.usecases.open_case import open_case


def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, str | None]:
    """Open the case of the step and direction that the Task names."""
    task = parsed(event, "index", "direction")
    case = open_case(store(), clock, notices(), task.ref, task.direction)
    logger.info("handed to people", saga_id=task.saga_id, index=task.index, case=case)
    return {"case": case}
