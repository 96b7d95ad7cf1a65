"""What holds for every test: no property is judged by the clock of the machine that it runs on."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "sagaplane",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=bool(os.environ.get("CI")),
)
settings.load_profile("sagaplane")
