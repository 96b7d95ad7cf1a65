"""Writes a small catalogue that works: templates with a name filled in, in a folder of their own."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from string import Template

from cli.errors import Stop

_NAME = re.compile(r"[a-z][a-z0-9_]{1,19}")
_TEMPLATES = "templates/catalogue"
_ENDING = ".txt"


def write_catalogue(name: str, into: Path) -> list[Path]:
    """Write the package `name` into a folder; answers the files, in order. Raises Stop and writes nothing, or all."""
    if not _NAME.fullmatch(name) or keyword.iskeyword(name):
        raise Stop(
            f"{name!r} is no name for a catalogue: 2 to 20 of a-z, 0-9 and _, a letter first."
        )
    package = into / name
    if package.exists():
        raise Stop(f"{package} is there already: choose another name, or remove it.")
    group = name.replace("_", "-")
    written = []
    for place, template in _templates():
        path = package / place.removesuffix(_ENDING)
        path.parent.mkdir(parents=True, exist_ok=True)
        text = Template(template).substitute(name=name, NAME=name.upper(), group=group)
        path.write_text(_in_order(text, name), encoding="utf-8")
        written.append(path)
    return written


def cdk_entry(name: str) -> str:
    """What has to stand in the list `catalogues` of cdk.json."""
    return (
        f'{{ "catalogue": "{name}.catalogue:CATALOGUE", '
        f'"settings": {{ "{name.upper()}_ROOT": "/sagaplane/{name}" }} }}'
    )


def _in_order(text: str, name: str) -> str:
    """Its imports sorted: whether `functions` comes before the new package depends on that one's name."""
    ours = ("from functions.", f"from {name}")
    lines = text.splitlines(keepends=True)
    places = [number for number, line in enumerate(lines) if line.startswith(ours)]
    if places and all(line.rstrip()[-1] != "(" for line in (lines[p] for p in places)):
        ordered = sorted((lines[p] for p in places), key=lambda line: line.split()[1])
        lines[places[0] : places[-1] + 1] = ordered
    return "".join(lines)


def _templates() -> Iterator[tuple[str, str]]:
    root = files("cli").joinpath(_TEMPLATES)
    yield from sorted(_walked(root, ""))


def _walked(folder: Traversable, under: str) -> Iterator[tuple[str, str]]:
    for each in folder.iterdir():
        if each.is_dir():
            yield from _walked(each, f"{under}{each.name}/")
        elif each.name.endswith(_ENDING):
            yield f"{under}{each.name}", each.read_text(encoding="utf-8")
