"""Several catalogues in one deployment, one of them written in a folder of its own: named in the context, nothing else."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.new_catalogue import cdk_entry, write_catalogue
from functions.catalogues.environments.catalogue import CATALOGUE
from functions.domain.catalogue import Step
from infra.settings import Settings
from tests.infra.deployed import CDK_JSON, Deployed, synthesize

pytestmark = pytest.mark.xdist_group("infra")
THEIRS = {"their_warehouse", "noticeboard"}
UNDOS = [step for step in CATALOGUE.steps if step.undo]
FILLED = {
    "partition": "${AWS::Partition}",
    "region": "${AWS::Region}",
    "account": "${AWS::AccountId}",
    "ENVIRONMENTS_BUCKET_PREFIX": "sp-production-${AWS::AccountId}-",
    "ENVIRONMENTS_CHANNEL_BUCKET": "sagaplane-production-${AWS::AccountId}-channel",
    "ENVIRONMENTS_RECORDS_BUCKET": "sagaplane-production-${AWS::AccountId}-records",
    "ENVIRONMENTS_TEAM_ROLE_PREFIX": "sagaplane-production-team-",
    "ENVIRONMENTS_REGISTRY": "/sagaplane/production/environments",
    "ENVIRONMENTS_TOPIC_ARN": "arn:${AWS::Partition}:sns:${AWS::Region}:${AWS::AccountId}:sagaplane-production-environments.fifo",
}


@pytest.fixture(scope="module")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Deployed]]:
    """What cdk.json says, and two catalogues from a folder that the checkout knows nothing of; one is newly begun."""
    folder = tmp_path_factory.mktemp("theirs")
    shutil.copy(Path(__file__).parent / "warehouse.py", folder / "their_warehouse.py")
    write_catalogue("noticeboard", folder)
    sys.path.insert(0, str(folder))
    begun = json.loads(cdk_entry("noticeboard"))
    theirs = {
        "catalogue": "their_warehouse:CATALOGUE",
        "settings": {"WAREHOUSE_QUEUE": "pallets"},
    }
    try:
        yield synthesize(
            tmp_path_factory.mktemp("beside"),
            "production",
            catalogues=[*CDK_JSON["context"]["catalogues"], theirs, begun],
        )
    finally:
        sys.path.remove(str(folder))
        for name in [n for n in sys.modules if n.partition(".")[0] in THEIRS]:
            del sys.modules[name]


@pytest.fixture(scope="module")
def product(deployed: dict[str, Deployed]) -> Deployed:
    return deployed["product"]


def test_every_catalogue_has_its_functions_side_by_side(product: Deployed) -> None:
    expected = {
        "fulfilment-reserve_stock-run",
        "environments-create_environment-run",
        "environments-create_environment-undo",
        "warehouse-move-run",
        "warehouse-move-undo",
        "noticeboard-post_notice-undo",
    }
    assert expected <= set(product.functions)
    references = product.environment("agent-api")["CATALOGUES"].split(",")
    assert [r.partition(":")[0].rpartition(".")[2] for r in references] == [
        "catalogue",
        "catalogue",
        "their_warehouse",
        "catalogue",
    ]


def test_a_function_gets_the_settings_of_its_own_catalogue(product: Deployed) -> None:
    ours = product.environment("environments-publish_instruction-run")
    assert ours["ENVIRONMENTS_CHANNEL_BUCKET"] == FILLED["ENVIRONMENTS_CHANNEL_BUCKET"]
    assert "WAREHOUSE_QUEUE" not in ours
    assert "ENVIRONMENTS_CHANNEL_BUCKET" not in product.environment("warehouse-move-run")


def test_their_owners_are_groups_that_people_can_be_in(product: Deployed) -> None:
    groups = {g["GroupName"] for g in product.resources("AWS::Cognito::UserPoolGroup").values()}
    assert {"environments-approvers", "environments-operators", "warehouse-approvers"} <= groups


def test_nothing_is_left_without_a_reason_in_any_stack(deployed: dict[str, Deployed]) -> None:
    assert set(deployed) == {"sandbox", "environments", "product"}
    assert [stack.findings for stack in deployed.values()] == [[], [], []]


# An undo that is made under a role of its own


def roles_of(product: Deployed) -> dict[str, str]:
    """Logical ids of the roles that have a name."""
    named = product.resources("AWS::IAM::Role").items()
    return {role["RoleName"]: id_ for id_, role in named if "RoleName" in role}


@pytest.mark.parametrize("step", UNDOS, ids=lambda step: step.undo.name)
def test_its_role_has_what_the_undo_declares_and_the_function_has_none_of_it(
    product: Deployed, step: Step
) -> None:
    assert step.undo is not None
    authority = step.undo.run.authority
    role = f"sagaplane-production-environments-{authority.role}"
    declared = {
        (action, resource.format_map(FILLED))
        for permission in authority.permissions
        for action in permission.actions
        for resource in permission.resources
    }
    assert product.granted(roles_of(product)[role]) == declared
    function = product.grants(f"environments-{step.name}-undo")
    assume = "arn:${AWS::Partition}:iam::${AWS::AccountId}:role/" + role
    assert ("sts:AssumeRole", assume) in function
    settling = {a for p in _settling(step) for a in p}
    assert {a for a, _ in function if not a.startswith(("dynamodb:", "sts:"))} == settling


def _settling(step: Step) -> list[tuple[str, ...]]:
    found = (step.settlement.status, step.settlement.tombstone)
    return [p.actions for o in found if o is not None for p in o.authority.permissions]


ROLES = [(step, each.role) for step in UNDOS if step.undo for each in step.undo.authorities]


@pytest.mark.parametrize(("step", "name"), ROLES, ids=[name for _, name in ROLES])
def test_a_role_is_taken_on_by_that_undo_s_function_and_by_nobody_else(
    product: Deployed, step: Step, name: str
) -> None:
    role = roles_of(product)[f"sagaplane-production-environments-{name}"]
    trusted = product.resources("AWS::IAM::Role")[role]["AssumeRolePolicyDocument"]["Statement"]
    undo = product.role_of(f"environments-{step.name}-undo")
    assert [s["Principal"] for s in trusted] == [{"AWS": {"Fn::GetAtt": [undo, "Arn"]}}]
    for other in product.functions:
        if other != f"environments-{step.name}-undo":
            assert not [r for a, r in product.grants(other) if a == "sts:AssumeRole" and role in r]


def test_its_function_is_told_where_to_find_the_role(product: Deployed) -> None:
    environment = product.environment("environments-grant_access-undo")
    assert environment["ENVIRONMENTS_REVOKE_ROLE_ARN"].endswith(
        ":role/sagaplane-production-environments-revoke"
    )
    assert environment["ENVIRONMENTS_REVOKE_ON_CALL_ROLE_ARN"].endswith(
        ":role/sagaplane-production-environments-revoke_on_call"
    )
    assert "ENVIRONMENTS_REVOKE_ROLE_ARN" not in product.environment(
        "environments-grant_access-run"
    )


# What the environments catalogue acts on


def test_a_bucket_s_whole_name_fits_whatever_the_stage_is_called() -> None:
    longest = Settings(
        stage="a" * 20,
        catalogues=[{"catalogue": "a:B"}],  # type: ignore[list-item]
    )
    assert len(f"sp-{longest.stage}-123456789012-" + "e" * 26) <= 63


def test_a_team_s_role_can_do_nothing_by_itself_and_is_bounded(
    deployed: dict[str, Deployed],
) -> None:
    stack = deployed["environments"]
    teams = {
        id_: role
        for id_, role in stack.resources("AWS::IAM::Role").items()
        if "-team-" in json.dumps(role["RoleName"])
    }
    assert len(teams) == 2
    for id_, role in teams.items():
        assert "PermissionsBoundary" in role
        assert stack.granted(id_) == set()
