"""The way forward: each step, and what its failure leads to.

Before the boundary a failure leads to *begin*. At the boundary everything that is not a plain success is settled first,
because nobody may guess what a call beyond the point of no return has done. After it, a failure leads to a person.
"""

from __future__ import annotations

from typing import Any, Literal

from functions.domain.catalogue import Kind
from statemachines import errors, names, states
from statemachines.draft import Draft
from statemachines.states import EXECUTION, SAGA, Asking, Caught, State, anything


def forward_states(draft: Draft) -> dict[str, State]:
    """The steps in order, each with the states beside it."""
    found: dict[str, State] = {}
    for index in range(len(draft.shape.steps)):
        found[draft.name(names.forward, index)] = _step(draft, index)
        if index == draft.boundary:
            if draft.shape.steps[index].kind is Kind.PIVOT:
                found[draft.name(names.approve, index)] = _gate(draft, index)
            found[draft.name(names.settle, index)] = _settle(draft, index)
        if index >= draft.boundary:
            found[draft.name(names.case, index)] = _case(draft, index)
    return found


def _step(draft: Draft, index: int) -> State:
    if index < draft.boundary:
        catch = [anything(draft.name(names.begin, index))]
        comment = "Compensable: undone if the saga fails before its boundary."
    elif index > draft.boundary:
        catch = [anything(draft.name(names.case, index))]
        comment = "After the boundary: retried within its budget, then a person. Nothing is undone."
    else:
        catch = [anything(draft.name(names.settle, index))]
        comment = "The boundary: nothing before it is undone after it."
        if draft.shape.steps[index].kind is Kind.PIVOT:
            catch.insert(0, Caught((errors.APPROVAL_REQUIRED,), draft.name(names.approve, index)))
            comment = "The pivot is the boundary: nothing before it is undone after it."
    return _run(draft, index, "run", catch, comment)


def _settle(draft: Draft, index: int) -> State:
    return _run(
        draft,
        index,
        "settle",
        [
            Caught((errors.DID_NOT_HAPPEN,), draft.name(names.begin, index)),
            anything(draft.name(names.case, index)),
        ],
        "Finds out whether the boundary was crossed. Only proof that it was not leads back.",
    )


def _run(
    draft: Draft,
    index: int,
    operation: Literal["run", "settle"],
    catch: list[Caught],
    comment: str,
) -> State:
    binding = draft.binding(index)
    last = index == len(draft.shape.steps) - 1
    payload: dict[str, Any] = {**SAGA, "index": index, "operation": operation, **EXECUTION}
    return states.task(
        binding.run,
        payload,
        Asking(binding.run_timeout, binding.run_wait, binding.run_retry),
        follow=None if last else draft.name(names.forward, index + 1),
        catch=catch,
        comment=comment,
    )


def _gate(draft: Draft, index: int) -> State:
    control = draft.control
    final = (*errors.NOT_REPEATED, *errors.PEOPLE_SAID_NO, errors.TIMEOUT)
    return states.gate(
        draft.bindings.gate,
        {**SAGA, "index": index, **EXECUTION},
        Asking(control.timeout, control.wait, control.retry, final),
        seconds=draft.bindings.gate_timeout,
        follow=draft.name(names.forward, index),
        catch=[anything(draft.name(names.begin, index))],
        comment="People are asked. The pivot checks their decision itself, so approval only leads back to it.",
    )


def _case(draft: Draft, index: int) -> State:
    return states.task(
        draft.bindings.open_case,
        {**SAGA, "index": index, "direction": "do", **EXECUTION},
        draft.control,
        follow=None,
        catch=[anything(names.STOPPED)],
        comment="A person takes over; the answer resumes the saga on a new execution.",
    )
