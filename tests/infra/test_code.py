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
    assert _Bundle(sources.packages_for(()), local=True).try_bundle(str(tmp_path))
    assert {path.name for path in tmp_path.iterdir()} == {
        "functions",
        "statemachines",
        "bootstrap",
    }
    assert os.access(tmp_path / "bootstrap", os.X_OK)
    assert (tmp_path / "functions/domain/catalogue.py").exists()
    assert not list(tmp_path.rglob("__pycache__"))


@pytest.fixture
def theirs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A team's package, beside which the deployment is made."""
    package = tmp_path / "beside" / "their_parcels"
    (package / "tests").mkdir(parents=True)
    for name in ("__init__.py", "catalogue.py", "tests/test_it.py"):
        (package / name).write_text("first")
    monkeypatch.syspath_prepend(str(package.parent))
    return package


def test_a_team_s_package_is_in_the_asset_without_its_tests(theirs: Path, tmp_path: Path) -> None:
    packages = sources.packages_for(["their_parcels.catalogue:CATALOGUE"])
    assert packages["their_parcels"] == theirs
    target = tmp_path / "asset"
    target.mkdir()
    assert _Bundle(packages, local=True).try_bundle(str(target))
    shipped = {p.name for p in (target / "their_parcels").iterdir()}
    assert shipped == {"__init__.py", "catalogue.py"}


def test_a_change_of_a_team_s_package_publishes_new_versions_and_one_of_its_tests_does_not(
    theirs: Path,
) -> None:
    packages = sources.packages_for(["their_parcels.catalogue:CATALOGUE"])
    before = sources.source_digest(local=False, packages=packages)
    (theirs / "tests/test_it.py").write_text("second")
    assert sources.source_digest(local=False, packages=packages) == before
    (theirs / "catalogue.py").write_text("second")
    assert sources.source_digest(local=False, packages=packages) != before


def test_our_own_catalogues_and_installed_ones_add_nothing() -> None:
    ours = sources.packages_for(["functions.catalogues.fulfilment.catalogue:CATALOGUE", "moto:X"])
    assert set(ours) == set(sources.PACKAGES)


def test_a_package_that_is_not_there_is_named() -> None:
    with pytest.raises(ValueError, match="no package nowhere_at_all"):
        sources.packages_for(["nowhere_at_all.catalogue:CATALOGUE"])
