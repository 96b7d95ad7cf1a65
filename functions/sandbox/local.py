"""A whole shop in this process, with real HTTP in front of it and a token for each service."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from functions.sandbox import asks
from functions.sandbox.access import sha256_of
from functions.sandbox.api import Api
from functions.sandbox.server import serving
from functions.sandbox.shop import Shop
from functions.sandbox.stage import Stage
from functions.sandbox.store import MemoryStore, Store

SERVICES = ("inventory", "payments", "shipping", "mail", "orders")


@dataclass(frozen=True, slots=True)
class LocalShop:
    """A running shop: its address, the scene, the books, and the accepted tokens by service."""

    url: str
    stage: Stage
    shop: Shop
    tokens: Mapping[str, str]
    admin_token: str


@contextmanager
def local_shop(store: Store | None = None) -> Iterator[LocalShop]:
    """A shop on 127.0.0.1 until the block ends; in memory unless a store is given."""
    shop = Shop(store or MemoryStore())
    stage = Stage(shop.store)
    tokens = {service: secrets.token_urlsafe(24) for service in SERVICES}
    for service, token in tokens.items():
        stage.put_token(asks.Token(sha256=sha256_of(token), scopes=(service,)))
    admin_token = secrets.token_urlsafe(24)
    with serving(Api(shop, sha256_of(admin_token))) as url:
        yield LocalShop(url, stage, shop, tokens, admin_token)
