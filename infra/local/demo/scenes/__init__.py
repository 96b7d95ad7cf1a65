"""The scenes, in the order in which they are told."""

from __future__ import annotations

from collections.abc import Callable

from infra.local.demo.scenes import (
    approvals,
    compensation,
    environments,
    plans,
    recovery,
    two_approvers,
)
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
    ("1,200.00: two different people agree; 10,000.01: nobody may", two_approvers.two_agree),
    ("One of two who agreed leaves the approvers: asked anew", two_approvers.one_leaves),
    ("Environments: created, a team let in, an instruction published", environments.published),
    (
        "The channel closes before the publication: undone, another grant intact",
        environments.refused_before_publication,
    ),
    ("The process dies while it removes an environment", environments.died_while_removing),
    ("The publication's answer is lost with its process", environments.publication_lost),
    ("The environment has gained somebody's work: a case", environments.somebody_works_there),
    (
        "The undo's authority is revoked: blocked, then an alternate that two people agree to",
        environments.authority_lost,
    ),
    (
        "The release's credential is revoked: blocked, then settled by an operator",
        recovery.credential_revoked,
    ),
)

IN_TURN = ((0, 1), (12, 13), (14, 15))
"""These follow each other: on the same saga, with the same second approver, or on the same channel."""
LONGEST = (16, 6, 17)
"""In these something is waited for: a lease, an answer that does not come. They begin at once."""
