"""The catalogue as an agent reads it: what it may propose. Undos are named, and can not be asked for."""

from __future__ import annotations

from typing import Any

from functions.domain.catalogue import Catalogue
from functions.usecases.views.saga import View


class StepView(View):
    """A step that may be proposed. `arguments` is a JSON Schema."""

    name: str
    version: str
    kind: str
    description: str
    requires: list[str]
    preconditions: list[str]
    undone_by: str | None
    undone_otherwise_by: list[str]
    """The other principals that two people may have make the undo, should its own lose its authority."""
    undone_instead_by: list[str]
    """What two people may have done in place of the undo, where that cannot work."""
    arguments: dict[str, Any]


class CatalogueView(View):
    """A catalogue: compensable steps come first in a plan, then at most one pivot, then retriable steps."""

    name: str
    version: str
    order: list[str]
    attempts_per_request: int
    steps: list[StepView]


def catalogue_view(catalogue: Catalogue) -> CatalogueView:
    """What an agent may choose from. Retired steps are not shown."""
    return CatalogueView(
        name=catalogue.name,
        version=catalogue.version,
        order=["compensable", "pivot", "retriable"],
        attempts_per_request=catalogue.attempts_per_request,
        steps=[
            StepView(
                name=step.name,
                version=step.version,
                kind=step.kind.value,
                description=step.description,
                requires=list(step.requires),
                preconditions=list(step.preconditions),
                undone_by=step.undo.name if step.undo else None,
                undone_otherwise_by=[each.sentence for each in step.undo.alternates]
                if step.undo
                else [],
                undone_instead_by=[each.sentence for each in step.undo.other_actions]
                if step.undo
                else [],
                arguments=step.arguments.model_json_schema(),
            )
            for step in catalogue.steps
            if not step.retired
        ],
    )
