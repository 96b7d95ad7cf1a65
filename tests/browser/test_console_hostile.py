"""Whatever an agent writes stays text, stays in its frame, and hides nothing of what the approver decides on."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.browser import bodies
from tests.browser.hostile import AWAY, families
from tests.browser.stub import Stub

CORPUS = families()
FACTS = (
    "Capture 180.00 EUR for order 4471",
    "above 150.00 EUR",
    "0 of 1 has approved, by members of approvers",
    "180.00",
    "release_stock: Reserve 2 of LAMP-1",
)
IN_FRAME = {"SECTION", "H2", "H3", "P", "UL", "LI", "DIV", "SPAN", "BR", "BUTTON"}
SEEN = """() => {
  const box = (e) => e.getBoundingClientRect();
  const agent = document.querySelector('.agent');
  const facts = [...document.querySelectorAll('.sentence, .body > .facts dd, .arguments dd, .columns li, #choose-approve, #choose-reject')];
  const covered = facts.filter((fact) => {
    fact.scrollIntoView({block: 'center'});
    const {left, top, height} = box(fact);
    const found = document.elementFromPoint(left + 5, top + height / 2);
    return !(found && (fact.contains(found) || found.contains(fact)) && !agent.contains(found));
  });
  scrollTo(0, 0);
  const style = getComputedStyle(document.querySelector('.agent .words'));
  return {
    covered: covered.map((fact) => fact.textContent),
    below: facts.every((fact) => box(fact).bottom <= box(agent).top),
    tags: [...new Set([...document.querySelectorAll('.agent, .agent *')].map((e) => e.tagName))],
    attributes: [...new Set([...document.querySelectorAll('.agent *')].flatMap((e) => e.getAttributeNames()))],
    frames: document.querySelectorAll('.agent').length,
    label: document.querySelector('.agent h2').innerText,
    text: agent.textContent,
    facts: document.querySelector('.body').innerText.slice(0, document.querySelector('.body').innerText.indexOf('Written by the agent')),
    height: Math.max(...[...document.querySelectorAll('.agent .words')].map((e) => box(e).height)),
    isolated: style.unicodeBidi,
    wide: document.documentElement.scrollWidth - innerWidth,
    ran: window.ran ?? null,
    title: document.title,
  };
}"""


@pytest.fixture
def page(stub: Stub) -> Page:
    stub.sign_in()
    stub.says("/approvals", bodies.approvals())
    stub.says("/cases", bodies.cases())
    return stub.open()


def show(stub: Stub, page: Page, number: int, agent: dict[str, Any]) -> dict[str, Any]:
    """The approval whose agent wrote this, as it stands on the page."""
    id_ = f"saga-{number}"
    stub.says(f"/approvals/{id_}", bodies.approval(agent=agent, approval_id=id_))
    page.evaluate("id => { location.hash = `#/approvals/${id}` }", id_)
    page.wait_for_function(
        "id => document.querySelector('[data-keep]')?.dataset.version.startsWith(id + ' ')", arg=id_
    )
    return dict(page.evaluate(SEEN))


def test_the_corpus_has_three_hundred_texts_and_none_twice() -> None:
    texts = [text for family in CORPUS.values() for text in family]
    assert len(texts) == len(set(texts)) == 300


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("family", CORPUS)
def test_no_rationale_runs_asks_for_or_hides_anything(
    stub: Stub, page: Page, family: str, width: int
) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    for number, text in enumerate(CORPUS[family]):
        seen = show(stub, page, number, {"rationale": text, "notes": [text]})
        held = {"family": family, "text": text[:80]}
        assert {**held, "covered": seen["covered"]} == {**held, "covered": []}
        assert (seen["below"], seen["wide"] <= 0, seen["ran"]) == (True, True, None), held
        assert set(seen["tags"]) <= IN_FRAME, held
        assert set(seen["attributes"]) <= {
            "id", "class", "dir", "title", "type", "aria-expanded", "aria-label",
        }, held  # fmt: skip
        assert (seen["frames"], seen["label"]) == (1, "Written by the agent, not checked"), held
        assert seen["isolated"] == "isolate", held
        assert seen["height"] < 900, held
        assert seen["title"] == "Approval · sagaplane", held
        assert unseen(seen["text"]) == [], held
        for fact in FACTS:
            assert fact in seen["facts"], held
        assert AWAY not in seen["facts"], held
    assert page.url.startswith(page.evaluate("location.origin"))


def unseen(text: str) -> list[str]:
    """Characters that a reader would not see, or that turn what they see."""
    return [
        hex(ord(c))
        for c in text
        if unicodedata.category(c) in {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"} and c != "\n"
    ]


def test_what_is_invisible_is_named(stub: Stub, page: Page) -> None:
    text = "pay \u202e18.00\u202c now\u200b\x1b[31m"
    show(stub, page, 1, {"rationale": text, "notes": []})
    marks = page.locator(".agent .mark")
    assert marks.all_inner_texts() == ["U+202E", "U+202C", "U+200B", "U+001B"]
    assert marks.first.get_attribute("title") == "right-to-left override"
    assert "18.00" in page.locator(".agent").inner_text()


def test_line_breaks_that_would_push_everything_away_are_counted(stub: Stub, page: Page) -> None:
    seen = show(stub, page, 1, {"rationale": "first" + "\n" * 5 + "last", "notes": []})
    assert "5 line breaks" in seen["text"]
    assert seen["height"] < 120


def test_a_long_text_is_cut_and_shown_whole_when_asked_for(stub: Stub, page: Page) -> None:
    text = " ".join(f"word{n}" for n in range(500))
    show(stub, page, 1, {"rationale": text, "notes": []})
    words = page.locator(".agent .words")
    assert "word499" not in words.inner_text()
    page.get_by_role("button", name="Its reasons: show all").click()
    assert "word499" in words.inner_text()
    assert page.evaluate(SEEN)["covered"] == []
    page.get_by_role("button", name="Its reasons: show all").click()
    assert "word499" not in words.inner_text()


def test_other_languages_are_shown_as_they_are(stub: Stub, page: Page) -> None:
    text = "Der Kunde möchte es früher. הלקוח מבקש זאת. お客様のご要望です。"
    seen = show(stub, page, 1, {"rationale": text, "notes": []})
    assert text in seen["text"]
    assert page.locator(".agent .mark").count() == 0


TEXTS = [family[number] for family in CORPUS.values() for number in (0, 5, 11)]


@pytest.mark.parametrize("text", TEXTS)
def test_hostile_texts_from_elsewhere_are_texts_as_well(stub: Stub, page: Page, text: str) -> None:
    """A target's answers, other people's reasons and a plan's arguments come from outside too."""
    event = {"at": bodies.at(hours=-1), "who": text[:300], "what": "claimed", "text": text}
    event = {**event, "facts": {text[:60]: text[:300]}}
    proposed = bodies.proposed()
    proposed["proposal"] |= {"by": text[:300], "reason": text[:500]}
    evidence = {"last": text, text[:200]: {"history": [{"reason": text}]}}
    case = bodies.case(
        **proposed,
        case_id="c1",
        obligation=text[:500],
        why=text[:500],
        evidence=evidence,
        events=[event],
        attempted=event,
    )
    stub.says("/cases/c1", case)
    stub.says("/cases", bodies.cases(case))
    answered = [bodies.decided("ann", "reject", text[:500])]
    approval = bodies.approval(
        "rejected",
        approval_id="a1",
        sentence=text[:500],
        reason=text[:500],
        decisions=answered,
        arguments=text[:1000],
    )
    stub.says("/approvals/a1", approval)
    stub.says("/approvals", bodies.approvals(approval))
    stub.says("/sagas/saga1", bodies.saga(reason=text[:500], final=True))
    for view in ("#/cases/c1", "#/approvals/a1", "#/sagas/saga1", "#/"):
        page.evaluate("view => { location.hash = view }", view)
        page.wait_for_selector(".body h2")
        assert unseen(page.locator("main").evaluate("e => e.textContent")) == []
        assert page.evaluate("window.ran ?? null") is None
        strange = "main :is(script, style, img, iframe, object, video, form:not(.search), meta, link, base, template)"
        assert page.locator(strange).count() == 0
        hrefs = page.locator("main a").evaluate_all(
            "links => links.map(l => l.getAttribute('href'))"
        )
        assert [h for h in hrefs if not re.match(r"^#/", h)] == []
