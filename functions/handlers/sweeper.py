"""Each minute: what is due and was forgotten."""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.handlers.driving import attend_to_request, attend_to_saga
from functions.handlers.wiring import callbacks, clock, logger, notices, store
from functions.usecases.sweep import sweep


def handler(_event: dict[str, Any], _context: LambdaContext) -> dict[str, int]:
    """Look at everything that is due, and say how much of what was done."""
    done = sweep(store(), clock, callbacks(), notices(), attend_to_saga, attend_to_request)
    logger.info("swept", done=done)
    if done.get("failed"):
        logger.error("some items could not be attended to", failed=done["failed"])
    return done
