"""A catalogue bound to functions that do not exist, so that a machine's text depends on no deployment."""

from __future__ import annotations

from functions.domain.catalogue import Catalogue
from statemachines.bindings import Bindings, Side, bindings_for


def placeholder_bindings(catalogue: Catalogue) -> Bindings:
    """The same for the same catalogue, everywhere."""
    return bindings_for(
        catalogue,
        _step_arn,
        begin=_arn("begin-compensation"),
        finish=_arn("finish-compensation"),
        gate=_arn("gate"),
        open_case=_arn("open-case"),
        control_timeout=30,
        gate_timeout=86_400,
        role="arn:aws:iam::111122223333:role/machines",
    )


def _step_arn(step: str, side: Side) -> str:
    return _arn(f"{step}-{side}")


def _arn(function: str) -> str:
    return f"arn:aws:lambda:eu-central-1:111122223333:function:sagaplane-{function}:1"
