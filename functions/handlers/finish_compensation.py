"""A machine's *finish*: compensated, or blocked until a person has settled a case."""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.handlers.tasks import parsed
from functions.handlers.wiring import clock, logger, store
from functions.usecases.finish_compensation import finish_compensation


def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, str]:
    """Write the saga's end if nothing is owed any more."""
    task = parsed(event)
    outcome = finish_compensation(store(), clock, task.saga_id)
    logger.info("compensation finished", saga_id=task.saga_id, outcome=outcome)
    return {"outcome": outcome}
