"""What a step's own function works with: its catalogue entry, the store, its targets, the time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from functions.domain.catalogue import Catalogue, Kind, Step
from functions.domain.ledger.forward import Lease
from functions.ports import Clock, Directory, Once, Store
from functions.usecases.targets import Targets

GRACE = timedelta(seconds=5)
"""On top of a function's own timeout: time for its last write to arrive."""


def millis(duration: timedelta) -> int:
    """A duration in whole milliseconds."""
    return int(duration.total_seconds() * 1000)


@dataclass(frozen=True, slots=True)
class StepWorld:
    """One step's function: it knows one catalogue entry and no other."""

    catalogue: Catalogue
    step: Step
    store: Store
    targets: Targets
    directory: Directory
    clock: Clock
    once: Once

    @property
    def lease(self) -> Lease:
        """Of a forward claim: no call outlives the function."""
        return Lease(call=millis(self.step.function_timeout), grace=millis(GRACE))

    @property
    def undo_lease(self) -> Lease:
        """Of an undo claim."""
        timeout = self.step.undo_function_timeout or self.step.function_timeout
        return Lease(call=millis(timeout), grace=millis(GRACE))

    @property
    def may_be_boundary(self) -> bool:
        """Whether some plan can have this step as its boundary."""
        return self.step.kind is not Kind.COMPENSABLE


@dataclass(frozen=True, slots=True)
class StepRef:
    """Which step of which saga, and the execution that asks."""

    saga_id: str
    index: int
    execution: str

    @property
    def epoch(self) -> int:
        """The driver's number."""
        return epoch_of(self.execution)


def epoch_of(execution: str) -> int:
    """The number of a driver: executions are named `<saga id>-<epoch>`."""
    return int(execution.rsplit("-", 1)[1])
