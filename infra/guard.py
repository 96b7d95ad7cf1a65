"""Asked by each deployment before it changes a step: see `functions/handlers/guard.py`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from constructs import Construct, IDependable

from functions.domain.stranding import Offer
from infra import roles
from infra.asked import asked
from infra.catalogues import DeployedCatalogue
from infra.function import Runtime


class Guard(Construct):
    """Fails the deployment, which rolls back, if an open saga needs what it would take away."""

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        runtime: Runtime,
        at: roles.Places,
        environment: Mapping[str, str],
        catalogues: Iterable[DeployedCatalogue],
    ) -> None:
        super().__init__(scope, id_)
        self._asked = asked(
            self,
            "Asked",
            runtime=runtime,
            name="guard",
            grants=roles.guard(at),
            environment=environment,
            kind="Guard",
            properties={"Offers": {c.name: _offer(c) for c in catalogues}},
        )

    def stands_between(self, first: Iterable[IDependable], then: Iterable[Construct]) -> None:
        """Order a deployment: `first`, then the question, then the rest."""
        self._asked.node.add_dependency(*first)
        for construct in then:
            construct.node.add_dependency(self._asked)


def _offer(deployed: DeployedCatalogue) -> dict[str, Any]:
    return Offer.of(deployed.catalogue).model_dump(mode="json")
