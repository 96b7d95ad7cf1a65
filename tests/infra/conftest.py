from __future__ import annotations

import pytest

from tests.infra.deployed import Deployed, synthesize


@pytest.fixture(scope="session")
def stacks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Deployed]:
    """What an AWS account would get, with a sandbox beside it."""
    folder = tmp_path_factory.mktemp("aws")
    return synthesize(folder, "production", sandbox=True, environments=False)


@pytest.fixture(scope="session")
def product(stacks: dict[str, Deployed]) -> Deployed:
    return stacks["product"]


@pytest.fixture(scope="session")
def sandbox(stacks: dict[str, Deployed]) -> Deployed:
    return stacks["sandbox"]


@pytest.fixture(scope="session")
def local(tmp_path_factory: pytest.TempPathFactory) -> Deployed:
    """What the emulator gets."""
    folder = tmp_path_factory.mktemp("local")
    return synthesize(folder, "local", endpoint="http://127.0.0.1:4566")["product"]
