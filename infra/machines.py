"""What generated machines run with: the role that alone may invoke, and where the starter finds the versions to call."""

from __future__ import annotations

from aws_cdk import Aws, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_ssm as ssm
from constructs import Construct

from infra import roles
from infra.acknowledge import acknowledge_wide
from infra.controls import Controls
from infra.settings import Settings
from infra.steps import Steps

_MOST_FUNCTIONS_STANDARD = 32
_MOST_FUNCTIONS_ADVANCED = 64


class MachineRole(Construct):
    """Step Functions takes this role on for our machines; nobody else may."""

    def __init__(self, scope: Construct, id_: str) -> None:
        super().__init__(scope, id_)
        self.role = iam.Role(
            self,
            "Role",
            assumed_by=iam.ServicePrincipal(
                "states.amazonaws.com",
                conditions={"StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID}},
            ),
        )

    def may_invoke(self, steps: Steps, controls: Controls) -> None:
        """Grant the published versions of exactly these functions."""
        grants = roles.machine_role(f.name for f in [*steps.functions, *controls.functions])
        for statement in grants:
            self.role.add_to_policy(statement)
        acknowledge_wide(self.role, grants, roles.why_wide)


class PublishedVersions(Construct):
    """An SSM parameter of version ARNs: `{"begin", "finish", "gate", "open_case", "steps": {catalogue: {step: …}}}`."""

    def __init__(
        self, scope: Construct, id_: str, *, settings: Settings, steps: Steps, controls: Controls
    ) -> None:
        super().__init__(scope, id_)
        self.text = Stack.of(self).to_json_string(
            {**controls.versions(), "steps": steps.versions()}
        )
        ssm.StringParameter(
            self,
            "Parameter",
            parameter_name=parameter_name(settings),
            tier=_tier(len(steps.functions) + len(controls.functions)),
            string_value=self.text,
        )


def parameter_name(settings: Settings) -> str:
    """Where the starter, the sweeper and the rescue look."""
    return f"/{settings.secret_prefix}/functions"


def _tier(functions: int) -> ssm.ParameterTier:
    """An ARN takes about 120 bytes; a standard parameter holds 4 KB, an advanced one 8."""
    if functions <= _MOST_FUNCTIONS_STANDARD:
        return ssm.ParameterTier.STANDARD
    if functions <= _MOST_FUNCTIONS_ADVANCED:
        return ssm.ParameterTier.ADVANCED
    raise ValueError(
        f"{functions} functions are more than one deployment holds ({_MOST_FUNCTIONS_ADVANCED}): "
        "deploy catalogues as stages of their own"
    )
