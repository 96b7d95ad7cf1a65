"""Real tokens for everybody who plays: client credentials for agents, a sign-in for people."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from cli.profiles import Profile, save
from cli.tokens import agent_tokens, sign_in
from functions.aws.dynamo import DynamoStore
from functions.sandbox import asks
from functions.sandbox.client import ShopAdmin
from infra.local.demo.account import Account
from infra.local.demo.callers import Caller, Terminal
from infra.local.demo.plans import SKU
from infra.local.demo.stage import Stage
from infra.local.place import Place, read_json
from infra.local.seed import client

STATE = "XDG_STATE_HOME"
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
        approver2=_person("approver2", place, outputs, known),
        operator=_person("operator", place, outputs, known),
        approver_terminal=_terminal("approver", place),
        approver2_terminal=_terminal("approver2", place),
        operator_terminal=_terminal("operator", place),
        second_operator=_person("operator2", place, outputs, known),
        second_operator_terminal=_terminal("operator2", place),
        shop=shop,
        account=Account.of(place),
        store=store,
    )


def _agent(name: str, outputs: dict[str, Any], known: dict[str, Any]) -> Caller:
    identity = known["agents"][name]
    tokens = agent_tokens(outputs["auth_url"], identity["client_id"], identity["client_secret"])
    return Caller(name, outputs["api_url"], tokens.access)


def _person(name: str, place: Place, outputs: dict[str, Any], known: dict[str, Any]) -> Caller:
    """Signed in on the hosted page, as a browser would; kept as a profile, so that the command line is signed in too."""
    auth_url, client_id = outputs["auth_url"], outputs["people_client_id"]
    tokens = sign_in(auth_url, client_id, name, known["users"][name])
    with _state_of(place):
        save(
            Profile(
                name=name,
                kind="person",
                api_url=outputs["api_url"],
                auth_url=auth_url,
                client_id=client_id,
                access=tokens.access,
                expires_at=tokens.expires_at,
                refresh=tokens.refresh,
            )
        )
    return Caller(name, outputs["api_url"], tokens.access)


def _terminal(name: str, place: Place) -> Terminal:
    return Terminal(name, {STATE: str(place.folder)})


@contextmanager
def _state_of(place: Place) -> Iterator[None]:
    """The stage keeps its sign-ins in its own folder, beside nobody's own."""
    before = os.environ.get(STATE)
    os.environ[STATE] = str(place.folder)
    try:
        yield
    finally:
        if before is None:
            del os.environ[STATE]
        else:
            os.environ[STATE] = before
