"""Arguments satisfy the step's schema, strictly; what was validated is what is stored, hashed and sent."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator

from functions.domain.catalogue import Catalogue, Kind
from functions.domain.plan import Plan, parse_plan
from functions.domain.problems import Problem
from functions.domain.validation import Validated, check_static, validate

Plans = Callable[..., Plan]
Proposal = Callable[..., dict[str, Any]]
FactsOf = Callable[..., dict[Any, Any]]


def hold(**arguments: Any) -> dict[str, Any]:
    fitting = {"order_id": "4471", "amount": "180.00", "currency": "EUR"}
    return {"id": "hold", "name": "hold", "arguments": {**fitting, **arguments}}


def reserve(**arguments: Any) -> dict[str, Any]:
    fitting = {"order_id": "4471", "quantity": 1}
    return {"id": "reserve", "name": "reserve", "arguments": {**fitting, **arguments}}


def problems(plan: Plans, shop: Catalogue, *steps: Any) -> list[Problem]:
    return list(check_static(plan(*steps), shop).problems)


def test_every_misfit_of_every_step_is_reported_with_its_place(
    plan: Plans, shop: Catalogue
) -> None:
    first = reserve(quantity=11, qantity=1)
    second = hold(amount="180", currency="eur")
    del second["arguments"]["order_id"]
    found = problems(plan, shop, first, second)
    assert {(p.code, p.pointer, p.step) for p in found} == {
        ("out_of_range", "/steps/0/arguments/quantity", "reserve"),
        ("unknown_argument", "/steps/0/arguments/qantity", "reserve"),
        ("missing_argument", "/steps/1/arguments/order_id", "hold"),
        ("not_one_of", "/steps/1/arguments/currency", "hold"),
    }
    by_code = {p.code: p for p in found}
    assert by_code["unknown_argument"].hint == "Did you mean “quantity”?"
    assert by_code["unknown_argument"].allowed == ("order_id", "quantity", "gift")
    assert by_code["out_of_range"].hint == "How many units."
    assert by_code["not_one_of"].allowed == ("EUR", "USD", "GBP", "JPY")


@pytest.mark.parametrize(
    ("amount", "code"),
    [
        (180, "amount_not_exact"),
        (180.0, "amount_not_exact"),
        (True, "amount_not_exact"),
        (None, "amount_not_exact"),
        ("1.8e2", "amount_not_exact"),
        ("-180.00", "amount_not_exact"),
        ("0180.00", "amount_not_exact"),
        ("180.000", "amount_not_exact"),
        ("999999999999.00", "amount_not_exact"),
        ("१८०.००", "amount_not_exact"),
        ("180.00 ", "amount_not_exact"),
        ("180", "amount_decimals"),
    ],
)
def test_money_is_one_exact_text_and_everything_else_is_refused_with_a_hint(
    plan: Plans, shop: Catalogue, amount: Any, code: str
) -> None:
    (problem,) = problems(plan, shop, hold(amount=amount))
    assert (problem.code, problem.pointer) == (code, "/steps/0/arguments/amount")
    assert '"180.00"' in problem.hint


def test_1_8e2_as_a_number_is_refused_like_any_float(proposal: Proposal, shop: Catalogue) -> None:
    body = json.dumps(proposal("hold")).replace('"180.00"', "1.8e2").encode()
    parsed = parse_plan(body)
    assert isinstance(parsed, Plan)
    assert [p.code for p in check_static(parsed, shop).problems] == ["amount_not_exact"]


@pytest.mark.parametrize("quantity", [1.0, 1.5, "1", True, None, [1]])
def test_an_integer_is_not_made_from_anything_else(
    plan: Plans, shop: Catalogue, quantity: Any
) -> None:
    (problem,) = problems(plan, shop, reserve(quantity=quantity))
    assert (problem.code, problem.pointer) == ("wrong_type", "/steps/0/arguments/quantity")


def test_a_number_where_text_is_asked_for_is_not_converted(plan: Plans, shop: Catalogue) -> None:
    (problem,) = problems(plan, shop, reserve(order_id=4471))
    assert problem.code == "wrong_type"
    assert problem.hint.startswith("Put it in quotes")


def test_what_an_agent_wrote_is_quoted_short_and_without_control_characters(
    plan: Plans, shop: Catalogue
) -> None:
    hostile = "x\u202e\x1b[2J" + "y" * 5000
    (problem,) = problems(plan, shop, reserve(**{hostile: 1}))
    text = problem.model_dump_json()
    assert len(text) < 1500
    assert "\u202e" not in text
    assert "\\u001b" not in text


def test_the_canonical_text_is_made_from_validated_arguments_and_hashed(
    plan: Plans, shop: Catalogue, facts: FactsOf
) -> None:
    result = validate(plan("reserve", "hold"), shop, facts())
    assert isinstance(result, Validated)
    first, second = result.steps
    assert first.canonical_arguments == '{"gift":false,"order_id":"4471","quantity":1}'
    assert second.canonical_arguments == '{"amount":"180.00","currency":"EUR","order_id":"4471"}'
    for step in result.steps:
        digest = hashlib.sha256(step.canonical_arguments.encode()).hexdigest()
        assert step.arguments_digest == digest
        again = step.step.arguments.model_validate_json(step.canonical_arguments)
        assert again == step.arguments


def test_a_default_written_out_gives_the_same_arguments_digest(
    plan: Plans, shop: Catalogue, facts: FactsOf
) -> None:
    short = validate(plan(reserve()), shop, facts())
    long = validate(plan(reserve(gift=False)), shop, facts())
    assert isinstance(short, Validated)
    assert isinstance(long, Validated)
    assert short.steps[0].arguments_digest == long.steps[0].arguments_digest


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    kind: Literal["box", "bag"]
    size: Annotated[int, Field(ge=1, le=3)] | None = None


class Parcel(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    order_id: Annotated[str, StringConstraints(max_length=10)]
    parts: Annotated[tuple[Part, ...], Field(max_length=2)] = ()
    to: Annotated[str, StringConstraints(max_length=20)] = ""

    @field_validator("to")
    @classmethod
    def _known_place(cls, to: str) -> str:
        if to == "nowhere":
            raise ValueError("cannot be reached")
        return to


def test_nested_arguments_are_pointed_at_where_they_are(
    plan: Plans, step: Callable[..., Any], catalogue: Callable[..., Catalogue]
) -> None:
    parcels = catalogue(step("pack", Kind.COMPENSABLE, Parcel))
    parts = [{"kind": "crate", "szie": 1}, {"size": 4}]
    arguments = {"order_id": "1", "parts": parts, "to": "nowhere"}
    sent = {"id": "p", "name": "pack", "arguments": arguments}
    found = check_static(plan(sent), parcels).problems
    assert {(p.code, p.pointer.removeprefix("/steps/0/arguments"), p.allowed) for p in found} == {
        ("not_one_of", "/parts/0/kind", ("box", "bag")),
        ("unknown_argument", "/parts/0/szie", ("kind", "size")),
        ("missing_argument", "/parts/1/kind", None),
        ("out_of_range", "/parts/1/size", None),
        ("bad_value", "/to", None),
    }
    assert next(p for p in found if p.code == "bad_value").message == "“to”: cannot be reached."


def test_arguments_that_are_not_the_models_fields_at_all_never_raise(
    plan: Plans, shop: Catalogue
) -> None:
    deep: Any = {}
    for _ in range(14):
        deep = {"a": deep}
    sent = {"id": "r", "name": "reserve", "arguments": {"order_id": deep, "": [], "[key]": {}}}
    assert {p.pointer for p in problems(plan, shop, sent)} == {
        "/steps/0/arguments/order_id",
        "/steps/0/arguments/quantity",
        "/steps/0/arguments/",
        "/steps/0/arguments/[key]",
    }
