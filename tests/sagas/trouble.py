"""Ways in which AWS lets a function down."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from botocore.exceptions import ClientError

from tests.sagas.lambdas import AWS, ApiCall


def fail_once(function: str, operation: str, *, nth: int = 1, code: str = "Throttling") -> None:
    """The n-th such call of this function is refused by AWS."""
    seen = [0]

    def look(made: ApiCall) -> None:
        if (made.function, made.operation) == (function, operation):
            seen[0] += 1
            if seen[0] == nth:
                error: Any = {"Error": {"Code": code, "Message": "slow down"}}
                raise ClientError(error, operation)

    AWS.before.append(look)


def refusal(call: Callable[[], object]) -> str:
    """The name of the exception that a call ends with, "none" where it ends well."""
    try:
        call()
    except Exception as error:  # noqa: BLE001 - its name is what a machine would see
        return type(error).__name__
    return "none"
