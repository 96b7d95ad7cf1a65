"""The second seed's example, on real buckets, roles and parameters: create an environment, let a team in, publish."""

from __future__ import annotations

import json
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from functions.domain.ledger.records import Pivot, Saga, Undo, UndoState
from infra.local.demo.account import OTHER_TEAM
from infra.local.demo.plans import environment_steps, plan
from infra.local.demo.stage import Stage
from infra.local.demo.story import Story

_TRIES = 8
_LEASE = 200.0
_WHY = "The team starts on Monday and needs a place of its own; the old one is too small."


def published(stage: Stage, story: Story) -> None:
    """Everything goes well: a bucket, a policy, an instruction, an entry."""
    name = f"trial-{stage.run}"
    saga = _submit(stage, story, name, audience="everyone")
    stage.wait(saga, "awaiting_approval")
    shown = stage.approval(saga)
    why = "goes to everyone and team payments may write" in shown["reason"]
    story.check("a person is asked: everybody reads it, and the team may write", why, shown)
    stage.decide(saga, "approve")
    stage.wait(saga, "completed")
    account, bucket = stage.account, stage.account.bucket(name)
    held = account.holds(bucket)
    story.check(f"the bucket {bucket} holds its marker", held == {_MARKER}, held)
    bindings = account.bindings()
    story.check("one policy lets the team in", _binding(saga) in bindings, bindings)
    instruction = account.instruction(saga) or {}
    story.check("the instruction is published", instruction.get("environment") == bucket)
    entry = account.registered(name) or {}
    story.check("the environment is registered", entry.get("bucket") == bucket, entry)


def refused_before_publication(stage: Stage, story: Story) -> None:
    """The channel closes while a person decides: what was prepared goes, what somebody else granted stays."""
    name = f"late-{stage.run}"
    account, theirs = stage.account, f"by-hand-{stage.run}"
    saga = _submit(stage, story, name, audience="everyone")
    stage.wait(saga, "awaiting_approval")
    story.tell(
        "another administrator grants the same team something; the channel closes to everyone"
    )
    account.bind(theirs)
    account.channel("team-only")
    try:
        stage.decide(saga, "approve")
        seen = stage.wait(saga, "compensated")
    finally:
        account.channel("open")
    told = "takes nothing for everyone" in seen["reason"]
    story.check("refused before the publication", told, seen["reason"])
    story.check("nothing is published", account.instruction(saga) is None)
    _check_gone(stage, story, saga, name)
    story.check("the other administrator's grant is intact", theirs in account.bindings())
    account.unbind(theirs)


def died_while_removing(stage: Stage, story: Story) -> None:
    """Access is taken back; the process that removes the environment dies; the removal alone goes on, with its key."""

    def play(name: str) -> Saga:
        saga = _submit(stage, None, name)
        stage.wait(saga, "awaiting_approval")
        stage.decide(saga, "reject", "Not this week.")
        stage.account.kill_when(
            lambda: stage.account.undo_begun(saga, 0), "environments-create_environment-undo"
        )
        # The dead process's claim is waited out: nobody can know that it is dead.
        stage.wait(saga, "compensated", within=_LEASE)
        return stage.ledger(saga)

    ended = _until_hit(play, f"gone-{stage.run}", lambda saga: _undo(saga, 0).attempts > 1)
    saga = ended.head.saga_id
    removal, revocation = _undo(ended, 0), _undo(ended, 1)
    attempts = [f"{e.purpose}: {e.outcome}" for e in removal.history]
    story.check("the process died while it removed the environment", len(attempts) > 1, attempts)
    story.check("the revocation was not done again", revocation.attempts == 1, revocation.attempts)
    story.check(f"the removal kept its key {saga}:0:undo", removal.key == f"{saga}:0:undo")
    _check_gone(stage, story, saga, _name_of(ended))


def publication_lost(stage: Stage, story: Story) -> None:
    """The instruction is out and the answer is lost with its process: it is found, and not published again."""

    def play(name: str) -> Saga:
        saga = _submit(stage, None, name)
        stage.wait(saga, "awaiting_approval")
        stage.decide(saga, "approve")
        stage.account.kill_when(
            lambda: stage.account.instruction(saga) is not None,
            "environments-publish_instruction-run",
        )
        stage.wait(saga, "completed", within=_LEASE)
        return stage.ledger(saga)

    ended = _until_hit(play, f"lost-{stage.run}", lambda saga: _was_lost(saga, 2))
    step = ended.steps[2]
    outcomes = [f"{e.purpose}: {e.outcome}" for e in step.forward.history]
    story.check("the call's outcome was unknown", _was_lost(ended, 2), outcomes)
    story.check("it was found by asking, under our key", "settle: applied" in outcomes, outcomes)
    story.check("nobody was asked a second time", step.rounds == 1, step.rounds)
    story.check("the pivot is crossed, once", ended.head.pivot is Pivot.CROSSED, ended.head.pivot)


def somebody_works_there(stage: Stage, story: Story) -> None:
    """The environment has gained somebody's work: nothing is erased, a person decides."""
    name = f"busy-{stage.run}"
    account, bucket = stage.account, stage.account.bucket(name)
    saga = _submit(stage, story, name)
    stage.wait(saga, "awaiting_approval")
    story.tell("somebody puts a report into the environment; then the approver rejects")
    account.put(bucket, "work/report.csv")
    stage.decide(saga, "reject", "Not this week.")
    case = stage.case(saga)
    story.check("a case, with what is in the way", "work/report.csv" in case["why"], case["why"])
    held = account.holds(bucket)
    story.check("nothing is erased", held == {_MARKER, "work/report.csv"}, held)
    story.check("the team's access is taken back", _binding(saga) not in account.bindings())
    story.tell("an operator asks, the report is moved away, and the same undo is tried again")
    account.take(bucket, "work/report.csv")
    _settle(stage, case)
    stage.wait(saga, "compensated", "resolved_manually")
    story.check("the environment is removed", account.holds(bucket) is None)


def authority_lost(stage: Stage, story: Story) -> None:
    """The undo may no longer do what it has to: the branch stops, and two people agree to a declared alternate."""
    name = f"barred-{stage.run}"
    account, bucket, team = stage.account, stage.account.bucket(name), OTHER_TEAM
    saga = _submit(stage, story, name, team=team)
    stage.wait(saga, "awaiting_approval")
    story.tell("an administrator takes the revocation's role its right to this team; a rejection")
    account.forbid_revoking(team)
    try:
        stage.decide(saga, "reject", "Not this week.")
        case = stage.case(saga)
        cause, held = case["cause"], _binding(saga) in account.bindings(team)
        story.check("a case: the authority is lost", cause == "authority_lost", cause)
        story.check("no other authority was tried: the grant is there", held)
        story.check("the environment waits for it", account.holds(bucket) == {_MARKER})
        _settled_by_two(stage, story, case)
        stage.wait(saga, "compensated")
    finally:
        account.allow_revoking_again(team)
    story.check("the grant is revoked", _binding(saga) not in account.bindings(team))
    story.check("the environment is removed", account.holds(bucket) is None)
    undo = _undo(stage.ledger(saga), 1)
    role = undo.authority.role
    story.check("by the declared alternate", role == "environments-revoke_on_call", role)
    who = [(s.proposed_by, s.confirmed_by) for s in undo.substitutions]
    story.check("the record names the two", who == [("operator", "operator2")], who)
    story.check(f"under the undo's own key {saga}:1:undo", undo.key == f"{saga}:1:undo")


def _settled_by_two(stage: Stage, story: Story, case: dict[str, Any]) -> None:
    """One operator proposes the alternate, cannot confirm it, and another one does."""
    id_, terminal = case["case_id"], stage.operator_terminal
    offered = [each["alternate"] for each in case["alternates"]]
    story.check("the case names the declared alternate", offered == ["access_on_call"], offered)
    story.tell("sagaplane cases propose retry_with_alternate; another operator: cases confirm")
    terminal.run("cases", "claim", id_)
    why = ("--alternate", "access_on_call", "--reason", "The role was cut back by mistake.")
    terminal.run("cases", "propose", id_, "retry_with_alternate", *why)
    proposal = stage.operator.get(f"/cases/{id_}").body["proposal"]["proposal_id"]
    answer = {"proposal_id": proposal, "answer": "confirm"}
    own = stage.operator.post(f"/cases/{id_}/proposal/answer", answer)
    story.check("nobody confirms their own proposal", own.codes == {"another_person_needed"}, own)
    stage.second_operator_terminal.run("cases", "confirm", id_, "--yes")


_MARKER = ".sagaplane/environment.json"


def _submit(stage: Stage, story: Story | None, name: str, **steps: str) -> str:
    proposed = plan(
        stage.request_id(f"env-{name}"),
        environment_steps(name, **steps),
        catalogue="environments",
        rationale=_WHY,
    )
    answer = stage.agent.post("/plans", proposed)
    if story is not None:
        story.check("the plan is admitted", answer.status == HTTPStatus.CREATED, answer.body)
    return str(answer.body.get("saga_id", ""))


def _until_hit(play: Callable[[str], Saga], name: str, hit: Callable[[Saga], bool]) -> Saga:
    """Once more, under another name, where the blow came a moment too late to show anything."""
    for number in range(_TRIES):
        ended = play(f"{name}{number}")
        if hit(ended):
            break
    return ended


def _was_lost(saga: Saga, index: int) -> bool:
    first = saga.steps[index].forward.history
    return any(e.purpose == "call" and e.outcome != "applied" for e in first)


def _undo(saga: Saga, index: int) -> Undo:
    undo = saga.steps[index].undo
    if undo is None:
        raise LookupError(f"step {index} has lost its undo")
    return undo


def _name_of(saga: Saga) -> str:
    return str(json.loads(saga.steps[0].arguments)["environment"])


def _binding(saga: str, index: int = 1) -> str:
    return f"sagaplane.{saga}.{index}.do"


def _check_gone(stage: Stage, story: Story, saga: str, name: str) -> None:
    account = stage.account
    story.check("the environment is removed", account.holds(account.bucket(name)) is None)
    story.check("the grant is revoked", _binding(saga) not in account.bindings())
    undone = [_undo(stage.ledger(saga), index).state for index in (0, 1)]
    story.check("the ledger agrees", undone == [UndoState.SUCCEEDED] * 2, undone)


def _settle(stage: Stage, case: dict[str, Any]) -> None:
    stage.operator_terminal.run("cases", "claim", case["case_id"])
    stage.operator_terminal.run("cases", "resolve", case["case_id"], "retry", "--yes")
