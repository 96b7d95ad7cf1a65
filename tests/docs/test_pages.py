"""What every page has to keep: links that lead somewhere, nothing of one machine, names that exist in the code."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path

from tests.docs.conftest import ROOT, pages

LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^(```|~~~).*?^\1\s*$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`\n]+`")
HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*$", re.MULTILINE)
MACHINE = re.compile(
    r"/(?:home|Users|work|root|tmp|var|private|mnt)/|\b[A-Z]:\\|\blocalhost:\d+/[a-z0-9]{8}"
)
FILE = re.compile(
    r"`((?:functions|statemachines|infra|cli|tests|docs|benchmarks)/[\w./-]*\w(?:\.\w+)?/?)`"
)


def test_every_link_within_the_project_leads_to_a_file_or_a_heading(page: Path) -> None:
    broken = [link for link in links(page) if not leads_somewhere(page, link)]
    assert broken == []


def test_no_page_names_a_place_of_one_machine(page: Path) -> None:
    assert MACHINE.findall(page.read_text(encoding="utf-8")) == []


def test_every_file_that_a_page_names_exists(page: Path) -> None:
    named = FILE.findall(page.read_text(encoding="utf-8"))
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_a_page_begins_with_its_one_title(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert text.startswith("# ")
    assert sum(line.startswith("# ") for line in prose(text).splitlines()) == 1


def test_every_page_can_be_reached_from_the_readme() -> None:
    found, left = set(), [ROOT / "README.md"]
    while left:
        page = left.pop()
        if page in found:
            continue
        found.add(page)
        targets = (page.parent / link.partition("#")[0] for link in links(page))
        left += [t.resolve() for t in targets if t.suffix == ".md" and t.exists()]
    assert set(pages()) - found == set()


def test_decisions_are_numbered_without_a_gap_and_each_is_listed_by_its_title() -> None:
    folder = ROOT / "docs" / "decisions"
    decisions = sorted(folder.glob("[0-9]*.md"))
    numbers = [int(path.name[:4]) for path in decisions]
    assert numbers == list(range(1, len(decisions) + 1))
    index = (folder / "README.md").read_text(encoding="utf-8")
    for path in decisions:
        title = path.read_text(encoding="utf-8").splitlines()[0].removeprefix(f"# {path.name[:4]} ")
        assert f"| [{path.name[:4]}]({path.name}) | {title} |" in index


def test_every_decision_has_a_context_a_decision_and_consequences() -> None:
    for path in (ROOT / "docs" / "decisions").glob("[0-9]*.md"):
        headings = HEADING.findall(path.read_text(encoding="utf-8"))
        assert headings[1:] == ["Context", "Decision", "Consequences"], path.name


def test_every_folder_and_module_in_the_tree_of_the_architecture_exists() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    tree = page.partition("## The tree")[2].partition("```text")[2].partition("```")[0]
    named = re.findall(r"(?<![\w/])(\w+(?:\.py|/))(?=\s)", tree)
    places = [
        ROOT,
        *(ROOT / p for p in ("functions", "statemachines", "simulation", "infra", "cli")),
    ]
    known = {
        path.name + ("/" if path.is_dir() else "")
        for place in places
        for path in (place.iterdir() if place == ROOT else place.rglob("*"))
    }
    assert len(named) > 30
    assert [name for name in named if name not in known] == []


def links(page: Path) -> Iterator[str]:
    """Links within the project, outside of code."""
    text = CODE.sub("", prose(page.read_text(encoding="utf-8")))
    return (link for link in LINK.findall(text) if not link.startswith(("https:", "http:")))


def leads_somewhere(page: Path, link: str) -> bool:
    path, _, anchor = link.partition("#")
    target = (page.parent / path).resolve() if path else page
    if not target.exists() or not target.is_relative_to(ROOT):
        return False
    return not anchor or anchor in anchors(target)


def anchors(page: Path) -> set[str]:
    """As GitHub makes them from headings."""
    headings = HEADING.findall(prose(page.read_text(encoding="utf-8")))
    return {_anchor(heading) for heading in headings}


def _anchor(heading: str) -> str:
    kept = (c for c in heading.lower() if c in "-_ " or unicodedata.category(c)[0] in "LN")
    return "".join(kept).replace(" ", "-")


def prose(text: str) -> str:
    """A page without its blocks of code."""
    return FENCE.sub("", text)
