"""Plays the scenes, a few at a time, and tells them one after the other."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape

from infra.local.demo.scenes import IN_TURN, LONGEST, SCENES, Scene
from infra.local.demo.stage import Stage
from infra.local.demo.story import Story

_AT_ONCE = 4
_MARKS = {None: "   ·", True: "[green]   ✓[/green]", False: "[red]   ✗[/red]"}


@contextmanager
def performance(stage: Stage) -> Iterator[list[Story]]:
    """The stories of all scenes, while these are being played."""
    stories = [Story(title) for title, _ in SCENES]
    early = {*LONGEST, *(i for turn in IN_TURN for i in turn)}
    alone = [i for i in range(len(SCENES)) if i not in early]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for indexes in (*((i,) for i in LONGEST), *IN_TURN, *((i,) for i in alone)):
            pool.submit(_perform, stage, stories, indexes)
        yield stories


def play(stage: Stage, console: Console) -> int:
    """Play all scenes; answers how many of them failed."""
    began = time.monotonic()
    with performance(stage) as stories:
        for number, story in enumerate(stories, start=1):
            _told(console, number, story)
    failed = sum(bool(story.failures()) for story in stories)
    checks = sum(len(story.checks()) for story in stories)
    seconds = time.monotonic() - began
    console.print(f"\n{checks} checks against ledger and targets in {seconds:.0f} s")
    console.print(f"[bold]{len(stories)} scenes, {failed} failed[/bold]", highlight=False)
    return failed


def _perform(stage: Stage, stories: list[Story], indexes: tuple[int, ...]) -> None:
    for index in indexes:
        _play_one(SCENES[index][1], stage, stories[index])


def _play_one(scene: Scene, stage: Stage, story: Story) -> None:
    try:
        scene(stage, story)
    except Exception as error:  # noqa: BLE001 - a scene that breaks has failed; the others go on
        story.check(f"the scene was interrupted by {type(error).__name__}: {error}", holds=False)
    finally:
        story.end()


def _told(console: Console, number: int, story: Story) -> None:
    console.print(f"\n[bold]{number:>2}  {escape(story.title)}[/bold]", highlight=False)
    for line in story.lines():
        console.print(f"{_MARKS[line.held]} {escape(line.text)}", highlight=False)
