"""Draining the manual-resolution queue: a notice at a time, its case shown, claimed, settled, and the notice taken off.

Nothing here is the last word on a case: a notice that is left comes back, and what has lost its notice is on the list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from cli.client import Client
from cli.errors import ApiProblem
from cli.moments import is_over

Body = dict[str, Any]
Became = Literal["settled", "waiting", "left", "settled by somebody else", "held by somebody else"]
_BY_OTHERS: dict[str, Became] = {
    "case_closed": "settled by somebody else",
    "claim_conflict": "held by somebody else",
}
_BRIEFLY, _LONG = 1, 10
"""Seconds of one poll: for what is there now, and for what may come."""
_PAGE = 50


@dataclass(frozen=True, slots=True)
class Choice:
    """How a case is to be settled."""

    resolution: str
    evidence: str | None = None


@dataclass(frozen=True, slots=True)
class Ways:
    """Who decides: whether to take a case, how to settle one that is claimed (None: leave it), and who is told."""

    takes: Callable[[Body], bool]
    chooses: Callable[[Body], Choice | None]
    refused: Callable[[ApiProblem], None]
    told: Callable[[str, Became], None]


@dataclass(frozen=True, slots=True)
class Dealt:
    """What became of one case."""

    case_id: str
    became: Became
    resolution: str | None = None


@dataclass(slots=True)
class Drain:
    """One operator at one queue."""

    client: Client
    ways: Ways
    _offered: set[str] = field(default_factory=set)

    def dealt(self, *, once: bool, most: int | None) -> Iterator[Dealt]:
        """Case after case: until nothing is left with `once`, after `most` cases, or else without end."""
        count = 0
        while most is None or count < most:
            found = self._next(once=once)
            if found is None:
                if once:
                    return
                continue
            done = self._deal(*found)
            self.ways.told(done.case_id, done.became)
            yield done
            count += 1

    def _next(self, *, once: bool) -> tuple[str, str | None] | None:
        """The next case and the receipt of its notice; without a notice, one of the list that was not offered yet."""
        taken = self.client.take_notices(most=1, wait=_BRIEFLY if once else _LONG)["notices"]
        if taken:
            return taken[0]["case"]["case_id"], taken[0]["receipt"]
        listed = next((c for c in self._listed() if c not in self._offered), None)
        return None if listed is None else (listed, None)

    def _listed(self) -> Iterator[str]:
        """Open cases that nobody holds, page by page."""
        cursor = None
        while True:
            page = self.client.cases(limit=_PAGE, cursor=cursor)
            yield from (c["case_id"] for c in page["cases"] if is_over(c["claimed_until"]))
            cursor = page.get("next")
            if not cursor:
                return

    def _deal(self, case_id: str, receipt: str | None) -> Dealt:
        self._offered.add(case_id)
        try:
            case = self.client.case(case_id)
            if case["state"] == "open":
                return self._settle(case, receipt)
            self._acknowledge(case_id, receipt)
            return Dealt(case_id, "settled by somebody else", case["resolution"])
        except ApiProblem as refusal:
            became = next((_BY_OTHERS[c] for c in refusal.codes if c in _BY_OTHERS), None)
            if became is None:
                self.ways.refused(refusal)
            return Dealt(case_id, became or "left")

    def _settle(self, case: Body, receipt: str | None) -> Dealt:
        case_id = case["case_id"]
        if not self.ways.takes(case):
            return Dealt(case_id, "left")
        choice = self.ways.chooses(self.client.claim(case_id))
        if choice is None:
            return Dealt(case_id, "left")
        after = self.client.resolve(case_id, choice.resolution, choice.evidence)
        if after["state"] == "open":
            # Somebody else has to agree: the notice comes back to them.
            return Dealt(case_id, "waiting", choice.resolution)
        self._acknowledge(case_id, receipt)
        return Dealt(case_id, "settled", choice.resolution)

    def _acknowledge(self, case_id: str, receipt: str | None) -> None:
        if receipt is None:
            return
        try:
            self.client.acknowledge(case_id, receipt)
        except ApiProblem as refusal:
            # It comes back, and whoever gets it next finds the case settled.
            self.ways.refused(refusal)
