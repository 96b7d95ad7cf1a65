"""Which undo waits for which: strict reverse by default, otherwise as the catalogue declares.

Seed two: "Compensation also need not apply actions in the exact reverse of forward execution. Dependencies and business
risk determine the order."
"""

from __future__ import annotations

from collections.abc import Sequence

from functions.domain.catalogue import Kind, Step


def undo_waits_for(steps: Sequence[Step]) -> tuple[frozenset[int], ...]:
    """For each step of a plan, in its order, the indexes of the steps whose undo must be settled first.

    Hard: later steps that require it, and what its `undo_after` names. By default also every later step that is not
    declared independent; a default gives way where a hard order puts the later step's undo last. Never a circle, since
    the catalogue's rules leave none among the hard ones.
    """
    hard = [_hard(i, steps) for i in range(len(steps))]
    place = {index: at for at, index in enumerate(_in_order(hard))}
    return tuple(
        hard[i]
        | {
            j
            for j in range(i + 1, len(steps))
            if _undoable(steps[i], steps[j])
            and steps[j].name not in steps[i].independent_of
            and place[j] < place[i]
        }
        for i in range(len(steps))
    )


def _hard(index: int, steps: Sequence[Step]) -> frozenset[int]:
    step = steps[index]
    return frozenset(
        other
        for other, another in enumerate(steps)
        if other != index
        and _undoable(step, another)
        and (
            (other > index and step.name in another.requires)
            or (another.name != step.name and another.name in step.undo_after)
        )
    )


def _undoable(one: Step, other: Step) -> bool:
    return one.kind is Kind.COMPENSABLE and other.kind is Kind.COMPENSABLE


def _in_order(hard: Sequence[frozenset[int]]) -> list[int]:
    """Latest first, as far as the hard order allows."""
    done: list[int] = []
    left = set(range(len(hard)))
    while left:
        ready = [i for i in left if hard[i] <= set(done)]
        if not ready:
            raise ValueError(f"the undo of {sorted(left)} waits for itself")
        latest = max(ready)
        left.remove(latest)
        done.append(latest)
    return done
