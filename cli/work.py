"""What every command works with: who it acts as, how it answers. httpx and rich are loaded here, at the first use.

Both take longer to import than most commands to run, and `--help` and completion need neither.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

from cli.errors import Stop
from cli.exits import ExitCode
from cli.page import Page

if TYPE_CHECKING:
    from cli.client import Client
    from cli.terminal import Terminal

Body = dict[str, Any]
_MOST_PAGES = 20


def terminal() -> Terminal:
    """The door to the person."""
    from cli.terminal import Terminal  # noqa: PLC0415 - see above

    return Terminal()


@dataclass(frozen=True, slots=True)
class Work:
    """One command's profile, and whether it answers in JSON."""

    profile: str
    json: bool

    @property
    def client(self) -> Client:
        """The API as this profile."""
        from cli.session import client  # noqa: PLC0415 - see above

        return client(self.profile)

    def answer(self, body: Body, view: Callable[[Body], Page]) -> None:
        """Print the API's answer: as it is, or as a page."""
        if self.json:
            terminal().json(body)
        else:
            terminal().show(view(body))

    def follow(self, saga_id: str, *, until_asked: bool, patience: float | None) -> Body:
        """Follow a saga with its progress shown (on standard error), and give it as it was last seen."""
        from cli.following import Follower  # noqa: PLC0415 - see above
        from cli.views.timeline import changes, timeline_page  # noqa: PLC0415 - see above

        before: Body | None = None
        with terminal().progress(quiet=self.json) as draw:

            def seen(body: Body) -> None:
                nonlocal before
                draw(timeline_page(body), changes(before, body))
                before = body

            return Follower(self.client).follow(
                saga_id, seen, until_asked=until_asked, patience=patience
            )

    def asks(self, *, yes: bool) -> bool:
        """Whether the person at the keyboard is asked first: not after --yes, and not where nobody is there."""
        return not yes and sys.stdin.isatty() and sys.stderr.isatty()

    def confirm(self, page: Page, question: str) -> None:
        """Show what it is about, and ask."""
        terminal().tell(page)
        if not typer.confirm(question, err=True):
            raise Stop("Nothing was done.", code=ExitCode.STOPPED)


def collected(fetch: Callable[..., Body], name: str, limit: int, **query: Any) -> Body:
    """Up to `limit` entries of a list: a page of the API may hold fewer than it was asked for, even none."""
    body = fetch(limit=limit, **query)
    found = list(body[name])
    for _ in range(_MOST_PAGES):
        if not body.get("next") or len(found) >= limit:
            break
        body = fetch(limit=limit - len(found), cursor=body["next"], **query)
        found += body[name]
    return {**body, name: found}
