"""One mutant before the tests: a forked process that imports the kernel with one check taken away."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import os
import resource
import signal
import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from types import CodeType, ModuleType
from typing import NoReturn

import pytest

from tests.mutants.sites import Site, mutated

CPU_SECONDS = 150
"""A mutant that computes for so long runs in a circle, which no test would let pass. All tests together take a third."""
PATIENCE = 3600
FIRST = {
    "ledger/forward": "test_ledger_forward",
    "ledger/undo_authority": "test_undo_authority",
    "ledger/undo": "test_ledger_undo",
    "ledger/by_person": "test_ledger_undo",
    "ledger/head": "test_ledger_head",
    "domain/approvals": "test_approvals",
    "domain/cases": "test_cases",
    "domain/claims": "test_case_claims",
    "domain/proposals": "test_case_proposals",
    "domain/permission": "test_approvals",
    "ledger/keeping": "test_ledger_keeping",
    "usecases/boundary": "test_usecases_boundary",
    "conclusion": "test_usecases_conclusion",
    "forward_intent": "test_usecases_run_step",
    "settle_step": "test_usecases_settling",
    "decide_approval": "test_usecases_boundary",
    "request_approval": "test_usecases_boundary",
    "idempotency": "test_usecases_run_step",
    "recovery": "test_ledger_head_edges",
    "resolve_case": "test_usecases_cases",
    "case_effects": "test_usecases_cases",
    "propose_resolution": "test_usecases_two_people",
    "open_case": "test_usecases_cases",
    "claim_case": "test_usecases_cases",
    "change_case": "test_usecases_two_people",
    "start_saga": "test_usecases_driving",
    "rescue": "test_usecases_driving",
    "begin_compensation": "test_usecases_turning",
    "finish_compensation": "test_usecases_compensation",
    "undo_intent": "test_usecases_settling",
    "usecases/records": "test_usecases_records",
    "aws/dynamo": "test_store",
}
"""Which tests are asked first: those that stand nearest to the file."""


class Fate(StrEnum):
    """What became of a mutant."""

    KILLED = "killed"
    SURVIVED = "survived"


class _Loader(importlib.machinery.SourceFileLoader):
    def __init__(self, name: str, path: str, number: int) -> None:
        super().__init__(name, path)
        self._number = number

    def get_code(self, fullname: str) -> CodeType:  # noqa: ARG002 - the import system's own signature
        source = Path(self.path).read_text()
        return compile(mutated(source, self._number), self.path, "exec")


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, site: Site, root: Path) -> None:
        self._name = site.path.removesuffix(".py").replace("/", ".")
        self._path = str(root / site.path)
        self._number = site.number

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,  # noqa: ARG002 - the import system's own signature
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self._name:
            return None
        loader = _Loader(fullname, self._path, self._number)
        return importlib.util.spec_from_file_location(fullname, self._path, loader=loader)


def _in_order(site: Site, tests: Sequence[str]) -> list[list[str]]:
    """The tests that stand nearest to the file, and then all others: most mutants never meet the second lot."""
    near = next((test for part, test in FIRST.items() if part in site.path), None)
    first = [test for test in tests if near is not None and near in test]
    rest = [test for test in tests if test not in first]
    return [lot for lot in (first, rest) if lot]


def try_out(site: Site | None, root: Path, tests: Sequence[str]) -> Fate:
    """Run the tests against the mutant, or against the kernel as it is, in processes of their own."""
    lots = [list(tests)] if site is None else _in_order(site, tests)
    passed = all(_passes(site, root, lot) for lot in lots)
    return Fate.SURVIVED if passed else Fate.KILLED


def _passes(site: Site | None, root: Path, tests: Sequence[str]) -> bool:
    child = os.fork()
    if child == 0:
        _child(site, root, tests)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) == 0


def _child(site: Site | None, root: Path, tests: Sequence[str]) -> NoReturn:
    code = 1
    try:
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
        signal.alarm(PATIENCE)
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        if site is not None:
            sys.meta_path.insert(0, _Finder(site, root))
        plain = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--no-header"]
        code = int(pytest.main([*plain, *tests]))
    finally:
        os._exit(code)
