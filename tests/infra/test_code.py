"""The functions' asset: what is in it, and when it changes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from infra import sources
from infra.code import _Bundle

pytestmark = pytest.mark.xdist_group("infra")


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout of the smallest kind."""
    files = ("functions/a.py", "functions/__pycache__/a.pyc", "statemachines/b.py", "uv.lock")
    for name in (*files, "bootstrap"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("first")
    monkeypatch.setattr(sources, "BOOTSTRAP", tmp_path / "bootstrap")
    monkeypatch.setattr(sources, "ROOT", tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", ["functions/a.py", "statemachines/b.py", "uv.lock"])
def test_a_change_of_code_or_of_the_lock_publishes_new_versions(checkout: Path, name: str) -> None:
    before = sources.source_digest(local=False)
    (checkout / name).write_text("second")
    assert sources.source_digest(local=False) != before


def test_what_is_no_source_publishes_nothing(checkout: Path) -> None:
    before = sources.source_digest(local=False)
    (checkout / "functions/__pycache__/a.pyc").write_text("second")
    (checkout / "README.md").write_text("second")
    assert sources.source_digest(local=False) == before


def test_the_emulator_s_asset_is_our_code_and_a_bootstrap_that_can_be_run(tmp_path: Path) -> None:
    assert _Bundle(local=True).try_bundle(str(tmp_path))
    assert {path.name for path in tmp_path.iterdir()} == {
        "functions",
        "statemachines",
        "bootstrap",
    }
    assert os.access(tmp_path / "bootstrap", os.X_OK)
    assert (tmp_path / "functions/domain/catalogue.py").exists()
    assert not list(tmp_path.rglob("__pycache__"))
