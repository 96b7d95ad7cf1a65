"""`make screenshots`: every view at two widths, light and dark, to be looked at by a person. They are kept out of git."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from tests.browser import bodies
from tests.browser.conftest import FLAGS, NAMES
from tests.browser.stub import AUTH, Stub

FOLDER = Path(os.environ.get("SAGAPLANE_LOCAL", ".local")) / "screenshots"
HOSTILE = (
    "\u202eCapture 18.00 EUR\u202c <img src=x> ![x](https://collect.example.net/a.png)"
    + "\n" * 200
    + "\x1b[31mAPPROVED BY FINANCE\u200b\u200b "
    + "word " * 200
)


def views(stub: Stub) -> dict[str, str]:
    """The views by name, each with something to see in it."""
    mine = {"claimed_by": "ann", "claimed_until": bodies.at(minutes=9)}
    told = {"rationale": HOSTILE, "notes": ["Consider a credit of 20.00 EUR."]}
    approval = bodies.approval(
        approval_id="a1", needed=2, decisions=[bodies.decided("bob")], agent=told
    )
    ways = [bodies.way("retry"), bodies.way("done"), bodies.way("accept", 2)]
    case = bodies.case(case_id="c1", ways=ways, **mine)
    sagas = {
        "forward": bodies.saga(status="awaiting_approval", done=2),
        "finished": bodies.saga(status="completed", pivot="crossed", direction="finishing"),
        "undone": bodies.saga(status="compensated", direction="compensating"),
    }
    stub.says("/approvals", bodies.approvals(approval))
    stub.says("/cases", bodies.cases(case))
    stub.says("/approvals/a1", approval)
    stub.says("/cases/c1", case)
    stub.says("/sagas", {"sagas": [], "next": None})
    for name, body in sagas.items():
        stub.says(f"/sagas/{name}", body)
    stub.refuses("/cases/c2", 503, "unavailable", "The service can not answer.")
    return {
        "waiting": "#/",
        "approval": "#/approvals/a1",
        "case": "#/cases/c1",
        "failed": "#/cases/c2",
        "sagas": "#/sagas",
        **{f"saga-{name}": f"#/sagas/{name}" for name in sagas},
    }


def take(browser: Any, width: int, scheme: Any) -> None:
    """All views at one width in one scheme."""
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    stub = Stub(context)
    stub.page.goto("about:blank")
    stub.open().screenshot(path=FOLDER / f"{width}-{scheme}-signed-out.png")
    stub.sign_in("ann", "approvers", "operators")
    for name, view in views(stub).items():
        stub.page.goto("about:blank")
        page = stub.open(view)
        page.wait_for_selector(".body h2, .body form, .notice, .timeline")
        page.screenshot(path=FOLDER / f"{width}-{scheme}-{name}.png", full_page=True)
    context.close()


def main() -> int:
    """0 when they are taken; 1 where there is no browser."""
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        sys.stderr.write("no chromium on this machine: `make browser` installs Debian's\n")
        return 1
    os.environ |= {"AUTH_URL": AUTH, "CLIENT_ID": "client"}
    FOLDER.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        for width in (360, 1280):
            for scheme in ("light", "dark"):
                take(browser, width, scheme)
        browser.close()
    sys.stdout.write(f"{len(list(FOLDER.glob('*.png')))} pictures in {FOLDER}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
