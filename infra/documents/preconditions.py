"""The problems that the catalogues' own preconditions raise, found by provoking each with arguments and facts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from pydantic import BaseModel

from functions.catalogues.environments import arguments as env
from functions.catalogues.environments.catalogue import CATALOGUE as ENVIRONMENTS
from functions.catalogues.environments.facts import Channel, TakenName, Team
from functions.catalogues.fulfilment.arguments import CapturePayment, OfOrder, ReserveStock
from functions.catalogues.fulfilment.catalogue import CATALOGUE as FULFILMENT
from functions.catalogues.fulfilment.facts import Line, Order
from functions.domain.catalogue import Catalogue

_ORDER = Order(
    order_id="4471",
    amount="180.00",
    currency="EUR",
    status="open",
    shipped=False,
    lines=(Line(sku="LAMP-1", quantity=1),),
    tier="standard",
    cutoff_at=datetime(2026, 12, 1, tzinfo=UTC),
)
_ORDERS = (
    None,
    _ORDER,
    _ORDER.model_copy(update={"shipped": True}),
    _ORDER.model_copy(update={"status": "cancelled"}),
)
_ARGUMENTS: tuple[OfOrder, ...] = (
    ReserveStock(order_id="4471", warehouse="B", sku="LAMP-1", quantity=3),
    ReserveStock(order_id="4471", warehouse="B", sku="LAMP-2", quantity=1),
    CapturePayment(order_id="4471", amount="500.00", currency="EUR"),
    CapturePayment(order_id="4471", amount="180.00", currency="USD"),
)


_PUBLISH = env.PublishInstruction(audience="everyone", title="Move", text="Use the new one.")
_ENVIRONMENT: tuple[BaseModel, ...] = (
    env.CreateEnvironment(environment="checkout-trial", purpose="test"),
    env.GrantAccess(team="payments", access="read"),
    _PUBLISH,
    _PUBLISH.model_copy(update={"text": "-----BEGIN PRIVATE KEY-----"}),
)
_CHANNEL = Channel(bucket="acme-channel", state="team-only")
_TOLD: Mapping[str, tuple[BaseModel | None, ...]] = {
    "order": _ORDERS,
    "taken_name": (TakenName(bucket="acme-checkout-trial"),),
    "team": (None, Team(role="acme-payments", bounded=False)),
    "channel": (None, _CHANNEL, _CHANNEL.model_copy(update={"state": "frozen"})),
}
"""What each fact may be, None where there is no such thing."""


@dataclass(frozen=True, slots=True)
class Provoked:
    """A code, the precondition behind it, the steps that have this precondition, and one message as an example."""

    code: str
    precondition: str
    steps: tuple[str, ...]
    example: str


def provoked() -> dict[str, list[Provoked]]:
    """By the names of our catalogues: each code once, in the order of the preconditions."""
    return {
        catalogue.name: list(_of(catalogue, arguments))
        for catalogue, arguments in ((FULFILMENT, _ARGUMENTS), (ENVIRONMENTS, _ENVIRONMENT))
    }


def _of(catalogue: Catalogue, arguments: tuple[BaseModel, ...]) -> Iterator[Provoked]:
    found: dict[str, Provoked] = {}
    for precondition in catalogue.preconditions:
        steps = tuple(s.name for s in catalogue.steps if precondition.name in s.preconditions)
        for given in arguments:
            for fact in _TOLD[precondition.fact]:
                for violation in precondition.check(given, fact):
                    found.setdefault(
                        violation.code,
                        Provoked(violation.code, precondition.name, steps, violation.message),
                    )
    yield from found.values()
