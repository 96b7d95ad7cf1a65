"""The form of a plan: strict, closed, bounded, and every problem at once."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.domain.plan import Claim, Plan, claim_of, parse_plan
from functions.domain.problems import Problem

Proposal = Callable[..., dict[str, Any]]


def problems(sent: Any) -> list[Problem]:
    result = parse_plan(json.dumps(sent).encode())
    assert isinstance(result, list), f"accepted: {result!r:.200}"
    return result


def found(sent: Any) -> set[tuple[str, str]]:
    return {(p.code, p.pointer) for p in problems(sent)}


def test_a_well_formed_plan_is_read_as_it_was_sent(proposal: Proposal) -> None:
    sent = proposal("reserve", "hold", notes=["Consider a credit."])
    plan = parse_plan(json.dumps(sent).encode())
    assert isinstance(plan, Plan)
    written = plan.model_dump(mode="json")
    for step in written["steps"]:
        assert step.pop("uses") == {}
    assert written == sent


def test_every_problem_of_form_is_reported_at_once_with_place_and_step(proposal: Proposal) -> None:
    sent = proposal(
        {"id": "a", "name": "Reserve", "argumnets": {}},
        {"id": "b c", "name": 5, "arguments": [], "uses": {"hold": 1}},
        7,
        raitonale="x",
        notes="none",
        provenance={"run_id": "", "prompt_version": 7},
    )
    del sent["rationale"]
    assert found(sent) == {
        ("bad_format", "/steps/0/name"),
        ("missing_field", "/steps/0/arguments"),
        ("unknown_field", "/steps/0/argumnets"),
        ("bad_format", "/steps/1/id"),
        ("wrong_type", "/steps/1/name"),
        ("wrong_type", "/steps/1/arguments"),
        ("wrong_type", "/steps/1/uses/hold"),
        ("wrong_type", "/steps/2"),
        ("unknown_field", "/raitonale"),
        ("missing_field", "/rationale"),
        ("wrong_type", "/notes"),
        ("bad_format", "/provenance/run_id"),
        ("wrong_type", "/provenance/prompt_version"),
        ("missing_field", "/provenance/source_document_id"),
    }
    by_place = {p.pointer: p for p in problems(sent)}
    assert by_place["/steps/0/name"].step == "a"
    assert by_place["/steps/1/id"].step is None, "an id that does not fit is not quoted as one"
    assert by_place["/raitonale"].hint == "Did you mean “rationale”?"
    assert by_place["/raitonale"].allowed is not None
    assert "rationale" in by_place["/raitonale"].allowed


def test_a_plan_has_between_1_and_50_steps(proposal: Proposal, planned: Proposal) -> None:
    fifty = [planned("reserve", f"r{i}") for i in range(50)]
    assert isinstance(parse_plan(json.dumps(proposal(*fifty)).encode()), Plan)
    assert found(proposal(*fifty, planned("reserve", "one-more"))) == {
        ("too_many_steps", "/steps"),
    }
    assert found({**proposal(), "steps": []}) == {("no_steps", "/steps")}


@pytest.mark.parametrize("steps", [None, {}, "reserve", 3, True])
def test_steps_that_are_no_array_are_of_the_wrong_type(proposal: Proposal, steps: Any) -> None:
    assert found({**proposal(), "steps": steps}) == {("wrong_type", "/steps")}


def test_repeated_step_ids_are_reported_also_beside_other_problems(
    proposal: Proposal, planned: Proposal
) -> None:
    sent = proposal(planned("reserve", "a"), planned("hold", "b"), planned("reserve", "a"), x=1)
    assert found(sent) == {
        ("repeated_step_id", "/steps/2/id"),
        ("unknown_field", "/x"),
    }


def test_a_step_name_with_a_letter_that_only_looks_right_is_refused_naming_the_letter(
    proposal: Proposal, planned: Proposal
) -> None:
    cyrillic = planned("reserv\u0435_stock", "a")
    (problem,) = problems(proposal(cyrillic))
    assert (problem.code, problem.pointer) == ("name_not_ascii", "/steps/0/name")
    assert "position 7" in problem.message
    assert "U+0435 CYRILLIC SMALL LETTER IE" in problem.message


@pytest.mark.parametrize(
    "name", ["Reserve", "1reserve", "reserve-stock", "reserve ", "", "r" * 61, "reserve\n"]
)
def test_a_step_name_is_lower_case_ascii(proposal: Proposal, planned: Proposal, name: str) -> None:
    assert found(proposal(planned(name, "a"))) == {("bad_format", "/steps/0/name")}


@pytest.mark.parametrize(
    ("field", "value", "code"),
    [
        ("request_id", "a b", "bad_format"),
        ("request_id", "a" * 101, "bad_format"),
        ("request_id", None, "wrong_type"),
        ("request_id", 4471, "wrong_type"),
        ("rationale", "", "too_short"),
        ("rationale", "a" * 4001, "too_long"),
        ("notes", ["a"] * 11, "too_long"),
    ],
)
def test_fields_are_bounded_and_nothing_is_converted(
    proposal: Proposal, field: str, value: Any, code: str
) -> None:
    assert found({**proposal(), field: value}) == {(code, f"/{field}")}


@pytest.mark.parametrize("document", ["mail\u200b-88", "mail 88", "m\u0430il-88", "", "d" * 201])
def test_a_source_document_cannot_be_made_to_look_new_by_letters_nobody_sees(
    proposal: Proposal, document: str
) -> None:
    sent = proposal()
    sent["provenance"]["source_document_id"] = document
    assert found(sent) == {("bad_format", "/provenance/source_document_id")}


def test_a_number_where_text_is_asked_for_is_told_to_be_quoted(proposal: Proposal) -> None:
    (problem,) = problems({**proposal(), "request_id": 9007199254740991})
    assert "quotes" in problem.hint


@pytest.mark.parametrize("sent", [[], "plan", 1, None, True])
def test_a_document_that_is_no_object_is_one_problem(sent: Any) -> None:
    assert found(sent) == {("wrong_type", "")}


def test_problems_of_parsing_come_alone() -> None:
    assert [p.code for p in parse_plan(b"{")] == ["invalid_json"]  # type: ignore[union-attr]


def test_a_thousand_unknown_fields_make_a_bounded_answer(proposal: Proposal) -> None:
    sent = {**proposal(), **{f"field_{i}": i for i in range(1000)}}
    assert len(problems(sent)) == 100


_SCRAP = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(0, 1) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["id", "name", "arguments", "uses", "run_id", "x"]), inner, max_size=3
        )
    ),
    max_leaves=8,
)


@given(field=st.sampled_from(["steps", "provenance", "notes", "request_id", "x"]), scrap=_SCRAP)
def test_no_value_in_any_place_raises(proposal: Proposal, field: str, scrap: Any) -> None:
    result = parse_plan(json.dumps({**proposal(), field: scrap}).encode())
    assert isinstance(result, Plan) or all(isinstance(p, Problem) for p in result)


def test_a_malformed_plan_still_says_whose_attempt_it_was(proposal: Proposal) -> None:
    sent = {**proposal(), "steps": []}
    claim = claim_of(json.dumps(sent).encode())
    assert claim is not None
    assert (claim.request_id, claim.source_document_id) == ("request-1", "mail-88")
    varied = claim_of(json.dumps({**sent, "rationale": "Other words."}).encode())
    assert varied is not None
    assert varied.plan_digest != claim.plan_digest


@pytest.mark.parametrize(
    "body", [b"{", b"[]", b"{}", b'{"request_id": 1}', b'{"request_id": "a b"}']
)
def test_what_names_no_usable_request_cannot_be_counted(body: bytes) -> None:
    assert claim_of(body) is None


def test_a_malformed_source_document_is_not_counted_but_the_request_is() -> None:
    claim = claim_of(b'{"request_id": "r", "provenance": {"source_document_id": "a b"}}')
    assert isinstance(claim, Claim)
    assert claim.source_document_id is None
