"""The seeds' checklists, item by item, on the real handlers: the stage is that of whole sagas."""

from __future__ import annotations

from tests.sagas.conftest import functions, parse, stage

__all__ = ["functions", "parse", "stage"]
