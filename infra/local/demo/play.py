"""Plays the scenes, a few at a time, and tells them one after the other."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

from rich.console import Console
from rich.markup import escape

from infra.local.demo.scenes import SCENES, Scene
from infra.local.demo.stage import Stage
from infra.local.demo.story import Story

_AT_ONCE = 4
_FIRST = 6
"""The scene in which nobody answers takes longest: it begins at once."""


def play(stage: Stage, console: Console) -> int:
    """Play all scenes; answers how many of them failed."""
    stories = [Story(title) for title, _ in SCENES]
    began = time.monotonic()
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        order = [_FIRST, *(i for i in range(len(SCENES)) if i != _FIRST)]
        for index in order:
            if index == 1:
                continue
            following = (1,) if index == 0 else ()
            pool.submit(_perform, stage, stories, (index, *following))
        for number, story in enumerate(stories, start=1):
            _told(console, number, story)
    failed = sum(story.failed > 0 for story in stories)
    checks = sum(story.checked for story in stories)
    seconds = time.monotonic() - began
    console.print(f"\n{checks} checks against ledger and books in {seconds:.0f} s")
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
        mark = {None: "   ·", True: "[green]   ✓[/green]", False: "[red]   ✗[/red]"}[line.held]
        console.print(f"{mark} {escape(line.text)}", highlight=False)
