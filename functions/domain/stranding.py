"""What a deployment offers, and what an open saga needs of it: a step that is taken out must not strand anybody.

An open saga finishes on the published versions that it began with. What has to stay is the function of each of its
steps, of each undo, with the authority that is written down for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated

from pydantic import StringConstraints

from functions.domain.catalogue import Catalogue, Kind, Undo
from functions.domain.ledger.records import Saga, StepRecord
from functions.domain.outcome import Frozen, Identifier

Credential = Annotated[str, StringConstraints(max_length=200)]
"""Empty where the call needs none."""


class OfferedStep(Frozen):
    """A step that a deployment has functions for; `undo` is empty where it has none.

    `alternates` and `other_actions` are credentials by name.
    """

    kind: Kind
    credential: Credential = ""
    undo: Credential = ""
    undo_credential: Credential = ""
    alternates: dict[str, Credential] = {}
    other_actions: dict[str, Credential] = {}


class Offer(Frozen):
    """A catalogue as it is deployed, retired steps included."""

    version: Identifier
    steps: dict[str, OfferedStep]

    @classmethod
    def of(cls, catalogue: Catalogue) -> Offer:
        """What a deployment of this catalogue has functions for."""
        return cls(
            version=catalogue.version,
            steps={
                step.name: OfferedStep(
                    kind=step.kind,
                    credential=step.run.authority.credential or "",
                    undo=step.undo.name if step.undo else "",
                    undo_credential=(step.undo.run.authority.credential or "") if step.undo else "",
                    alternates=_alternates(step.undo) if step.undo else {},
                    other_actions=_other_actions(step.undo) if step.undo else {},
                )
                for step in catalogue.steps
            },
        )


def _alternates(undo: Undo) -> dict[str, str]:
    return {each.name: each.authority.credential or "" for each in undo.alternates}


def _other_actions(undo: Undo) -> dict[str, str]:
    return {each.name: each.run.authority.credential or "" for each in undo.other_actions}


def lacking(saga: Saga, offers: Mapping[str, Offer]) -> tuple[str, ...]:
    """What this saga needs and would no longer find, each in a few words; empty where nothing is missing."""
    offer = offers.get(saga.head.catalogue)
    if offer is None:
        return (f"the catalogue {saga.head.catalogue}",)
    found = (each for step in saga.steps for each in _lacking(step, offer.steps.get(step.name)))
    return tuple(dict.fromkeys(found))


def _lacking(record: StepRecord, offered: OfferedStep | None) -> Iterator[str]:
    if offered is None:
        yield record.name
        return
    if offered.kind is not record.kind:
        yield f"{record.name} as {record.kind}"
    if (record.forward.authority.credential or "") != offered.credential:
        yield f"the credential {record.forward.authority.credential} of {record.name}"
    if record.undo is None:
        return
    if record.undo.replaced and record.undo.operation in offered.other_actions:
        credential = record.undo.authority.credential
        if (credential or "") != offered.other_actions[record.undo.operation]:
            yield f"the credential {credential} of {record.undo.operation}"
        return
    if record.undo.operation != offered.undo:
        yield f"the undo {record.undo.operation} of {record.name}"
        return
    authority = record.undo.authority
    known: dict[str | None, str] = {None: offered.undo_credential}
    known.update(offered.alternates)
    if authority.alternate not in known:
        yield f"the alternate {authority.alternate} of {record.undo.operation}"
    elif (authority.credential or "") != known[authority.alternate]:
        yield f"the credential {authority.credential} of {record.undo.operation}"
