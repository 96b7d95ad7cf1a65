"""The page says what it is loading, what failed and what to do, and shows what the API says, whatever that is."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, Request, expect

from tests.browser import bodies
from tests.browser.stub import AUTH, BASE, Stub

APPROVAL = "/approvals/a1"
CASE = "/cases/c1"


@pytest.fixture
def ann(stub: Stub) -> Stub:
    """Somebody who is an approver and an operator."""
    stub.sign_in("ann", "approvers", "operators")
    return stub


def approval_page(stub: Stub, **changes: Any) -> Page:
    state = changes.pop("state", "open")
    stub.says(APPROVAL, bodies.approval(state, approval_id="a1", **changes))
    return stub.open("#/approvals/a1")


def case_page(stub: Stub, **changes: Any) -> Page:
    stub.says(CASE, bodies.case(case_id="c1", **changes))
    return stub.open("#/cases/c1")


def test_nobody_is_signed_in(stub: Stub) -> None:
    page = stub.open("#/approvals/a1")
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()
    assert stub.asked == []


def test_signing_in_asks_with_pkce_and_a_state_and_nothing_secret_in_the_address(
    stub: Stub,
) -> None:
    page = stub.open("#/cases/c1")
    with page.expect_request(f"{AUTH}/**") as asked:
        page.get_by_role("button", name="Sign in").click()
    query = dict(p.split("=", 1) for p in asked.value.url.split("?")[1].split("&"))
    assert query["response_type"] == "code"
    assert query["client_id"] == "client"
    assert query["code_challenge_method"] == "S256"
    assert len(query["code_challenge"]) == 43
    assert len(query["state"]) >= 32
    assert "verifier" not in asked.value.url
    stub.strays.clear()


@pytest.mark.parametrize(
    "query", ["?code=stolen&state=another", "?code=stolen", "?error=denied&state=x"]
)
def test_an_answer_to_a_sign_in_that_nobody_began_signs_nobody_in(stub: Stub, query: str) -> None:
    page = stub.page
    page.goto(f"{BASE}/console{query}")
    expect(page.get_by_role("alert")).to_contain_text("another sign-in")
    assert "code" not in page.url
    assert page.evaluate("sessionStorage.length") == 0


def begun(stub: Stub) -> dict[str, str]:
    """A sign-in that somebody has begun: what the sign-in page was asked with."""
    stub.says(f"{AUTH}/oauth2/authorize", {})
    page = stub.open("#/cases/c1")
    with page.expect_request(f"{AUTH}/oauth2/authorize?**") as asked:
        page.get_by_role("button", name="Sign in").click()
    return {name: values[0] for name, values in parse_qs(urlsplit(asked.value.url).query).items()}


def test_only_the_answer_to_one_s_own_sign_in_is_taken(stub: Stub) -> None:
    query = begun(stub)
    stub.page.goto(f"{query['redirect_uri']}?code=stolen&state={query['state']}x")
    expect(stub.page.get_by_role("alert")).to_contain_text("another sign-in")
    assert [p for method, p, _ in stub.asked if method == "POST"] == []


def test_a_code_is_exchanged_once_with_what_only_this_tab_knows(stub: Stub) -> None:
    query = begun(stub)
    claims = base64.urlsafe_b64encode(b'{"username":"ann","cognito:groups":["operators"]}').decode()
    granted = {
        "access_token": f"h.{claims}.s",
        "refresh_token": "kept by nobody",
        "expires_in": 3600,
    }
    stub.says(f"{AUTH}/oauth2/token", granted, method="POST")
    stub.says(CASE, bodies.case(case_id="c1"))
    page = stub.page
    page.goto(f"{query['redirect_uri']}?code=good&state={query['state']}")
    expect(page.locator(".sentence")).to_be_visible()
    assert page.url == f"{BASE}/console#/cases/c1"
    [body] = [
        b for method, path, b in stub.asked if (method, path) == ("POST", f"{AUTH}/oauth2/token")
    ]
    form = {name: values[0] for name, values in parse_qs(body).items()}
    digest = hashlib.sha256(form["code_verifier"].encode()).digest()
    assert base64.urlsafe_b64encode(digest).decode().rstrip("=") == query["code_challenge"]
    assert (form["code"], form["redirect_uri"]) == ("good", query["redirect_uri"])
    assert "kept by nobody" not in page.evaluate("JSON.stringify(sessionStorage)")
    page.reload()
    expect(page.locator(".sentence")).to_be_visible()


def test_a_code_that_is_refused_signs_nobody_in(stub: Stub) -> None:
    query = begun(stub)
    stub.says(f"{AUTH}/oauth2/token", {"error": "invalid_grant"}, 400, "POST")
    stub.page.goto(f"{query['redirect_uri']}?code=old&state={query['state']}")
    expect(stub.page.get_by_role("alert")).to_contain_text("could not be completed")
    expect(stub.page.get_by_role("button", name="Sign in")).to_be_visible()


def test_what_is_loaded_is_said_while_it_is_loading(ann: Stub) -> None:
    waiting: list[Any] = []
    ann.context.route("**/approvals?*", lambda route: waiting.append(route))  # noqa: PLW0108 - it wants a function
    ann.says("/cases", bodies.cases())
    page = ann.open()
    expect(page.locator(".loading")).to_have_text("Loading waiting for a person.")
    page.wait_for_function("true")
    [route] = waiting
    route.fulfill(status=200, json=bodies.approvals())
    expect(page.locator(".loading")).to_have_count(0)


def test_nothing_waits(ann: Stub) -> None:
    ann.says("/approvals", bodies.approvals())
    ann.says("/cases", bodies.cases())
    page = ann.open()
    expect(page.locator(".empty")).to_have_text(
        ["No approval waits for one of your groups.", "No open case belongs to one of your groups."]
    )


def test_a_page_of_other_groups_alone_is_not_the_end_of_the_list(ann: Stub) -> None:
    def answer(request: Request) -> tuple[int, dict[str, Any]]:
        if "cursor" in request.url:
            return 200, bodies.approvals(bodies.approval())
        return 200, bodies.approvals(following="more")

    ann.answers["GET", "/approvals"] = answer
    ann.says("/cases", bodies.cases())
    page = ann.open()
    expect(page.locator(".card")).to_have_count(1)


def test_an_api_that_cannot_be_reached_is_said_and_tried_again(ann: Stub) -> None:
    ann.answers["GET", APPROVAL] = lambda _: None
    page = ann.open("#/approvals/a1")
    expect(page.get_by_role("alert")).to_contain_text("The API cannot be reached.")
    ann.says(APPROVAL, bodies.approval(approval_id="a1"))
    page.get_by_role("button", name="Try again").click()
    expect(page.locator(".sentence")).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)


def test_what_was_read_stays_when_the_api_fails_afterwards(ann: Stub) -> None:
    page = approval_page(ann)
    expect(page.locator(".sentence")).to_be_visible()
    ann.refuses(APPROVAL, 503, "unavailable", "The service can not answer.")
    expect(page.get_by_role("alert")).to_contain_text("cannot answer just now", timeout=15000)
    expect(page.locator(".sentence")).to_be_visible()


@pytest.mark.parametrize(
    ("status", "code", "title"),
    [(403, "forbidden", "You may not see this"), (404, "not_found", "There is no such thing")],
)
def test_what_one_may_not_see_is_said_with_the_api_s_own_words(
    ann: Stub, status: int, code: str, title: str
) -> None:
    ann.refuses(CASE, status, code, "Members of another group own it.")
    page = ann.open("#/cases/c1")
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text(title)
    expect(alert).to_contain_text("Members of another group own it.")
    expect(alert).to_contain_text("A hint.")


def test_a_sign_in_that_is_over_keeps_what_somebody_was_writing(ann: Stub) -> None:
    page = approval_page(ann)
    page.get_by_role("button", name="Reject").click()
    page.get_by_role("textbox").fill("The customer has cancelled.")
    ann.says(f"{APPROVAL}/decision", {"message": "Unauthorized"}, 401, "POST")
    page.get_by_role("button", name="Yes, reject this").click()
    expect(page.locator(".notice")).to_contain_text("Nothing was sent.")
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()
    expect(page.get_by_role("textbox")).to_have_value("The customer has cancelled.")
    assert page.evaluate("sessionStorage.getItem('sagaplane.token')") is None


def test_a_token_is_no_longer_used_once_it_has_expired(stub: Stub) -> None:
    stub.sign_in("ann", seconds=10)
    page = stub.open()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    assert stub.asked == []


def test_the_facts_stand_in_order_and_the_agent_s_words_last(ann: Stub) -> None:
    page = approval_page(ann)
    expect(page.locator("main h2")).to_have_text(
        [
            "Exactly this would run",
            "What exists already",
            "On yes, this happens",
            "On no, this is undone",
            "Your decision",
            "Written by the agent, not checked",
        ]
    )
    expect(page.locator(".sentence")).to_have_text("Capture 180.00 EUR for order 4471")
    expect(page.locator(".countdown")).to_have_text(re.compile(r"^in 59 min \d\d s$"))


def test_numbers_are_shown_digit_for_digit(ann: Stub) -> None:
    page = approval_page(ann, arguments='{"amount":180.50,"id":9007199254740993,"big":1e400}')
    expect(page.locator(".arguments dd")).to_have_text(["180.50", "9007199254740993", "1e400"])


def test_an_approval_takes_two_steps_and_is_sent_once(ann: Stub) -> None:
    page = approval_page(ann)
    ann.says("/sagas/saga1", bodies.saga(status="running"))

    def approved(_: Request) -> tuple[int, dict[str, Any]]:
        ann.says(
            APPROVAL,
            bodies.approval("approved", approval_id="a1", decisions=[bodies.decided("ann")]),
        )
        return 200, bodies.approval("approved", approval_id="a1")

    ann.answers["POST", f"{APPROVAL}/decision"] = approved
    page.get_by_role("button", name="Approve").click()
    assert ann.posted(f"{APPROVAL}/decision") == []
    page.get_by_role("button", name="Yes, approve this").dblclick()
    expect(page.locator(".notice.good")).to_contain_text("You approved.")
    expect(page.get_by_text("Nothing is left to decide")).to_be_visible()
    expect(page.locator("main")).to_contain_text("Its saga: ▸ running")
    assert ann.posted(f"{APPROVAL}/decision") == [
        {"decision": "approve", "binds": bodies.approval()["binds"]}
    ]


def test_a_rejection_asks_for_a_reason_first(ann: Stub) -> None:
    page = approval_page(ann)
    ann.says(f"{APPROVAL}/decision", bodies.approval("rejected", approval_id="a1"), method="POST")
    page.get_by_role("button", name="Reject").click()
    page.get_by_role("button", name="Yes, reject this").click()
    expect(page.get_by_role("alert").filter(has_text="write this down")).to_be_visible()
    expect(page.get_by_role("textbox")).to_be_focused()
    assert ann.posted(f"{APPROVAL}/decision") == []
    page.get_by_role("textbox").fill("  Cancelled by telephone.  ")
    page.get_by_role("button", name="Yes, reject this").click()
    expect(page.locator(".notice.good")).to_contain_text("You rejected.")
    assert ann.posted(f"{APPROVAL}/decision") == [
        {
            "decision": "reject",
            "reason": "Cancelled by telephone.",
            "binds": bodies.approval()["binds"],
        }
    ]


@pytest.mark.parametrize(
    ("status", "code", "state", "title"),
    [
        (409, "already_decided", "rejected", "Not done: something has changed meanwhile"),
        (410, "approval_expired", "expired", "Too late: the time to decide is over"),
    ],
)
def test_whoever_is_too_late_sees_what_is_so_now(
    ann: Stub, status: int, code: str, state: str, title: str
) -> None:
    page = approval_page(ann)

    def refused(_: Request) -> None:
        ann.says(
            APPROVAL,
            bodies.approval(
                state, approval_id="a1", decisions=[bodies.decided("bob", "reject", "no")]
            ),
        )
        ann.says("/sagas/saga1", bodies.saga(status="compensating"))

    ann.refuses(
        f"{APPROVAL}/decision", status, code, "bob rejected it.", method="POST", saga_id="saga1"
    )
    answer = ann.answers["POST", f"{APPROVAL}/decision"]
    ann.answers["POST", f"{APPROVAL}/decision"] = lambda r: (refused(r), answer)[1]
    page.get_by_role("button", name="Approve").click()
    page.get_by_role("button", name="Yes, approve this").click()
    expect(page.get_by_role("alert")).to_contain_text(title)
    expect(page.get_by_role("alert")).to_contain_text("bob rejected it.")
    expect(page.locator("main")).to_contain_text("Its saga: ↶ compensating")
    expect(page.get_by_text(f"Nothing is left to decide: it is {state}.")).to_be_visible()
    expect(page.get_by_role("button", name="Approve")).to_have_count(0)


def test_an_answer_that_never_came_is_not_called_a_failure(ann: Stub) -> None:
    page = approval_page(ann)
    ann.answers["POST", f"{APPROVAL}/decision"] = lambda _: None
    page.get_by_role("button", name="Approve").click()
    page.get_by_role("button", name="Yes, approve this").click()
    expect(page.get_by_role("alert")).to_contain_text("It may have been recorded all the same")
    expect(page.get_by_role("button", name="Yes, approve this")).to_be_enabled()


def test_several_approvers_see_how_many_have_agreed_and_nobody_agrees_twice(ann: Stub) -> None:
    page = approval_page(ann, needed=3, decisions=[bodies.decided("bob"), bodies.decided("ann")])
    expect(page.locator("main")).to_contain_text("2 of 3 have approved, by members of approvers")
    expect(page.locator(".notice.good")).to_contain_text("You said: approve")
    expect(page.locator(".notice.good")).to_contain_text("1 more")
    expect(page.get_by_role("button", name="Approve")).to_have_count(0)


def test_with_one_of_two_everybody_sees_who_and_when_and_how_many_are_missing(ann: Stub) -> None:
    bob = bodies.decided("bob", reason="Checked with the shop.")
    page = approval_page(ann, needed=2, decisions=[bob])
    places = page.locator(".places > li")
    expect(places).to_have_count(2)
    expect(places.first).to_contain_text(
        re.compile(r"✓ bob: approve, .* – Checked with the shop\.")
    )
    expect(places.last).to_have_text("○ another member of approvers")
    expect(page.get_by_role("button", name="Approve")).to_be_visible()
    ann.says("/approvals", bodies.approvals(bodies.approval(needed=2, decisions=[bob])))
    ann.says("/cases", bodies.cases())
    page.goto(page.url.partition("#")[0] + "#/")
    expect(page.locator(".card")).to_contain_text("1 of 2 have approved")
    expect(page.locator(".card")).to_contain_text("So far: bob: approve, ")


def test_a_second_answer_is_announced_with_how_many_have_agreed(ann: Stub) -> None:
    page = approval_page(ann, needed=3, decisions=[bodies.decided("bob")])
    expect(page.locator(".places > .free")).to_have_count(2)
    both = [bodies.decided("bob"), bodies.decided("carl")]
    ann.says(APPROVAL, bodies.approval(approval_id="a1", needed=3, decisions=both))
    expect(page.get_by_text("Somebody has answered: 2 of 3 have approved.")).to_be_attached(
        timeout=15000
    )
    expect(page.locator(".places > .free")).to_have_count(1)


def test_a_round_that_is_asked_anew_leads_to_the_one_that_counts(ann: Stub) -> None:
    ann.says("/sagas/saga1", bodies.saga(status="awaiting_approval"))
    page = approval_page(ann, state="closed", superseded_by="saga1-2-2")
    way = page.get_by_role("link", name="Go to the question that counts")
    expect(way).to_have_attribute("href", "#/approvals/saga1-2-2")
    expect(page.get_by_role("button", name="Approve")).to_have_count(0)


def test_who_answers_for_the_agent_is_told_that_others_decide(ann: Stub) -> None:
    page = approval_page(ann, excluded=["support-agent", "ann"])
    expect(page.locator(".notice")).to_contain_text("You submitted the plan, or answer for the")
    expect(page.get_by_role("button", name="Approve")).to_have_count(0)


def test_the_first_of_two_approvers_is_told_that_another_has_to_agree(ann: Stub) -> None:
    page = approval_page(ann, needed=2)
    page.get_by_role("button", name="Approve").click()
    expect(page.locator(".asking")).to_contain_text("Then 1 more of you must agree.")


def test_who_is_in_another_group_is_told_whose_decision_it_is(stub: Stub) -> None:
    stub.sign_in("olga", "operators")
    page = approval_page(stub)
    expect(page.locator(".notice")).to_contain_text("Members of approvers decide it.")
    expect(page.get_by_role("button", name="Approve")).to_have_count(0)


def test_an_approval_whose_time_is_over_can_not_be_answered(ann: Stub) -> None:
    page = approval_page(ann, expires_at=bodies.at(minutes=-1))
    expect(page.get_by_text("The time to decide is over.")).to_be_visible()
    expect(page.get_by_role("button", name="Approve")).to_have_count(0)


def test_a_state_that_the_page_does_not_know_is_shown_by_its_name(ann: Stub) -> None:
    ann.says("/sagas/saga1", bodies.saga(status="paused_by_moon"))
    page = approval_page(ann, state="open")
    ann.says(APPROVAL, bodies.approval(approval_id="a1") | {"state": "under_review"})
    page.reload()
    expect(page.locator("main")).to_contain_text("under review")
    expect(page.locator("main")).to_contain_text("paused by moon")


def test_a_case_is_claimed_before_anything_is_done_about_it(ann: Stub) -> None:
    page = case_page(ann)
    expect(page.locator(".sentence")).to_have_text("“Ship order 4471” has to be finished.")
    expect(page.get_by_role("button", name="Try it again")).to_have_count(0)

    def claimed(_: Request) -> tuple[int, dict[str, Any]]:
        mine = bodies.case(case_id="c1", claimed_by="ann", claimed_until=bodies.at(minutes=15))
        ann.says(CASE, mine)
        return 200, mine

    ann.answers["POST", f"{CASE}/claim"] = claimed
    page.get_by_role("button", name="Claim this case").click()
    expect(page.get_by_role("button", name="Try it again")).to_be_visible()
    expect(page.get_by_role("button", name="Renew the claim")).to_be_visible()
    expect(page.locator(".countdown").first).to_have_text(re.compile(r"in 14 min \d\d s"))


def test_what_the_api_allows_is_offered_also_what_the_page_has_never_heard_of(ann: Stub) -> None:
    mine = {"claimed_by": "ann", "claimed_until": bodies.at(minutes=9)}
    ways = [bodies.way("retry"), bodies.way("done"), bodies.way("ask_the_moon")]
    page = case_page(ann, allowed=[w["resolution"] for w in ways], ways=ways, **mine)
    ann.says(f"{CASE}/resolution", bodies.case(case_id="c1", state="settled"), method="POST")
    expect(page.locator("[data-keep=resolution] button")).to_have_text(
        ["Try it again …", "Done by hand …", "ask the moon …"]
    )
    page.get_by_role("button", name="ask the moon").click()
    page.get_by_role("textbox").fill("Found on the shelf.")
    page.get_by_role("button", name="Yes: ask the moon").click()
    expect(page.locator(".notice.good")).to_be_visible()
    assert ann.posted(f"{CASE}/resolution") == [
        {"resolution": "ask_the_moon", "evidence": "Found on the shelf."}
    ]


def test_trying_again_needs_no_evidence_and_doing_by_hand_does(ann: Stub) -> None:
    page = case_page(ann, claimed_by="ann", claimed_until=bodies.at(minutes=9))
    ann.says(f"{CASE}/resolution", bodies.case(case_id="c1", state="settled"), method="POST")
    page.get_by_role("button", name="Done by hand").click()
    page.get_by_role("button", name="Yes: done by hand").click()
    assert ann.posted(f"{CASE}/resolution") == []
    page.get_by_role("button", name="Back", exact=True).click()
    page.get_by_role("button", name="Try it again").click()
    page.get_by_role("button", name="Yes: try it again").click()
    expect(page.locator(".notice.good")).to_be_visible()
    assert ann.posted(f"{CASE}/resolution") == [{"resolution": "retry"}]


def test_somebody_else_s_claim_is_respected_until_it_ends(ann: Stub) -> None:
    page = case_page(ann, claimed_by="olga", claimed_until=bodies.at(minutes=4))
    expect(page.locator(".notice")).to_contain_text("Claimed by olga")
    expect(page.locator("main").get_by_role("button")).to_have_text(["Add what you found …"])
    ann.says(
        CASE, bodies.case(case_id="c1", claimed_by="olga", claimed_until=bodies.at(minutes=-1))
    )
    page.reload()
    expect(page.get_by_role("button", name="Claim this case")).to_be_visible()


MINE = {"claimed_by": "ann"}


def held(stub: Stub, **changes: Any) -> Page:
    """A case that the person at the page holds."""
    return case_page(stub, **{**MINE, "claimed_until": bodies.at(minutes=9), **changes})


def test_one_s_own_claim_is_renewed_given_back_and_handed_over(ann: Stub) -> None:
    page = held(ann)
    for what in ("renewal", "release", "handover"):
        ann.says(f"{CASE}/{what}", bodies.case(case_id="c1", **MINE), method="POST")
    page.get_by_role("button", name="Renew the claim").click()
    expect(page.locator(".notice.good")).to_be_visible()
    page.get_by_role("button", name="Give it back …").click()
    page.get_by_role("textbox").fill("Off until Monday.")
    page.get_by_role("button", name="Yes, give it back").click()
    expect(page.locator(".notice.good")).to_contain_text("free again")
    assert ann.posted(f"{CASE}/release") == [{"note": "Off until Monday."}]
    page.get_by_role("button", name="Hand it over").click()
    page.get_by_role("button", name="Yes, hand it over").click()
    assert ann.posted(f"{CASE}/handover") == []
    page.get_by_label("To whom?").fill("olga")
    page.get_by_role("button", name="Yes, hand it over").click()
    expect(page.locator(".notice.good")).to_contain_text("handed over")
    assert ann.posted(f"{CASE}/handover") == [{"to": "olga"}]


def test_what_is_found_is_added_by_anybody_and_an_attempt_by_whoever_holds_the_case(
    ann: Stub,
) -> None:
    page = held(ann)
    ann.says(f"{CASE}/observations", bodies.case(case_id="c1", **MINE), method="POST")
    page.get_by_role("button", name="Say what you are about to do").click()
    page.get_by_role("textbox").fill("I book it.")
    page.get_by_role("button", name="Put it on record").click()
    expect(page.locator(".notice.good")).to_contain_text("on record")
    page.get_by_role("button", name="Add what you found").click()
    page.get_by_role("textbox").fill("It is in the depot.")
    page.get_by_role("button", name="Add it").click()
    expect(page.locator(".notice.good")).to_contain_text("added")
    assert ann.posted(f"{CASE}/observations") == [
        {"kind": "attempted", "text": "I book it."},
        {"kind": "observed", "text": "It is in the depot."},
    ]


def test_the_next_person_sees_what_was_attempted_before_anything_else_is_done(ann: Stub) -> None:
    last = {
        "at": bodies.at(),
        "who": "olga",
        "what": "attempted",
        "text": "I book it.",
        "facts": {},
    }
    page = case_page(ann, attempted=last, events=[last])
    expect(page.locator(".notice.warn")).to_contain_text("Attempted by olga")
    expect(page.locator(".notice.warn")).to_contain_text("the same key")


def test_what_takes_two_is_proposed_with_the_alternate_that_is_chosen(ann: Stub) -> None:
    page = held(ann, **(bodies.proposed() | MINE | {"proposal": None, "proposed": None}))
    ann.says(f"{CASE}/proposal", bodies.case(case_id="c1", **MINE), method="POST")
    page.get_by_role("button", name="Let somebody else undo it").click()
    form = page.locator("form.asking")
    expect(form).to_contain_text("Two people have to agree")
    form.get_by_label("Who takes over?").select_option("on_call")
    form.get_by_role("textbox").fill("The role was removed.")
    form.get_by_role("button", name="Propose").click()
    expect(page.locator(".notice.good")).to_contain_text("Another person has to confirm")
    assert ann.posted(f"{CASE}/proposal") == [
        {
            "resolution": "retry_with_alternate",
            "reason": "The role was removed.",
            "alternate": "on_call",
        }
    ]


def test_a_proposal_is_confirmed_or_refused_by_another_person(ann: Stub) -> None:
    proposed = bodies.proposed() | {"claimed_by": "olga", "claimed_until": bodies.at(minutes=9)}
    page = case_page(ann, **proposed)
    ann.says(f"{CASE}/proposal/answer", bodies.case(case_id="c1"), method="POST")
    section = page.locator("section", has_text="Proposed, and not done yet")
    for told in ("Let somebody else undo it", "on_call", "The role was removed.", "olga"):
        expect(section).to_contain_text(told)
    page.get_by_role("button", name="Refuse …").click()
    page.get_by_role("button", name="Yes, refuse this").click()
    assert ann.posted(f"{CASE}/proposal/answer") == []
    page.get_by_role("button", name="Back").click()
    page.get_by_role("button", name="Confirm …").click()
    page.get_by_role("button", name="Yes: retry with alternate").click()
    expect(page.locator(".notice.good")).to_be_visible()
    number = proposed["proposal"]["proposal_id"]
    assert ann.posted(f"{CASE}/proposal/answer") == [{"proposal_id": number, "answer": "confirm"}]


def test_one_s_own_proposal_is_withdrawn_and_not_confirmed(ann: Stub) -> None:
    body = bodies.proposed()
    body["proposal"]["by"] = "ann"
    page = held(ann, **(body | MINE))
    expect(page.get_by_role("button", name="Confirm …")).to_have_count(0)
    expect(page.get_by_role("button", name="Leave the effect in place")).to_have_count(0)
    expect(page.get_by_role("button", name="Try it again …")).to_be_visible()
    ann.says(f"{CASE}/proposal/answer", bodies.case(case_id="c1", **MINE), method="POST")
    page.get_by_role("button", name="Withdraw …").click()
    page.get_by_role("button", name="Yes, take it back").click()
    expect(page.locator(".notice.good")).to_contain_text("took it back")


def test_a_request_is_given_back_to_its_agent_for_a_number_of_plans(ann: Stub) -> None:
    ways = [bodies.way("close"), bodies.way("reopen", attempts=["1", "2", "3"])]
    page = held(ann, ways=ways, allowed=["close", "reopen"])
    ann.says(f"{CASE}/resolution", bodies.case(case_id="c1", state="settled"), method="POST")
    page.get_by_role("button", name="Let the agent try again").click()
    page.get_by_label("How many more plans?").select_option("2")
    page.get_by_role("textbox").fill("The customer has told us more.")
    page.get_by_role("button", name="Yes: let the agent try again").click()
    expect(page.locator(".notice.good")).to_be_visible()
    assert ann.posted(f"{CASE}/resolution") == [
        {"resolution": "reopen", "evidence": "The customer has told us more.", "attempts": 2}
    ]


def test_evidence_is_shown_whole_with_times_that_can_be_read(ann: Stub) -> None:
    page = case_page(ann)
    evidence = page.locator(".evidence")
    for told in ("saga1:3:do", "create_shipment", "30 Nov 2026"):
        expect(evidence).to_contain_text(told)
    assert "1796055961952" not in evidence.inner_text()


def test_sagas_are_looked_for_by_request_document_and_status_and_the_address_says_so(
    ann: Stub,
) -> None:
    one = {
        "saga_id": "s1",
        "request_id": "r1",
        "source_document_id": "mail-1",
        "catalogue": "fulfilment",
    }
    found = {
        **one,
        "status": "completed",
        "reason": None,
        "created_at": bodies.at(),
        "ended_at": None,
    }
    ann.says("/sagas", {"sagas": [found], "next": None})
    page = ann.open("#/sagas")
    page.get_by_label("Look for").select_option("Source document")
    page.get_by_role("searchbox").fill("mail-1")
    page.get_by_label("Status").select_option("completed")
    page.get_by_role("button", name="Search").click()
    expect(page).to_have_url(re.compile(r"#/sagas\?by=document&id=mail-1&status=completed$"))
    expect(page.locator(".card")).to_have_count(1)
    assert ann.queries("/sagas")[-1] == {
        "status": ["completed"],
        "source_document_id": ["mail-1"],
        "limit": ["25"],
    }
    page.get_by_label("Look for").select_option("Request id")
    page.get_by_role("searchbox").fill("r1")
    with page.expect_request("**/sagas?*request_id=r1*"):
        page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("by=request"))
    ann.says("/sagas/s1", bodies.saga(saga_id="s1"))
    page.get_by_label("Look for").select_option("Saga id")
    page.get_by_role("searchbox").fill("s1")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("#/sagas/s1$"))


def test_more_sagas_are_shown_when_asked_for(ann: Stub) -> None:
    def answer(request: Request) -> tuple[int, dict[str, Any]]:
        last = "cursor" in request.url
        one = {"saga_id": "s2" if last else "s1", "request_id": "r", "source_document_id": "m"}
        rest = {
            "catalogue": "f",
            "status": "running",
            "reason": None,
            "created_at": bodies.at(),
            "ended_at": None,
        }
        return 200, {"sagas": [{**one, **rest}], "next": None if last else "more"}

    ann.answers["GET", "/sagas"] = answer
    page = ann.open("#/sagas")
    page.get_by_role("button", name="Show more").click()
    expect(page.locator(".card code")).to_have_text(["s1", "s2"])
    expect(page.get_by_role("button", name="Show more")).to_have_count(0)


@pytest.mark.parametrize(
    ("pivot", "direction", "told"),
    [
        ("ahead", "forward", "point of no return, not reached"),
        ("crossing", "forward", "point of no return, being crossed"),
        ("crossed", "finishing", "point of no return, crossed"),
        ("ahead", "compensating", "point of no return, never reached"),
    ],
)
@pytest.mark.parametrize("width", [360, 1280])
def test_the_picture_has_a_line_that_says_whether_it_was_crossed(
    ann: Stub, pivot: str, direction: str, told: str, width: int
) -> None:
    ann.page.set_viewport_size({"width": width, "height": 800})
    ann.says("/sagas/saga1", bodies.saga(pivot=pivot, direction=direction, final=True))
    page = ann.open("#/sagas/saga1")
    expect(page.locator(".line-words").first).to_contain_text(told)
    expect(page.locator(f".no-return.{pivot}")).to_have_count(1)
    boxes = page.evaluate(
        """() => {
          const box = (e) => e.getBoundingClientRect();
          const steps = [...document.querySelectorAll('.step:not(.undo)')].map(box);
          const undos = [...document.querySelectorAll('.step.undo')].map(box);
          return {steps, undos, line: box(document.querySelector('.no-return'))};
        }"""
    )
    lowest = max(b["bottom"] for b in boxes["steps"])
    assert all(b["top"] >= lowest for b in boxes["undos"]), "undo stands below"
    side = ("left", "right") if width == 1280 else ("top", "bottom")
    before, after = boxes["steps"][:2], boxes["steps"][2:]
    assert all(b[side[1]] <= boxes["line"][side[0]] + 3 for b in before)
    assert all(b[side[0]] >= boxes["line"][side[1]] - 3 for b in after)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_step_with_an_open_case_waits_for_a_person_and_leads_to_it(ann: Stub) -> None:
    body = bodies.saga(status="awaiting_manual_resolution", pivot="crossed", direction="finishing")
    body["steps"][3]["forward"]["state"] = "released"
    body["steps"][3]["case"] = "c1"
    ann.says("/sagas/saga1", body)
    page = ann.open("#/sagas/saga1")
    expect(page.locator(".step.person .state")).to_have_text("! waits for a person")
    expect(page.locator(".notice a")).to_have_attribute("href", "#/cases/c1")


def test_the_picture_is_told_in_words_as_well(ann: Stub) -> None:
    ann.says("/sagas/saga1", bodies.saga(final=True))
    page = ann.open("#/sagas/saga1")
    name = page.get_by_role("img").evaluate("e => e.querySelector('title').textContent")
    assert "0 reserve_stock: completed" in name
    assert "point of no return, not reached, before step 2" in name
    assert (
        "Undo, last step first: 1 void_authorization: prepared; 0 release_stock: prepared." in name
    )


def test_everything_that_happened_to_a_saga_is_asked_for_when_it_is_unfolded(ann: Stub) -> None:
    entry = {
        "at": bodies.at(), "until": None, "kind": "case", "step": 3, "name": "create_shipment",
        "who": "olga", "what": "retry", "text": "<b>The carrier is back.</b>", "ref": "c1",
        "facts": {"cause": "budget_spent"},
    }  # fmt: skip
    ann.says("/sagas/s1", bodies.saga(5, saga_id="s1", status="completed", final=True))
    ann.refuses("/sagas/s1/audit", 503, "unavailable", "Not now.")
    page = ann.open("#/sagas/s1")
    expect(page.locator("#audit")).to_be_visible()
    assert not ann.queries("/sagas/s1/audit")
    page.locator("#audit summary").click()
    expect(page.locator("#audit summary")).to_contain_text("could not be loaded")
    ann.says("/sagas/s1/audit", {"saga_id": "s1", "entries": [entry]})
    page.locator("#audit summary").click()
    line = page.locator("#audit li")
    expect(line).to_contain_text("3 create_shipment: retry, olga")
    expect(line).to_contain_text("<b>The carrier is back.</b>")
    expect(line).to_contain_text("budget_spent")


def test_a_saga_is_followed_until_it_ends_and_a_change_is_announced(ann: Stub) -> None:
    ann.says("/sagas/saga1", bodies.saga())
    page = ann.open("#/sagas/saga1")
    page.locator("#step-1 summary").click()
    ann.says("/sagas/saga1", bodies.saga(status="completed", final=True))
    expect(page.get_by_role("status")).to_have_text("The saga is now completed.", timeout=8000)
    expect(page.locator("#step-1")).to_have_attribute("open", "")
    expect(page.locator("#step-1 summary")).to_be_focused()
    seen = len(ann.asked)
    page.wait_for_timeout(3500)
    assert len(ann.asked) == seen


def test_every_call_carries_the_token_and_the_token_is_nowhere_else(ann: Stub) -> None:
    page = approval_page(ann)
    token = json.loads(page.evaluate("sessionStorage.getItem('sagaplane.token')"))["access"]
    with page.expect_request(f"**{APPROVAL}") as asked:
        page.reload()
    assert asked.value.headers["authorization"] == f"Bearer {token}"
    assert token not in page.url
    assert token not in page.content()
    assert page.evaluate("localStorage.length") == 0
    assert ann.context.cookies() == []
