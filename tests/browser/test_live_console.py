"""The page on the deployed stage, in a browser: signing in, deciding, settling, and what the saga does then."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from functions.sandbox.faults import Trouble
from infra.local.demo.console import propose
from infra.local.demo.stage import Stage
from infra.local.place import Place

PATIENCE = 60_000


class Visitor:
    """Somebody at a browser of their own."""

    def __init__(self, browser: Browser, url: str, passwords: dict[str, str], width: int) -> None:
        self.context = browser.new_context(viewport={"width": width, "height": 800})
        self.page: Page = self.context.new_page()
        self.url = url
        self.troubles: list[str] = []
        self.elsewhere: list[str] = []
        self._passwords = passwords
        self.page.on("pageerror", lambda error: self.troubles.append(str(error)))
        self.page.on(
            "console",
            lambda said: (
                self.troubles.append(said.text) if "ontent Security Policy" in said.text else None
            ),
        )
        origin = "/".join(url.split("/")[:3])
        self.page.on(
            "request",
            lambda asked: (
                None if asked.url.startswith(origin) else self.elsewhere.append(asked.url)
            ),
        )

    def sign_in(self, name: str, view: str = "#/") -> Page:
        """Through the sign-in page, back to the view that was asked for."""
        page = self.page
        page.goto(self.url + view)
        page.get_by_role("button", name="Sign in").click()
        page.get_by_label("Username").fill(name)
        page.get_by_label("Password").fill(self._passwords[name])
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("button", name="Sign out")).to_be_visible(timeout=PATIENCE)
        return page


@pytest.fixture
def visit(chromium: Browser, place: Place, outputs: dict[str, Any]) -> Iterator[Any]:
    """Makes visitors, and holds that nothing they saw broke a rule."""
    visitors: list[Visitor] = []

    def one(width: int = 1280) -> Visitor:
        passwords = place.credentials()["users"]
        visitors.append(Visitor(chromium, outputs["console_url"], passwords, width))
        return visitors[-1]

    yield one
    for visitor in visitors:
        visitor.context.close()
        assert visitor.troubles == []
        assert visitor.elsewhere == []


def asked(stage: Stage, order: str, amount: str) -> tuple[str, str]:
    """A saga that waits for an approval, and that approval."""
    stage.order(order, amount)
    saga = propose(stage, order, amount)
    stage.wait(saga, "awaiting_approval")
    return saga, str(stage.approval(saga)["approval_id"])


def test_a_person_signs_in_comes_back_to_what_they_wanted_and_signs_out(
    visit: Any, stage: Stage
) -> None:
    saga, approval = asked(stage, "4490", "160.00")
    visitor = visit()
    page = visitor.sign_in("approver", f"#/approvals/{approval}")
    expect(page.locator(".sentence")).to_have_text("Capture 160.00 EUR for order 4490")
    assert "code=" not in page.url
    expect(page.locator(".who")).to_contain_text("approver")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    assert page.evaluate("sessionStorage.length") == 0
    stage.decide(saga, "reject", "Not needed any more.")


def test_the_capture_of_order_4471_is_approved_and_runs(visit: Any, stage: Stage) -> None:
    saga, _ = asked(stage, "4471", "180.00")
    page = visit().sign_in("approver")
    page.get_by_role("link", name="Capture 180.00 EUR for order 4471").first.click()
    page.evaluate("saga => { location.hash = `#/approvals/${saga}-2-1` }", saga)
    expect(page.locator(".arguments")).to_contain_text("180.00")
    expect(page.locator(".agent")).to_contain_text("closer warehouse")
    page.get_by_role("button", name="Approve").click()
    page.get_by_role("button", name="Yes, approve this").click()
    expect(page.locator(".notice.good")).to_contain_text("You approved.", timeout=PATIENCE)
    expect(page.get_by_text("Nothing is left to decide")).to_be_visible(timeout=PATIENCE)
    page.locator(f'a[href="#/sagas/{saga}"]').first.click()
    expect(page.locator(".lead")).to_contain_text("completed", timeout=PATIENCE)
    expect(page.locator(".no-return.crossed")).to_have_count(1)
    stage.wait(saga, "completed")


def test_another_is_rejected_with_a_reason_on_a_narrow_page_and_is_undone(
    visit: Any, stage: Stage
) -> None:
    saga, approval = asked(stage, "4491", "220.00")
    page = visit(360).sign_in("approver", f"#/approvals/{approval}")
    page.get_by_role("button", name="Reject").click()
    page.get_by_role("textbox").fill("The customer has cancelled by telephone.")
    page.get_by_role("button", name="Yes, reject this").click()
    expect(page.locator(".notice.good")).to_contain_text("You rejected.", timeout=PATIENCE)
    seen = stage.wait(saga, "compensated")
    assert "cancelled by telephone" in seen["reason"]
    page.evaluate("saga => { location.hash = `#/sagas/${saga}` }", saga)
    expect(page.locator(".lead")).to_contain_text("compensated", timeout=PATIENCE)
    expect(page.locator(".step.undo.good")).to_have_count(2)


def test_whoever_comes_second_is_shown_the_first_decision(visit: Any, stage: Stage) -> None:
    """The page is kept from looking again until it has been refused, so that it is the refusal that is shown."""
    saga, approval = asked(stage, "4492", "230.00")
    page = visit().sign_in("approver2", f"#/approvals/{approval}")
    page.get_by_role("button", name="Approve").click()
    page.route(f"**/approvals/{approval}", lambda route: route.abort())
    stage.decide(saga, "reject", "Too dear.")
    page.get_by_role("button", name="Yes, approve this").click()
    refused = page.get_by_role("alert").filter(has_text="something has changed meanwhile")
    expect(refused).to_be_visible(timeout=PATIENCE)
    page.unroute_all()
    expect(page.locator("main")).to_contain_text("approver: reject", timeout=PATIENCE)
    expect(page.locator("main")).to_contain_text("Too dear.")
    expect(page.get_by_role("button", name="Approve")).to_have_count(0)
    stage.wait(saga, "compensated")


def test_a_case_is_claimed_and_settled_and_its_saga_goes_on(visit: Any, stage: Stage) -> None:
    stage.order("4493", "99.00")
    stage.trouble("4493", "shipping", "ship", Trouble.ERROR_503, times=4)
    saga = propose(stage, "4493", "99.00")
    stage.wait(saga, "awaiting_manual_resolution")
    page = visit().sign_in("operator", f"#/sagas/{saga}")
    page.get_by_role("link", name="Case of create_shipment").click()
    expect(page.locator(".sentence")).to_contain_text("has to be finished")
    page.get_by_role("button", name="Claim this case").click()
    expect(page.get_by_role("button", name="Renew the claim")).to_be_visible(timeout=PATIENCE)
    page.get_by_role("button", name="Try it again").click()
    page.get_by_role("textbox").fill("The carrier is back.")
    page.get_by_role("button", name="Yes: try it again").click()
    expect(page.locator(".notice.good")).to_contain_text("settled", timeout=PATIENCE)
    stage.wait(saga, "completed")
    expect(page.locator("main")).to_contain_text("operator: retry – The carrier is back.")


def test_an_operator_sees_an_approval_and_is_not_asked_and_an_approver_sees_no_case(
    visit: Any, stage: Stage
) -> None:
    saga, approval = asked(stage, "4494", "170.00")
    page = visit().sign_in("operator", f"#/approvals/{approval}")
    expect(page.locator(".notice")).to_contain_text("This is not yours to decide")
    page.evaluate("location.hash = '#/cases/nothing-like-this'")
    expect(page.get_by_role("alert")).to_contain_text("There is no such thing")
    stage.decide(saga, "reject", "Enough seen.")


def test_a_saga_is_found_by_its_request_and_its_source_document(visit: Any, stage: Stage) -> None:
    stage.order("4495", "80.00")
    saga = propose(stage, "4495", "80.00")
    stage.wait(saga, "completed")
    request = stage.request_id("order-4495")
    page = visit().sign_in("approver", "#/sagas")
    for by, id_ in (("Request id", request), ("Source document", f"mail-{request}")):
        page.get_by_label("Look for").select_option(by)
        page.get_by_role("searchbox").fill(id_)
        page.get_by_role("button", name="Search").click()
        expect(page.locator(".card")).to_have_count(1, timeout=PATIENCE)
        expect(page.locator(".card code")).to_have_text(saga)
    page.get_by_role("link", name=saga).click()
    expect(page.locator(".step.good:not(.undo)")).to_have_count(5)


def test_the_page_is_served_to_anybody_with_its_policy_and_the_api_to_nobody(
    chromium: Browser, outputs: dict[str, Any]
) -> None:
    context = chromium.new_context()
    answer = context.request.get(outputs["console_url"])
    assert answer.status == 200
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    script = context.request.get(f"{outputs['console_url']}/app.js")
    assert script.headers["content-type"].startswith("text/javascript")
    held = {"if-none-match": script.headers["etag"]}
    assert context.request.get(f"{outputs['console_url']}/app.js", headers=held).status == 304
    assert context.request.get(f"{outputs['console_url']}/nothing.js").status == 404
    assert context.request.get(f"{outputs['api_url']}/approvals").status == 401
    context.close()
