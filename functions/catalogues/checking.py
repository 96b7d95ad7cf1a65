"""Tries a catalogue as a deployment would, and says everything that is wrong with it."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from string import Formatter
from typing import Any

from functions.domain.catalogue import Catalogue, Operation
from functions.domain.catalogue_explained import WHY
from functions.domain.catalogue_rules import Broken, CatalogueError

_LONGEST_FUNCTION = 64
_STAGE = "sagaplane-production"
_AT_DEPLOY = frozenset({"partition", "region", "account"})


@dataclass(frozen=True, slots=True)
class Checked:
    """`catalogue` is None where it could not even be built."""

    reference: str
    catalogue: Catalogue | None
    broken: tuple[Broken, ...]


def why(broken: Broken) -> str:
    """Why the rule is there, and what to do."""
    return WHY.get(broken.rule, "")


def check(reference: str) -> Checked:
    """Import `package.module:NAME`, build it, and try each of its references."""
    module, _, name = reference.partition(":")
    try:
        found = getattr(importlib.import_module(module), name)
    except CatalogueError as error:
        return Checked(reference, None, error.broken)
    except Exception as error:  # noqa: BLE001 - a team's module may raise anything on import
        told = f"cannot be imported: {type(error).__name__}: {error}"
        return Checked(reference, None, (Broken(reference, "import", told),))
    if not isinstance(found, Catalogue):
        told = f"is a {type(found).__name__}, not a Catalogue"
        return Checked(reference, None, (Broken(reference, "import", told),))
    return Checked(reference, found, tuple(dict.fromkeys(_tried(found))))


def _tried(catalogue: Catalogue) -> Iterator[Broken]:
    yield from _callable(f"catalogue {catalogue.name}", "policy", catalogue.policy)
    for subject, what, operation in _operations(catalogue):
        yield from _callable(subject, what, operation.adapter)
        yield from _placeholders(subject, what, operation, catalogue)
    for step in catalogue.steps:
        longest = f"{_STAGE}-{catalogue.name}-{step.name}-undo"
        if len(longest) > _LONGEST_FUNCTION:
            yield Broken(step.name, "long_name", f"{longest} has {len(longest)} characters")


def _operations(catalogue: Catalogue) -> Iterator[tuple[str, str, Operation]]:
    for fact in catalogue.facts:
        yield fact.name, "read", fact.read
    for step in catalogue.steps:
        made = [("run", step.run), ("status", step.settlement.status)]
        made.append(("tombstone", step.settlement.tombstone))
        if step.undo is not None:
            settlement = step.undo.settlement
            made += [
                (f"undo {step.undo.name}", step.undo.run),
                ("undo's status", settlement.status),
            ]
            made.append(("undo's tombstone", settlement.tombstone))
            made += [
                (
                    f"undo {step.undo.name} by {each.name}",
                    replace(step.undo.run, authority=each.authority),
                )
                for each in step.undo.alternates
            ]
            for each in step.undo.other_actions:
                what = f"undo {step.undo.name} by {each.name}"
                made += [
                    (what, each.run),
                    (f"{what}: status", each.settlement.status),
                    (f"{what}: tombstone", each.settlement.tombstone),
                ]
        yield from ((step.name, what, operation) for what, operation in made if operation)


def _callable(subject: str, what: str, reference: str) -> Iterator[Broken]:
    module, _, name = reference.partition(":")
    try:
        function: Callable[..., Any] = getattr(importlib.import_module(module), name)
    except Exception as error:  # noqa: BLE001 - as above
        yield Broken(subject, "adapter", f"{what} {reference}: {type(error).__name__}: {error}")
        return
    try:
        inspect.signature(function).bind(object())
    except TypeError:
        yield Broken(subject, "adapter", f"{what} {reference} does not take just one argument")


def _placeholders(
    subject: str, what: str, operation: Operation, catalogue: Catalogue
) -> Iterator[Broken]:
    known = _AT_DEPLOY | set(catalogue.settings)
    for permission in operation.authority.permissions:
        for resource in permission.resources:
            for _, name, _, _ in Formatter().parse(resource):
                if name is not None and name not in known:
                    told = f"{what} is allowed on {resource}, where {{{name}}} is unknown"
                    yield Broken(subject, "placeholder", told)
