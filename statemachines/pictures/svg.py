"""A machine as SVG: the plan goes down in the middle, the way back goes up on the left, people are at the edges.

Drawn here and not by a tool, so that a picture needs nothing but this package and is the same text for the same machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape

from statemachines.pictures.sketch import Part, Place, Sketch, Way

_LETTER, _HEIGHT, _LINE = 8, 40, 18
_GAP, _DOWN, _MARGIN = 70, 64, 40
_NARROWEST = 160
_COLUMNS = {
    Part.UNDO_CASE: 0,
    Part.UNDO: 1,
    Part.FINISH: 1,
    Part.BEGIN: 2,
    Part.STEP: 3,
    Part.BOUNDARY: 3,
    Part.GATE: 4,
    Part.SETTLE: 4,
    Part.CASE: 4,
}
_BELOW = {Part.GATE: 1, Part.SETTLE: 2}
"""Beside the boundary there are more states than one: lines further down."""
_BOUNDARY_LINES = 4
_COLOURS = {
    Part.STEP: ("#e8f1fb", "#2b6cb0"),
    Part.BOUNDARY: ("#fdf0d5", "#b7791f"),
    Part.GATE: ("#f3e8fd", "#6b46c1"),
    Part.SETTLE: ("#fdf0d5", "#b7791f"),
    Part.CASE: ("#f3e8fd", "#6b46c1"),
    Part.BEGIN: ("#fbe8e8", "#c53030"),
    Part.UNDO: ("#fbe8e8", "#c53030"),
    Part.UNDO_CASE: ("#f3e8fd", "#6b46c1"),
    Part.FINISH: ("#fbe8e8", "#c53030"),
}
_STYLE = (
    "text{font:13px ui-monospace,monospace;fill:#1a202c;text-anchor:middle}"
    ".way{stroke:#4a5568;fill:none;marker-end:url(#head)}"
    ".failed{stroke-dasharray:5 4;stroke:#a0aec0}"
)
_HEAD = (
    '<marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
    'orient="auto"><path d="M0 0 8 4 0 8z" fill="#4a5568"/></marker>'
)


@dataclass(frozen=True, slots=True)
class _Box:
    left: float
    top: float
    width: float
    height: float

    @property
    def middle(self) -> tuple[float, float]:
        return self.left + self.width / 2, self.top + self.height / 2


def svg(drawn: Sketch) -> str:
    """The picture, with a line feed at its end."""
    boxes = _boxes(drawn)
    width = max(b.left + b.width for b in boxes.values()) + _MARGIN
    height = max(b.top + b.height for b in boxes.values()) + _MARGIN
    title = escape(drawn.title)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{title}">',
        f"<title>{title}</title>",
        f"<style>{_STYLE}</style>",
        f"<defs>{_HEAD}</defs>",
        f'<rect width="{width:g}" height="{height:g}" fill="#fff"/>',
        *(_way(way, boxes) for way in drawn.ways),
        *(_state(place, boxes[place.name]) for place in drawn.places),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _boxes(drawn: Sketch) -> Mapping[str, _Box]:
    boundary = next((p.index for p in drawn.places if p.part is Part.BOUNDARY), None)
    used = {_COLUMNS[place.part] for place in drawn.places}
    columns = {column: number for number, column in enumerate(sorted(used))}
    longest = max(len(line) for place in drawn.places for line in place.lines)
    wide = max(_NARROWEST, (longest + 3) * _LETTER)
    boxes = {}
    for place in drawn.places:
        left = _MARGIN + columns[_COLUMNS[place.part]] * (wide + _GAP)
        top = _MARGIN + _line_of(place, boundary) * _DOWN
        boxes[place.name] = _Box(left, top, wide, _HEIGHT + (len(place.lines) - 1) * _LINE)
    return boxes


def _line_of(place: Place, boundary: int | None) -> int:
    """The first line is for the end of the way back; then one for each step, and a few for the boundary."""
    if place.part is Part.FINISH:
        return 0
    line = 1 + place.index
    if boundary is not None and place.index > boundary:
        line += _BOUNDARY_LINES - 1
    if boundary is not None and place.index == boundary:
        beside = {Part.CASE: 3, Part.BEGIN: 1}
        line += _BELOW.get(place.part, beside.get(place.part, 0))
    return line


def _state(place: Place, box: _Box) -> str:
    fill, stroke = _COLOURS[place.part]
    thick = 3 if place.part is Part.BOUNDARY else 1
    x, _ = box.middle
    rounded = _HEIGHT / 2 if place.part in {Part.GATE, Part.CASE, Part.UNDO_CASE} else 4
    words = "".join(
        f'<text x="{x:g}" y="{box.top + 25 + number * _LINE:g}">{escape(line)}</text>'
        for number, line in enumerate(place.lines)
    )
    return (
        f'<g><rect x="{box.left:g}" y="{box.top:g}" width="{box.width:g}" height="{box.height:g}" '
        f'rx="{rounded:g}" fill="{fill}" stroke="{stroke}" stroke-width="{thick}"/>{words}</g>'
    )


def _way(way: Way, boxes: Mapping[str, _Box]) -> str:
    (x1, y1), (x2, y2) = _ends(boxes[way.origin], boxes[way.target], back=way.why == "needs people")
    named = "way failed" if way.failed else "way"
    why = f"<title>{escape(way.why)}</title>" if way.why else ""
    return f'<path class="{named}" d="M{x1:g} {y1:g} {x2:g} {y2:g}">{why}</path>'


def _ends(origin: _Box, target: _Box, *, back: bool) -> tuple[tuple[float, float], ...]:
    """Border to border: sideways between columns, up or down within one. `back` keeps two opposite ways apart."""
    (x1, y1), (x2, y2) = origin.middle, target.middle
    aside = 8 if back else 0
    if x1 == x2:
        down = y2 > y1
        return (
            (x1, origin.top + (origin.height if down else 0)),
            (x2, target.top + (0 if down else target.height)),
        )
    right = x2 > x1
    return (
        (origin.left + (origin.width if right else 0), y1 + aside),
        (target.left + (0 if right else target.width), y2 - aside),
    )
