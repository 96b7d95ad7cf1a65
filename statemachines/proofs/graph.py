"""A definition read as a graph, defensively: what cannot be read becomes a violation, never an exception."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from typing import Any

from statemachines.proofs.violation import Code, Violation

Body = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Edge:
    """A way from one state to the next. `errors` is None on success, else what the catcher matches."""

    target: str
    errors: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Node:
    """A state.

    `branches` names the first states of a Parallel's branches. `inside` is the Parallel whose branch holds this state.
    `edges` are this state's own Next and Catch, those that exist.
    """

    name: str
    body: Body
    inside: str | None
    edges: tuple[Edge, ...] = ()
    branches: tuple[str, ...] = ()

    @property
    def type(self) -> str:
        """What kind of state this is; "" where it does not say so."""
        given = self.body.get("Type")
        return given if isinstance(given, str) else ""

    @property
    def success(self) -> str | None:
        """Where a success leads; None at an end."""
        return next((edge.target for edge in self.edges if edge.errors is None), None)

    @property
    def failures(self) -> tuple[Edge, ...]:
        """The catchers, in their order."""
        return tuple(edge for edge in self.edges if edge.errors is not None)


@dataclass(slots=True)
class Graph:
    """All states of a machine, those in branches too, by name."""

    start: str = ""
    nodes: dict[str, Node] = field(default_factory=dict)

    def onward(self, name: str) -> Iterator[str]:
        """Every state that may come right after this one. The end of a branch leads on to what follows its Parallel."""
        node = self.nodes[name]
        yield from node.branches
        yield from (edge.target for edge in node.edges)
        ends_branch = node.success is None and not node.branches
        if ends_branch and node.inside is not None:
            yield from (edge.target for edge in self.nodes[node.inside].edges)

    def reachable(self, origins: Iterable[str]) -> set[str]:
        """The origins and every state after them, on any path."""
        found: set[str] = set()
        ahead = [name for name in origins if name in self.nodes]
        while ahead:
            name = ahead.pop()
            if name not in found:
                found.add(name)
                ahead.extend(self.onward(name))
        return found

    def ends_first(self, ignored: frozenset[tuple[str, str]]) -> list[str]:
        """Every state after all that may follow it, `ignored` ways apart. Raises graphlib.CycleError."""
        return list(
            TopologicalSorter(
                {
                    name: [to for to in self.onward(name) if (name, to) not in ignored]
                    for name in self.nodes
                }
            ).static_order()
        )


def read(definition: Body) -> tuple[Graph, list[Violation]]:
    """The graph of a definition, and what of it could not be read."""
    graph, problems = Graph(), list[Violation]()
    start = _read_scope(definition, None, graph, problems)
    if start is not None:
        graph.start = start
    return graph, problems


def _read_scope(
    scope: Any, inside: str | None, graph: Graph, problems: list[Violation]
) -> str | None:
    """Adds a machine's or a branch's states to the graph. Answers its first state, None where there is none."""
    where = inside or ""
    states = scope.get("States") if isinstance(scope, Mapping) else None
    if not isinstance(states, Mapping) or not states:
        problems.append(Violation(Code.MALFORMED, where, "no States"))
        return None
    for name, body in states.items():
        if not isinstance(body, Mapping):
            problems.append(Violation(Code.MALFORMED, str(name), "not a state"))
        elif name in graph.nodes:
            problems.append(Violation(Code.DUPLICATE_STATE, name, "the name is used twice"))
        else:
            _read_state(name, body, states, inside, graph, problems)
    return _target(scope.get("StartAt"), states, where, problems)


def _read_state(
    name: str,
    body: Body,
    beside: Body,
    inside: str | None,
    graph: Graph,
    problems: list[Violation],
) -> None:
    ways: list[tuple[Any, tuple[str, ...] | None]] = (
        [(body["Next"], None)] if "Next" in body else []
    )
    ways += [(catcher.get("Next"), _matched(catcher)) for catcher in _listed(body.get("Catch"))]
    edges = [
        Edge(target, matched)
        for way, matched in ways
        if (target := _target(way, beside, name, problems)) is not None
    ]
    graph.nodes[name] = Node(name, body, inside, tuple(edges))
    if body.get("Type") == "Parallel":
        firsts = [
            _read_scope(branch, name, graph, problems) for branch in _listed(body.get("Branches"))
        ]
        branches = tuple(first for first in firsts if first is not None)
        graph.nodes[name] = Node(name, body, inside, tuple(edges), branches)


def _target(target: Any, beside: Body, where: str, problems: list[Violation]) -> str | None:
    if isinstance(target, str) and isinstance(beside.get(target), Mapping):
        return target
    problems.append(Violation(Code.MISSING_TARGET, where, f"there is no state {target!r} here"))
    return None


def _matched(catcher: Body) -> tuple[str, ...]:
    matched = catcher.get("ErrorEquals")
    return tuple(map(str, matched)) if isinstance(matched, list) else ()


def _listed(value: Any) -> list[Body]:
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []
