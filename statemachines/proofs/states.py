"""Each state by itself: its fields, its bounds, its retriers, what it calls and with what."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from statemachines import errors, names
from statemachines.proofs import retriers
from statemachines.proofs.graph import Graph, Node
from statemachines.proofs.parts import Cast, Part, Role
from statemachines.proofs.violation import Code, Violation

_ANY: Final = frozenset({"Type", "Comment"})
_FLOW: Final = _ANY | {"ResultPath", "Catch", "Next"}
_TASK: Final = _FLOW | {"End", "Resource", "Parameters", "TimeoutSeconds", "Retry"}
_FIELDS: Final = {
    "Task": _TASK,
    "Parallel": _FLOW | {"Branches"},
    "Fail": _ANY | {"Error", "Cause"},
    "Succeed": _ANY,
}
_INVOKE: Final = "arn:aws:states:::lambda:invoke"
_PINNED: Final = re.compile(
    r"arn:aws[a-z-]*:lambda:[a-z0-9-]+:\d{12}:function:[A-Za-z0-9_-]{1,140}:\d+"
)
_ENDS: Final = {Part.STOPPED: "Fail", Part.UNDO_LEFT: "Succeed"}


def prove(graph: Graph, cast: Cast) -> Iterator[Violation]:
    """Everything that can be said of a state without looking where it leads."""
    for node in graph.nodes.values():
        yield from _identity(node, cast)
        yield from _fields(node)
        if node.type in {"Task", "Parallel"}:
            yield from _flow(node)
        if node.type == "Task":
            yield from retriers.prove(node, cast)
            yield from _called(node, cast)
    yield from _missing(graph, cast)
    yield from _functions(graph, cast)


def _identity(node: Node, cast: Cast) -> Iterator[Violation]:
    role, kind = cast.role(node.name), node.type
    if not names.is_state_name(node.name):
        yield Violation(Code.ILLEGAL_NAME, node.name, "no legal name")
    if kind not in _FIELDS:
        yield Violation(Code.MALFORMED, node.name, f"no saga needs a state of type {kind!r}")
    elif kind == "Parallel":
        if node.inside is not None or node.name != _wave_name(node, cast):
            yield Violation(Code.UNEXPECTED_STATE, node.name, "only undos run side by side")
    elif role is None:
        yield Violation(Code.UNEXPECTED_STATE, node.name, "this shape has no such state")
    elif kind != _ENDS.get(role.part, "Task"):
        yield Violation(Code.MALFORMED, node.name, f"must not be a {kind}")
    elif node.inside is not None and role.part not in {Part.UNDO, Part.UNDO_CASE, Part.UNDO_LEFT}:
        yield Violation(Code.UNEXPECTED_STATE, node.name, "only undos run side by side")


def _wave_name(node: Node, cast: Cast) -> str | None:
    """What a Parallel must be called, after the undos that its branches start with; None if they are not undos."""
    roles = [cast.role(branch) for branch in node.branches]
    indexes = [role.index for role in roles if role is not None and role.part is Part.UNDO]
    return names.wave(indexes) if len(indexes) == len(roles) > 1 else None


def _missing(graph: Graph, cast: Cast) -> Iterator[Violation]:
    for name, role in cast.roles.items():
        if name not in graph.nodes and role.part is not Part.UNDO_LEFT:
            yield Violation(Code.MISSING_STATE, name, "a machine of this shape has this state")


def _fields(node: Node) -> Iterator[Violation]:
    allowed = _FIELDS.get(node.type, _TASK)
    for name in node.body.keys() - allowed:
        yield Violation(Code.UNEXPECTED_FIELD, node.name, f"{name} has no place here")
    catchers = node.body.get("Catch")
    for catcher in catchers if isinstance(catchers, list) else []:
        if not isinstance(catcher, Mapping):
            yield Violation(Code.MALFORMED, node.name, "not a catcher")
        elif extra := catcher.keys() - {"ErrorEquals", "ResultPath", "Next"}:
            yield Violation(Code.UNEXPECTED_FIELD, node.name, f"{sorted(extra)} in a catcher")


def _flow(node: Node) -> Iterator[Violation]:
    """One way on, nothing kept of any answer, every error caught."""
    body = node.body
    if ("Next" in body) == ("End" in body) or body.get("End", True) is not True:
        yield Violation(Code.NO_WAY_ON, node.name, "needs either a Next or an End")
    catchers = body.get("Catch")
    caught = [c for c in catchers if isinstance(c, Mapping)] if isinstance(catchers, list) else []
    for holder in (body, *caught):
        if holder.get("ResultPath", "$") is not None:
            yield Violation(Code.RESULT_KEPT, node.name, "ResultPath must be null")
    everything = [n for n, c in enumerate(caught) if c.get("ErrorEquals") == [errors.ANY]]
    if everything != [len(caught) - 1]:
        yield Violation(
            Code.UNCAUGHT, node.name, "the last catcher, and only that, takes any error"
        )


def _called(node: Node, cast: Cast) -> Iterator[Violation]:
    role = cast.role(node.name)
    if role is None:
        return
    gate = role.part is Part.GATE
    parameters = node.body.get("Parameters")
    parameters = parameters if isinstance(parameters, Mapping) else {}
    if node.body.get("Resource") != (_INVOKE + ".waitForTaskToken" if gate else _INVOKE):
        yield Violation(Code.WRONG_CALL, node.name, "not how this state calls")
    sent = parameters.get("Payload")
    if parameters.keys() != {"FunctionName", "Payload"} or not _same_json(sent, _payload(role)):
        yield Violation(Code.WRONG_CALL, node.name, "not what this state sends")
    if not _PINNED.fullmatch(str(parameters.get("FunctionName"))):
        yield Violation(Code.UNPINNED_FUNCTION, node.name, "not a published version of a function")


def _payload(role: Role) -> dict[str, Any]:
    sent: dict[str, Any] = {"saga_id.$": "$.saga_id", "execution.$": "$$.Execution.Name"}
    if role.index >= 0:
        sent["index"] = role.index
    match role.part:
        case Part.FORWARD:
            sent["operation"] = "run"
        case Part.SETTLE:
            sent["operation"] = "settle"
        case Part.CASE:
            sent["direction"] = "do"
        case Part.UNDO_CASE:
            sent["direction"] = "undo"
        case Part.GATE:
            sent["token.$"] = "$$.Task.Token"
        case _:
            pass
    return sent


def _functions(graph: Graph, cast: Cast) -> Iterator[Violation]:
    """Each part is played by one function, and no function plays two: nothing but an undo may be an undo."""
    player: dict[str, str] = {}
    playing: dict[str, str] = {}
    for node in graph.nodes.values():
        role, parameters = cast.role(node.name), node.body.get("Parameters")
        if role is None or not isinstance(parameters, Mapping):
            continue
        part, function = _played(role, cast), str(parameters.get("FunctionName"))
        if (
            player.setdefault(part, function) != function
            or playing.setdefault(function, part) != part
        ):
            yield Violation(
                Code.MIXED_FUNCTIONS, node.name, f"{function} is not the one for {part}"
            )


def _played(role: Role, cast: Cast) -> str:
    step = cast.shape.steps[role.index].name if role.index >= 0 else ""
    match role.part:
        case Part.FORWARD | Part.SETTLE:
            return f"run {step}"
        case Part.UNDO:
            return f"undo {step}"
        case Part.CASE | Part.UNDO_CASE:
            return "open case"
        case _:
            return role.part.value


def _same_json(one: Any, other: Any) -> bool:
    """Equal as JSON: there `true` is not 1."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
