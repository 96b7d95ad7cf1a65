"""What the functions' asset is made from, and a digest of it. Free of CDK, so that it is quick to ask."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("functions", "statemachines")
BOOTSTRAP = ROOT / "infra" / "local" / "bootstrap"


def source_digest(*, local: bool) -> str:
    """SHA-256 over everything that the asset is made from."""
    seen = hashlib.sha256(b"local" if local else b"aws")
    for path in _sources():
        seen.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes() + b"\0")
    return seen.hexdigest()


def _sources() -> Iterator[Path]:
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                yield path
    yield ROOT / "uv.lock"
    yield BOOTSTRAP
