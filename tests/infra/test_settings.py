"""What a deployment may be told, and what it is told when that is wrong."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from constructs import Node, RootConstruct
from pydantic import ValidationError

from infra import catalogues
from infra.settings import CatalogueSetting, Settings

pytestmark = pytest.mark.xdist_group("infra")

ENTRY = {"catalogue": "tests.infra.warehouse:CATALOGUE", "settings": {"WAREHOUSE_QUEUE": "pallets"}}


def context(**values: object) -> Node:
    node = RootConstruct().node
    for name, value in {"stage": "production", "catalogues": [ENTRY], **values}.items():
        node.set_context(name, value)
    return node


def loaded(
    known: Mapping[str, str] | None = None, **settings: str
) -> list[catalogues.DeployedCatalogue]:
    declared = CatalogueSetting(catalogue="tests.infra.warehouse:CATALOGUE", settings=settings)
    return catalogues.load([declared], known or {})


@pytest.mark.parametrize("beside", ["sandbox", "environments"])
def test_something_to_act_on_is_there_on_the_local_stage_and_elsewhere_when_asked_for(
    beside: str,
) -> None:
    assert getattr(Settings.from_context(context(stage="local")), beside)
    assert not getattr(Settings.from_context(context()), beside)
    assert getattr(Settings.from_context(context(**{beside: "true"})), beside)


def test_what_is_given_on_the_command_line_arrives_as_text_and_is_read_as_json() -> None:
    agents = '[{"name": "night-shift", "owner": "order operations"}]'
    [agent] = Settings.from_context(context(agents=agents)).agents
    assert (agent.name, agent.tenant) == ("night-shift", "default")


@pytest.mark.parametrize(
    ("wrong", "place"),
    [
        ({"stage": "Production!"}, "stage"),
        ({"catalogues": []}, "catalogues"),
        ({"agents": [{"name": "a", "owner": "b", "secret": "c"}]}, "agents.0.secret"),
        ({"log_retention_days": 5}, "log_retention_days"),
    ],
)
def test_a_wrong_setting_is_named(wrong: dict[str, object], place: str) -> None:
    with pytest.raises(ValidationError) as refused:
        Settings.from_context(context(**wrong))
    assert [".".join(map(str, e["loc"])) for e in refused.value.errors()] == [place]


def test_a_setting_that_the_catalogue_needs_and_does_not_get_is_named() -> None:
    with pytest.raises(ValueError, match=r"missing \['WAREHOUSE_QUEUE'\]"):
        loaded()


def test_a_setting_that_the_catalogue_does_not_know_is_named() -> None:
    with pytest.raises(ValueError, match=r"not declared \['WAREHOUSE_QUEUES'\]"):
        loaded(WAREHOUSE_QUEUE="pallets", WAREHOUSE_QUEUES="pallets")


def test_a_setting_that_wants_a_stack_beside_it_says_so_where_there_is_none() -> None:
    with pytest.raises(ValueError, match="WAREHOUSE_QUEUE needs 'sandbox_url'"):
        loaded(WAREHOUSE_QUEUE="{sandbox_url}/queue")
    known = {"sandbox_url": "http://shop"}
    [with_sandbox] = loaded(known, WAREHOUSE_QUEUE="{sandbox_url}/queue")
    assert with_sandbox.settings == {"WAREHOUSE_QUEUE": "http://shop/queue"}


def test_two_catalogues_of_one_name_are_refused() -> None:
    declared = CatalogueSetting.model_validate(ENTRY)
    with pytest.raises(ValueError, match="same name: warehouse, warehouse"):
        catalogues.load([declared, declared], {})
