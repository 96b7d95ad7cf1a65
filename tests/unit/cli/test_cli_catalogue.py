"""`catalogue` and `plan`: reading one from the API by its name; checking, beginning and drawing one's own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.exits import ExitCode
from functions.domain.catalogue_explained import WHY
from tests.unit.cli import bodies
from tests.unit.cli.conftest import FakeApi, Run

ROOT = Path(__file__).resolve().parents[3]
FULFILMENT = "functions.catalogues.fulfilment.catalogue:CATALOGUE"
PLAN = ROOT / "docs" / "examples" / "order-4471.json"


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that is no checkout. What is imported from it is forgotten afterwards."""
    before, path = set(sys.modules), list(sys.path)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    sys.path[:] = path
    for name in set(sys.modules) - before:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


# Reading one


@pytest.mark.usefixtures("person")
@pytest.mark.parametrize("words", [["fulfilment"], ["show", "fulfilment"]])
def test_a_catalogue_is_shown_by_its_name_alone(api: FakeApi, run: Run, words: list[str]) -> None:
    api.on("GET /catalogues/fulfilment", bodies.catalogue())
    shown = run("catalogue", *words, "--json")
    assert shown.exit_code == ExitCode.OK
    assert json.loads(shown.stdout) == bodies.catalogue()


# Checking one


@pytest.mark.parametrize(
    "reference", [FULFILMENT, "functions.catalogues.environments.catalogue:CATALOGUE"]
)
def test_our_own_catalogues_break_nothing(run: Run, reference: str) -> None:
    shown = run("catalogue", "check", reference)
    assert shown.exit_code == ExitCode.OK
    assert "nothing broken" in shown.stdout


BROKEN = """
from dataclasses import replace
from functions.catalogues.fulfilment.catalogue import AUTHORIZE_PAYMENT, CATALOGUE as OURS
from functions.domain.catalogue import Authority, Operation, Permission

careless = replace(AUTHORIZE_PAYMENT, undo=None, description=" ", requires=("pay_twice",))
CATALOGUE = {catalogue}
"""
UNRESOLVED = """replace(OURS, steps=(replace(
    AUTHORIZE_PAYMENT,
    run=Operation("nowhere.at_all:pay", Authority("pay", permissions=(
        Permission(("s3:GetObject",), ("arn:aws:s3:::{{BUCKET}}/*",)),))),
),))"""


def test_every_broken_rule_is_shown_at_once_each_with_why_it_is_there(
    run: Run, elsewhere: Path
) -> None:
    (elsewhere / "theirs.py").write_text(
        BROKEN.format(catalogue="replace(OURS, steps=(careless,))")
    )
    shown = run("catalogue", "check", "theirs:CATALOGUE", "--json")
    assert shown.exit_code == ExitCode.REFUSED
    broken = json.loads(shown.stdout)["broken"]
    assert {b["rule"] for b in broken} == {"no_undo", "description", "unknown_requirement"}
    assert all(b["why"] for b in broken)
    assert "authorize_payment" in run("catalogue", "check", "theirs:CATALOGUE").stdout


def test_what_would_only_fail_in_a_function_is_found_here(run: Run, elsewhere: Path) -> None:
    (elsewhere / "theirs.py").write_text(BROKEN.format(catalogue=UNRESOLVED.format()))
    shown = run("catalogue", "check", "theirs:CATALOGUE", "--json")
    broken = json.loads(shown.stdout)["broken"]
    assert {b["rule"] for b in broken} == {"adapter", "placeholder"}
    assert any("nowhere" in b["message"] for b in broken)
    assert any("{BUCKET} is unknown" in b["message"] for b in broken)


@pytest.mark.parametrize("text", ["1 / 0", "CATALOGUE = 4", ""])
def test_a_module_that_is_no_catalogue_is_one_broken_rule_and_no_traceback(
    run: Run, elsewhere: Path, text: str
) -> None:
    (elsewhere / "theirs.py").write_text(text)
    shown = run("catalogue", "check", "theirs:CATALOGUE")
    assert shown.exit_code == ExitCode.REFUSED
    assert "[import]" in shown.stdout


@pytest.mark.parametrize("reference", ["fulfilment", "a:b:c", "../x:Y", "a b:C"])
def test_what_is_no_reference_is_not_imported(run: Run, reference: str) -> None:
    assert run("catalogue", "check", reference).exit_code == ExitCode.USAGE


def test_every_rule_is_explained() -> None:
    sources = [
        ROOT / "functions/domain/catalogue_rules.py",
        ROOT / "functions/catalogues/checking.py",
    ]
    text = "".join(source.read_text() for source in sources)
    rules = set(re.findall(r"Broken\(\s*[^,]+,\s*\"([a-z_]+)\"", text))
    assert len(rules) > 20
    assert rules <= set(WHY), rules - set(WHY)
    assert not [rule for rule in WHY if f'"{rule}"' not in text]


# Beginning one


@pytest.mark.parametrize("name", ["X", "a", "class", "a-b", "../up", "a" * 21, ""])
def test_a_name_that_cannot_be_one_writes_nothing(run: Run, elsewhere: Path, name: str) -> None:
    assert run("catalogue", "new", name).exit_code == ExitCode.USAGE
    assert list(elsewhere.iterdir()) == []


def test_what_is_there_is_not_written_over(run: Run, elsewhere: Path) -> None:
    (elsewhere / "noticeboard").mkdir()
    shown = run("catalogue", "new", "noticeboard")
    assert shown.exit_code == ExitCode.USAGE
    assert list((elsewhere / "noticeboard").iterdir()) == []


def test_a_new_catalogue_breaks_nothing_and_its_plan_has_a_machine(
    run: Run, elsewhere: Path
) -> None:
    written = run("catalogue", "new", "noticeboard")
    assert written.exit_code == ExitCode.OK
    assert "sagaplane catalogue check noticeboard.catalogue:CATALOGUE" in written.stdout
    assert run("catalogue", "check", "noticeboard.catalogue:CATALOGUE").exit_code == ExitCode.OK
    made = run(
        "plan",
        "compile",
        str(elsewhere / "noticeboard" / "plan.json"),
        "--catalogue",
        "noticeboard.catalogue:CATALOGUE",
    )
    assert made.exit_code == ExitCode.OK
    assert "1 announce" in json.loads(made.stdout)["States"]


def test_the_tests_of_a_new_catalogue_pass_at_once(run: Run, elsewhere: Path) -> None:
    run("catalogue", "new", "night_shift")
    paths = os.pathsep.join((str(elsewhere), str(ROOT)))
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "night_shift"],
        cwd=elsewhere,
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout
    assert " passed" in ran.stdout


def test_a_new_catalogue_is_written_in_this_project_s_own_style(run: Run, elsewhere: Path) -> None:
    (elsewhere / "pyproject.toml").write_text((ROOT / "pyproject.toml").read_text())
    (elsewhere / "functions").symlink_to(ROOT / "functions")
    for name in ("aboard", "zeppelin"):
        run("catalogue", "new", name)
        for words in (["check"], ["format", "--check"]):
            ruff = [str(Path(sys.executable).parent / "ruff"), *words, "--no-cache", name]
            ran = subprocess.run(ruff, capture_output=True, text=True, check=False)
            assert ran.returncode == 0, ran.stdout


# Drawing one


def test_a_plan_s_machine_is_printed_as_states_language(run: Run) -> None:
    shown = run("plan", "compile", str(PLAN), "--catalogue", FULFILMENT)
    assert shown.exit_code == ExitCode.OK
    assert "approve 2 capture_payment" in json.loads(shown.stdout)["States"]


def test_a_plan_s_machine_is_drawn(run: Run, tmp_path: Path) -> None:
    chart = run("plan", "compile", str(PLAN), "--catalogue", FULFILMENT, "--as", "mermaid")
    assert chart.stdout.startswith("flowchart TD\n")
    file = tmp_path / "machine.svg"
    run("plan", "compile", str(PLAN), "--catalogue", FULFILMENT, "--as", "svg", "-o", str(file))
    assert ET.parse(file).getroot().tag.endswith("svg")  # noqa: S314 - made here


def test_without_a_catalogue_those_of_the_deployment_count(run: Run) -> None:
    assert run("plan", "compile", str(PLAN)).exit_code == ExitCode.OK


def test_a_plan_that_would_be_refused_is_refused_with_its_problems(
    run: Run, tmp_path: Path
) -> None:
    plan = json.loads(PLAN.read_text())
    plan["steps"].insert(0, {**plan["steps"][2], "id": "early"})
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    shown = run("plan", "compile", str(tmp_path / "plan.json"), "--catalogue", FULFILMENT)
    assert shown.exit_code == ExitCode.REFUSED
    assert "second_pivot" in shown.stderr
    assert shown.stdout == ""


def test_a_plan_of_a_catalogue_that_is_not_there_says_which_are(run: Run, elsewhere: Path) -> None:
    assert not (elsewhere / "cdk.json").exists()
    shown = run("plan", "compile", str(PLAN))
    assert shown.exit_code == ExitCode.REFUSED
    assert "unknown_catalogue" in shown.stderr


# Rehearsing one


def test_a_rehearsal_says_for_each_fault_at_each_boundary_how_the_saga_would_end(run: Run) -> None:
    shown = run("plan", "rehearse", str(PLAN), "--catalogue", FULFILMENT, "--step", "4")
    assert shown.exit_code == ExitCode.OK
    [header] = [line for line in shown.stdout.splitlines() if line.split()[:1] == ["alone"]][-1:]
    assert header.split() == ["alone", "crash", "lost", "twice", "late", "denied"]
    assert "4 send_confirmation: retriable" in shown.stdout
    [refused] = [line for line in shown.stdout.splitlines() if "refuses the step" in line]
    assert refused.split()[-6:] == ["a", "a", "b", "a", "a", "c"]
    assert "a  step_refused: send_confirmation" in shown.stdout


def test_a_rehearsal_as_json_has_every_ending_with_its_cases(run: Run) -> None:
    shown = run("plan", "rehearse", str(PLAN), "--catalogue", FULFILMENT, "--step", "4", "--json")
    body = json.loads(shown.stdout)
    assert body["violations"] == []
    [step] = body["steps"]
    assert (step["index"], step["name"], step["undone_by"]) == (4, "send_confirmation", None)
    endings = [e for b in step["boundaries"] for e in b["endings"].values()]
    assert len(endings) == body["runs"]
    assert sum(e["outcome"] == "case" for e in endings) == body["endings"]["case"]
    [refused] = [b for b in step["boundaries"] if b["boundary"] == "refuses the step"]
    assert refused["endings"]["none"] == {
        "outcome": "case",
        "cases": [{"cause": "step_refused", "step": "send_confirmation", "direction": "do"}],
    }


def test_a_plan_that_would_be_refused_is_not_rehearsed(run: Run, tmp_path: Path) -> None:
    plan = json.loads(PLAN.read_text())
    plan["steps"][0]["name"] = "release_stock"
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    shown = run("plan", "rehearse", str(tmp_path / "plan.json"), "--catalogue", FULFILMENT)
    assert shown.exit_code == ExitCode.REFUSED
    assert "unknown_step" in shown.stderr
    assert shown.stdout == ""


def test_a_step_that_the_plan_does_not_have_is_said(run: Run) -> None:
    shown = run("plan", "rehearse", str(PLAN), "--catalogue", FULFILMENT, "--step", "5")
    assert shown.exit_code == ExitCode.USAGE
    assert "5 steps" in shown.stderr
