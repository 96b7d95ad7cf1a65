"""Catalogues and adapters by reference, from the code that is deployed with this function."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import cache
from typing import Any, cast

from functions.domain.catalogue import Catalogue


class ImportedAdapters:
    """An adapter is imported at its first use, so that a function loads the code of its own step alone."""

    def resolve(self, reference: str) -> Callable[..., Any]:
        """The function behind `package.module:function`."""
        return cast("Callable[..., Any]", _named(reference))


def catalogues(references: str) -> dict[str, Catalogue]:
    """The catalogues of a comma-separated list of `package.module:NAME`, by their own names."""
    loaded = [cast("Catalogue", _named(reference)) for reference in references.split(",")]
    return {catalogue.name: catalogue for catalogue in loaded}


@cache
def _named(reference: str) -> object:
    module, _, name = reference.partition(":")
    return getattr(importlib.import_module(module), name)
