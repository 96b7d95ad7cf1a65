"""A team's own catalogue on the live stage: deployed beside the others, run, kept while a saga needs it, and removed."""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from cli.new_catalogue import cdk_entry, write_catalogue
from infra.local.demo.casting import cast_stage
from infra.local.demo.stage import Stage
from infra.local.demo.story import Story
from infra.local.deploy import deploy
from infra.local.place import ROOT, LocalProblem, Place
from infra.local.seed import client, seed

NAME = "noticeboard"
FUNCTION = f"sagaplane-local-{NAME}-post_notice-undo"


def checkout() -> str:
    """A digest of everything in the checkout that a deployment is made from."""
    seen = hashlib.sha256((ROOT / "cdk.json").read_bytes())
    for folder in ("functions", "statemachines", "infra", "cli"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                seen.update(f"{path}".encode() + path.read_bytes())
    return seen.hexdigest()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where a team has begun a catalogue, with its plan as a known one; the checkout knows nothing of it."""
    folder = tmp_path_factory.mktemp("theirs")
    write_catalogue(NAME, folder)
    shapes = folder / NAME / "shapes"
    shapes.mkdir()
    shutil.copy(folder / NAME / "plan.json", shapes / "usual.json")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        patch.setenv("PYTHONPATH", str(folder))
        yield folder
    for name in [n for n in sys.modules if n.partition(".")[0] == NAME]:
        del sys.modules[name]


@pytest.fixture(scope="module")
def team(
    place: Place, stories: list[Story], outputs: dict[str, Any], folder: Path
) -> Iterator[Stage]:
    """The stage with that catalogue beside the others, once nobody plays on it; as it was afterwards."""
    del outputs, folder
    for story in stories:
        story.failures()
    before = checkout()
    catalogues = json.loads((ROOT / "cdk.json").read_text())["context"]["catalogues"]
    try:
        assert deploy(place, [*catalogues, json.loads(cdk_entry(NAME))])
        assert checkout() == before
        seed(place)
        yield cast_stage(place)
    finally:
        deploy(place)
        seed(place)


def submitted(team: Stage, folder: Path, audience: str) -> str:
    plan = json.loads((folder / NAME / "plan.json").read_text())
    plan["request_id"] = team.request_id(f"{NAME}-{audience}")
    plan["provenance"]["source_document_id"] = plan["request_id"]
    plan["steps"][1]["arguments"]["audience"] = audience
    answer = team.agent.post("/plans", plan)
    assert answer.status == 201, answer.body
    return str(answer.body["saga_id"])


def notices(place: Place) -> list[str]:
    found = client(place, "ssm").get_parameters_by_path(
        Path=f"/sagaplane/{NAME}/notices", Recursive=True
    )
    return [parameter["Value"] for parameter in found["Parameters"]]


def machines(place: Place) -> set[str]:
    pages = client(place, "stepfunctions").get_paginator("list_state_machines").paginate()
    return {machine["name"] for page in pages for machine in page["stateMachines"]}


def test_a_step_of_their_own_runs_through_on_a_machine_that_the_deployment_made(
    place: Place, team: Stage, folder: Path
) -> None:
    before = machines(place)
    assert any(f"-{NAME}-" in name for name in before)
    saga_id = submitted(team, folder, "team")
    team.wait(saga_id, "completed")
    assert any("coffee machine" in notice for notice in notices(place))
    assert machines(place) == before
    assert (team.ledger(saga_id).head.machine or "").rpartition(":")[2] in before


def test_it_stays_while_an_open_saga_needs_it_and_goes_when_none_does(
    place: Place, team: Stage, folder: Path
) -> None:
    saga_id = submitted(team, folder, "everyone")
    team.wait(saga_id, "awaiting_approval")
    with pytest.raises(LocalProblem, match="would be stranded") as refused:
        deploy(place)
    assert f"{saga_id} needs the catalogue {NAME}" in str(refused.value)
    functions = client(place, "lambda")
    assert functions.get_function(FunctionName=FUNCTION)
    assert team.decide(saga_id, "reject", "Not for everyone.").status == 200
    team.wait(saga_id, "compensated")
    deploy(place)
    with pytest.raises(ClientError, match="ResourceNotFound"):
        functions.get_function(FunctionName=FUNCTION)
