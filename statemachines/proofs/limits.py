"""AWS's limits: the size of a definition, and the history of its worst execution.

AWS ends an execution at 25,000 history events, uncatchably, so the worst one must stay far below. Counted after the
event types of the Step Functions API reference (HistoryEvent): a Task that calls Lambda is entered and exited once
and logs *scheduled*, *started* and one end for each attempt (one more, *submitted*, where it hands out a token); a
Parallel logs *entered*, *started*, one end and *exited*; an execution logs its start and its end.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from functions.domain.approvals import MOST_ROUNDS
from functions.domain.history import MOST_EVENTS
from statemachines.proofs.graph import Graph, Node
from statemachines.proofs.parts import Cast, Part
from statemachines.proofs.retriers import retriers
from statemachines.proofs.violation import Code, Violation

MOST_BYTES: Final = 1_000_000

_EXECUTION: Final = 2
_ENTERED_AND_EXITED: Final = 2
_ATTEMPT: Final = 3
_ATTEMPT_WITH_TOKEN: Final = 4
_PARALLEL: Final = 4


def prove(definition: Mapping[str, Any], graph: Graph, cast: Cast) -> Iterator[Violation]:
    """Needs a graph whose only cycle is the pivot and its gate."""
    size = len(json.dumps(definition))
    if size > MOST_BYTES:
        yield Violation(Code.TOO_LARGE, "", f"{size} bytes, more than {MOST_BYTES}")
    events = worst_history(graph, cast)
    if events > MOST_EVENTS:
        yield Violation(Code.TOO_LONG, "", f"up to {events} events, more than {MOST_EVENTS}")


def worst_history(graph: Graph, cast: Cast) -> int:
    """The events of the longest execution: on the longest path, every attempt of every Task fails.

    Pivot and gate take turns, and any way may lead on after the last of them: their rounds are counted at the pivot.
    """
    turning = sum(
        _events(node) * _rounds(node, cast)
        for node in graph.nodes.values()
        if cast.turns and _takes_turns(node, cast)
    )
    longest: dict[str, int] = {}
    for name in graph.ends_first(cast.turns):
        node = graph.nodes[name]
        ways = [edge.target for edge in node.edges if (name, edge.target) not in cast.turns]
        own = _events(node)
        if cast.turns and _takes_turns(node, cast):
            own = turning if _is(node, cast, Part.FORWARD) else 0
        longest[name] = (
            own
            + sum(longest[branch] for branch in node.branches)
            + max((longest[way] for way in ways), default=0)
        )
    return _EXECUTION + longest[graph.start]


def _takes_turns(node: Node, cast: Cast) -> bool:
    return _is(node, cast, Part.GATE) or _is(node, cast, Part.FORWARD)


def _is(node: Node, cast: Cast, part: Part) -> bool:
    role = cast.role(node.name)
    return role is not None and role.index == cast.boundary and role.part is part


def _rounds(node: Node, cast: Cast) -> int:
    """The pivot and its gate take turns: the pivot once more than the gate."""
    return MOST_ROUNDS if _is(node, cast, Part.GATE) else MOST_ROUNDS + 1


def _events(node: Node) -> int:
    if node.type == "Parallel":
        return _PARALLEL
    if node.type != "Task":
        return _ENTERED_AND_EXITED
    attempts = 1 + sum(retrier.max_attempts for retrier in retriers(node))
    token = str(node.body.get("Resource")).endswith(".waitForTaskToken")
    return _ENTERED_AND_EXITED + attempts * (_ATTEMPT_WITH_TOKEN if token else _ATTEMPT)
