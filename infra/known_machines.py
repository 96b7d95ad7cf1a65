"""The machines of the plans that are known when a deployment is made: see `statemachines/shapes`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from constructs import Construct

from infra import roles
from infra.asked import asked
from infra.catalogues import DeployedCatalogue
from infra.function import Runtime
from statemachines.shapes import known_shapes


class KnownMachines(Construct):
    """Made at the end of each deployment by the starter's own code, bound to the versions that it published.

    They are no resources of the stack: a machine that an open saga runs on outlives every deployment.
    """

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        runtime: Runtime,
        at: roles.Places,
        environment: Mapping[str, str],
        catalogues: Iterable[DeployedCatalogue],
        versions: str,
    ) -> None:
        super().__init__(scope, id_)
        asked(
            self,
            "Machines",
            runtime=runtime,
            name="known-machines",
            grants=roles.known_machines(at),
            environment=environment,
            kind="KnownMachines",
            properties={
                "Versions": versions,
                "Role": at.machine_role,
                "Shapes": {c.name: _steps(c) for c in catalogues},
            },
        )


def _steps(deployed: DeployedCatalogue) -> dict[str, list[str]]:
    """Each known plan's steps in order. Raises RefusedSample, with which `cdk synth` fails."""
    shapes = known_shapes(deployed.catalogue, deployed.reference)
    return {plan: [step.name for step in shape.steps] for plan, shape in shapes.items()}
