"""What starter, sweeper and rescue share: how this deployment compiles, starts and escalates."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, cast

from functions.domain.ledger.records import Saga
from functions.domain.shape import Shape
from functions.handlers.wiring import (
    all_catalogues,
    clock,
    events,
    machines,
    notices,
    parameter,
    store,
)
from functions.ports import NoMachine
from functions.usecases.escalate_request import escalate_request
from functions.usecases.start_saga import attend_to, drive
from statemachines.bindings import Bindings, Side, bindings_for
from statemachines.compiler import compile_machine
from statemachines.verify import UnsafeMachine, verified

CONTROL_TIMEOUT = 30
BACKSTOP = timedelta(minutes=10)
"""On top of the longest wait: expiry is decided by the ledger, the machine's own timeout only backs it up."""


def compiled(shape: Shape) -> tuple[str, Mapping[str, Any]]:
    """The verified machine of a shape, bound to the versions that are published now. Raises NoMachine."""
    return bound(shape, parameter(os.environ["FUNCTIONS_PARAMETER"]))


def bound(shape: Shape, versions: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """The verified machine of a shape, bound to these published versions. Raises NoMachine."""
    try:
        machine = verified(compile_machine(shape, _bindings(shape, versions)), shape)
    except KeyError as missing:
        raise NoMachine(f"this deployment has no {missing.args[0]!r}") from missing
    except (UnsafeMachine, ValueError) as error:
        raise NoMachine(str(error)) from error
    return machine.name, machine.definition


def _bindings(shape: Shape, versions: Mapping[str, Any]) -> Bindings:
    catalogue = all_catalogues()[shape.catalogue]
    steps = versions["steps"][catalogue.name]

    def arn(step: str, side: Side) -> str:
        return cast("str", steps[step][side])

    return bindings_for(
        catalogue,
        arn,
        begin=versions["begin"],
        finish=versions["finish"],
        gate=versions["gate"],
        open_case=versions["open_case"],
        control_timeout=CONTROL_TIMEOUT,
        gate_timeout=int((catalogue.longest_wait + BACKSTOP).total_seconds()),
        role=os.environ["MACHINE_ROLE_ARN"],
        deployment=os.environ["MACHINE_PREFIX"],
    )


def attend_to_saga(saga_id: str) -> str:
    """Start, resume or look after one saga."""
    return attend_to(store(), clock, machines(), notices(), compiled, saga_id, ended=events().ended)


def attend_to_request(tenant: str, request_id: str) -> str:
    """Open the case of one escalated request."""
    return escalate_request(store(), clock, notices(), _operators, tenant, request_id)


def drive_on(saga: Saga) -> str:
    """Start the next driver of one saga."""
    return drive(store(), clock, machines(), notices(), compiled, saga)


def _operators(catalogue: str | None) -> str:
    known = all_catalogues()
    owner = known.get(catalogue or "") or next(iter(known.values()))
    return owner.operators
