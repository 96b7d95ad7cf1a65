"""A function and a role for every run and every undo that the catalogues declare."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from datetime import timedelta

from aws_cdk import Duration
from aws_cdk import aws_iam as iam
from constructs import Construct

from functions.domain.catalogue import Authority, Kind, Step, role_setting
from infra import roles
from infra.acknowledge import acknowledge_wide
from infra.catalogues import DeployedCatalogue
from infra.function import PublishedFunction, Runtime


class Steps(Construct):
    """Retired steps keep their functions: a saga that is open may still need them."""

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        runtime: Runtime,
        at: roles.Places,
        catalogues: Iterable[DeployedCatalogue],
        tables: Mapping[str, str],
        user_pool: str,
    ) -> None:
        super().__init__(scope, id_)
        self._runtime = runtime
        self._at = at
        self._tables = tables
        self._user_pool = user_pool
        self.runs: dict[tuple[str, str], PublishedFunction] = {}
        self.undos: dict[tuple[str, str], PublishedFunction] = {}
        for deployed in catalogues:
            for step in deployed.catalogue.steps:
                self.runs[deployed.name, step.name] = self._run(deployed, step)
                if step.undo is not None:
                    function = self._undo(deployed, step)
                    self.undos[deployed.name, step.name] = function
                    for authority in step.undo.authorities:
                        self._undo_role(deployed, authority, function)

    def versions(self) -> dict[str, dict[str, dict[str, str]]]:
        """ARNs of the published versions: `{catalogue: {step: {"run": …, "undo": …}}}`."""
        found: dict[str, dict[str, dict[str, str]]] = {}
        for (catalogue, step), function in self.runs.items():
            sides = {"run": function.version.function_arn}
            if undo := self.undos.get((catalogue, step)):
                sides["undo"] = undo.version.function_arn
            found.setdefault(catalogue, {})[step] = sides
        return found

    @property
    def functions(self) -> list[PublishedFunction]:
        """All of them."""
        return [*self.runs.values(), *self.undos.values()]

    def _run(self, deployed: DeployedCatalogue, step: Step) -> PublishedFunction:
        return PublishedFunction(
            self,
            f"{deployed.name}-{step.name}-run",
            runtime=self._runtime,
            name=f"{deployed.name}-{step.name}-run",
            handler="functions.handlers.run_step.handler",
            grants=roles.run_step(self._at, deployed.catalogue, step),
            environment={**self._environment(deployed, step), **self._approvals(step)},
            timeout=_whole_seconds(step.function_timeout),
        )

    def _undo(self, deployed: DeployedCatalogue, step: Step) -> PublishedFunction:
        timeout = step.undo_function_timeout
        if timeout is None:
            raise ValueError(f"{step.name} has no undo")
        return PublishedFunction(
            self,
            f"{deployed.name}-{step.name}-undo",
            runtime=self._runtime,
            name=f"{deployed.name}-{step.name}-undo",
            handler="functions.handlers.undo_step.handler",
            grants=roles.undo_step(self._at, deployed.catalogue, step),
            environment={**self._environment(deployed, step), **self._roles(deployed, step)},
            timeout=_whole_seconds(timeout),
        )

    def _undo_role(
        self, deployed: DeployedCatalogue, authority: Authority, function: PublishedFunction
    ) -> None:
        """A role that an undo is made under, where an authority of it declares one: for this function and nobody else."""
        name = authority.role
        if name is None:
            return
        role = iam.Role(
            self,
            f"{deployed.name}-{name}",
            role_name=self._at.undo_role_name(deployed.name, name),
            assumed_by=iam.ArnPrincipal(function.role.role_arn),
            max_session_duration=Duration.hours(1),
        )
        grants = roles.undo_role(self._at, deployed.catalogue, authority)
        for statement in grants:
            role.add_to_policy(statement)
        acknowledge_wide(role, grants, roles.why_wide)

    def _roles(self, deployed: DeployedCatalogue, step: Step) -> dict[str, str]:
        """The ARNs of the roles that the undo may be made under. Which one it is, the ledger says."""
        authorities = step.undo.authorities if step.undo else ()
        return {
            role_setting(deployed.name, each.role): self._at.undo_role(deployed.name, each.role)
            for each in authorities
            if each.role is not None
        }

    def _approvals(self, step: Step) -> dict[str, str]:
        """Only a pivot uses an approval, and asks whether those who gave it still may."""
        if step.kind is not Kind.PIVOT:
            return {}
        return {
            "PEOPLE_TABLE": self._tables["PEOPLE_TABLE"],
            "USER_POOL_ID": self._user_pool,
        }

    def _environment(self, deployed: DeployedCatalogue, step: Step) -> dict[str, str]:
        return {
            "LEDGER_TABLE": self._tables["LEDGER_TABLE"],
            "SAGAPLANE_STEP": f"{deployed.name}/{step.name}",
            "CATALOGUES": deployed.reference,
            "SECRET_PREFIX": self._at.secret_prefix,
            **deployed.settings,
        }


def _whole_seconds(duration: timedelta) -> Duration:
    return Duration.seconds(math.ceil(duration.total_seconds()))
