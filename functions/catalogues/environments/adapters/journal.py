"""Keys for what keeps none: an undo says in the records bucket what it is about to do, once it has seen what is there.

Afterwards an absence is known to be ours, whatever became of the answer; an absence without an entry is somebody
else's doing, and a person's to judge (seed two, "Make each undo idempotent").
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from functions.catalogues.environments.adapters.s3 import head, put_once
from functions.catalogues.environments.names import RECORDS, entry_of, setting
from functions.domain.outcome import Unknown, UnknownCause

_PARAMETERS = "sagaplane-parameters"
CONFLICT = Unknown(
    reason="this undo's key was used with other parameters", cause=UnknownCause.KEY_CONFLICT
)


@dataclass(frozen=True, slots=True)
class Entry:
    """One undo's key and a digest of its parameters. `s3` must be allowed to read, put and delete just this object."""

    s3: Any
    key: str
    parameters: str

    def remembered(self) -> bool | Unknown:
        """Whether an attempt under this key has come as far as acting."""
        found = head(self.s3, setting(RECORDS), entry_of(self.key))
        if found is None:
            return False
        return True if found["Metadata"].get(_PARAMETERS) == self.parameters else CONFLICT

    def remember(self) -> Unknown | None:
        """From here on an absence is ours. None: it is written."""
        metadata = {_PARAMETERS: self.parameters}
        if put_once(self.s3, setting(RECORDS), entry_of(self.key), b"{}", metadata) is not None:
            return None
        return CONFLICT if self.remembered() is not True else None

    def forget(self) -> None:
        """It turned out that nothing may be done."""
        self.s3.delete_object(Bucket=setting(RECORDS), Key=entry_of(self.key))
