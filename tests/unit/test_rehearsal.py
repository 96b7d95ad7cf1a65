"""A rehearsal of a plan: what its catalogue declares decides how each fault ends, and no real target is met."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from functions.catalogues.environments.catalogue import CATALOGUE as ENVIRONMENTS
from functions.catalogues.fulfilment.catalogue import CATALOGUE as FULFILMENT
from functions.domain.catalogue import Catalogue, Operation
from functions.domain.problems import Code
from functions.ports import Change
from functions.usecases import conclusion
from infra.local.demo import plans
from simulation.boundaries import BOUNDARIES
from simulation.boundary import Boundary
from simulation.faults import Fault
from simulation.play import Play
from simulation.rehearse import ROWS, Ending, Owed, boundaries_of, plays, rehearsed
from simulation.simulated import simulated
from simulation.told import told
from tests.simulation import catalogue as small

ORDER = Path(__file__).resolve().parents[2] / "docs" / "examples" / "order-4471.json"
CATALOGUES: Mapping[str, Catalogue] = {c.name: c for c in (FULFILMENT, ENVIRONMENTS)}
TITLES: Mapping[str, Boundary] = {row.title: row for row in ROWS}


def played(body: bytes) -> Play:
    found = plays(body, CATALOGUES)
    assert isinstance(found, Play)
    return found


@pytest.fixture(scope="module")
def order() -> Play:
    return played(ORDER.read_bytes())


def endings(play: Play, index: int, title: str) -> Mapping[Fault | None, Ending]:
    row = rehearsed(play, index, TITLES[title])
    assert row is not None
    assert [e.violated for e in row.endings.values() if e.violated] == []
    return row.endings


def test_a_process_that_dies_before_the_pivot_does_not_keep_the_saga_from_completing(
    order: Play,
) -> None:
    ends = endings(order, 0, "forward: after the call, before the record")
    assert ends[Fault.CRASH] == Ending("completed")


def test_a_pivot_that_is_refused_leads_back(order: Play) -> None:
    assert endings(order, 2, "target: refuses the step")[None] == Ending("compensated")


def test_a_step_past_the_pivot_that_is_refused_waits_for_a_person(order: Play) -> None:
    ends = endings(order, 3, "target: refuses the step")
    assert ends[None] == Ending("case", (Owed("step_refused", "create_shipment", "do"),))


def test_an_undo_whose_credential_is_revoked_waits_for_a_person_at_that_undo(order: Play) -> None:
    ends = endings(order, 1, "undo: credential revoked")
    assert ends[None] == Ending("case", (Owed("authority_lost", "authorize_payment", "undo"),))
    assert ends[Fault.DENIAL] == ends[None]


def test_an_undo_of_what_somebody_else_has_changed_is_blocked(order: Play) -> None:
    ends = endings(order, 0, "target: has been changed by somebody else")
    assert ends[None] == Ending("case", (Owed("undo_blocked", "reserve_stock", "undo"),))


def test_budgets_are_the_catalogue_s_own(order: Play) -> None:
    ends = endings(order, 3, "target: is not available")
    assert ends[None] == Ending("case", (Owed("budget_spent", "create_shipment", "do"),))
    ends = endings(order, 3, "forward: last attempt spent")
    assert ends[None] == Ending("completed")
    assert ends[Fault.CRASH].cases == (Owed("budget_spent", "create_shipment", "do"),)


@pytest.mark.parametrize(
    ("target", "outcome"),
    [("full", Ending("completed")), ("nothing", "outcome_unsettled")],
)
def test_what_a_target_declares_decides_how_a_lost_answer_ends(target: str, outcome: Any) -> None:
    play = small.play("p", (target,), "plain")
    ending = endings(play, 0, "forward: answer lost")[None]
    assert ending == outcome or ending.cases == (Owed(outcome, "p0", "do"),)


def test_an_undo_of_high_impact_waits_for_a_person_before_anything_else(order: Play) -> None:
    play = small.play("cp", ("person", "full"), "plain")
    ends = endings(play, 1, "target: refuses the step")
    assert ends[None] == Ending("case", (Owed("undo_needs_person", "c0", "undo"),))
    assert endings(order, 2, "target: refuses the step")[None] == Ending("compensated")


def test_a_catalogue_whose_steps_work_with_roles_alone_loses_its_authority_as_well() -> None:
    body = json.dumps(plans.plan("r", plans.environment_steps("blue"), catalogue="environments"))
    play = played(body.encode())
    assert ENVIRONMENTS.steps[0].run.authority.credential is None
    [owed] = endings(play, 0, "undo: credential revoked")[None].cases
    assert owed == Owed("authority_lost", play.steps[0].name, "undo")


def test_the_same_step_twice_is_two_effects_each_with_a_fate_of_its_own() -> None:
    plan = json.loads(ORDER.read_text())
    again = {**plan["steps"][0]["arguments"], "warehouse": "C"}
    plan["steps"].insert(1, {"id": "more", "name": "reserve_stock", "arguments": again})
    plan["steps"][4]["uses"] = {"reserve_stock": "more"}
    play = played(json.dumps(plan).encode())
    ends = endings(play, 1, "target: refuses the undo")
    assert ends[None] == Ending("case", (Owed("undo_blocked", "reserve_stock", "undo"),))


def test_a_boundary_that_no_run_comes_to_has_no_row(order: Play) -> None:
    assert rehearsed(order, 0, TITLES["settling: going back, answered, not recorded"]) is None


def test_rows_that_do_not_concern_a_step_are_left_out(order: Play) -> None:
    found = {(index, boundary.title) for index, boundary in boundaries_of(order)}
    assert (2, "gate: precondition changed meanwhile") in found
    assert (0, "forward: the next keyless call, while a zombie's refusal is due") not in found
    assert not [title for index, title in found if index == 3 and title.startswith("undo")]


def test_every_boundary_of_the_crash_matrix_is_rehearsed_but_those_at_which_people_act() -> None:
    assert {b.title for b in BOUNDARIES} - {*TITLES} == {
        b.title for b in BOUNDARIES if b.group == "people"
    }


def test_no_adapter_policy_or_fact_of_a_catalogue_is_left() -> None:
    for catalogue in CATALOGUES.values():
        made = simulated(catalogue)
        for operation in _operations(made):
            assert operation.adapter.startswith("simulated.")
            assert operation.authority.credential
        assert made.policy.startswith("simulated.")


def test_what_a_step_declares_is_kept() -> None:
    for before, after in zip(FULFILMENT.steps, simulated(FULFILMENT).steps, strict=True):
        assert (after.kind, after.retry, after.requires) == (
            before.kind,
            before.retry,
            before.requires,
        )
        assert after.settlement.settles_after == before.settlement.settles_after
        assert bool(after.settlement.tombstone) == bool(before.settlement.tombstone)


def test_a_plan_that_does_not_validate_is_not_rehearsed() -> None:
    plan = json.loads(ORDER.read_text())
    plan["steps"].insert(0, {**plan["steps"][2], "id": "early"})
    found = plays(json.dumps(plan).encode(), CATALOGUES)
    assert not isinstance(found, Play)
    assert Code.SECOND_PIVOT in {problem.code for problem in found}


def test_a_kernel_that_is_broken_is_told(order: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> list[Change]:
        raise TypeError("a bug")

    monkeypatch.setattr(conclusion, "_head_changes", broken)
    row = rehearsed(order, 4, TITLES["forward: before the claim"])
    assert row is not None
    body = told(order, [row])
    assert any("unplanned" in each for each in body["violations"])


def _operations(catalogue: Catalogue) -> list[Operation]:
    found = [fact.read for fact in catalogue.facts]
    for step in catalogue.steps:
        found += [step.run, *_settling(step.settlement)]
        if step.undo is not None:
            found += [step.undo.run, *_settling(step.undo.settlement)]
    return found


def _settling(settlement: Any) -> list[Operation]:
    return [each for each in (settlement.status, settlement.tombstone) if each is not None]
