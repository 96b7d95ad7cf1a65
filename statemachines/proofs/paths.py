"""Where things lead: the plan's order, each failure's own way, and that nothing is undone that must stay."""

from __future__ import annotations

from collections.abc import Iterator
from graphlib import CycleError
from typing import Final

from functions.domain.catalogue import Kind
from statemachines import errors, names
from statemachines.proofs.graph import Edge, Graph, Node
from statemachines.proofs.parts import BACKWARD, FORWARD, Cast, Part, Role
from statemachines.proofs.violation import Code, Violation

_ALL: Final = (errors.ANY,)


def prove(graph: Graph, cast: Cast) -> Iterator[Violation]:
    """Everything about the ways between states, except the order among the undos."""
    if graph.start != cast.name(Part.FORWARD, 0):
        yield Violation(Code.WRONG_SUCCESS, "", "a saga starts at its first step")
    for name in graph.nodes.keys() - graph.reachable([graph.start]):
        yield Violation(Code.UNREACHABLE, name, "no path leads here")
    for node in graph.nodes.values():
        role = cast.role(node.name)
        if role is not None and role.part in {*FORWARD, Part.BEGIN, Part.FINISH}:
            yield from _leads(node, role, cast)
    yield from _one_way(graph, cast)
    yield from _cycles(graph, cast)


def _leads(node: Node, role: Role, cast: Cast) -> Iterator[Violation]:
    if role.part is not Part.BEGIN and node.success != _success(role, cast):
        yield Violation(Code.WRONG_SUCCESS, node.name, f"a success leads to {node.success}")
    if node.failures != _failures(role, cast):
        yield Violation(Code.WRONG_FAILURE, node.name, "a failure does not lead where it must")


def _success(role: Role, cast: Cast) -> str | None:
    match role.part:
        case Part.FORWARD | Part.SETTLE if role.index < cast.last:
            return cast.name(Part.FORWARD, role.index + 1)
        case Part.GATE:
            return cast.name(Part.FORWARD, role.index)
        case _:
            return None


def _failures(role: Role, cast: Cast) -> tuple[Edge, ...]:
    """Before the boundary to its own *begin*; at it to the gate or to settling; after it to a person."""
    index = role.index
    match role.part:
        case Part.FORWARD if index < cast.boundary:
            return (Edge(cast.name(Part.BEGIN, index), _ALL),)
        case Part.FORWARD if index == cast.boundary:
            settle = Edge(cast.name(Part.SETTLE, index), _ALL)
            if cast.shape.steps[index].kind is not Kind.PIVOT:
                return (settle,)
            return (Edge(cast.name(Part.GATE, index), (errors.APPROVAL_REQUIRED,)), settle)
        case Part.FORWARD:
            return (Edge(cast.name(Part.CASE, index), _ALL),)
        case Part.SETTLE:
            return (
                Edge(cast.name(Part.BEGIN, index), (errors.DID_NOT_HAPPEN,)),
                Edge(cast.name(Part.CASE, index), _ALL),
            )
        case Part.GATE:
            return (Edge(cast.name(Part.BEGIN, index), _ALL),)
        case _:
            return (Edge(names.STOPPED, _ALL),)


def _one_way(graph: Graph, cast: Cast) -> Iterator[Violation]:
    """No undo once the boundary has succeeded; no step once the saga has turned; no undo but through *begin*."""
    crossed = [
        target
        for node in graph.nodes.values()
        if (role := cast.role(node.name)) is not None
        and role.part in {Part.FORWARD, Part.SETTLE}
        and role.index >= cast.boundary
        and (target := node.success) is not None
    ]
    cases = [name for name, role in cast.roles.items() if role.part is Part.CASE]
    yield from _none_of(graph, cast, [*crossed, *cases], BACKWARD, Code.UNDO_AFTER_BOUNDARY)
    begins = [name for name, role in cast.roles.items() if role.part is Part.BEGIN]
    yield from _none_of(graph, cast, begins, FORWARD, Code.FORWARD_AFTER_BEGIN)
    compensating = graph.reachable(begins)
    for name in graph.reachable([graph.start]) - compensating:
        for target in graph.onward(name):
            if target in compensating and target != names.STOPPED:
                role = cast.role(target)
                if role is None or role.part is not Part.BEGIN:
                    yield Violation(Code.UNDO_WITHOUT_BEGIN, name, f"leads straight to {target}")


def _none_of(
    graph: Graph, cast: Cast, origins: list[str], parts: frozenset[Part], code: Code
) -> Iterator[Violation]:
    for name in graph.reachable(origins):
        role = cast.role(name)
        if role is not None and role.part in parts:
            yield Violation(code, name, "can be reached where it must not be")


def _cycles(graph: Graph, cast: Cast) -> Iterator[Violation]:
    """The only cycle is the pivot and its gate."""
    try:
        graph.ends_first(cast.turns)
    except CycleError as cycle:
        path = cycle.args[1]
        yield Violation(Code.ENDLESS, path[0], f"leads back to itself over {len(path) - 1} states")
