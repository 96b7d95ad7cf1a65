"""A deployment asks before it changes any step: may it, or would an open saga be stranded?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.aws.cloudformation import Refused, settle
from functions.domain.stranding import Offer
from functions.handlers.wiring import logger, store
from functions.usecases.find_stranded import Stranded, find_stranded

_NAMED = 20
_LACKS = 3


def handler(event: dict[str, Any], _context: LambdaContext) -> None:
    """Property `Offers`: what the deployment will have functions for, by catalogue."""
    settle(event, _check)


def _check(properties: Mapping[str, Any]) -> None:
    offers = {
        name: Offer.model_validate(offer, strict=False)
        for name, offer in properties["Offers"].items()
    }
    stranded = find_stranded(store(), offers)
    logger.info("asked", stranded=[each.saga_id for each in stranded])
    if stranded:
        raise Refused(_refusal(stranded))


def _refusal(stranded: Sequence[Stranded]) -> str:
    """One line for the deployment's author: which sagas, what each needs, and what to do."""
    named = "; ".join(
        f"{each.saga_id} needs {', '.join(each.lacks[:_LACKS])}" for each in stranded[:_NAMED]
    )
    more = f"; and {len(stranded) - _NAMED} more" if len(stranded) > _NAMED else ""
    return (
        f"{len(stranded)} open saga(s) would be stranded: {named}{more}. "
        "Keep these in the catalogue, with retired=True, until the sagas have ended: "
        "`sagaplane show SAGA` says what each waits for. No step was changed."
    )
