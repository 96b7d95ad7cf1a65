from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


def pages() -> list[Path]:
    """Every page that people read."""
    return sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "page" in metafunc.fixturenames:
        found = pages()
        metafunc.parametrize("page", found, ids=[str(p.relative_to(ROOT)) for p in found])


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def readme(root: Path) -> str:
    return (root / "README.md").read_text(encoding="utf-8")
