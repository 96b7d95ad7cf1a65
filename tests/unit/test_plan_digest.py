"""When two posts are the same plan, and what an approval is about."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from functions.domain.plan import Plan, intent_digest, parse_plan, plan_digest

Plans = Callable[..., Plan]
Proposal = Callable[..., dict[str, Any]]


def test_the_same_plan_has_the_same_digest_however_its_json_is_written(proposal: Proposal) -> None:
    sent = proposal()
    plain = parse_plan(json.dumps(sent).encode())
    reordered = {name: sent[name] for name in reversed(sent)} | {"notes": []}
    other = parse_plan(json.dumps(reordered, indent=3).encode())
    assert isinstance(plain, Plan)
    assert isinstance(other, Plan)
    assert plan_digest(plain) == plan_digest(other)
    assert intent_digest(plain) == intent_digest(other)


def test_the_request_id_names_a_plan_and_is_no_part_of_it(plan: Plans) -> None:
    assert plan_digest(plan(request_id="request-2")) == plan_digest(plan())


_HOLD = {
    "id": "hold",
    "name": "hold",
    "arguments": {"order_id": "4471", "amount": "180.00", "currency": "EUR"},
}


@pytest.mark.parametrize(
    "step",
    [
        {**_HOLD, "id": "hold-2"},
        {**_HOLD, "name": "charge"},
        {**_HOLD, "uses": {"reserve": "reserve"}},
        {**_HOLD, "arguments": {"order_id": "4471", "amount": "180.01", "currency": "EUR"}},
    ],
    ids=["id", "name", "uses", "arguments"],
)
def test_any_change_of_a_step_changes_both_digests(plan: Plans, step: dict[str, Any]) -> None:
    before, after = plan("reserve", _HOLD), plan("reserve", step)
    assert plan_digest(before) != plan_digest(after)
    assert intent_digest(before) != intent_digest(after)


def test_order_of_steps_catalogue_and_provenance_are_part_of_both_digests(plan: Plans) -> None:
    source = {"run_id": "run-1", "prompt_version": "7", "source_document_id": "mail-89"}
    plans = [
        plan("reserve", "hold"),
        plan("hold", "reserve"),
        plan("reserve"),
        plan("reserve", "hold", catalogue="store"),
        plan("reserve", "hold", provenance=source),
    ]
    assert len({plan_digest(p) for p in plans}) == len(plans)
    assert len({intent_digest(p) for p in plans}) == len(plans)


@pytest.mark.parametrize("words", [{"rationale": "Other words."}, {"notes": ["A note."]}])
def test_words_make_another_plan_but_not_another_intent(plan: Plans, words: dict[str, Any]) -> None:
    assert plan_digest(plan(**words)) != plan_digest(plan())
    assert intent_digest(plan(**words)) == intent_digest(plan())


def test_text_is_hashed_as_it_was_written_and_not_normalised(plan: Plans) -> None:
    composed, decomposed = plan(rationale="caf\u00e9"), plan(rationale="cafe\u0301")
    assert plan_digest(composed) != plan_digest(decomposed)
