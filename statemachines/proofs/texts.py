"""A definition holds names, ARNs and constants: nothing that is computed, nothing that anybody else wrote."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from statemachines.proofs.graph import Graph
from statemachines.proofs.parts import Cast, Part
from statemachines.proofs.violation import Code, Violation

_PATHS: Final = {"saga_id.$": "$.saga_id", "execution.$": "$$.Execution.Name"}
_TOKEN: Final = {"token.$": "$$.Task.Token"}
_COMPUTED: Final = re.compile(r"States\.[A-Za-z0-9]+\s*\(|\{%|%\}|^\$")
_PLAIN: Final = re.compile(r"[A-Za-z0-9 .,:;'()<>=+/_-]{0,300}")
_TOP: Final = frozenset({"Comment", "StartAt", "States"})


def prove(definition: Mapping[str, Any], graph: Graph, cast: Cast) -> Iterator[Violation]:
    """Every key and every text, however deep."""
    for name in definition.keys() - _TOP:
        yield Violation(Code.UNEXPECTED_FIELD, "", f"{name} has no place in a machine")
    yield from _comment("", definition.get("Comment"))
    for node in graph.nodes.values():
        for field in ("Comment", "Cause", "Error"):
            yield from _comment(node.name, node.body.get(field))
        # The states of a Parallel's branches are nodes of their own.
        own = {key: value for key, value in node.body.items() if key != "Branches"}
        role = cast.role(node.name)
        allowed = _PATHS | _TOKEN if role is not None and role.part is Part.GATE else _PATHS
        yield from _texts(node.name, own, allowed)


def _texts(state: str, value: Any, allowed: Mapping[str, str]) -> Iterator[Violation]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if str(key).endswith(".$"):
                if allowed.get(key) != inner:
                    yield Violation(Code.FOREIGN_PATH, state, f"{key} reads {inner!r}")
            else:
                yield from _texts(state, inner, allowed)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(state, inner, allowed)
    elif isinstance(value, str):
        if _COMPUTED.search(value):
            yield Violation(Code.FOREIGN_TEXT, state, "something is computed")
        elif not _PLAIN.fullmatch(value):
            yield Violation(Code.FOREIGN_TEXT, state, "not a text that a compiler writes")


def _comment(state: str, comment: Any) -> Iterator[Violation]:
    if comment is not None and not (isinstance(comment, str) and _PLAIN.fullmatch(comment)):
        yield Violation(Code.FOREIGN_TEXT, state, "not a text that a compiler writes")
