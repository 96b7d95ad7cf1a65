"""The HTTP API: one table of routes, every one of them behind the JWT authorizer, and beside it the people's page."""

from __future__ import annotations

import json
from collections.abc import Mapping
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

from infra.acknowledge import acknowledge
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
    PAGE = "page"


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
    Route(_GET, "/sagas/{saga_id}/audit", For.PEOPLE),
    Route(_POST, "/sagas/{saga_id}/cancel", For.PEOPLE),
    Route(_GET, "/review", For.PEOPLE),
    Route(_GET, "/approvals", For.PEOPLE),
    Route(_GET, "/approvals/{approval_id}", For.PEOPLE),
    Route(_POST, "/approvals/{approval_id}/decision", For.PEOPLE),
    Route(_GET, "/cases", For.PEOPLE),
    Route(_GET, "/cases/{case_id}", For.PEOPLE),
    Route(_POST, "/cases/{case_id}/claim", For.PEOPLE),
    Route(_POST, "/cases/{case_id}/renewal", For.PEOPLE),
    Route(_POST, "/cases/{case_id}/release", For.PEOPLE),
    Route(_POST, "/cases/{case_id}/handover", For.PEOPLE),
    Route(_POST, "/cases/{case_id}/observations", For.PEOPLE),
    Route(_POST, "/cases/{case_id}/resolution", For.PEOPLE),
    Route(_POST, "/cases/{case_id}/proposal", For.PEOPLE),
    Route(_POST, "/cases/{case_id}/proposal/answer", For.PEOPLE),
    Route(_POST, "/notices/take", For.PEOPLE),
    Route(_POST, "/notices/acknowledgement", For.PEOPLE),
)

PAGE = "/console"
PAGE_ROUTES = (Route(_GET, PAGE, For.PAGE), Route(_GET, f"{PAGE}/{{file}}", For.PAGE))
"""Files without a secret: a browser has no token before it has loaded them."""


class Api(Construct):
    """Agents and people come in through the same door and are told apart by their tokens.

    The door comes first and its routes later: who may come in depends on the sign-in, which sends people back to the page
    at this address.
    """

    def __init__(self, scope: Construct, id_: str, *, settings: Settings) -> None:
        super().__init__(scope, id_)
        self.http = api.HttpApi(self, "Http", api_name=settings.prefix, create_default_stage=False)
        self._stage(settings)
        self.url = address(self.http, settings)

    @property
    def console_url(self) -> str:
        """Where people find the page, and where the sign-in sends them back to."""
        return f"{self.url}{PAGE}"

    def answer(
        self,
        *,
        people: People,
        agent_api: PublishedFunction,
        people_api: PublishedFunction,
        page: PublishedFunction,
    ) -> None:
        """Put the functions behind their routes."""
        tokens = authorizers.HttpJwtAuthorizer(
            "Tokens", people.issuer, jwt_audience=people.audience
        )
        targets = {
            For.AGENTS: integrations.HttpLambdaIntegration("Agents", agent_api.version),
            For.PEOPLE: integrations.HttpLambdaIntegration("People", people_api.version),
            For.PAGE: integrations.HttpLambdaIntegration("Page", page.version),
        }
        for route in ROUTES:
            self._add(route, targets, authorizer=tokens)
        for route in PAGE_ROUTES:
            for added in self._add(route, targets, authorizer=api.HttpNoneAuthorizer()):
                acknowledge(
                    added,
                    "AwsSolutions-APIG4",
                    "A browser loads the page before anybody can sign in; its files hold nothing secret.",
                )

    def _add(
        self,
        route: Route,
        targets: Mapping[For, integrations.HttpLambdaIntegration],
        authorizer: api.IHttpRouteAuthorizer,
    ) -> list[api.HttpRoute]:
        return self.http.add_routes(
            path=route.path,
            methods=[route.method],
            integration=targets[route.answered_by],
            authorizer=authorizer,
            authorization_scopes=list(route.scopes) or None,
        )

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
