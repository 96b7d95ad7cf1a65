"""When a publication needs people: when everybody reads it, or when the team it is for may also change things."""

from __future__ import annotations

from datetime import timedelta

from functions.catalogues.environments.arguments import PublishInstruction
from functions.domain.policy import Allowed, NeedsApproval, Question, Verdict

VERSION = "2026-10-1"
GROUP = "environments-approvers"
LONGEST_WAIT = timedelta(hours=24)


def decide(question: Question) -> Verdict:
    """One person for each of both reasons is one person: they see both."""
    instruction = question.arguments
    if not isinstance(instruction, PublishInstruction):
        return Allowed()
    grant = question.results.get("grant_access")
    reasons = []
    if instruction.audience == "everyone":
        reasons.append("the instruction goes to everyone")
    if grant is not None and grant.details.get("access") == "contribute":
        reasons.append(f"team {grant.details.get('team')} may write in the new environment")
    if not reasons:
        return Allowed()
    return NeedsApproval(
        approvers=1, group=GROUP, within=LONGEST_WAIT, reason=" and ".join(reasons)
    )
