"""A catalogue that only the infrastructure's tests know: every operation has an authority of its own, so none can be confused."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from functions.domain.catalogue import (
    Alternate,
    Authority,
    Catalogue,
    Fact,
    Kind,
    Operation,
    OtherAction,
    Permission,
    Retry,
    Settlement,
    Step,
    Undo,
)


class Pallet(BaseModel):
    """A step's arguments, and the fact about them."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    pallet_id: Annotated[str, Field(max_length=20)]


def _operation(name: str, *permissions: Permission) -> Operation:
    return Operation(f"warehouse:{name}", Authority(name, name, permissions))


def _inputs(_arguments: BaseModel, _receipt: Any) -> dict[str, str]:
    return {}


def _settlement(name: str) -> Settlement:
    return Settlement(
        settles_after=timedelta(seconds=5),
        keys_kept_for=timedelta(days=7),
        status=_operation(f"{name}_status"),
        tombstone=_operation(f"{name}_tombstone"),
    )


def _step(name: str, kind: Kind, run: Operation, undo: Undo | None = None) -> Step:
    return Step(
        name=name,
        version="1",
        kind=kind,
        description=name,
        arguments=Pallet,
        run=run,
        settlement=_settlement(name),
        retry=Retry(attempts=3),
        call_timeout=timedelta(seconds=4, milliseconds=500),
        retain_for=timedelta(days=365),
        sentence=f"{name} {{pallet_id}}",
        undo=undo,
    )


SEND = Permission(
    ("sqs:SendMessage",), ("arn:{partition}:sqs:{region}:{account}:{WAREHOUSE_QUEUE}",)
)
TAG = Permission(("s3:PutObjectTagging",), ("arn:{partition}:s3:::pallets/labels",))

CATALOGUE = Catalogue(
    name="warehouse",
    steps=(
        _step(
            "move",
            Kind.COMPENSABLE,
            _operation("move_run", SEND),
            Undo(
                name="move_back",
                run=_operation("move_undo", TAG),
                settlement=_settlement("move_undo"),
                retry=Retry(attempts=3),
                call_timeout=timedelta(seconds=2),
                fixed_inputs=_inputs,
                sentence="Move {pallet_id} back",
                alternates=(
                    Alternate(
                        "foreman",
                        Authority(scope="move_undo", credential="foreman"),
                        "The foreman",
                    ),
                ),
                other_actions=(
                    OtherAction(
                        "write_off",
                        _operation("write_off", SEND),
                        _settlement("write_off"),
                        "Write the pallet off",
                    ),
                ),
            ),
        ),
        _step("load", Kind.PIVOT, _operation("load_run")),
        _step("report", Kind.RETRIABLE, _operation("report_run")),
        replace(_step("weigh", Kind.RETRIABLE, _operation("weigh_run", SEND)), retired=True),
    ),
    facts=(Fact("pallet", _operation("pallet_fact"), Pallet, lambda a: str(a.pallet_id)),),  # type: ignore[attr-defined]
    preconditions=(),
    policy="warehouse:policy",
    policy_version="1",
    approvers="warehouse-approvers",
    operators="warehouse-operators",
    settings=("WAREHOUSE_QUEUE",),
)
