"""What the environments catalogue declares: validation before the publication, people, authority, and how long keys hold."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatchcase
from typing import Any

import pytest
from pydantic import ValidationError

from functions.catalogues.aws import policy as session_policy
from functions.catalogues.environments import permissions, policy, preconditions
from functions.catalogues.environments.adapters import lookups
from functions.catalogues.environments.arguments import (
    CreateEnvironment,
    GrantAccess,
    PublishInstruction,
)
from functions.catalogues.environments.catalogue import CATALOGUE, NOTIFY_TEAM
from functions.catalogues.environments.facts import Channel, TakenName, Team
from functions.domain.calls import FactCall, FactUnavailable
from functions.domain.catalogue import Permission, Step
from functions.domain.outcome import Receipt
from functions.domain.policy import Allowed, NeedsApproval, Question
from tests.unit.aws_stage import AWS, CHANNEL, REVOKE_ROLE, SETTINGS, aws_account, said

CREATE = CreateEnvironment(environment="trial", purpose="test")
GRANT = GrantAccess(team="payments", access="read")
UNDOS = [step for step in CATALOGUE.steps if step.undo]
OWN = {
    "decommission_environment": permissions.environment_decommission("acme-env-trial", "undone/k"),
    "revoke_access": permissions.access_revoke("acme-team-payments", "undone/k"),
}


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[AWS]:
    with aws_account(monkeypatch) as account:
        yield account


def publication(**changes: Any) -> PublishInstruction:
    given = {"audience": "team", "title": "Move over", "text": "Use the new one.", **changes}
    return PublishInstruction.model_validate(given)


def fact(query: str) -> FactCall:
    return FactCall(query, "", 4.0)


# Facts, and what has to hold


@pytest.mark.usefixtures("aws")
def test_a_name_is_free_until_there_is_a_bucket(aws: AWS) -> None:
    assert lookups.name(fact("trial")) is None
    aws.make_bucket("acme-env-trial")
    taken = lookups.name(fact("trial"))
    assert isinstance(taken, TakenName)
    [violation] = preconditions.name_is_free(CREATE, taken)
    assert (violation.code, violation.argument) == ("environment_exists", "environment")


def test_a_name_that_may_not_be_looked_at_is_somebody_else_s(aws: AWS) -> None:
    aws.before("s3.HeadBucket", said("403", 403))
    assert lookups.name(fact("trial")) is not None


@pytest.mark.usefixtures("aws")
def test_a_team_has_to_be_there_and_to_be_bounded() -> None:
    assert lookups.team(fact("nobody")) is None
    payments, unbounded = lookups.team(fact("payments")), lookups.team(fact("unbounded"))
    assert isinstance(payments, Team)
    assert preconditions.team_is_bounded(GRANT, payments) == []
    [missing] = preconditions.team_exists(GRANT, None)
    [open_ended] = preconditions.team_is_bounded(GRANT, unbounded)
    assert (missing.code, open_ended.code) == ("team_not_found", "team_not_bounded")


def refusals(**changes: Any) -> list[str]:
    channel = lookups.channel(fact("channel"))
    return [v.code for v in preconditions.channel_is_open(publication(**changes), channel)]


def test_the_channel_takes_what_its_state_allows(aws: AWS) -> None:
    assert isinstance(lookups.channel(fact("channel")), Channel)
    assert refusals(audience="everyone") == []
    aws.tag(CHANNEL, sagaplane__channel="team-only")
    assert refusals(audience="everyone") == ["channel_team_only"]
    assert refusals(audience="team") == []
    for state in ("frozen", "Frozen", ""):
        aws.tag(CHANNEL, sagaplane__channel=state)
        assert refusals(audience="team") == ["channel_frozen"]


def test_a_channel_that_is_not_there_takes_nothing(aws: AWS) -> None:
    aws.s3.delete_bucket(Bucket=CHANNEL)
    assert refusals() == ["channel_not_found"]


def test_a_fact_that_may_not_be_read_is_not_taken_for_absent(aws: AWS) -> None:
    aws.before("iam.GetRole", said("AccessDenied", 403))
    with pytest.raises(FactUnavailable):
        lookups.team(fact("payments"))


@pytest.mark.parametrize(
    "secret",
    [
        "AKIA" + "Q" * 16,
        "-----BEGIN RSA PRIVATE KEY-----",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.x",
    ],
)
@pytest.mark.parametrize("place", ["title", "text"])
def test_what_looks_like_a_credential_is_not_published(secret: str, place: str) -> None:
    [violation] = preconditions.content_is_allowed(publication(**{place: f"see {secret}"}), None)
    assert (violation.code, violation.argument) == ("credential_in_text", place)
    assert preconditions.content_is_allowed(publication(), None) == []


@pytest.mark.parametrize(
    "changes", [{"title": "two\nlines"}, {"text": "x" * 2001}, {"text": "\x1b[2J"}, {"text": ""}]
)
def test_content_is_bounded_in_size_and_free_of_control_characters(changes: Any) -> None:
    with pytest.raises(ValidationError):
        publication(**changes)


@pytest.mark.parametrize("name", ["Trial", "-trial", "trial-", "a--b", "a.b", "a/b", "x" * 27, ""])
def test_an_environment_s_name_can_be_part_of_a_bucket_s(name: str) -> None:
    with pytest.raises(ValidationError):
        CreateEnvironment(environment=name, purpose="test")


# People


@pytest.mark.parametrize(
    ("audience", "access", "asked"),
    [
        ("team", "read", False),
        ("team", "contribute", True),
        ("everyone", "read", True),
        ("everyone", "contribute", True),
    ],
)
def test_a_person_is_asked_when_everybody_reads_it_or_the_team_may_write(
    audience: str, access: str, *, asked: bool
) -> None:
    grant = Receipt(resource="x", details={"access": access, "team": "payments"})
    question = Question(
        step="publish_instruction",
        arguments=publication(audience=audience),
        results={"grant_access": grant},
        facts={},
        now=datetime(2026, 10, 1, tzinfo=UTC),
    )
    verdict = policy.decide(question)
    assert isinstance(verdict, NeedsApproval if asked else Allowed)


# Authority


@pytest.mark.parametrize("step", UNDOS, ids=lambda step: step.undo.name)
def test_an_undo_s_session_has_the_declared_actions_on_one_resource_of_the_declared_ones(
    step: Step,
) -> None:
    assert step.undo is not None
    declared, own = step.undo.run.authority.permissions, OWN[step.undo.name]
    assert [p.actions for p in own] == [p.actions for p in declared]
    for wide, narrow in zip(declared, own, strict=True):
        for pattern, resource in zip(filled(wide), filled(narrow), strict=True):
            assert "*" not in resource
            assert fnmatchcase(resource, pattern)


def filled(permission: Permission) -> list[str]:
    role = REVOKE_ROLE
    with pytest.MonkeyPatch.context() as patch:
        for name, value in SETTINGS.items():
            patch.setenv(name, value)
        [statement] = json.loads(session_policy([permission], role))["Statement"]
    found: list[str] = statement["Resource"]
    return found


@pytest.mark.parametrize("step", UNDOS, ids=lambda step: step.undo.name)
def test_an_undo_is_made_under_a_role_of_its_own_and_no_run_is(step: Step) -> None:
    assert step.undo is not None
    assert step.undo.run.authority.role
    assert step.run.authority.role is None


def test_no_run_may_delete_and_no_undo_may_grant() -> None:
    for step in CATALOGUE.steps:
        actions = {a for p in step.run.authority.permissions for a in p.actions}
        assert not [a for a in actions if "Delete" in a]
    revoke = {a for p in OWN["revoke_access"] for a in p.actions if a.startswith("iam:")}
    assert revoke == {"iam:GetRolePolicy", "iam:DeleteRolePolicy"}


def test_every_placeholder_of_a_permission_is_known_at_deploy_time() -> None:
    known = {"partition", "region", "account", *CATALOGUE.settings}
    for step in CATALOGUE.steps:
        for permission in step.run.authority.permissions:
            for resource in permission.resources:
                resource.format_map(dict.fromkeys(known, "x"))


# Keys


def test_the_topic_s_memory_is_over_before_a_machine_would_rely_on_it() -> None:
    kept = NOTIFY_TEAM.settlement.keys_kept_for
    assert kept is not None
    assert kept + NOTIFY_TEAM.function_timeout < timedelta(minutes=5)
    assert NOTIFY_TEAM.settlement.status is None
