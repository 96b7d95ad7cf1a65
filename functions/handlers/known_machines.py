"""A deployment has published its versions: the machines of the known shapes are made before anybody needs them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.aws.cloudformation import Refused, settle
from functions.domain.shape import Shape, shape_of
from functions.handlers.driving import bound
from functions.handlers.wiring import all_catalogues, logger, machines
from functions.ports import NoMachine
from functions.usecases.make_machines import make_machines


def handler(event: dict[str, Any], _context: LambdaContext) -> None:
    """Properties: `Versions`, as the parameter holds them, and `Shapes`: steps in order by plan, plans by catalogue."""
    settle(event, _make)


def _make(properties: Mapping[str, Any]) -> None:
    compiled = partial(bound, versions=json.loads(properties["Versions"]))
    try:
        made = make_machines(machines(), compiled, _shapes(properties["Shapes"]))
    except NoMachine as none:
        raise Refused(str(none)) from none
    logger.info("machines are there", machines=made)


def _shapes(known: Mapping[str, Mapping[str, list[str]]]) -> Iterator[Shape]:
    for name, plans in known.items():
        catalogue = all_catalogues()[name]
        by_name = {step.name: step for step in catalogue.steps}
        for steps in plans.values():
            yield shape_of(catalogue, [by_name[step] for step in steps])
