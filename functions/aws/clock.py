"""The time on this machine."""

from __future__ import annotations

import time


class SystemClock:
    """Milliseconds since the epoch, UTC."""

    def now(self) -> int:
        """The time now."""
        return time.time_ns() // 1_000_000
