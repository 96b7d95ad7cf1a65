"""The stacks: the product, and beside it, where it is wanted, a sandbox to act on."""

from __future__ import annotations

from aws_cdk import App, CfnOutput, CliCredentialsStackSynthesizer, Duration, Stack
from constructs import Construct

from infra import catalogues, roles
from infra.alarms import Alarms
from infra.api import Api
from infra.bus import Bus
from infra.catalogues import DeployedCatalogue
from infra.code import function_code
from infra.controls import Controls
from infra.environments import Environments
from infra.function import PublishedFunction, Runtime
from infra.guard import Guard
from infra.known_machines import KnownMachines
from infra.machines import MachineRole, PublishedVersions, parameter_name
from infra.people import People, tenant_groups
from infra.queues import Queues
from infra.recovery import Recovery
from infra.sandbox import Sandbox
from infra.secrets import Secrets
from infra.settings import Settings
from infra.starter import Starter
from infra.steps import Steps
from infra.tables import Tables

_API_TIMEOUT = Duration.seconds(15)


def build(app: App) -> list[Stack]:
    """All stacks of a deployment, in the order in which they depend on each other."""
    settings = Settings.from_context(app.node)
    beside: list[Stack] = []
    known: dict[str, str] = {}
    if settings.sandbox:
        sandbox = SandboxStack(app, settings)
        beside.append(sandbox)
        known["sandbox_url"] = sandbox.sandbox.url
    if settings.environments:
        environments = EnvironmentsStack(app, settings)
        beside.append(environments)
        known |= environments.environments.known
    product = SagaplaneStack(app, settings, catalogues.load(settings.catalogues, known))
    for stack in beside:
        product.add_stack_dependency(stack)
    return [*beside, product]


class SandboxStack(Stack):
    """Only the sandbox, so that it can be removed alone."""

    def __init__(self, scope: Construct, settings: Settings) -> None:
        super().__init__(scope, f"{settings.prefix}-sandbox", synthesizer=_synthesizer(settings))
        runtime = Runtime(settings, function_code(local=settings.local))
        self.sandbox = Sandbox(self, "Sandbox", runtime=runtime)
        CfnOutput(self, "SandboxUrl", value=self.sandbox.url)


class EnvironmentsStack(Stack):
    """Only what the environments catalogue acts on, so that it can be left out or removed alone."""

    def __init__(self, scope: Construct, settings: Settings) -> None:
        name = f"{settings.prefix}-environments"
        super().__init__(scope, name, synthesizer=_synthesizer(settings))
        self.environments = Environments(self, "Environments", settings=settings)
        for output, value in self.environments.outputs().items():
            CfnOutput(self, output, value=value)


class SagaplaneStack(Stack):
    """Everything else. What is in it, and how its parts reach each other, reads from top to bottom."""

    def __init__(
        self, scope: Construct, settings: Settings, loaded: list[DeployedCatalogue]
    ) -> None:
        super().__init__(scope, settings.prefix, synthesizer=_synthesizer(settings))
        self.settings = settings
        self._loaded = loaded
        code = function_code(local=settings.local, catalogues=[c.reference for c in loaded])
        self._runtime = Runtime(settings, code)
        self.tables = Tables(self, "Tables", settings=settings)
        self.queues = Queues(self, "Queues", settings=settings)
        self.bus = Bus(self, "Events", settings=settings).bus
        self.machine_role = MachineRole(self, "Machines")
        groups = [*_groups(loaded, "approvers", "operators"), *tenant_groups(settings)]
        self.api = Api(self, "Api", settings=settings)
        self.people = People(
            self, "People", settings=settings, groups=groups, console_url=self.api.console_url
        )
        Secrets(self, "Secrets", settings=settings, catalogues=[c.catalogue for c in loaded])
        self._at = self._places()
        self.steps = Steps(
            self,
            "Steps",
            runtime=self._runtime,
            at=self._at,
            catalogues=loaded,
            tables=self._table_names(),
            user_pool=self.people.pool.user_pool_id,
        )
        self.controls = Controls(
            self,
            "Controls",
            runtime=self._runtime,
            at=self._at,
            tables=self._table_names(),
            queues=self._queue_urls(),
        )
        self.machine_role.may_invoke(self.steps, self.controls)
        versions = PublishedVersions(
            self, "Versions", settings=settings, steps=self.steps, controls=self.controls
        )
        KnownMachines(
            self,
            "KnownMachines",
            runtime=self._runtime,
            at=self._at,
            environment={**self._catalogue_references(), **self._machine_names()},
            catalogues=loaded,
            versions=versions.text,
        )
        self._drivers()
        self._answer()
        self._guard()
        self._outputs()

    def _drivers(self) -> None:
        environment = {
            **self._table_names(),
            **self._catalogue_references(),
            **self._queue_urls(),
            **self._machine_names(),
            "EVENT_BUS": self.bus.event_bus_name,
            "FUNCTIONS_PARAMETER": parameter_name(self.settings),
        }
        starter = Starter(
            self,
            "Starter",
            runtime=self._runtime,
            at=self._at,
            environment=environment,
            ledger=self.tables.ledger,
            unstarted=self.queues.unstarted,
        )
        recovery = Recovery(
            self, "Recovery", runtime=self._runtime, at=self._at, environment=environment
        )
        drivers = [starter.starter, recovery.sweeper, recovery.rescue]
        Alarms(self, "Alarms", queues=self.queues, drivers=drivers)

    def _guard(self) -> None:
        """Once the API refuses plans with what goes, and before that goes."""
        guard = Guard(
            self,
            "Guard",
            runtime=self._runtime,
            at=self._at,
            environment={"LEDGER_TABLE": self.tables.ledger.table_name},
            catalogues=self._loaded,
        )
        guard.stands_between([self.api], [self.steps, self.machine_role])

    def _answer(self) -> None:
        shared = {
            **self._catalogue_references(),
            "LEDGER_TABLE": self.tables.ledger.table_name,
        }
        agent_api = PublishedFunction(
            self,
            "AgentApi",
            runtime=self._runtime,
            name="agent-api",
            handler="functions.handlers.agent_api.handler",
            grants=roles.agent_api(self._at, [c.catalogue for c in self._loaded]),
            environment={
                **shared,
                **{name: value for c in self._loaded for name, value in c.settings.items()},
                "AGENTS": self.people.agents_json(),
                "SECRET_PREFIX": self.settings.secret_prefix,
            },
            timeout=_API_TIMEOUT,
        )
        people_api = PublishedFunction(
            self,
            "PeopleApi",
            runtime=self._runtime,
            name="people-api",
            handler="functions.handlers.people_api.handler",
            grants=roles.people_api(self._at),
            environment={
                **shared,
                **self._table_names(),
                "CASES_QUEUE_URL": self.queues.cases.queue_url,
                "USER_POOL_ID": self.people.pool.user_pool_id,
            },
            timeout=_API_TIMEOUT,
        )
        page = PublishedFunction(
            self,
            "Console",
            runtime=self._runtime,
            name="console",
            handler="functions.handlers.console.handler",
            grants=[],
            environment={
                "AUTH_URL": self.people.auth_url,
                "CLIENT_ID": self.people.people.user_pool_client_id,
            },
            timeout=_API_TIMEOUT,
            memory=256,
        )
        self.api.answer(people=self.people, agent_api=agent_api, people_api=people_api, page=page)

    def _places(self) -> roles.Places:
        return roles.Places(
            ledger=self.tables.ledger.table_arn,
            people=self.tables.people.table_arn,
            user_pool=self.people.pool.user_pool_arn,
            approvals=self.queues.approvals.queue_arn,
            cases=self.queues.cases.queue_arn,
            bus=self.bus.event_bus_arn,
            functions_parameter=self.format_arn(
                service="ssm",
                resource="parameter",
                resource_name=parameter_name(self.settings).lstrip("/"),
            ),
            machines=f"{self.settings.prefix}-",
            machine_role=self.machine_role.role.role_arn,
            secret_prefix=self.settings.secret_prefix,
            settings={c.name: c.settings for c in self._loaded},
            tokens_by_machine=not self.settings.local,
        )

    def _table_names(self) -> dict[str, str]:
        return {
            "LEDGER_TABLE": self.tables.ledger.table_name,
            "PEOPLE_TABLE": self.tables.people.table_name,
        }

    def _queue_urls(self) -> dict[str, str]:
        return {
            "APPROVALS_QUEUE_URL": self.queues.approvals.queue_url,
            "CASES_QUEUE_URL": self.queues.cases.queue_url,
        }

    def _machine_names(self) -> dict[str, str]:
        return {
            "MACHINE_ROLE_ARN": self.machine_role.role.role_arn,
            "MACHINE_PREFIX": self.settings.prefix,
        }

    def _catalogue_references(self) -> dict[str, str]:
        return {"CATALOGUES": ",".join(c.reference for c in self._loaded)}

    def _outputs(self) -> None:
        outputs = {
            "ApiUrl": self.api.url,
            "ConsoleUrl": self.api.console_url,
            "AuthUrl": self.people.auth_url,
            "Issuer": self.people.issuer,
            "UserPoolId": self.people.pool.user_pool_id,
            "PeopleClientId": self.people.people.user_pool_client_id,
            "LedgerTable": self.tables.ledger.table_name,
            "PeopleTable": self.tables.people.table_name,
            "ApprovalsQueueUrl": self.queues.approvals.queue_url,
            "EventBusName": self.bus.event_bus_name,
            "CasesQueueUrl": self.queues.cases.queue_url,
            "ApproverGroups": ",".join(_groups(self._loaded, "approvers")),
            "OperatorGroups": ",".join(_groups(self._loaded, "operators")),
            "TenantGroups": ",".join(tenant_groups(self.settings)),
            "AgentClients": ",".join(
                f"{name}={client.user_pool_client_id}"
                for name, client in self.people.agents.items()
            ),
        }
        for name, value in outputs.items():
            CfnOutput(self, name, value=value)


def _groups(loaded: list[DeployedCatalogue], *owners: str) -> list[str]:
    """Names of the groups that own approvals, cases, or both, each once."""
    return list(dict.fromkeys(getattr(c.catalogue, owner) for c in loaded for owner in owners))


def _synthesizer(settings: Settings) -> CliCredentialsStackSynthesizer | None:
    """With IAM on, the emulator refuses the bootstrap roles their bucket; its root user deploys instead."""
    return CliCredentialsStackSynthesizer() if settings.local else None
