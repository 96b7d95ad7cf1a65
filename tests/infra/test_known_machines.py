"""The plans that are known beforehand, as a deployment is told of them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from cli.new_catalogue import cdk_entry, write_catalogue
from statemachines.golden.machines import SHAPES
from statemachines.shapes import RefusedSample
from tests.infra.deployed import CDK_JSON, Deployed, plain, synthesize

pytestmark = pytest.mark.xdist_group("infra")


@pytest.fixture(scope="module")
def made(product: Deployed) -> dict[str, Any]:
    [resource] = product.resources("Custom::KnownMachines").values()
    return resource


def test_a_deployment_makes_the_machines_of_each_catalogue_s_known_plans(
    made: dict[str, Any],
) -> None:
    expected = {
        plan: [step.name for step in shape.steps] for plan, shape in SHAPES["fulfilment"].items()
    }
    assert made["Shapes"] == {"fulfilment": expected, "warehouse": {}}


def test_it_makes_them_whenever_it_has_published_other_versions(
    product: Deployed, made: dict[str, Any]
) -> None:
    [parameter] = product.resources("AWS::SSM::Parameter").values()
    assert plain(made["Versions"]) == plain(parameter["Value"])
    assert plain(made["Role"]) == "${MachinesRole.Arn}"


def test_they_are_made_as_the_starter_makes_its_own(
    product: Deployed, made: dict[str, Any]
) -> None:
    assert plain(made["ServiceToken"]) == "${KnownMachinesFunction.Arn}"
    starter, maker = product.environment("starter"), product.environment("known-machines")
    for name in ("CATALOGUES", "MACHINE_ROLE_ARN", "MACHINE_PREFIX"):
        assert maker[name] == starter[name]


def test_no_machine_is_a_resource_of_the_stack_that_a_deployment_could_delete(
    product: Deployed,
) -> None:
    assert product.resources("AWS::StepFunctions::StateMachine") == {}


def test_nobody_may_delete_a_machine(product: Deployed) -> None:
    actions = {a for role in product.resources("AWS::IAM::Role") for a, _ in product.granted(role)}
    assert "states:DeleteStateMachine" not in actions
    assert "states:UpdateStateMachine" not in actions


def test_a_sample_that_would_be_refused_fails_the_synthesis(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_catalogue("pinboard", tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    sample = json.loads((tmp_path / "pinboard" / "plan.json").read_text())
    sample["steps"].reverse()
    (tmp_path / "pinboard" / "shapes").mkdir()
    (tmp_path / "pinboard" / "shapes" / "backwards.json").write_text(json.dumps(sample))
    begun = json.loads(cdk_entry("pinboard"))
    try:
        with pytest.raises(RefusedSample, match=r"backwards\.json would be refused"):
            synthesize(
                tmp_path / "out",
                "production",
                catalogues=[*CDK_JSON["context"]["catalogues"], begun],
            )
    finally:
        for name in [n for n in sys.modules if n.partition(".")[0] == "pinboard"]:
            del sys.modules[name]
