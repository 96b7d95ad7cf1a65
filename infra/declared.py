"""What a catalogue declares as a whole: every call it may make, and with which credentials."""

from __future__ import annotations

from dataclasses import replace

from functions.domain.catalogue import Catalogue, Operation


def operations_of(catalogue: Catalogue) -> list[Operation]:
    """Every call that the catalogue may make: facts, runs, undos, and what settles them."""
    found: list[Operation | None] = [fact.read for fact in catalogue.facts]
    for step in catalogue.steps:
        found += [step.run, step.settlement.status, step.settlement.tombstone]
        if step.undo:
            settlement = step.undo.settlement
            found += [step.undo.run, settlement.status, settlement.tombstone]
            found += [
                replace(step.undo.run, authority=each.authority) for each in step.undo.alternates
            ]
            for each in step.undo.other_actions:
                found += [each.run, each.settlement.status, each.settlement.tombstone]
    return [operation for operation in found if operation is not None]


def credentials_of(catalogue: Catalogue) -> set[str]:
    """Names of the credentials that its operations refer to."""
    return {o.authority.credential for o in operations_of(catalogue) if o.authority.credential}
