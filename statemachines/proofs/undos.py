"""From every *begin*, every undo that may be owed is tried, in the declared order, whatever fails on the way."""

from __future__ import annotations

from collections.abc import Iterator

from statemachines import errors
from statemachines.proofs.graph import Edge, Graph
from statemachines.proofs.parts import Cast, Part
from statemachines.proofs.violation import Code, Violation

States = frozenset[str]


def prove(graph: Graph, cast: Cast) -> Iterator[Violation]:
    """Needs a graph whose only cycle is the pivot and its gate."""
    yield from _complete(graph, cast)
    yield from _handed_over(graph, cast)
    yield from _ordered(graph, cast)


def _complete(graph: Graph, cast: Cast) -> Iterator[Violation]:
    passed = _passed(graph, cast)
    for name, role in cast.roles.items():
        if role.part is Part.BEGIN:
            owed = {cast.name(Part.UNDO, i) for i in cast.compensable if i <= role.index}
            owed.add(cast.name(Part.FINISH))
            first = graph.nodes[name].success
            for missed in sorted(owed - (passed[first] if first else States())):
                yield Violation(Code.UNDO_SKIPPED, name, f"a path from here misses {missed}")


def _handed_over(graph: Graph, cast: Cast) -> Iterator[Violation]:
    """A failed undo is a person's to see, and only a failed one."""
    for index in cast.compensable:
        undo, case = cast.name(Part.UNDO, index), cast.name(Part.UNDO_CASE, index)
        if graph.nodes[undo].failures != (Edge(case, (errors.ANY,)),):
            yield Violation(Code.WRONG_FAILURE, undo, "a failed undo leads to its own case")
    for node in graph.nodes.values():
        for target in graph.onward(node.name):
            role = cast.role(target)
            if role is not None and role.part is Part.UNDO_CASE:
                failed = node.name == cast.name(Part.UNDO, role.index) and node.success != target
                if not failed:
                    yield Violation(Code.WRONG_SUCCESS, node.name, f"leads to {target}")


def _passed(graph: Graph, cast: Cast) -> dict[str, States]:
    """For each state, those that every path from it passes: itself, its branches, what all ways on have in common."""
    passed: dict[str, States] = {}
    for name in graph.ends_first(cast.turns):
        node = graph.nodes[name]
        passed[name] = States({name}).union(*(passed[branch] for branch in node.branches))
        ways = [passed[edge.target] for edge in node.edges if (name, edge.target) not in cast.turns]
        # From the finish on it no longer matters: the ledger has judged.
        if node.success and ways and name != cast.name(Part.FINISH):
            passed[name] |= ways[0].intersection(*ways[1:])
    return passed


def _ordered(graph: Graph, cast: Cast) -> Iterator[Violation]:
    after = {index: graph.reachable([cast.name(Part.UNDO, index)]) for index in cast.compensable}
    for index in cast.compensable:
        name = cast.name(Part.UNDO, index)
        for earlier in _waits_for(index, cast):
            if earlier == index or name not in after[earlier]:
                other = cast.name(Part.UNDO, earlier)
                yield Violation(Code.UNDO_ORDER, name, f"must come after {other}")


def _waits_for(index: int, cast: Cast) -> set[int]:
    """Transitively."""
    found: set[int] = set()
    ahead = list(cast.shape.steps[index].undo_waits_for)
    while ahead:
        each = ahead.pop()
        if each not in found and each in cast.compensable:
            found.add(each)
            ahead.extend(cast.shape.steps[each].undo_waits_for)
    return found
