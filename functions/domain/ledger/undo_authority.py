"""Under which authority an undo is made: the recorded one, and never one that the record does not name.

Seed two: "Do not silently substitute broader credentials when the recorded authority fails." The only other path is an
alternate, or another action, that the catalogue declared when the saga was admitted, and that two people have agreed to.
"""

from __future__ import annotations

from dataclasses import replace

from functions.domain.catalogue import Authority, Operation, OtherAction
from functions.domain.catalogue import Undo as UndoEntry
from functions.domain.ledger.records import AuthorityReference, DeclaredAction, Substitution, Undo


def undo_authorities(
    catalogue: str, step: str, entry: UndoEntry
) -> tuple[AuthorityReference, tuple[AuthorityReference, ...]]:
    """The undo's own authority as a record names it, and those of its alternates.

    The role is the one that the undo is made under, where its authority declares one, and otherwise its function's.
    """
    others = tuple(
        _reference(catalogue, step, each.authority, each.name) for each in entry.alternates
    )
    return _reference(catalogue, step, entry.run.authority), others


def declared_actions(catalogue: str, step: str, entry: UndoEntry) -> tuple[DeclaredAction, ...]:
    """The other actions of an undo as a record names them, each with a budget as large as the undo's."""
    return tuple(
        DeclaredAction(
            name=each.name,
            authority=_reference(catalogue, step, each.run.authority),
            budget=entry.retry.attempts,
            sentence=each.sentence[:500],
        )
        for each in entry.other_actions
    )


def _reference(
    catalogue: str, step: str, authority: Authority, alternate: str | None = None
) -> AuthorityReference:
    own = f"{catalogue}-{step}-undo"
    role = own if authority.role is None else f"{catalogue}-{authority.role}"
    return AuthorityReference.of(role, authority, alternate)


def offered(undo: Undo) -> tuple[AuthorityReference, ...]:
    """The alternates that people may still choose: all but the one that is in use, and none for another action."""
    if undo.replaced:
        return ()
    return tuple(each for each in undo.alternates if each != undo.authority)


def offered_actions(undo: Undo) -> tuple[DeclaredAction, ...]:
    """The other actions that people may still choose: a key is used for one of them once."""
    taken = {each.instead for each in undo.replaced}
    return tuple(each for each in undo.other_actions if each.name not in taken)


def declared(
    catalogue: str, step: str, entry: UndoEntry, undo: Undo
) -> UndoEntry | OtherAction | None:
    """What the record says is to be done: the undo or the action in its place; None where it is not so declared."""
    if not undo.replaced:
        return entry
    known = {each.name: each.authority for each in declared_actions(catalogue, step, entry)}
    return (
        entry.other_action(undo.operation) if known.get(undo.operation) == undo.authority else None
    )


def authorised(
    catalogue: str, step: str, entry: UndoEntry, recorded: AuthorityReference
) -> Authority | None:
    """The declared authority that the record names; None where the catalogue has no such alternate, or another by its name."""
    if recorded.alternate is None:
        return entry.run.authority
    _, others = undo_authorities(catalogue, step, entry)
    named = zip(entry.alternates, others, strict=True)
    return next((each.authority for each, reference in named if reference == recorded), None)


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
