"""The scenes, in the order in which they are told."""

from __future__ import annotations

from collections.abc import Callable

from infra.local.demo.scenes import approvals, compensation, plans, recovery
from infra.local.demo.stage import Stage
from infra.local.demo.story import Story

Scene = Callable[[Stage, Story], None]

SCENES: tuple[tuple[str, Scene], ...] = (
    ("The plan is rejected, re-planned, and another agent's request escalates", plans.replanned),
    ("Order 4471: a person approves, then capture, shipment, confirmation", approvals.approved),
    ("150.00 asks nobody, 150.01 asks one person", approvals.threshold),
    ("The authorisation is declined for good: the reservation is released", compensation.declined),
    ("The first release times out after it took effect", compensation.release_lost),
    (
        "The authorisation's answer is lost, and the retry meets a 401",
        compensation.unknown_then_401,
    ),
    ("The approver rejects; in another saga nobody answers", approvals.rejected_and_expired),
    ("The order ships while the request waits; then a person approves", approvals.stale),
    ("Pivots out of place, text as authority, an amount of one's own", plans.refused),
    ("The shipment fails until its budget is spent: a case", recovery.case_settled),
    ("The same request five times at once; then with other contents", plans.repeated),
    ("The capture's answer is lost after it took effect", recovery.capture_lost),
)

SAME_SAGA = (0, 1)
"""These follow each other: the second goes on with the first one's saga."""
LONGEST = 6
"""In this one nobody answers for a while: it begins at once."""
