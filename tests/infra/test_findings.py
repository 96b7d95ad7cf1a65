"""cdk-nag's AwsSolutions rules: nothing is left unanswered, and nothing is silenced by accident."""

from __future__ import annotations

from pathlib import Path

import pytest
from aws_cdk import App, Stack, Validations
from aws_cdk import aws_sqs as sqs
from cdk_nag import AwsSolutionsChecks

from tests.infra.deployed import Deployed

pytestmark = pytest.mark.xdist_group("infra")


def test_the_aws_stage_has_no_finding_without_a_reason(stacks: dict[str, Deployed]) -> None:
    assert [stack.findings for stack in stacks.values()] == [[], []]


def test_the_local_stage_has_no_finding_without_a_reason(local: Deployed) -> None:
    assert local.findings == []


def test_the_rules_do_look(tmp_path: Path) -> None:
    app = App(outdir=str(tmp_path))
    sqs.Queue(Stack(app, "Careless"), "Queue")
    Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    with pytest.raises(RuntimeError, match="AwsSolutions-SQS4"):
        app.synth()
