"""What a case tells the person who gets it (seed two, "Escalation must carry enough evidence to act")."""

from __future__ import annotations

from typing import Any, Literal

from functions.domain.cases import CaseCause, Resolution
from functions.domain.ledger.forward import is_unsettled
from functions.domain.ledger.records import (
    AuthorityReference,
    DeclaredAction,
    ForwardState,
    Head,
    Intent,
    Pivot,
    ReplacedAction,
    Saga,
    StepRecord,
    UndoState,
)
from functions.domain.ledger.undo import is_settled, undo_unsettled
from functions.domain.ledger.undo_authority import offered, offered_actions
from functions.domain.outcome import RefusalCause

Side = Literal["do", "undo"]
HISTORY_SHOWN = 10
WORDS_SHOWN = 160
_ASK_OR_DO = (Resolution.RETRY, Resolution.DONE)


def _command(step: StepRecord, side: Side) -> Intent:
    if side == "undo" and step.undo is not None:
        return step.undo
    return step.forward


def cause_of(step: StepRecord, side: Side) -> CaseCause:
    """Why automation stopped, read from the command's own record."""
    command = _command(step, side)
    last = command.history[-1] if command.history else None
    if command.conflicted:
        return CaseCause.KEY_CONFLICT
    if last is not None and last.cause == RefusalCause.AUTHORITY.value:
        return CaseCause.AUTHORITY_LOST
    if side == "undo":
        return _undo_cause(step)
    if is_unsettled(step.forward):
        return CaseCause.OUTCOME_UNSETTLED
    if step.forward.state is ForwardState.REFUSED:
        return CaseCause.STEP_REFUSED
    return CaseCause.BUDGET_SPENT


def _undo_cause(step: StepRecord) -> CaseCause:
    undo = step.undo
    if step.forward.state is not ForwardState.COMPLETED:
        return CaseCause.OUTCOME_UNSETTLED
    if undo is not None and (undo.needs_person or undo.inputs is None):
        return CaseCause.UNDO_NEEDS_PERSON
    if undo is not None and undo.state is UndoState.BLOCKED:
        return CaseCause.UNDO_BLOCKED
    if undo is not None and undo_unsettled(undo) and undo.attempts < undo.budget:
        return CaseCause.OUTCOME_UNSETTLED
    return CaseCause.UNDO_BUDGET_SPENT


def obligation(step: StepRecord, side: Side, cause: CaseCause) -> str:
    """What is owed, in one sentence."""
    # Both may be long, and the whole is one short text: a case that can not be written helps nobody.
    what = (step.sentence or step.name)[:WORDS_SHOWN]
    receipt = step.forward.receipt
    where = f" ({receipt.resource[:WORDS_SHOWN]})" if receipt is not None else ""
    if cause is CaseCause.SECOND_EFFECT and step.undo is not None and step.undo.overtaken:
        return (
            f"“{what}”{where} was undone by an earlier call after all: it must not be undone twice."
        )
    if cause is CaseCause.SECOND_EFFECT:
        return f"“{what}” seems to have taken effect twice; beside the known effect{where} there is another."
    if cause is CaseCause.LATE_EFFECT:
        return f"An effect of “{what}”{where} exists that the saga does not account for."
    if side == "undo" and receipt is None:
        return f"Nobody knows whether “{what}” took effect; if it did, it has to be undone."
    if side == "undo":
        operation = step.undo.operation if step.undo is not None else "its undo"
        return f"“{what}”{where} has taken effect and has to be undone by {operation}."
    if cause is CaseCause.OUTCOME_UNSETTLED:
        return f"Nobody knows whether “{what}” took effect; the saga can not go on before that."
    return f"“{what}” is past the point of no return and has to be finished."


def reason(step: StepRecord, side: Side, cause: CaseCause) -> str:
    """Why automation stopped, in words, with the last answer."""
    command = _command(step, side)
    if cause in {CaseCause.LATE_EFFECT, CaseCause.SECOND_EFFECT}:
        return step.late or "An effect was reported too late."
    if cause is CaseCause.UNDO_NEEDS_PERSON and step.undo is not None and step.undo.overtaken:
        return (
            "An earlier call took effect after all; what was to be done instead waits for a person."
        )
    said = next((e for e in reversed(command.history) if e.outcome is not None), None)
    last = f"The last answer was {said.outcome}: {said.reason}" if said and said.reason else ""
    words = {
        CaseCause.UNDO_BLOCKED: "The undo was refused.",
        CaseCause.UNDO_BUDGET_SPENT: f"All {command.attempts} attempts of the undo are used up.",
        CaseCause.UNDO_NEEDS_PERSON: "The catalogue asks for a person before this undo.",
        CaseCause.AUTHORITY_LOST: "The recorded authority no longer suffices, and no other is tried.",
        CaseCause.OUTCOME_UNSETTLED: "The target did not tell what became of an earlier call.",
        CaseCause.STEP_REFUSED: "The step was refused.",
        CaseCause.BUDGET_SPENT: f"All {command.attempts} attempts are used up.",
        CaseCause.KEY_CONFLICT: "The target holds our key with other parameters.",
    }
    return f"{words.get(cause, cause.value)} {last}".strip()[:500]


def may_be_done_by_hand(head: Head, step: StepRecord) -> bool:
    """Whether a person may say that they did it: the boundary only while it is being crossed, never around its checks."""
    done = step.forward.state is ForwardState.COMPLETED
    return done or not step.boundary or head.pivot is Pivot.CROSSING


def allowed(
    head: Head, step: StepRecord, cause: CaseCause, side: Side = "do"
) -> tuple[Resolution, ...]:
    """What a person may do. Retrying keeps the key; a conflicting key is never simply retried.

    What exists and should not may be accepted. What is past the point of no return and does not exist may not be: it is
    finished, by whichever means.
    """
    if not may_be_done_by_hand(head, step):
        return (Resolution.RETRY,)
    if cause is CaseCause.SECOND_EFFECT:
        # No undo of the saga's is for it.
        return (Resolution.DONE, Resolution.ACCEPT)
    if cause is CaseCause.LATE_EFFECT:
        retry = (Resolution.RETRY,) if step.undo is not None else ()
        return (*retry, Resolution.DONE, Resolution.ACCEPT)
    ways = [Resolution.DONE] if cause is CaseCause.KEY_CONFLICT else [*_ASK_OR_DO]
    if side == "undo" and alternates(step, cause):
        ways.append(Resolution.RETRY_WITH_ALTERNATE)
    if side == "undo" and other_actions(step):
        ways.append(Resolution.ANOTHER_ACTION)
    if is_unsettled(step.forward) or (step.undo is not None and undo_unsettled(step.undo)):
        ways.append(Resolution.DID_NOT_HAPPEN)
    if side == "undo":
        ways.append(Resolution.ACCEPT)
    return tuple(ways)


def alternates(step: StepRecord, cause: CaseCause) -> tuple[AuthorityReference, ...]:
    """The other principals that two people may choose: only where the recorded one has lost its authority."""
    if step.undo is None or cause is not CaseCause.AUTHORITY_LOST:
        return ()
    return offered(step.undo)


def other_actions(step: StepRecord) -> tuple[DeclaredAction, ...]:
    """What two people may have done in place of the undo: only where nothing of the undo can still land, or has."""
    undo = step.undo
    known = step.forward.state is ForwardState.COMPLETED and undo is not None
    if (
        undo is None
        or not known
        or undo.inputs is None
        or undo.overtaken
        or undo_unsettled(undo)
        or is_settled(step)
    ):
        return ()
    return offered_actions(undo)


def evidence(saga: Saga, step: StepRecord) -> dict[str, Any]:
    """A snapshot: ids, keys, receipts, histories, what exists and what is unfinished. No credential, no token."""
    forward, undo = step.forward, step.undo
    shown: dict[str, Any] = {
        "workflow": saga.head.saga_id,
        "step": {"index": step.index, "name": step.name, "kind": step.kind.value},
        "arguments": step.arguments,
        "arguments_digest": step.arguments_digest,
        "forward": _told(forward, forward.state.value)
        | {"receipt": forward.receipt.model_dump(mode="json") if forward.receipt else None},
        "exists": [_existing(s) for s in saga.steps if _exists(s)],
        "unfinished": [s.name for s in saga.steps if s.forward.state is not ForwardState.COMPLETED],
    }
    if undo is not None:
        shown["undo"] = _told(undo, undo.state.value) | {
            "operation": undo.operation,
            "inputs": undo.inputs,
            "condition": undo.condition,
            "alternates": [each.model_dump(mode="json") for each in undo.alternates],
            "substitutions": [each.model_dump(mode="json") for each in undo.substitutions],
            "other_actions": [each.model_dump(mode="json") for each in undo.other_actions],
            "replaced": [_replaced(each) for each in undo.replaced],
        }
    return shown


def saga_evidence(saga: Saga) -> dict[str, Any]:
    """The same for a saga as a whole: where it stands, what exists, what is unfinished."""
    head = saga.head
    return {
        "workflow": head.saga_id,
        "direction": head.direction.value,
        "pivot": head.pivot.value,
        "machine": head.machine,
        "execution": head.execution,
        "exists": [_existing(s) for s in saga.steps if _exists(s)],
        "unfinished": [s.name for s in saga.steps if s.forward.state is not ForwardState.COMPLETED],
    }


def _told(command: Intent, state: str) -> dict[str, Any]:
    entries = command.history[-HISTORY_SHOWN:]
    return {
        "key": command.key,
        "state": state,
        "unsettled": command.unsettled,
        "attempts": command.attempts,
        "budget": command.budget,
        "authority": command.authority.model_dump(mode="json"),
        "history": [e.model_dump(mode="json") for e in entries],
    }


def _replaced(each: ReplacedAction) -> dict[str, Any]:
    last = [entry.model_dump(mode="json") for entry in each.history[-HISTORY_SHOWN:]]
    return each.model_dump(mode="json") | {"history": last}


def _exists(step: StepRecord) -> bool:
    undone = step.undo is not None and step.undo.state is UndoState.SUCCEEDED
    return step.forward.receipt is not None and not undone


def _existing(step: StepRecord) -> dict[str, Any]:
    receipt = step.forward.receipt
    return {"step": step.name, "resource": receipt.resource if receipt else None}
