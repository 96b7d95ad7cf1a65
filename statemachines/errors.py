"""The error names that Retry and Catch match on.

Functions raise exceptions with these names; the names only steer the machine, what happened is in the ledger. Each
tuple is one retrier's `ErrorEquals`.
"""

from __future__ import annotations

from typing import Final

ANY: Final = "States.ALL"
TIMEOUT: Final = "States.Timeout"

APPROVAL_REQUIRED: Final = "ApprovalRequired"
"""The pivot's function: policy asks for people first. Leads to the gate."""

DID_NOT_HAPPEN: Final = "DidNotHappen"
"""Settling has proved that the boundary has no effect and never will. Leads to compensation."""

NOT_REPEATED: Final = (
    "StepRefused",
    "AuthorityLost",
    "StepBarred",
    "BudgetSpent",
    "CaseOpen",
    "KeyConflict",
    "PersonNeeded",
    APPROVAL_REQUIRED,
    DID_NOT_HAPPEN,
    "Superseded",
    "BadRequest",
    "UndoBlocked",
)
"""Asking again would not change the answer."""

PEOPLE_SAID_NO: Final = ("ApprovalRejected", "ApprovalExpired", "SagaCancelled")
"""What a gate's token may be answered with, besides success. Calling the gate again would only ask again."""

WAITED_OUT: Final = ("StillRunning", "NotSettledYet")
"""Another attempt holds the lease, or a late effect is still possible: wait, at a steady pace, until neither can be."""

SERVICE: Final = (
    "Lambda.ClientExecutionTimeoutException",
    "Lambda.ServiceException",
    "Lambda.AWSLambdaException",
    "Lambda.SdkClientException",
    "Lambda.TooManyRequestsException",
)
"""Throttles and failures of Lambda itself. Mostly nothing was claimed, so these have a budget of their own."""
