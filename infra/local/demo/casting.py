"""Real tokens for everybody who plays: client credentials for agents, a sign-in for people."""

from __future__ import annotations

from typing import Any

import httpx

from functions.aws.dynamo import DynamoStore
from functions.sandbox import asks
from functions.sandbox.client import ShopAdmin
from infra.local.demo.callers import Caller, Terminal
from infra.local.demo.plans import SKU
from infra.local.demo.stage import Stage
from infra.local.place import Place, read_json
from infra.local.seed import client

_SCOPES = "sagaplane/catalogue.read sagaplane/plans.submit sagaplane/sagas.read"
_PLENTY = 100_000


def cast_stage(place: Place) -> Stage:
    """Everybody signed in, and a shop with lamps enough."""
    outputs, known = read_json(place.outputs_file), place.credentials()
    shop = ShopAdmin(outputs["sandbox_url"], known["sandbox_admin_token"])
    shop.calm()
    shop.put_stock(asks.Stock(warehouse="B", sku=SKU, on_hand=_PLENTY))
    store = DynamoStore(
        client(place, "dynamodb"), ledger=outputs["ledger_table"], people=outputs["people_table"]
    )
    return Stage(
        agent=_agent("support", outputs, known),
        other_agent=_agent("nightly", outputs, known),
        approver=_person("approver", place, outputs, known),
        operator=_person("operator", place, outputs, known),
        approver_terminal=_terminal("approver", place, outputs, known),
        operator_terminal=_terminal("operator", place, outputs, known),
        shop=shop,
        store=store,
    )


def _agent(name: str, outputs: dict[str, Any], known: dict[str, Any]) -> Caller:
    identity = known["agents"][name]
    answer = httpx.post(
        f"{outputs['auth_url']}/oauth2/token",
        data={"grant_type": "client_credentials", "scope": _SCOPES},
        auth=(identity["client_id"], identity["client_secret"]),
    )
    answer.raise_for_status()
    return Caller(name, outputs["api_url"], answer.json()["access_token"])


def _person(name: str, place: Place, outputs: dict[str, Any], known: dict[str, Any]) -> Caller:
    signed_in = client(place, "cognito-idp").initiate_auth(
        ClientId=outputs["people_client_id"],
        AuthFlow="USER_PASSWORD_AUTH",
        AuthParameters={"USERNAME": name, "PASSWORD": known["users"][name]},
    )
    token = signed_in["AuthenticationResult"]["AccessToken"]
    return Caller(name, outputs["api_url"], token)


def _terminal(name: str, place: Place, outputs: dict[str, Any], known: dict[str, Any]) -> Terminal:
    return Terminal(name, {"SAGAPLANE_LOCAL": str(place.folder)})
