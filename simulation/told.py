"""A rehearsal as a JSON object: what the command line prints, and what a script reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from simulation.faults import Fault
from simulation.play import Play
from simulation.rehearse import Ending, Row

ALONE = "none"
"""The name of the run in which nothing else goes wrong."""


def told(play: Play, rows: Sequence[Row]) -> dict[str, Any]:
    """All rows, step by step; `endings` has an entry for each fault that can happen at a boundary."""
    endings = [each for row in rows for each in row.endings.values()]
    return {
        "catalogue": play.catalogue.name,
        "runs": len(endings),
        "endings": dict(Counter(each.outcome for each in endings)),
        "steps": [
            {
                "index": index,
                "name": step.name,
                "kind": step.kind.value,
                "undone_by": step.undo.name if step.undo is not None else None,
                "boundaries": [_row(row) for row in rows if row.index == index],
            }
            for index, step in enumerate(play.steps)
            if any(row.index == index for row in rows)
        ],
        "violations": [
            f"{row.boundary.title}, {_name(fault)}, step {row.index}: {what}"
            for row in rows
            for fault, ending in row.endings.items()
            for what in ending.violated
        ],
    }


def _row(row: Row) -> dict[str, Any]:
    return {
        "group": row.boundary.group,
        "boundary": row.boundary.name,
        "endings": {_name(fault): _ending(ending) for fault, ending in row.endings.items()},
    }


def _name(fault: Fault | None) -> str:
    return ALONE if fault is None else fault.value


def _ending(ending: Ending) -> dict[str, Any]:
    cases = [
        {"cause": case.cause, "step": case.step, "direction": case.direction}
        for case in ending.cases
    ]
    return {"outcome": ending.outcome} | ({"cases": cases} if cases else {})
