"""Following a saga until it rests, or until a person is needed."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from cli.client import Client
from cli.errors import ApiProblem, Unreachable
from cli.views.states import AWAITS_A_PERSON

_SOON, _LATE = 0.4, 3.0
_PATIENCE = 6
_BUSY = {429, 503}

Seen = Callable[[dict[str, Any]], None]


class Follower:
    """Looks again and again: often while something changes, ever more seldom while nothing does."""

    def __init__(
        self,
        client: Client,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._client = client
        self._clock = clock
        self._sleep = sleep

    def follow(
        self, saga_id: str, seen: Seen, *, until_asked: bool, patience: float | None = None
    ) -> dict[str, Any]:
        """The saga as it was last seen: at rest, or with `until_asked` awaiting a person, or `patience` seconds later."""
        end = None if patience is None else self._clock() + patience
        pause, last = _SOON, None
        while True:
            body = self._look(saga_id)
            seen(body)
            if body["final"] or (until_asked and body["status"] in AWAITS_A_PERSON):
                return body
            left = None if end is None else end - self._clock()
            if left is not None and left <= 0:
                return body
            pause = _SOON if body != last else min(pause * 1.5, _LATE)
            last = body
            self._sleep(pause if left is None else min(pause, left))

    def _look(self, saga_id: str) -> dict[str, Any]:
        """One look; a moment's trouble on the way does not end the following."""
        for attempt in range(_PATIENCE):
            try:
                return self._client.saga(saga_id)
            except Unreachable:
                pass
            except ApiProblem as refusal:
                if refusal.status not in _BUSY:
                    raise
            self._sleep(min(_SOON * 2**attempt, _LATE))
        return self._client.saga(saga_id)
