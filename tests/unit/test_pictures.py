"""A machine as a picture: all of its states and ways, and nothing else."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from typing import Any

import pytest

from statemachines import names
from statemachines.golden.machines import golden_machines
from statemachines.pictures.mermaid import mermaid
from statemachines.pictures.sketch import Part, sketch
from statemachines.pictures.svg import svg
from tests.unit.machines import machine

GOLDEN = {name: each.definition for name, each in golden_machines().items()}
SVG = "{http://www.w3.org/2000/svg}"


def ways_of(definition: Mapping[str, Any]) -> set[tuple[str, str]]:
    """Read from the definition itself, without the code that draws."""
    found = set()
    for name, state in definition["States"].items():
        targets = [state.get("Next"), *(c["Next"] for c in state.get("Catch", []))]
        found |= {(name, t) for t in targets if t not in {None, names.STOPPED}}
    return found


@pytest.mark.parametrize("name", GOLDEN)
def test_a_picture_has_every_state_and_every_way_but_those_that_give_up(name: str) -> None:
    drawn = sketch(GOLDEN[name])
    assert {p.name for p in drawn.places} == set(GOLDEN[name]["States"]) - {names.STOPPED}
    assert {(w.origin, w.target) for w in drawn.ways} == ways_of(GOLDEN[name])


def test_the_boundary_is_told_from_the_other_steps_and_people_from_machines() -> None:
    drawn = sketch(GOLDEN["fulfilment.capture_and_ship.asl.json"])
    parts = {place.name: place.part for place in drawn.places}
    assert parts["2 capture_payment"] is Part.BOUNDARY
    assert parts["1 authorize_payment"] is Part.STEP
    assert parts["approve 2 capture_payment"] is Part.GATE
    assert parts["undo case 1 authorize_payment"] is Part.UNDO_CASE
    why = {(w.origin, w.target): w.why for w in drawn.ways}
    assert why["2 capture_payment", "approve 2 capture_payment"] == "needs people"
    assert why["settle 2 capture_payment", "begin 2 capture_payment"] == "did not happen"
    assert why["0 reserve_stock", "1 authorize_payment"] == ""


@pytest.mark.parametrize("name", GOLDEN)
def test_mermaid_defines_each_node_once_and_every_way_has_both_ends(name: str) -> None:
    drawn = sketch(GOLDEN[name])
    text = mermaid(drawn)
    nodes = re.findall(r"^  (s\d+)[\[({]", text, re.MULTILINE)
    ways = re.findall(r"^  (s\d+) (?:-->|-\. [a-z ]+ \.->) (s\d+)$", text, re.MULTILINE)
    assert len(nodes) == len(set(nodes)) == len(drawn.places)
    assert len(ways) == len(drawn.ways)
    assert {end for way in ways for end in way} <= set(nodes)


@pytest.mark.parametrize("name", GOLDEN)
def test_svg_is_well_formed_and_no_two_states_lie_on_each_other(name: str) -> None:
    drawn = sketch(GOLDEN[name])
    root = ET.fromstring(svg(drawn))  # noqa: S314 - made here
    boxes = [
        tuple(float(rect.attrib[a]) for a in ("x", "y", "width", "height"))
        for rect in root.iter(f"{SVG}rect")
        if "x" in rect.attrib
    ]
    assert len(boxes) == len(drawn.places)
    for number, (x1, y1, w1, h1) in enumerate(boxes):
        for x2, y2, w2, h2 in boxes[number + 1 :]:
            assert x1 + w1 <= x2 or x2 + w2 <= x1 or y1 + h1 <= y2 or y2 + h2 <= y1
    assert [t.text for t in root.iter(f"{SVG}text")] == [p.name for p in drawn.places]


def test_undos_that_run_side_by_side_are_one_box_with_a_line_for_each() -> None:
    drawn = sketch(machine("ccp", {0: set(), 1: set()}).definition)
    [wave] = [p for p in drawn.places if p.part is Part.UNDO]
    first, second = wave.lines
    assert (first[:7], second[:7]) == ("undo 0 ", "undo 1 ")
    assert f"{first}<br/>{second}" in mermaid(drawn)
    assert ET.fromstring(svg(drawn)) is not None  # noqa: S314 - made here


def test_what_is_no_machine_is_refused() -> None:
    with pytest.raises(ValueError, match="no States"):
        sketch({})
