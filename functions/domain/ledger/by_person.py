"""What people may do to a step's two commands: say what they found, have it tried again, do it themselves, settle it.

Each under a new fence, so that no earlier attempt's word counts against theirs. Nothing here asks who it is:
`cases`, `claims` and `proposals` do.
"""

from __future__ import annotations

from functions.domain.keys import other_action_key
from functions.domain.ledger import forward as forwards
from functions.domain.ledger import undo as undos
from functions.domain.ledger.forward import IllegalTransition
from functions.domain.ledger.records import (
    ForwardState,
    Intent,
    Millis,
    ReplacedAction,
    StepRecord,
    Substitution,
    Undo,
    UndoState,
)
from functions.domain.ledger.undo_authority import offered_actions, substituted
from functions.domain.outcome import Receipt


def complete(record: StepRecord, receipt: Receipt, *, now: Millis) -> StepRecord:
    """A person has done it: the effect exists by other means, under a fence that no earlier attempt holds.

    Only once no attempt is alive and no late effect is possible; the boundary only while it is being crossed.
    """
    fenced = record.forward.model_copy(update={"fence": record.forward.fence + 1})
    if record.boundary and fenced.state is ForwardState.PREPARED:
        raise IllegalTransition(f"{record.name}: nobody passes the boundary around its checks")
    return forwards.complete(
        record.model_copy(update={"forward": fenced}),
        receipt,
        now=now,
        undo_inputs=None,
        by_hand=True,
    )


def retry(record: StepRecord) -> StepRecord:
    """One more attempt in the budget, a new fence against whoever may still be reporting."""
    forward = record.forward
    update = _one_more(forward)
    if forward.state is ForwardState.REFUSED:
        return forwards.moved(record, ForwardState.RELEASED, **update)
    return record.model_copy(update={"forward": forward.model_copy(update=update)})


def ask_again(record: StepRecord) -> StepRecord:
    """A retry of finding out: the machine may ask the target as often as at the beginning."""
    forward = record.forward
    update = {"settlings": 0, "fence": forward.fence + 1, "lease_until": 0}
    return record.model_copy(update={"forward": forward.model_copy(update=update)})


def found_absent(record: StepRecord) -> StepRecord:
    """A person has found that no call of this step took effect: one more attempt, under a new fence."""
    update = _one_more(record.forward)
    return forwards.moved(record, ForwardState.RELEASED, unsettled=False, **update)


def retry_undo(record: StepRecord) -> StepRecord:
    """One more attempt, and a new fence. Blocked -> pending; what was unknown is unknown again."""
    return _again(record, _undo(record))


def retry_undo_under(record: StepRecord, substitution: Substitution) -> StepRecord:
    """A retry under another declared authority, which two people have agreed to: the same key, one more attempt."""
    return retry_undo(record.model_copy(update={"undo": substituted(_undo(record), substitution)}))


def undo_otherwise(record: StepRecord, replaced: ReplacedAction) -> StepRecord:
    """Another declared action, which two people have agreed to: a new key, a budget of its own, the same obligation.

    Only once nothing under the earlier key can land any more; that key and its attempts are kept with who agreed.
    """
    undo = _undo(record)
    if undos.undo_unsettled(undo):
        raise IllegalTransition(f"{record.name}: its undo may still land")
    action = next((each for each in offered_actions(undo) if each.name == replaced.instead), None)
    if action is None:
        raise ValueError(f"{undo.key}: {replaced.instead} was not declared for it")
    chosen = undo.model_copy(
        update={
            "key": other_action_key(record.saga_id, record.index, action.name),
            "operation": action.name,
            "authority": action.authority,
            "attempts": 0,
            "deadline": 0,
            "history": (),
            "replaced": (*undo.replaced, replaced),
            "since": undo.fence + 1,
        }
    )
    return _again(record, chosen, budget=action.budget)


def undo_found_absent(record: StepRecord) -> StepRecord:
    """A person has found that no call of this undo took effect: one more attempt, under a new fence."""
    settled = _undo(record).model_copy(update={"unsettled": False})
    return retry_undo(record.model_copy(update={"undo": settled}))


def settle_undo(record: StepRecord, *, accepted: bool) -> StepRecord:
    """Done by hand, or the remaining effect was accepted."""
    state = UndoState.ACCEPTED if accepted else UndoState.RESOLVED
    return undos.moved(record, state, unsettled=False)


def _undo(record: StepRecord) -> Undo:
    if record.undo is None:
        raise IllegalTransition(f"{record.name} has no undo")
    return record.undo


def _one_more(command: Intent) -> dict[str, object]:
    """What changes of either command when it is to be tried once more."""
    return {
        "budget": max(command.budget, command.attempts) + 1,
        "settlings": 0,
        "fence": command.fence + 1,
        "lease_until": 0,
        "conflicted": False,
    }


def _again(record: StepRecord, undo: Undo, **changes: object) -> StepRecord:
    state = UndoState.UNKNOWN if undo.unsettled else UndoState.PENDING
    reopened = record.model_copy(update={"undo": undo})
    return undos.moved(reopened, state, **{**_one_more(undo), "needs_person": False, **changes})
