"""What takes two people: proposed by whoever holds the case, and done in the very write in which another one agrees."""

from __future__ import annotations

from dataclasses import dataclass

from functions.domain import proposals
from functions.domain.cases import (
    AlreadySettled,
    Case,
    Full,
    HeldBy,
    NotAllowed,
    NotHeld,
    Proposal,
)
from functions.domain.ledger.records import Saga
from functions.domain.proposals import (
    Agreed,
    NoProposal,
    NotDeclared,
    Pending,
    SamePerson,
    Void,
    Wanted,
    binding,
)
from functions.ports import Clock, Stale, Store
from functions.usecases.case_effects import Agreement, AttemptAlive, saga_changes
from functions.usecases.change_case import Operator, change_case
from functions.usecases.records import changed, read_case, read_saga

TRIES = 20


@dataclass(frozen=True, slots=True)
class Confirmed:
    """The case as it was settled."""

    case: Case


ProposeAnswer = Case | AlreadySettled | NotHeld | NotAllowed | NotDeclared | Pending | Full
ConfirmAnswer = (
    Confirmed | AlreadySettled | NoProposal | SamePerson | HeldBy | Void | AttemptAlive | NotAllowed
)


def propose_resolution(
    store: Store, clock: Clock, case_id: str, who: Operator, wanted: Wanted
) -> ProposeAnswer | None:
    """Put a resolution up for a second person, bound to the obligation as it is now."""

    def decide(case: Case) -> ProposeAnswer:
        binds = _binds(_saga_of(store, case), case)
        return proposals.propose(case, wanted, person=who.person, binds=binds, now=clock.now())

    return change_case(store, case_id, who, decide)


def confirm_resolution(
    store: Store,
    clock: Clock,
    case_id: str,
    who: Operator,
    *,
    proposal_id: str,
    settles_after: int,
) -> ConfirmAnswer | None:
    """Agree to what another person has proposed: case, step and head in one transaction.

    A proposal whose obligation has changed since is taken off the case. `settles_after` as for `resolve_case`.
    """
    for _ in range(TRIES):
        case = read_case(store, case_id)
        if case is None or not who.owns(case):
            return None
        saga, now = _saga_of(store, case), clock.now()
        said = proposals.confirm(
            case, proposal_id, person=who.person, binds=_binds(saga, case), now=now
        )
        try:
            match said:
                case Void(case=without):
                    store.write([changed(case, without)])
                    return said
                case Agreed(case=settled, proposal=proposal) if saga is not None:
                    agreed = _agreement(proposal, who.person)
                    more = saga_changes(saga, case, agreed, now, settles_after)
                    if not isinstance(more, list):
                        return more
                    store.write([changed(case, settled), *more])
                    return Confirmed(settled.model_copy(update={"version": case.version + 1}))
                case Agreed():
                    return None
                case _:
                    return said
        except Stale:
            continue
    raise Stale({})


def _agreement(proposal: Proposal, second: str) -> Agreement:
    return Agreement(proposal.resolution, proposal.reason, proposal, second)


def _saga_of(store: Store, case: Case) -> Saga | None:
    return read_saga(store, case.saga_id) if case.saga_id is not None else None


def _binds(saga: Saga | None, case: Case) -> str:
    """What the proposal is bound to; only an obligation about a step can be proposed about."""
    if saga is None or case.index is None:
        return "nothing"
    return binding(saga, saga.steps[case.index])
