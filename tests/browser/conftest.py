from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from functions.handlers import console
from tests.browser.stub import AUTH, Stub
from tests.live import outputs, place, stage

__all__ = ["outputs", "place", "stage"]

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
LIVE = "live_"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Those that play on the deployed stack share it with the end-to-end tests; the others share a browser."""
    here = Path(__file__).parent
    for item in items:
        if not item.path.is_relative_to(here):
            continue
        live = item.path.name.startswith(f"test_{LIVE}")
        if live:
            item.add_marker(pytest.mark.e2e)
        item.add_marker(pytest.mark.xdist_group("e2e" if live else "browser"))


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """A browser. Where there is none, a person's tests go on without it, and a pipeline's fail."""
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        missing = "no chromium on this machine: `make browser` installs Debian's"
        if os.environ.get("CI"):
            pytest.fail(missing)
        pytest.skip(missing)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture
def _told(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The page's own function, as it is deployed."""
    monkeypatch.setenv("AUTH_URL", AUTH)
    monkeypatch.setenv("CLIENT_ID", "client")
    made = (console._files, console._headers)
    for each in made:
        each.cache_clear()
    yield
    for each in made:
        each.cache_clear()


@pytest.fixture
def stub(chromium: Browser, _told: None) -> Iterator[Stub]:
    """The page as it is served, with an API that answers as the test says; nothing leaves the machine."""
    context = chromium.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    stubbed = Stub(context)
    yield stubbed
    context.close()
    assert stubbed.strays == []
    assert stubbed.troubles == []
