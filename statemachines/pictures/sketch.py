"""What a picture shows of a definition: its states with their part in the saga, and the ways between them.

Left out is only the state that gives up, to which every control leads: it would hide all the others behind its arrows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from statemachines import names
from statemachines.errors import APPROVAL_REQUIRED, DID_NOT_HAPPEN
from statemachines.proofs.graph import Body, Graph, Node, read

_INDEX = re.compile(r"\b(\d+)\b")


class Part(StrEnum):
    """What a state is for."""

    STEP = "step"
    BOUNDARY = "boundary"
    GATE = "gate"
    SETTLE = "settle"
    CASE = "case"
    BEGIN = "begin"
    UNDO = "undo"
    UNDO_CASE = "undo_case"
    FINISH = "finish"


_BY_PREFIX = (
    ("approve ", Part.GATE),
    ("settle ", Part.SETTLE),
    ("case ", Part.CASE),
    ("begin ", Part.BEGIN),
    ("undo case ", Part.UNDO_CASE),
    ("undo ", Part.UNDO),
)


@dataclass(frozen=True, slots=True)
class Place:
    """A state. `index` is its step's, `lines` what is written in it; several where undos run side by side."""

    name: str
    part: Part
    index: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Way:
    """From one state to another; `failed` where it is not the way of success, `why` in a word or two."""

    origin: str
    target: str
    failed: bool
    why: str = ""


@dataclass(frozen=True, slots=True)
class Sketch:
    """All that is drawn, in the order of the definition."""

    title: str
    places: tuple[Place, ...]
    ways: tuple[Way, ...]


def sketch(definition: Body) -> Sketch:
    """Raises ValueError for a definition that cannot be read."""
    graph, problems = read(definition)
    if problems:
        raise ValueError("; ".join(map(str, problems)))
    outer = [n for n in graph.nodes.values() if n.inside is None and n.name != names.STOPPED]
    settled = {n.name.removeprefix("settle ") for n in outer if n.name.startswith("settle ")}
    places = tuple(_place(node, graph, settled) for node in outer)
    ways = tuple(way for node in outer for way in _ways(node))
    return Sketch(str(definition.get("Comment", "")), places, ways)


def _place(node: Node, graph: Graph, settled: set[str]) -> Place:
    part = next((p for prefix, p in _BY_PREFIX if node.name.startswith(prefix)), Part.STEP)
    if node.name == names.FINISH:
        part = Part.FINISH
    if part is Part.STEP and node.name in settled:
        part = Part.BOUNDARY
    found = _INDEX.search(node.name)
    lines = tuple(graph.nodes[first].name for first in node.branches) or (node.name,)
    # A wave stands where the last of its undos would.
    indexes = [int(m.group(1)) for line in lines if (m := _INDEX.search(line))]
    return Place(node.name, part, max(indexes, default=int(found.group(1)) if found else 0), lines)


def _ways(node: Node) -> list[Way]:
    ways = [] if node.success is None else [Way(node.name, node.success, failed=False)]
    for edge in node.failures:
        if edge.target in {names.STOPPED, node.success}:
            continue
        ways.append(Way(node.name, edge.target, failed=True, why=_why(edge.errors or ())))
    return ways


def _why(errors: tuple[str, ...]) -> str:
    if APPROVAL_REQUIRED in errors:
        return "needs people"
    return "did not happen" if DID_NOT_HAPPEN in errors else "fails"
