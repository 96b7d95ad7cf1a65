"""Other people's tools take our machines: the validator of the Amazon States Language, and moto's CreateStateMachine."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import boto3
import pytest
from moto import mock_aws

from statemachines.golden.machines import DIRECTORY, golden_machines
from tests.unit.machines import legal_kinds, machine

if TYPE_CHECKING:
    from mypy_boto3_stepfunctions import SFNClient

VALIDATOR = Path(__file__).parents[2] / "node_modules" / ".bin" / "asl-validator"
ROLE = "arn:aws:iam::123456789012:role/machines"

needs_validator = pytest.mark.skipif(not VALIDATOR.exists(), reason="run `npm ci` first")


def validate(*paths: Path) -> subprocess.CompletedProcess[str]:
    arguments = [part for path in paths for part in ("--json-path", str(path))]
    return subprocess.run(
        [VALIDATOR, *arguments], capture_output=True, text=True, check=False, timeout=60
    )


@needs_validator
def test_the_golden_machines_pass_asl_validator() -> None:
    paths = sorted(DIRECTORY.glob("*.asl.json"))
    assert paths
    answer = validate(*paths)
    assert answer.returncode == 0, answer.stdout + answer.stderr


@needs_validator
def test_the_machines_of_every_order_of_kinds_pass_asl_validator(tmp_path: Path) -> None:
    for kinds in legal_kinds(3):
        (tmp_path / f"{kinds}.json").write_text(machine(kinds).text)
        (tmp_path / f"{kinds}-independent.json").write_text(machine(kinds, {}).text)
    answer = validate(*sorted(tmp_path.iterdir()))
    assert answer.returncode == 0, answer.stdout + answer.stderr


@needs_validator
def test_asl_validator_would_say_no(tmp_path: Path) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text(machine("cp").text.replace('"Next":"1 step_1"', '"Next":"nowhere"'))
    assert validate(broken).returncode != 0


@pytest.fixture
def step_functions() -> Iterator[SFNClient]:
    with mock_aws():
        yield boto3.client("stepfunctions", region_name="eu-central-1")


@pytest.mark.parametrize("name", golden_machines())
def test_a_golden_machine_is_created_under_its_own_name(
    name: str, step_functions: SFNClient
) -> None:
    made = golden_machines()[name]
    created = step_functions.create_state_machine(
        name=made.name, definition=made.text, roleArn=ROLE
    )
    assert created["stateMachineArn"].endswith(f":{made.name}")
