"""Codes are a promise; messages quote strangers safely; answers are RFC 9457."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from functions.domain.codes import Code, entry_of
from functions.domain.problems import (
    MOST_PROBLEMS,
    ProblemDetails,
    clean,
    is_temporary,
    listed,
    pointer,
    problem,
)


def test_every_code_is_plain_documented_and_an_error_of_http() -> None:
    for code in Code:
        assert re.fullmatch(r"[a-z][a-z0-9_]{0,59}", code.value)
        assert 400 <= code.status <= 503
        assert code.summary
        assert code.doc.endswith(".")
    assert len({code.summary for code in Code}) == len(Code)


def test_codes_that_clients_rely_on_keep_their_status() -> None:
    expected = {
        "too_large": 413,
        "invalid_json": 400,
        "unknown_step": 422,
        "plan_conflict": 409,
        "request_escalated": 409,
        "facts_unavailable": 503,
        "forbidden": 403,
        "not_found": 404,
        "already_decided": 409,
        "approval_expired": 410,
        "not_claimed": 409,
    }
    assert {code: entry_of(code).status for code in expected} == expected


def test_a_catalogues_own_code_answers_as_a_failed_precondition() -> None:
    assert entry_of("order_shipped") is Code.PRECONDITION_FAILED


def test_a_pointer_escapes_as_rfc_6901_says() -> None:
    assert pointer("steps", 0, "a/b", "m~n", "") == "/steps/0/a~1b/m~0n/"
    assert pointer() == ""


def test_hostile_text_in_a_message_loses_what_cannot_be_seen() -> None:
    hostile = "a\u202eb\x1b[31mc\u200bd\ne\u2028f\x00"
    assert clean(hostile) == "a�b�[31mc�d�e�f�"


@given(st.text(), st.text(), st.lists(st.text() | st.integers(0), max_size=20), st.lists(st.text()))
def test_a_problem_can_be_made_from_any_text_and_stays_bounded(
    message: str, hint: str, at: list[str | int], allowed: list[str]
) -> None:
    made = problem(Code.BAD_VALUE, message * 50, hint * 50, at=at, allowed=allowed)
    text = made.model_dump_json()
    assert len(made.message) <= 500
    assert len(made.pointer) <= 1000
    assert not re.search("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text)


def test_allowed_is_there_only_where_it_says_something() -> None:
    plain = problem(Code.BAD_VALUE, "m", "h").model_dump(mode="json")
    assert plain == {"code": "bad_value", "pointer": "", "step": None, "message": "m", "hint": "h"}
    listing = problem(Code.UNKNOWN_STEP, "m", "h", allowed=["a"]).model_dump(mode="json")
    assert listing["allowed"] == ["a"]


def test_one_kind_of_problem_speaks_for_itself() -> None:
    details = ProblemDetails.of([problem(Code.TOO_LARGE, "70000 bytes.", "Shorten it.")])
    assert details.body() == {
        "type": "urn:sagaplane:problem:too_large",
        "title": "Body too large",
        "status": 413,
        "detail": "70000 bytes.",
        "problems": [
            {
                "code": "too_large",
                "pointer": "",
                "step": None,
                "message": "70000 bytes.",
                "hint": "Shorten it.",
            }
        ],
    }


def test_several_kinds_are_a_rejected_plan_with_every_problem_listed_and_what_is_left() -> None:
    several = [problem(Code.UNKNOWN_STEP, "m", "h"), problem(Code.SECOND_PIVOT, "m", "h")]
    body = ProblemDetails.of(several, attempts_left=0).body()
    assert body["type"] == "urn:sagaplane:problem:plan_rejected"
    assert body["status"] == 422
    assert [p["code"] for p in body["problems"]] == ["unknown_step", "second_pivot"]
    assert body["attempts_left"] == 0


def test_what_the_sender_must_change_outweighs_what_only_time_can() -> None:
    missing = problem(Code.FACTS_UNAVAILABLE, "m", "h")
    wrong = problem("order_shipped", "m", "h")
    assert ProblemDetails.of([missing]).status == 503
    assert ProblemDetails.of([missing, wrong]).status == 422
    assert is_temporary([missing, missing])
    assert not is_temporary([missing, wrong])
    assert not is_temporary([])


def test_a_flood_of_problems_is_cut_with_a_last_one_that_says_how_many_more() -> None:
    flood = [problem(Code.UNKNOWN_FIELD, f"{i}", "h") for i in range(250)]
    kept = listed(flood)
    assert len(kept) == MOST_PROBLEMS
    assert kept[-1].code == "too_many_problems"
    assert kept[-1].message.startswith("151 ")
    assert listed(flood[:MOST_PROBLEMS]) == flood[:MOST_PROBLEMS]
