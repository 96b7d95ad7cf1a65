"""Everything can be done without a mouse, on a narrow page, with less motion, in the dark."""

from __future__ import annotations

import itertools
import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser import bodies
from tests.browser.stub import Stub

WITHIN = "document.activeElement"


@pytest.fixture
def page(stub: Stub) -> Page:
    stub.sign_in("ann", "approvers", "operators")
    approval = bodies.approval(approval_id="a1")
    case = bodies.case(case_id="c1", claimed_by="ann", claimed_until=bodies.at(minutes=9))
    stub.says("/approvals", bodies.approvals(approval))
    stub.says("/cases", bodies.cases(case))
    stub.says("/approvals/a1", approval)
    stub.says("/cases/c1", case)
    stub.says("/sagas/saga1", bodies.saga(final=True))
    stub.says("/sagas", {"sagas": [], "next": None})
    page = stub.open()
    expect(page.locator(".card")).to_have_count(2)
    return page


def names(page: Page, presses: int) -> list[str]:
    """What gets the focus, one Tab after the other."""
    found = []
    for _ in range(presses):
        page.keyboard.press("Tab")
        found.append(
            page.evaluate(f"{WITHIN}.innerText || {WITHIN}.getAttribute('aria-label') || ''")
        )
    return found


def test_an_approval_is_found_and_given_with_the_keyboard_alone(stub: Stub, page: Page) -> None:
    assert names(page, 5) == [
        "Skip to the content",
        "Waiting",
        "Sagas",
        "Sign out",
        "Capture 180.00 EUR for order 4471",
    ]
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    expect(page.locator("#choose-approve")).to_be_visible()
    assert names(page, 2) == ["saga1", "Approve …"]
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Yes, approve this")).to_be_focused()
    stub.says("/approvals/a1/decision", bodies.approval("approved"), method="POST")
    page.keyboard.press("Enter")
    expect(page.locator(".notice.good")).to_be_visible()
    [sent] = stub.posted("/approvals/a1/decision")
    assert sent["decision"] == "approve"


def test_escape_takes_a_question_back_and_the_focus_with_it(stub: Stub, page: Page) -> None:
    page.evaluate("location.hash = '#/approvals/a1'")
    page.locator("#choose-reject").press("Enter")
    expect(page.get_by_role("textbox")).to_be_focused()
    page.keyboard.type("because")
    page.keyboard.press("Escape")
    expect(page.locator("#choose-reject")).to_be_focused()
    assert stub.posted("/approvals/a1/decision") == []
    page.keyboard.press("Enter")
    expect(page.get_by_role("textbox")).to_have_value("because")


def test_the_focus_is_held_nowhere(page: Page) -> None:
    page.evaluate("location.hash = '#/cases/c1'")
    page.locator("#choose-done").press("Enter")
    expect(page.get_by_role("textbox")).to_be_focused()
    seen = set()
    for _ in range(30):
        page.keyboard.press("Tab")
        seen.add(page.evaluate(f"{WITHIN}.tagName"))
    assert "BODY" in seen, "out at the end of the page, and in again at its beginning"


def test_the_first_tab_leads_past_the_head_of_the_page(page: Page) -> None:
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    assert "#main" not in page.url


def test_whoever_used_the_link_before_the_script_came_is_shown_what_waits(page: Page) -> None:
    page.evaluate("location.hash = '#main'")
    expect(page.locator(".card")).to_have_count(2)
    expect(page.get_by_role("heading", level=1)).not_to_have_text("Not found")


def test_whatever_has_the_focus_shows_it(page: Page) -> None:
    for _ in range(6):
        page.keyboard.press("Tab")
        outline = page.evaluate(f"getComputedStyle({WITHIN}).outlineStyle")
        assert outline == "solid"


VIEWS = ("#/", "#/approvals/a1", "#/cases/c1", "#/sagas/saga1", "#/sagas", "#/nowhere")


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_has_landmarks_one_title_and_a_name_for_everything_that_can_be_used(
    page: Page, view: str
) -> None:
    page.evaluate("view => { location.hash = view }", view)
    page.wait_for_selector(".body h2, .body form, .empty")
    for landmark in ("banner", "navigation", "main"):
        expect(page.get_by_role(landmark)).to_have_count(1)
    expect(page.get_by_role("heading", level=1)).to_have_count(1)
    assert re.match(r"^.+ · sagaplane$", page.title())
    nameless = page.evaluate(
        """() => [...document.querySelectorAll('a, button, input, select, textarea, [tabindex="0"]')].filter((e) =>
          !(e.innerText || e.getAttribute('aria-label') || e.labels?.length)).map((e) => e.outerHTML)"""
    )
    assert nameless == []
    levels = page.evaluate(
        "[...document.querySelectorAll('h1, h2, h3')].map((e) => Number(e.tagName[1]))"
    )
    assert all(b - a <= 1 for a, b in itertools.pairwise(levels)), levels
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map((e) => e.id)")
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_view_fits_a_narrow_page_and_can_be_read(page: Page, view: str, scheme: str) -> None:
    page.set_viewport_size({"width": 360, "height": 700})
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    page.evaluate("view => { location.hash = view }", view)
    page.wait_for_selector(".body h2, .body form, .empty")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    faint = page.evaluate(CONTRAST)
    assert faint == []
    small = page.evaluate(
        """() => [...document.querySelectorAll('main button, nav a')].filter((e) =>
          e.getBoundingClientRect().height < 32).map((e) => e.textContent)"""
    )
    assert small == []


def test_nothing_moves_for_who_asks_for_less_motion(page: Page) -> None:
    page.evaluate("location.hash = '#/sagas/saga1'")
    page.wait_for_selector(".timeline")
    assert page.evaluate("document.getAnimations().length") == 0


CONTRAST = """() => {
  const numbers = (c) => c.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (e) => {
    for (let at = e; at; at = at.parentElement) {
      const c = numbers(getComputedStyle(at).backgroundColor);
      if (c.length < 4 || c[3] > 0) return c;
    }
    return [255, 255, 255];
  };
  const faint = [];
  for (const e of document.querySelectorAll('body *')) {
    const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    if (!own || !e.checkVisibility() || e.closest('svg, .unseen, .skip, option')) continue;
    const [a, b] = [light(numbers(getComputedStyle(e).color)), light(behind(e))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) faint.push(`${e.className} ${e.textContent.slice(0, 30)} ${ratio.toFixed(2)}`);
  }
  return faint;
}"""
