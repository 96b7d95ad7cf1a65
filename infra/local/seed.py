"""Puts in what a deployment starts empty of: people who may sign in, and the shop's knowledge of our credentials."""

from __future__ import annotations

import contextlib
import re
import secrets
from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
from botocore.config import Config

from functions.catalogues.fulfilment.catalogue import CATALOGUE
from functions.sandbox import asks
from functions.sandbox.client import ShopAdmin
from infra.declared import operations_of
from infra.local.place import ACCOUNT, REGION, Place, read_json, write_json

APPROVERS = ("approver", "approver2")
OPERATORS = ("operator", "operator2")
_LISTS = ("approver_groups", "operator_groups", "tenant_groups")


def seed(place: Place) -> dict[str, Any]:
    """Write `.local/outputs.json`, make the users and hand credentials to the sandbox. Harmless to repeat."""
    outputs = _outputs(place)
    write_json(place.outputs_file, outputs)
    cognito = client(place, "cognito-idp")
    known = place.credentials()
    known["agents"] = {
        name: {"client_id": id_, "client_secret": _client_secret(cognito, outputs, id_)}
        for name, id_ in outputs["agents"].items()
    }
    users = known.setdefault("users", {})
    for name, groups in _people(outputs).items():
        users.setdefault(name, _password())
        _ensure_user(cognito, outputs["user_pool_id"], name, users[name], groups)
    place.keep_credentials(known)
    _introduce(place, ShopAdmin(outputs["sandbox_url"], known["sandbox_admin_token"]))
    _bound(client(place, "iam"), outputs["environments_team_role_prefix"])
    return outputs


def client(place: Place, service: str) -> Any:
    """A client of the emulator's root user, whatever the caller's own AWS settings are."""
    return boto3.client(
        service,  # type: ignore[call-overload] # the service is named by the caller
        endpoint_url=place.endpoint,
        region_name=REGION,
        aws_access_key_id="test",
        aws_secret_access_key="test",  # noqa: S106 - the emulator's root user, on this machine alone
        config=Config(retries={"max_attempts": 2}),
    )


def _outputs(place: Place) -> dict[str, Any]:
    stacks = read_json(place.folder / "cdk-outputs.json")
    plain = {
        _snake(name): value
        for stack in stacks.values()
        for name, value in stack.items()
        if not name.startswith("ExportsOutput")
    }
    lists = {name: plain.pop(name).split(",") for name in _LISTS}
    agents = dict(pair.split("=") for pair in plain.pop("agent_clients").split(","))
    local = {"endpoint": place.endpoint, "region": REGION, "stage": "local"}
    return {**plain, **lists, **local, "agents": agents}


def _people(outputs: dict[str, Any]) -> dict[str, list[str]]:
    """Everybody belongs to every tenant here; approvers and operators are different people."""
    tenants = outputs["tenant_groups"]
    return {
        **{name: [*outputs["approver_groups"], *tenants] for name in APPROVERS},
        **{name: [*outputs["operator_groups"], *tenants] for name in OPERATORS},
    }


def _ensure_user(cognito: Any, pool: str, name: str, password: str, groups: list[str]) -> None:
    with contextlib.suppress(cognito.exceptions.UsernameExistsException):
        cognito.admin_create_user(
            UserPoolId=pool, Username=name, TemporaryPassword=password, MessageAction="SUPPRESS"
        )
    cognito.admin_set_user_password(
        UserPoolId=pool, Username=name, Password=password, Permanent=True
    )
    for group in groups:
        cognito.admin_add_user_to_group(UserPoolId=pool, Username=name, GroupName=group)


def _bound(iam: Any, prefix: str) -> None:
    """Set the boundary of each team's role, as the template has it: the emulator's CloudFormation leaves it out."""
    boundary = f"arn:aws:iam::{ACCOUNT}:policy/{prefix}boundary"
    names = [role["RoleName"] for role in iam.list_roles(MaxItems=1000)["Roles"]]
    for name in (n for n in names if n.startswith(prefix)):
        iam.put_role_permissions_boundary(RoleName=name, PermissionsBoundary=boundary)


def _introduce(place: Place, shop: ShopAdmin) -> None:
    """Let the shop accept the credentials in our secrets, each for just the scopes that the catalogue declares."""
    secretsmanager = client(place, "secretsmanager")
    scopes: dict[str, set[str]] = {}
    for authority in (operation.authority for operation in operations_of(CATALOGUE)):
        if authority.credential:
            scopes.setdefault(authority.credential, set()).add(authority.scope)
    for credential, granted in scopes.items():
        name = f"sagaplane/local/{CATALOGUE.name}/{credential}"
        value = secretsmanager.get_secret_value(SecretId=name)["SecretString"]
        shop.put_token(value, *sorted(granted))
    _stock(shop)


def _stock(shop: ShopAdmin) -> None:
    """The order that the README tells of, and lamps enough for it. What is there already is entered anew."""
    line = asks.Line(sku="LAMP-1", quantity=1)
    cutoff = datetime.now(UTC) + timedelta(days=1)
    shop.put_order(
        "4471", asks.Order(amount="180.00", currency="EUR", lines=(line,), cutoff_at=cutoff)
    )
    shop.put_stock(asks.Stock(warehouse="B", sku="LAMP-1", on_hand=1000))


def _client_secret(cognito: Any, outputs: dict[str, Any], client_id: str) -> str:
    described = cognito.describe_user_pool_client(
        UserPoolId=outputs["user_pool_id"], ClientId=client_id
    )
    return str(described["UserPoolClient"]["ClientSecret"])


def _password() -> str:
    """Random, and with one of each kind of character that the pool asks for."""
    return f"{secrets.token_urlsafe(18)}-aA1"


def _snake(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
