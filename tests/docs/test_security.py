"""The page about security says of every role what the code grants."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest
from aws_cdk import aws_iam as iam

from functions.catalogues.environments.catalogue import CATALOGUE as ENVIRONMENTS
from functions.catalogues.fulfilment.catalogue import CATALOGUE
from infra import roles

AT = roles.Places(
    ledger="arn:ledger",
    people="arn:people",
    user_pool="arn:pool",
    approvals="arn:approvals",
    cases="arn:cases",
    bus="arn:bus",
    functions_parameter="arn:parameter",
    machines="sagaplane-x-",
    machine_role="arn:role",
    secret_prefix="sagaplane/x",
    settings={
        CATALOGUE.name: {},
        ENVIRONMENTS.name: dict.fromkeys(ENVIRONMENTS.settings, "acme"),
    },
)
ROW = re.compile(r"^\| `(\w+)` \| ([^|]+) \|", re.MULTILINE)
ACTION = re.compile(r"`([a-z0-9-]+:\w+)`")


def granted() -> dict[str, list[iam.PolicyStatement]]:
    steps = CATALOGUE.steps
    return {
        "agent_api": roles.agent_api(AT, [CATALOGUE]),
        "people_api": roles.people_api(AT),
        "run_step": [g for step in steps for g in roles.run_step(AT, CATALOGUE, step)],
        "undo_step": [
            g for step in steps if step.undo for g in roles.undo_step(AT, CATALOGUE, step)
        ],
        "undo_role": [
            g
            for step in ENVIRONMENTS.steps
            if step.undo
            for authority in step.undo.authorities
            for g in roles.undo_role(AT, ENVIRONMENTS, authority)
        ],
        "begin_compensation": roles.begin_compensation(AT),
        "finish_compensation": roles.finish_compensation(AT),
        "request_approval": roles.request_approval(AT),
        "open_case": roles.open_case(AT),
        "starter": roles.starter(AT),
        "recovery": roles.recovery(AT),
        "guard": roles.guard(AT),
        "known_machines": roles.known_machines(AT),
        "machine_role": roles.machine_role(["f"]),
    }


@pytest.fixture(scope="module")
def table(root: Path) -> dict[str, set[str]]:
    page = (root / "docs" / "security.md").read_text(encoding="utf-8")
    return {name: set(ACTION.findall(actions)) for name, actions in ROW.findall(page)}


def test_every_role_has_a_row_and_no_other(table: dict[str, set[str]]) -> None:
    made = {
        name
        for name, member in inspect.getmembers(roles, inspect.isfunction)
        if member.__module__ == roles.__name__
        and not name.startswith("_")
        and inspect.signature(member).return_annotation == "Grants"
    }
    assert table.keys() == made == granted().keys()


@pytest.mark.parametrize("role", granted())
def test_a_role_has_exactly_the_actions_that_its_row_names(
    table: dict[str, set[str]], role: str
) -> None:
    assert table[role] == {action for grant in granted()[role] for action in grant.actions}
