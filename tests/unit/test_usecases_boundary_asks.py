"""What the boundary asks before it starts: the facts of its own conditions, and people about exactly what would run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pydantic import BaseModel

from functions.domain.approvals import ApprovalState
from functions.domain.catalogue import Fact, Precondition, Violation
from functions.usecases.records import read_approval
from tests.unit.kernel import OrderFact, shop
from tests.unit.test_usecases_boundary import PIVOT, asked, at_the_pivot, pivot, the_approval


def _never(_: BaseModel, __: Any) -> list[Violation]:
    return [Violation("never", "This never holds.", "Do not ask.")]


def test_only_the_facts_and_conditions_of_the_step_itself_are_asked() -> None:
    catalogue = shop()
    order = catalogue.fact("order")
    other = Fact(
        "stock", replace(order.read, adapter="target.adapters:stock"), OrderFact, order.query
    )
    catalogue = replace(
        catalogue,
        facts=(other, *catalogue.facts),
        preconditions=(Precondition("never", "stock", _never), *catalogue.preconditions),
    )
    bench = at_the_pivot(catalogue=catalogue)
    assert pivot(bench) == "applied"
    [question] = bench.asked
    assert set(question.facts) == {"order"}


def test_a_question_still_open_is_asked_anew_when_something_else_would_run() -> None:
    bench = at_the_pivot()
    first = asked(bench)
    bench.catalogue = replace(bench.catalogue, policy_version="2")
    assert pivot(bench) == "ApprovalRequired"
    assert (the_approval(bench).round, the_approval(bench).state) == (2, ApprovalState.OPEN)
    old = read_approval(bench.store, first.id)
    assert old is not None
    assert old.state is ApprovalState.CLOSED


def test_of_a_plan_that_a_person_submitted_only_that_person_is_excluded() -> None:
    bench = at_the_pivot()
    head = bench.head
    provenance = head.provenance.model_copy(update={"actor_type": "person", "owner": None})
    bench.put(head, head.model_copy(update={"provenance": provenance}))
    assert asked(bench).excluded == ("agent-1",)
    assert bench.step(PIVOT).rounds == 1
