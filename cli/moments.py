"""Times as people read and write them. The API speaks ISO 8601 in UTC, and milliseconds since the epoch."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from cli.errors import Stop

_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_AGO = re.compile(r"(\d{1,5})([mhdw])")
_MINUTE, _HOUR, _DAY = 60, 3600, 86400


def moment(said: object) -> str:
    """`2026-11-30T16:12:00.123Z` as `2026-11-30 16:12:00Z`; `-` where there is none."""
    at = _parsed(said)
    return at.strftime("%Y-%m-%d %H:%M:%SZ") if at else str(said or "-")


def clock(said: object) -> str:
    """Only the time of day, to the millisecond."""
    at = _parsed(said)
    return f"{at:%H:%M:%S}.{at.microsecond // 1000:03d}" if at else str(said or "-")


def from_now(said: object, now: datetime | None = None) -> str:
    """`in 54 min`, or `3 h ago`; nothing where there is no time."""
    at = _parsed(said)
    if at is None:
        return ""
    seconds = (at - (now or datetime.now(UTC))).total_seconds()
    size = abs(seconds)
    if size < _MINUTE:
        told = f"{size:.0f} s"
    elif size < 2 * _HOUR:
        told = f"{size / _MINUTE:.0f} min"
    elif size < 2 * _DAY:
        told = f"{size / _HOUR:.0f} h"
    else:
        told = f"{size / _DAY:.0f} days"
    return f"in {told}" if seconds >= 0 else f"{told} ago"


def is_over(said: object, now: datetime | None = None) -> bool:
    """Whether a time has passed; no time is over."""
    at = _parsed(said)
    return at is None or at <= (now or datetime.now(UTC))


def since_millis(text: str, now: datetime | None = None) -> int:
    """`30m`, `12h`, `7d`, `2w` ago, or a date or time in ISO 8601 (UTC unless it says otherwise), in milliseconds."""
    ago = _AGO.fullmatch(text.strip())
    if ago:
        at = (now or datetime.now(UTC)) - timedelta(**{_UNITS[ago[2]]: int(ago[1])})
    else:
        parsed = _parsed(text.strip())
        if parsed is None:
            raise Stop(
                f"“{text}” is no time: write 30m, 12h, 7d or 2w, or a date as in 2026-11-30."
            )
        at = parsed
    return max(0, int(at.timestamp() * 1000))


def _parsed(said: object) -> datetime | None:
    try:
        at = datetime.fromisoformat(str(said))
    except ValueError:
        return None
    return at if at.tzinfo else at.replace(tzinfo=UTC)
