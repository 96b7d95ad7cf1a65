"""What the functions' asset is made from, and a digest of it. Free of CDK, so that it is quick to ask."""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("functions", "statemachines")
BOOTSTRAP = ROOT / "infra" / "local" / "bootstrap"
NOT_SHIPPED = frozenset({"__pycache__", "tests"})
"""Folders inside a package that no function needs."""

Packages = Mapping[str, Path]
"""Import packages by name, each with the folder (or the one file) that it is."""


def packages_for(catalogues: Iterable[str]) -> Packages:
    """Ours, and the package of each catalogue (`package.module:NAME`) that is neither ours nor installed.

    Raises ValueError for a package that cannot be found.
    """
    found = {name: ROOT / name for name in PACKAGES}
    for name in dict.fromkeys(c.partition(":")[0].partition(".")[0] for c in catalogues):
        if name not in found and (place := _place_of(name)) is not None:
            found[name] = place
    return found


def _place_of(name: str) -> Path | None:
    """Where a package is; None where it is installed, since then it is among the locked dependencies."""
    spec = importlib.util.find_spec(name)
    if spec is None:
        raise ValueError(f"there is no package {name}: run this beside its folder")
    folders = list(spec.submodule_search_locations or ())
    place = Path(folders[0] if folders else str(spec.origin))
    return None if "site-packages" in place.parts else place


def source_digest(*, local: bool, packages: Packages | None = None) -> str:
    """SHA-256 over everything that the asset is made from."""
    seen = hashlib.sha256(b"local" if local else b"aws")
    for name, path in _sources(packages or packages_for(())):
        seen.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
    return seen.hexdigest()


def _sources(packages: Packages) -> Iterator[tuple[str, Path]]:
    for package, place in packages.items():
        for path in sorted(place.rglob("*")) if place.is_dir() else [place]:
            if path.is_file() and not NOT_SHIPPED.intersection(path.relative_to(place).parts):
                yield f"{package}/{path.relative_to(place)}", path
    yield "uv.lock", ROOT / "uv.lock"
    yield "bootstrap", BOOTSTRAP
