"""Who decides while a queue is drained: a person at the keyboard, or the options of a script."""

from __future__ import annotations

from typing import Any

import typer

from cli.commands.case_ways import Resolution
from cli.draining import Choice, Ways
from cli.errors import ApiProblem
from cli.views.cases import case_page, ways_page
from cli.views.problems import problem_page
from cli.work import terminal

Body = dict[str, Any]
_LEAVE = "leave"
_RETRY = "retry"


def at_the_keyboard(causes: frozenset[str]) -> Ways:
    """Shows each case and asks."""

    def takes(case: Body) -> bool:
        if causes and case["cause"] not in causes:
            return False
        terminal().tell(case_page(case))
        return typer.confirm("Claim it?", err=True)

    return Ways(takes, _chosen, _refused, _told)


def by_script(choice: Choice, causes: frozenset[str]) -> Ways:
    """Settles all that may be settled like this, and leaves the rest."""

    def takes(case: Body) -> bool:
        return (not causes or case["cause"] in causes) and choice.resolution in case["allowed"]

    return Ways(takes, lambda _: choice, _refused, _told)


def _chosen(case: Body) -> Choice | None:
    """Asks for a way that the case allows, and for the evidence that it needs; asks again for what is neither."""
    terminal().tell(ways_page(case))
    # What takes two people is proposed, with `cases propose`.
    alone = [way for way in case["allowed"] if way in {*Resolution}]
    while True:
        said = typer.prompt("How is it settled?", default=_LEAVE, err=True).strip()
        if said == _LEAVE:
            return None
        if said in alone:
            break
        terminal().note(f"One of: {', '.join([*alone, _LEAVE])}.")
    evidence = None
    if said != _RETRY:
        evidence = typer.prompt("What was done or found?", err=True).strip()
    return Choice(said, evidence)


def _refused(refusal: ApiProblem) -> None:
    terminal().tell(problem_page(refusal))


def _told(case_id: str, became: str) -> None:
    terminal().note(f"{case_id}: {became}")
