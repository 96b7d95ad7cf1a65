"""A machine as a Mermaid flow chart: text that repositories and wikis draw."""

from __future__ import annotations

from statemachines.pictures.sketch import Part, Place, Sketch

_CLASSES = {
    Part.STEP: "fill:#e8f1fb,stroke:#2b6cb0",
    Part.BOUNDARY: "fill:#fdf0d5,stroke:#b7791f,stroke-width:3px",
    Part.GATE: "fill:#f3e8fd,stroke:#6b46c1",
    Part.SETTLE: "fill:#fdf0d5,stroke:#b7791f",
    Part.CASE: "fill:#f3e8fd,stroke:#6b46c1",
    Part.BEGIN: "fill:#fbe8e8,stroke:#c53030",
    Part.UNDO: "fill:#fbe8e8,stroke:#c53030",
    Part.UNDO_CASE: "fill:#f3e8fd,stroke:#6b46c1",
    Part.FINISH: "fill:#fbe8e8,stroke:#c53030",
}


def mermaid(drawn: Sketch) -> str:
    """The chart, with a line feed at its end."""
    ids = {place.name: f"s{number}" for number, place in enumerate(drawn.places)}
    lines = ["flowchart TD"]
    lines += [f"  {ids[place.name]}{_box(place)}:::{place.part}" for place in drawn.places]
    for way in drawn.ways:
        arrow = f"-. {way.why} .->" if way.failed else "-->"
        lines.append(f"  {ids[way.origin]} {arrow} {ids[way.target]}")
    lines += [f"  classDef {part} {style}" for part, style in _CLASSES.items()]
    return "\n".join(lines) + "\n"


def _box(place: Place) -> str:
    words = "<br/>".join(place.lines)
    if place.part is Part.BOUNDARY:
        return f'{{{{"{words}"}}}}'
    if place.part in {Part.GATE, Part.CASE, Part.UNDO_CASE}:
        return f'(["{words}"])'
    return f'["{words}"]'
