"""What a machine's Task is told when its step did not end well.

The class names are the error names that Retry and Catch match on (statemachines/errors.py). They only steer: every
decision is read from the ledger.
"""

from __future__ import annotations


class StepError(Exception):
    """A Task that did not end well."""


class StepRefused(StepError):
    """The effect was decided against."""


class AuthorityLost(StepError):
    """The recorded authority no longer suffices; no other one is tried."""


class StepBarred(StepError):
    """The saga has turned: this step never starts again."""


class BudgetSpent(StepError):
    """All attempts are used up."""


class CaseOpen(StepError):
    """A person is settling this step."""


class KeyConflict(StepError):
    """The key exists with other parameters: a person investigates."""


class PersonNeeded(StepError):
    """A machine can not, or may not, settle this."""


class ApprovalRequired(StepError):
    """People have to agree before the pivot."""


class DidNotHappen(StepError):
    """The boundary is settled: there is no effect, and there will be none."""


class Superseded(StepError):
    """A newer execution drives this saga."""


class UndoBlocked(StepError):
    """The compensation was refused."""


class BadRequest(StepError):
    """The Task's own input names no step of this function."""


class StillRunning(StepError):
    """Another attempt holds the lease: ask again later."""


class NotSettledYet(StepError):
    """An earlier call may still land: ask again later."""


class NotAppliedYet(StepError):
    """This attempt did nothing: ask again."""


class OutcomeUnknown(StepError):
    """Nobody knows whether this attempt did it: settle, then go on."""
