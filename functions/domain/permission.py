"""What an approval lets run, at the moment at which it is used."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from functions.domain.approvals import Approval, ApprovalState
from functions.domain.ledger.records import Millis
from functions.domain.membership import tenant_group
from functions.domain.problems import clean


def agreed(approval: Approval) -> tuple[str, ...]:
    """Who has said yes, and may."""
    said = (d.person for d in approval.decisions if d.decision == "approve")
    return tuple(person for person in said if person not in approval.excluded)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What would run, and what policy asks for it now."""

    binds: str
    needed: int
    group: str
    now: Millis


def permits(approval: Approval, wanted: Wanted, *, revoked: Collection[str] = ()) -> bool:
    """Whether this approval lets exactly this run. `revoked` are people whose yes no longer counts."""
    return (
        approval.state is ApprovalState.APPROVED
        and approval.binds == wanted.binds
        and approval.group == wanted.group
        and wanted.now < approval.expires_at
        and len(set(agreed(approval)) - set(revoked)) >= wanted.needed
    )


def why_again(approval: Approval, wanted: Wanted) -> str:
    """Why what was asked before is not enough, in words for those who are asked once more."""
    if approval.binds != wanted.binds:
        return "what would run, or the rules for it, are no longer what was asked before"
    if approval.group != wanted.group:
        return f"policy asks {wanted.group} now, and not {approval.group}"
    if approval.needed < wanted.needed:
        return f"policy asks for {wanted.needed} people now, and not {approval.needed}"
    return "the approval was not used before its time was over"


def whose_yes_lapsed(revoked: Collection[str]) -> str:
    """Why it is asked once more where somebody who agreed may no longer."""
    return clean(f"no longer among those who may approve: {', '.join(revoked)}")


def may_decide(approval: Approval, groups: Collection[str]) -> bool:
    """Whether somebody in these groups is asked: by the approval's own group, in the saga's tenant."""
    return {approval.group, tenant_group(approval.tenant)} <= set(groups)
