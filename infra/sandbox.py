"""A shop to act on in the demo and the tests: inventory, payments, shipping and mail. Not part of a real deployment."""

from __future__ import annotations

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_apigatewayv2 as api
from aws_cdk import aws_apigatewayv2_integrations as integrations
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra.acknowledge import acknowledge
from infra.api import AccessLog, address
from infra.function import PublishedFunction, Runtime


class Sandbox(Construct):
    """It checks its own credentials, as a shop on the internet would: the API in front of it has no authorizer."""

    def __init__(self, scope: Construct, id_: str, *, runtime: Runtime) -> None:
        super().__init__(scope, id_)
        settings = runtime.settings
        self.table = dynamodb.Table(
            self,
            "Books",
            partition_key=dynamodb.Attribute(name="pk", type=dynamodb.AttributeType.STRING),
            sort_key=dynamodb.Attribute(name="sk", type=dynamodb.AttributeType.STRING),
            billing_mode=dynamodb.BillingMode.PAY_PER_REQUEST,
            point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(
                point_in_time_recovery_enabled=True
            ),
            removal_policy=RemovalPolicy.DESTROY,
        )
        self.function = PublishedFunction(
            self,
            "Function",
            runtime=runtime,
            name="sandbox",
            handler="functions.sandbox.handler.handler",
            grants=[_books(self.table)],
            environment={
                "SANDBOX_TABLE": self.table.table_name,
                "SANDBOX_ADMIN_TOKEN_HASH": settings.sandbox_admin_token_hash,
            },
            timeout=Duration.seconds(30),
        )
        http = api.HttpApi(
            self, "Http", api_name=f"{settings.prefix}-sandbox", create_default_stage=False
        )
        api.HttpStage(
            self,
            "Stage",
            http_api=http,
            auto_deploy=True,
            throttle=api.ThrottleSettings(rate_limit=50, burst_limit=100),
            access_log_settings=AccessLog(
                logs.LogGroup(
                    self,
                    "Access",
                    retention=logs.RetentionDays.ONE_WEEK,
                    removal_policy=RemovalPolicy.DESTROY,
                )
            ),
        )
        routes = http.add_routes(
            path="/{proxy+}",
            methods=[api.HttpMethod.ANY],
            integration=integrations.HttpLambdaIntegration("Shop", self.function.version),
        )
        for route in routes:
            acknowledge(
                route,
                "AwsSolutions-APIG4",
                "The sandbox plays an outside shop, which checks bearer credentials of its own.",
            )
        self.url = address(http, settings)


def _books(table: dynamodb.Table) -> iam.PolicyStatement:
    return iam.PolicyStatement(
        actions=[
            "dynamodb:GetItem",
            "dynamodb:Query",
            "dynamodb:PutItem",
            "dynamodb:DeleteItem",
            "dynamodb:BatchWriteItem",
            "dynamodb:ConditionCheckItem",
        ],
        resources=[table.table_arn],
    )
