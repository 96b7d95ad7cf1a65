"""What the stubbed API says: the views' own bodies, in the states that the page has to show."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from tests.unit.cli import bodies

Body = dict[str, Any]


def at(**away: float) -> str:
    """A moment from now, as the API writes it."""
    moment = datetime.now(UTC) + timedelta(**away)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def approval(state: str = "open", **changes: Any) -> Body:
    """An approval that nobody has answered, with an hour to go."""
    body = bodies.approval(state) | {"decisions": [], "expires_at": at(hours=1)}
    return body | {"arguments": '{"amount":"180.00","currency":"EUR","order_id":"4471"}'} | changes


def decided(person: str, decision: str = "approve", reason: str | None = None) -> Body:
    """One person's answer."""
    return {"person": person, "decision": decision, "at": bodies.AT, "reason": reason}


def case(**changes: Any) -> Body:
    """An open case that nobody has claimed."""
    free = {"claimed_by": None, "claimed_until": None, "group": "operators", "state": "open"}
    return bodies.case() | free | changes


def proposed() -> Body:
    """What is different in a case for which another principal is proposed."""
    names = ("allowed", "ways", "alternates", "other_actions", "proposal", "proposed")
    return summary(bodies.proposed_case(), *names)


def way(resolution: str, people: int = 1, **choices: list[str]) -> Body:
    """A way of settling a case."""
    return bodies.way(resolution, people, **choices)


def saga(done: int = 1, **changes: Any) -> Body:
    """A saga before its point of no return, with so many steps completed."""
    return bodies.people_saga(done=done) | changes


def summary(body: Body, *names: str) -> Body:
    """What a list shows of it."""
    return {name: body[name] for name in names}


def approvals(*found: Body, following: str | None = None) -> Body:
    """A page of the list of approvals."""
    [line] = bodies.approvals()["approvals"]
    return {"approvals": [summary(f, *line) for f in found], "next": following}


def cases(*found: Body, following: str | None = None) -> Body:
    """A page of the list of cases."""
    [line] = bodies.cases()["cases"]
    return {"cases": [summary(f, *line) for f in found], "next": following}
