"""Every check in the kernel's source, listed from its syntax tree: what can be taken away, and what is left then.

A guard (`if …: return/raise/continue`) is skipped, an operand of and/or is dropped, a condition that a function answers
always holds, a filter lets everything through, a choice is made for good, an expectation of a write is forgotten.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

KERNEL = (
    "functions/domain/ledger/forward.py",
    "functions/domain/ledger/undo.py",
    "functions/domain/ledger/by_person.py",
    "functions/domain/ledger/head.py",
    "functions/domain/ledger/recovery.py",
    "functions/domain/ledger/keeping.py",
    "functions/domain/ledger/undo_authority.py",
    "functions/domain/approvals.py",
    "functions/domain/permission.py",
    "functions/domain/cases.py",
    "functions/domain/claims.py",
    "functions/domain/proposals.py",
    "functions/usecases/boundary.py",
    "functions/usecases/begin_compensation.py",
    "functions/usecases/conclusion.py",
    "functions/usecases/forward_intent.py",
    "functions/usecases/settle_step.py",
    "functions/usecases/undo_intent.py",
    "functions/usecases/finish_compensation.py",
    "functions/usecases/request_approval.py",
    "functions/usecases/decide_approval.py",
    "functions/usecases/open_case.py",
    "functions/usecases/resolve_case.py",
    "functions/usecases/case_effects.py",
    "functions/usecases/propose_resolution.py",
    "functions/usecases/claim_case.py",
    "functions/usecases/change_case.py",
    "functions/usecases/start_saga.py",
    "functions/usecases/rescue.py",
    "functions/usecases/records.py",
    "functions/aws/idempotency.py",
    "functions/aws/dynamo.py",
)
_LEAVES = (ast.Return, ast.Raise, ast.Continue)


@dataclass(frozen=True, slots=True)
class Site:
    """One check: where it stands, what is done to it, and the check's own text."""

    path: str
    number: int
    line: int
    function: str
    what: str
    text: str

    @property
    def name(self) -> str:
        """Stable as long as the check itself is: without its line."""
        return f"{self.path}:{self.function}: {self.what}: {self.text}"


@dataclass(slots=True)
class _Place:
    """A node to put in place of another, in some field of its parent."""

    parent: ast.AST
    field: str
    index: int | None
    new: ast.AST
    what: str
    text: str
    line: int
    function: str

    def apply(self) -> None:
        if self.index is None:
            setattr(self.parent, self.field, self.new)
            return
        getattr(self.parent, self.field)[self.index] = self.new


def sites(root: Path, path: str) -> list[Site]:
    """All checks of one file, in order."""
    tree = ast.parse((root / path).read_text())
    return [
        Site(path, number, p.line, p.function, p.what, p.text)
        for number, p in enumerate(_places(tree, "module"))
    ]


def mutated(source: str, number: int) -> ast.Module:
    """The file without its check of that number."""
    tree = ast.parse(source)
    list(_places(tree, "module"))[number].apply()
    return ast.fix_missing_locations(tree)


def _places(node: ast.AST, function: str) -> Iterator[_Place]:
    for child in ast.iter_child_nodes(node):
        inside = child.name if isinstance(child, ast.FunctionDef) else function
        for into, field, at, new, what, of in _here(child, inside):
            line = getattr(of, "lineno", 0)
            yield _Place(into, field, at, new, what, ast.unparse(of), line, inside)
        yield from _places(child, inside)


_Found = Iterator[tuple[ast.AST, str, int | None, ast.AST, str, ast.AST]]


def _here(node: ast.AST, function: str) -> _Found:
    match node:
        case ast.If(test=test, body=[*_, last]) if isinstance(last, _LEAVES):
            yield node, "test", None, ast.Constant(value=False), "guard skipped", test
        case ast.Return(value=ast.Compare() as test):
            yield node, "value", None, ast.Constant(value=True), "always holds", test
        case ast.match_case(guard=ast.expr() as guard):
            yield node, "guard", None, ast.Constant(value=True), "case guard open", guard
        case ast.IfExp(test=test):
            for value in (True, False):
                yield node, "test", None, ast.Constant(value=value), f"always {value}", test
        case ast.keyword(arg="expect", value=ast.Dict() as expected):
            yield from _forgotten(node, expected)
        case ast.Return(value=ast.Dict() as expected) if function == "completion_guard":
            yield from _forgotten(node, expected)
        case ast.BoolOp() | ast.comprehension():
            yield from _operands(node)


def _operands(node: ast.BoolOp | ast.comprehension) -> _Found:
    if isinstance(node, ast.comprehension):
        for at, test in enumerate(node.ifs):
            yield node, "ifs", at, ast.Constant(value=True), "filter open", test
        return
    neutral = isinstance(node.op, ast.And)
    for at, operand in enumerate(node.values):
        yield node, "values", at, ast.Constant(value=neutral), "operand dropped", operand


def _forgotten(node: ast.AST, expected: ast.Dict) -> _Found:
    for at, key in enumerate(expected.keys):
        smaller = copy.deepcopy(expected)
        del smaller.keys[at], smaller.values[at]
        if key is not None:
            yield node, "value", None, smaller, "expectation forgotten", key
