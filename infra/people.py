"""Who may talk to the API: agents with client credentials, people with their own sign-in, in groups."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import cast

from aws_cdk import Aws, Duration, Fn, RemovalPolicy
from aws_cdk import aws_cognito as cognito
from constructs import Construct

from functions.domain.membership import tenant_group
from infra.acknowledge import acknowledge
from infra.settings import AgentSetting, Settings

CLI_CALLBACK = "http://127.0.0.1:8912/callback"
SCOPES = {
    "catalogue.read": "Read the catalogue of steps",
    "plans.submit": "Propose a plan",
    "sagas.read": "Follow its own requests and sagas",
}
RESOURCE_SERVER = "sagaplane"


class People(Construct):
    """The deployment's own user pool: nobody signs up, an administrator invites."""

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        settings: Settings,
        groups: Sequence[str],
        console_url: str,
    ) -> None:
        super().__init__(scope, id_)
        self.pool = _pool(self, settings)
        acknowledge(
            self.pool,
            "AwsSolutions-COG8",
            "The plus tier's risk scoring costs more than all the rest; two factors are required instead.",
        )
        if settings.local:
            acknowledge(
                self.pool, "AwsSolutions-COG2", "Scripts sign in as seeded users on this machine."
            )
        domain = self.pool.add_domain(
            "Domain",
            cognito_domain=cognito.CognitoDomainOptions(
                domain_prefix=f"{settings.prefix}-{Aws.ACCOUNT_ID}"
            ),
        )
        self.auth_url = settings.endpoint or domain.base_url()
        scopes = [
            cognito.ResourceServerScope(scope_name=name, scope_description=text)
            for name, text in SCOPES.items()
        ]
        server = self.pool.add_resource_server("Scopes", identifier=RESOURCE_SERVER, scopes=scopes)
        granted = [cognito.OAuthScope.resource_server(server, scope) for scope in scopes]
        self.agents = {a.name: self._agent(a, granted) for a in settings.agents}
        self.people = self._people(settings, console_url)
        for group in groups:
            cognito.UserPoolGroup(self, f"Group-{group}", user_pool=self.pool, group_name=group)
        self._agent_settings = {a.name: a for a in settings.agents}

    @property
    def issuer(self) -> str:
        """The `iss` of every token of this pool."""
        return f"https://cognito-idp.{Aws.REGION}.amazonaws.com/{self.pool.user_pool_id}"

    @property
    def audience(self) -> list[str]:
        """All app clients."""
        return [c.user_pool_client_id for c in [*self.agents.values(), self.people]]

    def agents_json(self) -> str:
        """`{client id: {"name", "tenant", "owner"}}`; joined by hand, since client ids are known only at deploy."""
        entries = [
            Fn.join(
                "", ['"', client.user_pool_client_id, '":', _described(self._agent_settings[name])]
            )
            for name, client in self.agents.items()
        ]
        return "{" + Fn.join(",", entries) + "}" if entries else "{}"

    def _agent(
        self, agent: AgentSetting, scopes: list[cognito.OAuthScope]
    ) -> cognito.UserPoolClient:
        client = self.pool.add_client(
            f"Agent-{agent.name}",
            user_pool_client_name=f"agent-{agent.name}",
            generate_secret=True,
            o_auth=cognito.OAuthSettings(
                flows=cognito.OAuthFlows(client_credentials=True), scopes=scopes
            ),
            access_token_validity=Duration.hours(1),
        )
        return _only_flows(client)

    def _people(self, settings: Settings, console_url: str) -> cognito.UserPoolClient:
        elsewhere = [settings.console_url] if settings.console_url else []
        callbacks = [CLI_CALLBACK, console_url, *elsewhere]
        client = self.pool.add_client(
            "People",
            user_pool_client_name="people",
            generate_secret=False,
            o_auth=cognito.OAuthSettings(
                flows=cognito.OAuthFlows(authorization_code_grant=True),
                scopes=[cognito.OAuthScope.OPENID, cognito.OAuthScope.PROFILE],
                callback_urls=callbacks,
                logout_urls=callbacks,
            ),
            access_token_validity=Duration.hours(1),
            refresh_token_validity=Duration.hours(12),
            prevent_user_existence_errors=True,
        )
        # A script may sign in as a seeded user on the local stage; anywhere else a person sits before a browser.
        return _only_flows(client, *(["ALLOW_USER_PASSWORD_AUTH"] if settings.local else []))


def _only_flows(client: cognito.UserPoolClient, *flows: str) -> cognito.UserPoolClient:
    """Sign-in by API, beside OAuth: said for every client, since a client that says nothing gets Cognito's defaults."""
    made = cast("cognito.CfnUserPoolClient", client.node.default_child)
    made.explicit_auth_flows = [*flows, "ALLOW_REFRESH_TOKEN_AUTH"]
    return client


def tenant_groups(settings: Settings) -> list[str]:
    """A person sees the tenants whose groups they are in."""
    return [tenant_group(name) for name in settings.tenants]


def _described(agent: AgentSetting) -> str:
    return json.dumps(
        {"name": agent.name, "tenant": agent.tenant, "owner": agent.owner}, separators=(",", ":")
    )


def _pool(scope: Construct, settings: Settings) -> cognito.UserPool:
    return cognito.UserPool(
        scope,
        "Pool",
        self_sign_up_enabled=False,
        sign_in_aliases=cognito.SignInAliases(username=True),
        account_recovery=cognito.AccountRecovery.NONE,
        # A person's answer can send money: outside a machine of one's own it takes two factors.
        mfa=cognito.Mfa.OFF if settings.local else cognito.Mfa.REQUIRED,
        mfa_second_factor=None if settings.local else cognito.MfaSecondFactor(otp=True, sms=False),
        password_policy=cognito.PasswordPolicy(
            min_length=14,
            require_digits=True,
            require_lowercase=True,
            require_uppercase=True,
            require_symbols=True,
        ),
        deletion_protection=not settings.local,
        removal_policy=RemovalPolicy.DESTROY if settings.local else RemovalPolicy.RETAIN,
    )
