from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import typer.main

from cli.exits import ExitCode
from cli.main import app
from tests.unit.cli.commands import COMMANDS
from tests.unit.cli.conftest import Run


def walked(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield words, command
    for name, inner in getattr(command, "commands", {}).items():
        yield from walked(inner, (*words, name))


EVERY = list(walked(typer.main.get_command(app)))
NAMES = [" ".join(words) or "sagaplane" for words, _ in EVERY]
PROMISED = """login logout whoami submit request show sagas review cancel approvals cases catalogue plan
    catalogue/show catalogue/check catalogue/new plan/compile plan/rehearse
    approvals/show approvals/approve approvals/reject cases/show cases/claim cases/resolve
    cases/renew cases/release cases/hand-over cases/observe cases/propose cases/confirm cases/refuse cases/withdraw
    cases/drain"""


def test_every_promised_command_exists_and_no_other() -> None:
    promised = {name.replace("/", " ") for name in PROMISED.split()}
    assert {*NAMES} - {"sagaplane"} == promised


@pytest.mark.parametrize(("words", "command"), EVERY, ids=NAMES)
def test_every_command_says_in_its_first_line_what_it_does(
    words: tuple[str, ...], command: Any, run: Run
) -> None:
    first = command.help.split("\n\n")[0]
    assert first[0].isupper()
    assert first.endswith(".")
    assert len(first) <= 60
    shown = run(*words, "--help")
    assert shown.exit_code == ExitCode.OK
    assert first in " ".join(shown.stdout.split())


@pytest.mark.parametrize(("words", "command"), EVERY, ids=NAMES)
def test_every_option_and_argument_is_explained(words: tuple[str, ...], command: Any) -> None:
    unexplained = [p.name for p in command.params if not getattr(p, "help", None)]
    assert unexplained == [], words


@pytest.mark.parametrize("words", [c[0] for c in COMMANDS], ids=" ".join)
def test_every_command_that_asks_the_api_has_json_and_profile(words: tuple[str, ...]) -> None:
    found = max((e for e in EVERY if e[0] == words[: len(e[0])]), key=lambda e: len(e[0]))
    options = {o for parameter in found[1].params for o in parameter.opts}
    assert {"--json", "--profile"} <= options


def test_the_help_documents_every_exit_status(run: Run) -> None:
    lines = run("--help").stdout.splitlines()
    for code in ExitCode:
        assert any(line.split() == [str(code.value), *code.meaning.split()] for line in lines), code


def test_help_loads_neither_http_nor_drawing_and_nothing_of_the_functions() -> None:
    heavy = "{'httpx', 'rich', 'pydantic', 'boto3', 'functions'}"
    script = f"import sys, cli.main; print({heavy} & sys.modules.keys())"
    told = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert told.stdout == "set()\n"


def test_the_command_line_knows_the_api_only_over_http() -> None:
    script = (
        "import pkgutil, importlib, sys, cli\n"
        "for m in pkgutil.walk_packages(cli.__path__, 'cli.'): importlib.import_module(m.name)\n"
        "print({'functions', 'statemachines', 'infra', 'boto3'} & sys.modules.keys())"
    )
    told = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert told.stdout == "set()\n"


@pytest.mark.parametrize(
    "words", [["refund"], ["show"], ["show", "../x"], ["sagas", "--limit", "0"]]
)
def test_a_command_that_is_not_understood_ends_with_2_and_says_why(
    words: list[str], run: Run
) -> None:
    shown = run(*words)
    assert shown.exit_code == ExitCode.USAGE
    assert "Error: " in shown.stderr
