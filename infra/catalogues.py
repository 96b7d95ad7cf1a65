"""Loads the catalogues that `cdk.json` names, and fills in their settings."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from functions.domain.catalogue import Catalogue
from infra.settings import CatalogueSetting


@dataclass(frozen=True, slots=True)
class DeployedCatalogue:
    """A catalogue, the reference it is loaded by in the functions too, and the values of its settings."""

    reference: str
    catalogue: Catalogue
    settings: Mapping[str, str]

    @property
    def name(self) -> str:
        """The catalogue's name."""
        return self.catalogue.name


def load(declared: Iterable[CatalogueSetting], known: Mapping[str, str]) -> list[DeployedCatalogue]:
    """Import each catalogue and fill in what is `known` of the stacks beside it.

    Raises ValueError naming the setting that is missing, not declared, or needs a stack that is not deployed.
    """
    loaded = [_load(setting, known) for setting in declared]
    names = [c.name for c in loaded]
    if len(set(names)) != len(names):
        raise ValueError(f"two catalogues have the same name: {', '.join(sorted(names))}")
    return loaded


def _load(setting: CatalogueSetting, known: Mapping[str, str]) -> DeployedCatalogue:
    module, _, attribute = setting.catalogue.partition(":")
    catalogue: Catalogue = getattr(importlib.import_module(module), attribute)
    missing = set(catalogue.settings) - setting.settings.keys()
    unknown = setting.settings.keys() - set(catalogue.settings)
    if missing or unknown:
        raise ValueError(
            f"settings of the catalogue {catalogue.name}: "
            f"missing {sorted(missing)}, not declared {sorted(unknown)}"
        )
    return DeployedCatalogue(
        setting.catalogue,
        catalogue,
        {name: _filled(name, value, known) for name, value in setting.settings.items()},
    )


def _filled(name: str, value: str, known: Mapping[str, str]) -> str:
    try:
        return value.format_map(known)
    except KeyError as unfilled:
        raise ValueError(
            f"the setting {name} needs {unfilled}: deploy the stack beside it or give a value"
        ) from unfilled
