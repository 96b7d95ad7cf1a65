"""Under which authority an undo is made: the recorded one, and never one that the record does not name.

Seed two: "Do not silently substitute broader credentials when the recorded authority fails." The only other path is an
alternate that the catalogue declared when the saga was admitted, and that two people have agreed to.
"""

from __future__ import annotations

from dataclasses import replace

from functions.domain.catalogue import Authority, Operation
from functions.domain.catalogue import Undo as UndoEntry
from functions.domain.ledger.records import AuthorityReference, Substitution, Undo


def undo_authorities(
    catalogue: str, step: str, entry: UndoEntry
) -> tuple[AuthorityReference, tuple[AuthorityReference, ...]]:
    """The undo's own authority as a record names it, and those of its alternates.

    The role is the one that the undo is made under, where its authority declares one, and otherwise its function's.
    """
    function = f"{catalogue}-{step}-undo"

    def named(authority: Authority, alternate: str | None = None) -> AuthorityReference:
        role = function if authority.role is None else f"{catalogue}-{authority.role}"
        return AuthorityReference.of(role, authority, alternate)

    others = tuple(named(each.authority, each.name) for each in entry.alternates)
    return named(entry.run.authority), others


def offered(undo: Undo) -> tuple[AuthorityReference, ...]:
    """The alternates that people may still choose: all but the one that is in use."""
    return tuple(each for each in undo.alternates if each != undo.authority)


def authorised(
    catalogue: str, step: str, entry: UndoEntry, recorded: AuthorityReference
) -> Authority | None:
    """The declared authority that the record names; None where the catalogue has no such alternate, or another by its name."""
    if recorded.alternate is None:
        return entry.run.authority
    alternate = entry.alternate(recorded.alternate)
    _, others = undo_authorities(catalogue, step, entry)
    return alternate.authority if alternate is not None and recorded in others else None


def under(operation: Operation, own: Authority, authority: Authority) -> Operation:
    """The operation as this authority makes it: whatever is asked with the undo's own credential or role, and nothing else."""
    mine = (own.credential, own.role)
    theirs = (operation.authority.credential, operation.authority.role)
    if mine == (None, None) or theirs != mine:
        return operation
    return replace(operation, authority=authority)


def substituted(undo: Undo, substitution: Substitution) -> Undo:
    """The undo under the authority that two people have agreed to. Raises ValueError for one that was never declared."""
    if substitution.authority not in offered(undo):
        raise ValueError(f"{undo.key}: {substitution.authority.role} was not declared for it")
    return undo.model_copy(
        update={
            "authority": substitution.authority,
            "substitutions": (*undo.substitutions, substitution)[-20:],
        }
    )
