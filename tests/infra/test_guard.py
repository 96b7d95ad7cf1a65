"""The question that a deployment asks before it changes a step, and when it asks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from functions.catalogues.fulfilment.catalogue import CATALOGUE as FULFILMENT
from functions.domain.stranding import Offer
from tests.infra.deployed import Deployed, plain
from tests.infra.warehouse import CATALOGUE as WAREHOUSE

pytestmark = pytest.mark.xdist_group("infra")


@pytest.fixture(scope="module")
def asked(product: Deployed) -> str:
    [id_] = product.resources("Custom::Guard")
    return id_


def needs(product: Deployed, id_: str) -> set[str]:
    """Logical ids of everything that CloudFormation finishes before it begins with this."""
    found: set[str] = set()
    left = [id_]
    while left:
        for other in _direct(product.template["Resources"][left.pop()]):
            if other not in found and other in product.template["Resources"]:
                found.add(other)
                left.append(other)
    return found


def _direct(resource: dict[str, Any]) -> Iterator[str]:
    depends = resource.get("DependsOn", [])
    yield from [depends] if isinstance(depends, str) else depends
    yield from _references(resource.get("Properties", {}))


def _references(value: Any) -> Iterator[str]:
    match value:
        case {"Ref": str(id_)}:
            yield id_
        case {"Fn::GetAtt": [id_, _]}:
            yield id_
        case dict():
            for each in value.values():
                yield from _references(each)
        case list():
            for each in value:
                yield from _references(each)


def test_it_says_what_the_deployment_will_have_functions_for(product: Deployed, asked: str) -> None:
    properties = product.resources("Custom::Guard")[asked]
    assert plain(properties["ServiceToken"]) == "${GuardFunction.Arn}"
    assert properties["Offers"] == {
        c.name: Offer.of(c).model_dump(mode="json") for c in (FULFILMENT, WAREHOUSE)
    }


def test_no_step_s_function_role_or_policy_changes_before_it_has_agreed(
    product: Deployed, asked: str
) -> None:
    steps = [id_ for id_ in product.template["Resources"] if id_.startswith("Steps")]
    machines = [id_ for id_ in product.template["Resources"] if id_.startswith("Machines")]
    assert len(steps) > len(product.functions)
    assert machines
    for id_ in [*steps, *machines]:
        assert asked in needs(product, id_), id_


def test_it_is_asked_once_plans_with_what_goes_are_refused(product: Deployed, asked: str) -> None:
    before = needs(product, asked)
    routes = product.resources("AWS::ApiGatewayV2::Route")
    assert routes
    assert routes.keys() <= before
    agent_api = next(
        id_
        for id_, f in product.resources("AWS::Lambda::Function").items()
        if f["FunctionName"].endswith("-agent-api")
    )
    assert agent_api in before


def test_nothing_in_the_stack_waits_for_itself(product: Deployed) -> None:
    for id_ in product.template["Resources"]:
        assert id_ not in needs(product, id_), id_
