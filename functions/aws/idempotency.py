"""Powertools idempotency over the ledger: the only place where it is set up.

The stock persistence layer is a cache of answers; ours is the ledger itself. `_put_record` is the claim, `_update_record`
records the outcome under the claim's fence, a raised exception is recorded as an unknown outcome, and nothing is ever
deleted. Only three states exist for Powertools, so an intent that is already fulfilled is shown to it as COMPLETED, a
granted claim as INPROGRESS, and every other state of ours speaks for itself as the exception the claim raises.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from typing import Any, NoReturn, cast

from aws_lambda_powertools.utilities.idempotency import (
    BasePersistenceLayer,
    IdempotencyConfig,
    idempotent_function,
)
from aws_lambda_powertools.utilities.idempotency.exceptions import (
    IdempotencyItemAlreadyExistsError,
    IdempotencyItemNotFoundError,
    IdempotencyPersistenceLayerError,
)
from aws_lambda_powertools.utilities.idempotency.persistence.datarecord import (
    STATUS_CONSTANTS,
    DataRecord,
)
from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.ports import Intent, Replay

DISABLED = "POWERTOOLS_IDEMPOTENCY_DISABLED"


def once(intent: Intent, call: Callable[[], Mapping[str, Any]]) -> Mapping[str, Any]:
    """Run `call` under `intent`'s claim, or answer from the record (`ports.Once`).

    Raises what the claim raises, by its own name. Refuses to run where idempotency has been switched off: without the
    claim nothing would be safe.
    """
    if os.environ.get(DISABLED):
        raise RuntimeError(f"{DISABLED} is set: refusing to act without a claim")
    # One layer for each invocation: a shared one would use another invocation's fence.
    layer = LedgerPersistence(intent)
    config = IdempotencyConfig(raise_on_no_idempotency_key=True, lambda_context=_REMAINING)

    @idempotent_function(  # type: ignore[untyped-decorator]
        data_keyword_argument="key", persistence_store=layer, config=config
    )
    def act(*, key: str) -> Mapping[str, Any]:  # noqa: ARG001 - Powertools takes the key by this name
        return call()

    try:
        return cast("Mapping[str, Any]", act(key=intent.key))
    except IdempotencyPersistenceLayerError as error:
        # Unwrapped, or no Catch by name could match.
        raise (error.__cause__ or error) from None


class _Remaining:
    """Leases are ours; Powertools only wants a number, and warns without one."""

    @staticmethod
    def get_remaining_time_in_millis() -> int:
        return 0


# Powertools asks it for the remaining time and for nothing else.
_REMAINING = cast("LambdaContext", _Remaining())


class LedgerPersistence(BasePersistenceLayer):
    """One intent as a Powertools persistence layer."""

    def __init__(self, intent: Intent) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._intent = intent

    def _get_hashed_idempotency_key(self, data: Any) -> str:
        # The key is the orchestrator's, as it is: no hash, no module name, nothing of an agent's.
        if data != self._intent.key:
            raise ValueError(f"not this intent's key: {data!r}")
        return self._intent.key

    def _put_record(self, data_record: DataRecord) -> None:
        replay = self._intent.claim()
        if isinstance(replay, Replay):
            raise IdempotencyItemAlreadyExistsError(
                old_data_record=_completed(data_record.idempotency_key, replay.answer)
            )

    def _update_record(self, data_record: DataRecord) -> None:
        self._intent.conclude(json.loads(data_record.response_data))

    def _delete_record(self, data_record: DataRecord) -> None:  # noqa: ARG002 - nothing is deleted
        self._intent.broke()

    def _get_record(self, idempotency_key: str) -> NoReturn:
        raise IdempotencyItemNotFoundError(idempotency_key)


def _completed(key: str, answer: Mapping[str, Any]) -> DataRecord:
    return DataRecord(
        idempotency_key=key,
        status=STATUS_CONSTANTS["COMPLETED"],
        response_data=json.dumps(answer),
    )
