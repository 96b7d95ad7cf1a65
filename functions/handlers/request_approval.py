"""The gate: a machine waits on a token until people have answered."""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.handlers.tasks import parsed
from functions.handlers.wiring import callbacks, logger, notices, store
from functions.usecases.request_approval import request_approval


def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, str]:
    """Put the token beside the question and announce it. The token is never logged."""
    task = parsed(event, "index", "token")
    request_approval(store(), callbacks(), notices(), task.ref, task.token or "")
    logger.info("waiting for people", saga_id=task.saga_id, index=task.index)
    return {"outcome": "waiting"}
