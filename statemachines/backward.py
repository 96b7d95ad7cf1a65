"""The way back: one *begin* for each step that may fail, and one chain of undos that all of them enter.

Undos run in waves, each wave after those that it waits for; in strict reverse order a wave is one step. A *begin*
enters at the first wave that holds a step which may have run. Steps of that or a later wave that never started answer
*not needed*. No failure leaves the chain early: an undo that fails is handed to a person, one that cannot even be handed
over is left to the ledger, and *finish compensation* alone judges whether anything is still owed.
"""

from __future__ import annotations

from typing import Any

from functions.domain.catalogue import Retry
from statemachines import names, states
from statemachines.draft import Draft
from statemachines.order import undo_waves
from statemachines.states import EXECUTION, SAGA, Asking, State, anything


def backward_states(draft: Draft) -> dict[str, State]:
    """Every *begin*, the chain of undos, the finish, and the one state that gives up."""
    waves = undo_waves(draft.shape)
    entries = [_wave_name(draft, wave) for wave in waves] + [names.FINISH]
    found: dict[str, State] = {}
    for index in range(min(draft.boundary + 1, len(draft.shape.steps))):
        first = next((n for n, wave in enumerate(waves) if min(wave) <= index), len(waves))
        found[draft.name(names.begin, index)] = _begin(draft, index, entries[first])
    for wave, following in zip(waves, entries[1:], strict=True):
        found |= _wave(draft, wave, following)
    found[names.FINISH] = _finish(draft)
    found[names.STOPPED] = states.fail(
        "Stopped",
        "The saga could not be handed on. The ledger holds what is owed, and a rescue goes on from it.",
    )
    return found


def _wave_name(draft: Draft, wave: tuple[int, ...]) -> str:
    return names.wave(wave) if len(wave) > 1 else draft.name(names.undo, wave[0])


def _begin(draft: Draft, index: int, first: str) -> State:
    return states.task(
        draft.bindings.begin,
        {**SAGA, "index": index, **EXECUTION},
        draft.control,
        follow=first,
        catch=[anything(names.STOPPED)],
        comment="Turns the saga back, once and for all, and bars every step that has not started.",
    )


def _wave(draft: Draft, wave: tuple[int, ...], following: str) -> dict[str, State]:
    if len(wave) == 1:
        return _undo(draft, wave[0], following, left=following)
    branches = []
    for index in wave:
        left = draft.name(names.undo_left, index)
        branch = _undo(draft, index, None, left=left)
        branch[left] = states.succeed("Left to the ledger, so that the other undos still finish.")
        branches.append(branch)
    return {
        names.wave(wave): states.parallel(
            branches, follow=following, comment="Undos that need not wait for each other."
        )
    }


def _undo(draft: Draft, index: int, following: str | None, *, left: str) -> dict[str, State]:
    """One undo and its case; both go on to `following`, or end the branch where that is None."""
    case = draft.name(names.undo_case, index)
    payload: dict[str, Any] = {**SAGA, "index": index, **EXECUTION}
    function, asking = _undo_function(draft, index)
    return {
        draft.name(names.undo, index): states.task(
            function,
            payload,
            asking,
            follow=following,
            catch=[anything(case)],
            comment="The step's own undo, under its recorded key and authority.",
        ),
        case: states.task(
            draft.bindings.open_case,
            {**SAGA, "index": index, "direction": "undo", **EXECUTION},
            draft.control,
            follow=following,
            catch=[anything(left)],
            comment="A person takes over this undo; the others go on.",
        ),
    }


def _undo_function(draft: Draft, index: int) -> tuple[str, Asking]:
    binding = draft.binding(index)
    retry: Retry | None = binding.undo_retry
    if binding.undo is None or binding.undo_timeout is None or retry is None:
        raise ValueError(
            f"step {index}: a compensable step needs an undo, its timeout and its budget"
        )
    return binding.undo, Asking(binding.undo_timeout, binding.undo_wait, retry)


def _finish(draft: Draft) -> State:
    return states.task(
        draft.bindings.finish,
        {**SAGA, **EXECUTION},
        draft.control,
        follow=None,
        catch=[anything(names.STOPPED)],
        comment="Judges from the ledger alone what the saga came to.",
    )
