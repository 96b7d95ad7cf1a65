"""The HTTP API: one table of routes, every one of them behind the JWT authorizer."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import Enum

import jsii
from aws_cdk import RemovalPolicy
from aws_cdk import aws_apigateway as apigateway
from aws_cdk import aws_apigatewayv2 as api
from aws_cdk import aws_apigatewayv2_authorizers as authorizers
from aws_cdk import aws_apigatewayv2_integrations as integrations
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra.function import PublishedFunction
from infra.people import RESOURCE_SERVER, People
from infra.settings import Settings

_REQUESTS_A_SECOND = 50
_BURST = 100


_LOGGED = {
    "time": "$context.requestTimeEpoch",
    "request": "$context.requestId",
    "route": "$context.routeKey",
    "status": "$context.status",
    "latency": "$context.responseLatency",
    "client": "$context.authorizer.claims.client_id",
    "subject": "$context.authorizer.claims.sub",
    "ip": "$context.identity.sourceIp",
}


class For(Enum):
    """Which function answers a route."""

    AGENTS = "agents"
    PEOPLE = "people"


@dataclass(frozen=True, slots=True)
class Route:
    """Scopes stand here only where agents alone may call; elsewhere the function reads the parsed claims."""

    method: api.HttpMethod
    path: str
    answered_by: For
    scopes: tuple[str, ...] = ()


_GET, _POST = api.HttpMethod.GET, api.HttpMethod.POST
ROUTES = (
    Route(_GET, "/catalogues/{name}", For.AGENTS),
    Route(_POST, "/plans", For.AGENTS, scopes=(f"{RESOURCE_SERVER}/plans.submit",)),
    Route(_GET, "/requests/{request_id}", For.AGENTS),
    Route(_GET, "/sagas/{saga_id}", For.AGENTS),
    Route(_GET, "/sagas", For.PEOPLE),
    Route(_POST, "/sagas/{saga_id}/cancel", For.PEOPLE),
    Route(_GET, "/approvals", For.PEOPLE),
    Route(_GET, "/approvals/{approval_id}", For.PEOPLE),
    Route(_POST, "/approvals/{approval_id}/decision", For.PEOPLE),
    Route(_GET, "/cases", For.PEOPLE),
    Route(_GET, "/cases/{case_id}", For.PEOPLE),
    Route(_POST, "/cases/{case_id}/claim", For.PEOPLE),
    Route(_POST, "/cases/{case_id}/resolution", For.PEOPLE),
)


class Api(Construct):
    """Agents and people come in through the same door and are told apart by their tokens."""

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        settings: Settings,
        people: People,
        agent_api: PublishedFunction,
        people_api: PublishedFunction,
    ) -> None:
        super().__init__(scope, id_)
        self.http = api.HttpApi(
            self,
            "Http",
            api_name=settings.prefix,
            create_default_stage=False,
            default_authorizer=authorizers.HttpJwtAuthorizer(
                "Tokens", people.issuer, jwt_audience=people.audience
            ),
        )
        self._stage(settings)
        targets = {
            For.AGENTS: integrations.HttpLambdaIntegration("Agents", agent_api.version),
            For.PEOPLE: integrations.HttpLambdaIntegration("People", people_api.version),
        }
        for route in ROUTES:
            self.http.add_routes(
                path=route.path,
                methods=[route.method],
                integration=targets[route.answered_by],
                authorization_scopes=list(route.scopes) or None,
            )
        self.url = address(self.http, settings)

    def _stage(self, settings: Settings) -> None:
        log_group = logs.LogGroup(
            self,
            "Access",
            retention=logs.RetentionDays.THREE_MONTHS,
            removal_policy=RemovalPolicy.DESTROY if settings.local else RemovalPolicy.RETAIN,
        )
        api.HttpStage(
            self,
            "Stage",
            http_api=self.http,
            auto_deploy=True,
            throttle=api.ThrottleSettings(rate_limit=_REQUESTS_A_SECOND, burst_limit=_BURST),
            access_log_settings=AccessLog(log_group),
        )


@jsii.implements(api.IAccessLogSettings)
class AccessLog:
    """Who called what and how it ended; never a header, a body or a query."""

    def __init__(self, log_group: logs.LogGroup) -> None:
        self._destination = api.LogGroupLogDestination(log_group)

    @property
    def destination(self) -> api.IAccessLogDestination:
        """Where it is written."""
        return self._destination

    @property
    def format(self) -> apigateway.AccessLogFormat:
        """One JSON object a request."""
        return apigateway.AccessLogFormat.custom(json.dumps(_LOGGED))


def address(http: api.HttpApi, settings: Settings) -> str:
    """The API's base URL. On the emulator by path, since no name of it has to resolve."""
    if settings.endpoint:
        return f"{settings.endpoint}/_aws/execute-api/{http.api_id}/$default"
    return http.api_endpoint
