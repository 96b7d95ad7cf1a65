"""The environments' adapters against AWS's APIs: what they promise about effects, keys, undos and other people's work."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest
from pydantic import BaseModel

from functions.catalogues.environments.adapters import (
    access,
    environment,
    instruction,
    notices,
    registry,
)
from functions.catalogues.environments.arguments import (
    CreateEnvironment,
    GrantAccess,
    NotifyTeam,
    PublishInstruction,
    RegisterEnvironment,
)
from functions.catalogues.environments.catalogue import CREATE_ENVIRONMENT, GRANT_ACCESS
from functions.catalogues.environments.names import MARKER
from functions.domain.calls import Call
from functions.domain.catalogue import Step
from functions.domain.outcome import (
    Applied,
    NotApplied,
    NotFound,
    Receipt,
    RefusalCause,
    Refused,
    Tombstoned,
    Unknown,
    UnknownCause,
)
from tests.unit.aws_stage import (
    AWS,
    CHANNEL,
    DECOMMISSION_ROLE,
    RECORDS,
    REGION,
    REVOKE_ROLE,
    TEAM_ROLE,
    aws_account,
    lost,
    said,
)

BUCKET = "acme-env-trial"
BINDING = "sagaplane.s-1.1.do"
INSTRUCTION = "instructions/s-1.2.do.json"
CREATE = CreateEnvironment(environment="trial", purpose="test")
GRANT = GrantAccess(team="payments", access="contribute")
PUBLISH = PublishInstruction(audience="team", title="Move over", text="Use the new one.")


@pytest.fixture(autouse=True)
def aws(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[AWS]:
    with aws_account(monkeypatch, getattr(request, "param", REGION)) as account:
        yield account


def call(key: str, arguments: BaseModel | None = None, **given: Any) -> Call:
    return Call(key=key, credential="", timeout=8.0, arguments=arguments, **given)


def receipt_of(outcome: Any) -> Receipt:
    assert isinstance(outcome, Applied), outcome
    return outcome.receipt


def refused(outcome: Any, cause: RefusalCause) -> str:
    assert isinstance(outcome, Refused), outcome
    assert outcome.cause is cause, outcome
    return outcome.reason


def created() -> Receipt:
    return receipt_of(environment.create(creating()))


def creating(**changes: Any) -> Call:
    return call("s-1:0:do", CREATE.model_copy(update=changes))


def granting(made: Receipt, **changes: Any) -> Call:
    return call("s-1:1:do", GRANT.model_copy(update=changes), results={"create_environment": made})


def granted(made: Receipt) -> Receipt:
    return receipt_of(access.grant(granting(made)))


def undoing(step: Step, key: str, arguments: BaseModel, receipt: Receipt, role: str) -> Call:
    assert step.undo is not None
    inputs: Mapping[str, str] = step.undo.fixed_inputs(arguments, receipt)
    return call(key, inputs=inputs, receipt=receipt, condition=receipt.version, role=role)


def decommissioning(receipt: Receipt) -> Call:
    return undoing(CREATE_ENVIRONMENT, "s-1:0:undo", CREATE, receipt, DECOMMISSION_ROLE)


def revoking(receipt: Receipt) -> Call:
    return undoing(GRANT_ACCESS, "s-1:1:undo", GRANT, receipt, REVOKE_ROLE)


def publishing(results: Mapping[str, Receipt], **changes: Any) -> Call:
    return call("s-1:2:do", PUBLISH.model_copy(update=changes), results=results)


@pytest.fixture
def prepared() -> dict[str, Receipt]:
    made = created()
    return {"create_environment": made, "grant_access": granted(made)}


# Creating an environment


def test_an_environment_is_a_bucket_with_our_key_in_its_tags_and_a_marker(aws: AWS) -> None:
    receipt = created()
    tags = {t["Key"]: t["Value"] for t in aws.s3.get_bucket_tagging(Bucket=BUCKET)["TagSet"]}
    assert tags == {"sagaplane:key": "s-1:0:do", "sagaplane:marker": receipt.version}
    assert receipt.resource == BUCKET
    assert json.loads(aws.text(BUCKET, MARKER))["key"] == "s-1:0:do"


def test_the_same_key_twice_makes_one_environment_with_one_receipt(aws: AWS) -> None:
    assert created() == created()
    assert aws.sent("s3.CreateBucket") == 1


def test_the_same_key_with_another_purpose_is_a_conflict() -> None:
    created()
    outcome = environment.create(creating(purpose="demonstration"))
    assert isinstance(outcome, Unknown)
    assert outcome.cause is UnknownCause.KEY_CONFLICT


@pytest.mark.parametrize("tags", [{}, {"sagaplane__key": "s-9:0:do"}])
def test_a_bucket_of_that_name_that_is_somebody_else_s_is_left_alone(
    aws: AWS, tags: dict[str, str]
) -> None:
    aws.make_bucket(BUCKET, **tags)
    refused(environment.create(creating()), RefusalCause.PRECONDITION)
    assert aws.objects(BUCKET) == set()
    assert isinstance(environment.status(creating()), NotFound)


def test_two_sagas_that_race_for_a_name_end_with_one_environment(aws: AWS) -> None:
    aws.meanwhile("s3.CreateBucket", lambda: aws.make_bucket(BUCKET, sagaplane__key="s-9:0:do"))
    refused(environment.create(creating()), RefusalCause.PRECONDITION)


@pytest.mark.parametrize("aws", ["us-east-1"], indirect=True)
def test_where_aws_answers_200_for_an_own_bucket_a_race_is_lost_as_well(aws: AWS) -> None:
    aws.meanwhile("s3.CreateBucket", lambda: aws.make_bucket(BUCKET, sagaplane__key="x"))
    refused(environment.create(creating()), RefusalCause.PRECONDITION)
    assert aws.objects(BUCKET) == set()


def test_an_environment_whose_answer_was_lost_is_found_by_our_key(aws: AWS) -> None:
    aws.after("s3.CreateBucket", lost())
    assert isinstance(environment.create(creating()), Unknown)
    found = environment.status(creating())
    assert receipt_of(found) == created()


@pytest.mark.parametrize("code", ["AccessDenied", "SlowDown"])
def test_once_the_bucket_is_made_no_trouble_with_its_marker_says_that_nothing_happened(
    aws: AWS, code: str
) -> None:
    aws.before("s3.PutObject", said(code, 403 if code == "AccessDenied" else 503))
    assert isinstance(environment.create(creating()), Unknown)
    assert receipt_of(environment.status(creating())).resource == BUCKET


def test_another_environment_s_key_is_not_ours() -> None:
    created()
    assert isinstance(environment.status(replace(creating(), key="s-2:0:do")), NotFound)


# Removing it


def test_removing_leaves_no_bucket_and_the_same_undo_twice_removes_once(aws: AWS) -> None:
    undo = decommissioning(created())
    first, second = environment.decommission(undo), environment.decommission(undo)
    assert receipt_of(first) == receipt_of(second)
    assert aws.buckets() == set()
    assert aws.sent("s3.DeleteBucket") == 1


def test_an_environment_with_somebody_s_work_is_not_removed(aws: AWS) -> None:
    undo = decommissioning(created())
    aws.put(BUCKET, "work/report.csv")
    assert "work/report.csv" in refused(environment.decommission(undo), RefusalCause.PRECONDITION)
    assert aws.objects(BUCKET) == {MARKER, "work/report.csv"}


def test_work_that_arrives_after_the_look_is_kept_and_the_marker_is_put_back(aws: AWS) -> None:
    undo = decommissioning(created())
    before = aws.text(BUCKET, MARKER)
    aws.meanwhile("s3.DeleteBucket", lambda: aws.put(BUCKET, "work/late.csv"))
    refused(environment.decommission(undo), RefusalCause.PRECONDITION)
    assert aws.objects(BUCKET) == {MARKER, "work/late.csv"}
    assert aws.text(BUCKET, MARKER) == before
    assert aws.objects(RECORDS) == set()


def test_once_the_work_is_gone_the_same_undo_removes_the_environment(aws: AWS) -> None:
    undo = decommissioning(created())
    aws.meanwhile("s3.DeleteBucket", lambda: aws.put(BUCKET, "work/late.csv"))
    environment.decommission(undo)
    aws.s3.delete_object(Bucket=BUCKET, Key="work/late.csv")
    receipt_of(environment.decommission(undo))
    assert aws.buckets() == set()


def test_old_versions_are_somebody_s_work_too(aws: AWS) -> None:
    undo = decommissioning(created())
    aws.s3.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"})
    aws.put(BUCKET, "work/old.csv")
    aws.s3.delete_object(Bucket=BUCKET, Key="work/old.csv")
    refused(environment.decommission(undo), RefusalCause.PRECONDITION)


def test_a_removal_whose_answer_was_lost_is_known_as_ours(aws: AWS) -> None:
    undo = decommissioning(created())
    aws.after("s3.DeleteBucket", lost())
    assert isinstance(environment.decommission(undo), Unknown)
    receipt_of(environment.decommission(undo))
    assert aws.sent("s3.DeleteBucket") == 1


def test_a_removal_that_timed_out_before_it_took_effect_is_finished_by_the_same_key(
    aws: AWS,
) -> None:
    undo = decommissioning(created())
    aws.before("s3.DeleteBucket", lost())
    assert isinstance(environment.decommission(undo), Unknown)
    receipt_of(environment.decommission(undo))
    assert aws.buckets() == set()


def test_an_environment_that_somebody_else_removed_is_no_undo_of_ours(aws: AWS) -> None:
    undo = decommissioning(created())
    aws.delete_bucket(BUCKET)
    assert "not by this undo" in refused(environment.decommission(undo), RefusalCause.PRECONDITION)
    refused(environment.decommission(undo), RefusalCause.PRECONDITION)


def test_another_environment_of_the_same_name_is_not_removed(aws: AWS) -> None:
    undo = decommissioning(created())
    aws.delete_bucket(BUCKET)
    receipt_of(environment.create(replace(creating(), key="s-2:0:do")))
    refused(environment.decommission(undo), RefusalCause.PRECONDITION)
    assert aws.objects(BUCKET) == {MARKER}


def test_an_undo_s_key_with_other_parameters_is_a_conflict() -> None:
    undo = decommissioning(created())
    environment.decommission(undo)
    other = replace(undo, inputs={**undo.inputs, "marker": "0" * 32})
    outcome = environment.decommission(other)
    assert isinstance(outcome, Unknown)
    assert outcome.cause is UnknownCause.KEY_CONFLICT


# Granting access, and taking it back


def test_a_grant_is_one_policy_of_the_team_s_role_for_just_this_environment(aws: AWS) -> None:
    receipt = granted(created())
    [document] = aws.bindings().values()
    assert receipt.resource == f"{TEAM_ROLE}/{BINDING}"
    resources = {s["Resource"] for s in document["Statement"]}
    assert resources == {f"arn:aws:s3:::{BUCKET}", f"arn:aws:s3:::{BUCKET}/work/*"}
    assert document["Statement"][0]["Action"] == ["s3:GetObject", "s3:PutObject", "s3:DeleteObject"]


def test_the_same_key_twice_is_one_grant(aws: AWS) -> None:
    made = created()
    assert granted(made) == granted(made)
    assert aws.sent("iam.PutRolePolicy") == 1


def test_the_same_key_with_other_access_is_a_conflict_and_changes_nothing(aws: AWS) -> None:
    made = created()
    granted(made)
    before = aws.bindings()
    outcome = access.grant(granting(made, access="read"))
    assert isinstance(outcome, Unknown)
    assert outcome.cause is UnknownCause.KEY_CONFLICT
    assert aws.bindings() == before


def test_a_grant_whose_answer_was_lost_is_found_by_our_key(aws: AWS) -> None:
    made = created()
    aws.after("iam.PutRolePolicy", lost())
    assert isinstance(access.grant(granting(made)), Unknown)
    assert receipt_of(access.status(granting(made))) == granted(made)


def test_a_grant_to_the_same_team_by_somebody_else_is_not_ours(aws: AWS) -> None:
    made = created()
    aws.bind("by-hand")
    receipt_of(access.grant(replace(granting(made), key="s-2:1:do")))
    assert isinstance(access.status(granting(made)), NotFound)


def test_a_grant_that_somebody_changed_since_has_no_status(aws: AWS) -> None:
    made = created()
    granted(made)
    aws.bind(BINDING)
    assert isinstance(access.status(granting(made)), Unknown)


def test_a_team_that_is_not_there_gets_no_access() -> None:
    assert isinstance(access.grant(granting(created(), team="nobody")), Refused)


def test_taking_access_back_leaves_what_another_administrator_added(aws: AWS) -> None:
    undo = revoking(granted(created()))
    aws.bind("by-hand")
    assert receipt_of(access.revoke(undo)) == receipt_of(access.revoke(undo))
    assert set(aws.bindings()) == {"by-hand"}
    assert aws.sent("iam.DeleteRolePolicy") == 1


def test_access_that_somebody_changed_is_not_taken_back(aws: AWS) -> None:
    undo = revoking(granted(created()))
    aws.bind(BINDING, "s3:GetObject")
    refused(access.revoke(undo), RefusalCause.PRECONDITION)
    assert set(aws.bindings()) == {BINDING}


def test_access_that_somebody_else_took_back_is_no_undo_of_ours(aws: AWS) -> None:
    undo = revoking(granted(created()))
    aws.iam.delete_role_policy(RoleName=TEAM_ROLE, PolicyName=BINDING)
    refused(access.revoke(undo), RefusalCause.PRECONDITION)


def test_taking_access_back_is_known_as_ours_when_the_answer_was_lost(aws: AWS) -> None:
    undo = revoking(granted(created()))
    aws.after("iam.DeleteRolePolicy", lost())
    assert isinstance(access.revoke(undo), Unknown)
    receipt_of(access.revoke(undo))
    assert aws.sent("iam.DeleteRolePolicy") == 1


def test_what_was_granted_anew_by_hand_under_our_name_is_not_removed_twice(aws: AWS) -> None:
    undo = revoking(granted(created()))
    receipt_of(access.revoke(undo))
    aws.bind(BINDING, "s3:GetObject")
    refused(access.revoke(undo), RefusalCause.PRECONDITION)
    assert set(aws.bindings()) == {BINDING}


# Publishing


def test_an_instruction_is_written_once_where_readers_look(
    aws: AWS, prepared: dict[str, Receipt]
) -> None:
    receipt = receipt_of(instruction.publish(publishing(prepared)))
    assert receipt.resource == f"s3://{CHANNEL}/{INSTRUCTION}"
    assert json.loads(aws.text(CHANNEL, INSTRUCTION)) == {
        "environment": BUCKET,
        "team": "payments",
        "audience": "team",
        "title": "Move over",
        "text": "Use the new one.",
    }


def test_a_repeat_publishes_nothing_and_has_the_same_receipt(
    aws: AWS, prepared: dict[str, Receipt]
) -> None:
    first = receipt_of(instruction.publish(publishing(prepared)))
    aws.delete_bucket(BUCKET)
    assert receipt_of(instruction.publish(publishing(prepared))) == first
    assert receipt_of(instruction.status(publishing({}))) == first


def test_two_calls_that_race_publish_once(aws: AWS, prepared: dict[str, Receipt]) -> None:
    aws.meanwhile("s3.PutObject", lambda: instruction.publish(publishing(prepared)))
    receipt_of(instruction.publish(publishing(prepared)))
    assert aws.objects(CHANNEL) == {INSTRUCTION}


def test_the_same_key_with_another_text_is_a_conflict(
    aws: AWS, prepared: dict[str, Receipt]
) -> None:
    instruction.publish(publishing(prepared))
    before = aws.text(CHANNEL, INSTRUCTION)
    outcome = instruction.publish(publishing(prepared, text="Something else."))
    assert isinstance(outcome, Unknown)
    assert outcome.cause is UnknownCause.KEY_CONFLICT
    assert aws.text(CHANNEL, INSTRUCTION) == before


def test_a_publication_whose_answer_was_lost_is_found(
    aws: AWS, prepared: dict[str, Receipt]
) -> None:
    aws.after("s3.PutObject", lost())
    assert isinstance(instruction.publish(publishing(prepared)), Unknown)
    receipt_of(instruction.status(publishing({})))


def test_the_same_text_of_another_saga_is_not_our_publication(prepared: dict[str, Receipt]) -> None:
    receipt_of(instruction.publish(replace(publishing(prepared), key="s-2:2:do")))
    assert isinstance(instruction.status(publishing({})), NotFound)


def test_what_somebody_else_put_in_our_place_is_neither_ours_nor_replaced(
    aws: AWS, prepared: dict[str, Receipt]
) -> None:
    aws.put(CHANNEL, INSTRUCTION, b"theirs")
    refused(instruction.publish(publishing(prepared)), RefusalCause.PRECONDITION)
    assert isinstance(instruction.status(publishing({})), NotFound)
    assert aws.text(CHANNEL, INSTRUCTION) == "theirs"


def test_a_cancelled_key_keeps_a_late_call_out_for_good(
    aws: AWS, prepared: dict[str, Receipt]
) -> None:
    aws.meanwhile("s3.PutObject", lambda: instruction.cancel(publishing({})))
    assert isinstance(instruction.publish(publishing(prepared)), Refused)
    assert isinstance(instruction.status(publishing({})), Tombstoned)
    assert isinstance(instruction.cancel(publishing({})), Tombstoned)
    assert aws.text(CHANNEL, INSTRUCTION) == ""


def test_cancelling_after_the_publication_answers_with_its_receipt(
    aws: AWS, prepared: dict[str, Receipt]
) -> None:
    receipt = receipt_of(instruction.publish(publishing(prepared)))
    assert receipt_of(instruction.cancel(publishing({}))) == receipt
    assert aws.text(CHANNEL, INSTRUCTION)


def test_nothing_is_published_about_an_environment_that_is_gone(
    aws: AWS, prepared: dict[str, Receipt]
) -> None:
    aws.delete_bucket(BUCKET)
    refused(instruction.publish(publishing(prepared)), RefusalCause.PRECONDITION)
    assert aws.objects(CHANNEL) == set()


def test_nothing_is_published_about_access_that_was_changed(
    aws: AWS, prepared: dict[str, Receipt]
) -> None:
    aws.bind(BINDING, "s3:GetObject")
    refused(instruction.publish(publishing(prepared)), RefusalCause.PRECONDITION)
    assert aws.objects(CHANNEL) == set()


# What comes after


def registering(made: Receipt, key: str = "s-1:3:do", days: int = 30) -> Call:
    arguments = RegisterEnvironment(keep_for_days=days)
    return call(key, arguments, results={"create_environment": made})


def test_an_environment_is_registered_once_with_our_key(aws: AWS) -> None:
    made = created()
    assert registry.register(registering(made)) == registry.register(registering(made))
    entered = aws.ssm.get_parameter(Name="/acme/environments/trial")["Parameter"]
    assert json.loads(entered["Value"])["key"] == "s-1:3:do"
    assert entered["Version"] == 1


def test_a_registration_under_our_key_with_other_days_is_a_conflict() -> None:
    made = created()
    registry.register(registering(made))
    outcome = registry.register(registering(made, days=31))
    assert isinstance(outcome, Unknown)
    assert outcome.cause is UnknownCause.KEY_CONFLICT


@pytest.mark.parametrize("value", ["theirs", '"s-1:3:do"', '{"key": "s-9:3:do"}'])
def test_somebody_else_s_entry_is_never_overwritten(aws: AWS, value: str) -> None:
    made = created()
    aws.ssm.put_parameter(Name="/acme/environments/trial", Value=value, Type="String")
    refused(registry.register(registering(made)), RefusalCause.PRECONDITION)
    assert aws.ssm.get_parameter(Name="/acme/environments/trial")["Parameter"]["Value"] == value


def test_a_repeated_notice_arrives_once_and_has_one_stable_name(aws: AWS) -> None:
    notice = call(
        "s-1:4:do",
        NotifyTeam(message="environment_ready"),
        results={"create_environment": created()},
    )
    first, second = notices.send(notice), notices.send(notice)
    assert receipt_of(first).resource == receipt_of(second).resource
    [message] = aws.messages()
    assert json.loads(message) == {"message": "environment_ready", "environment": BUCKET}


# Trouble, and whose word counts


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (said("AccessDenied", 403), Refused),
        (said("SlowDown", 503), NotApplied),
        (said("InternalError", 500), Unknown),
        (lost(), Unknown),
    ],
)
def test_trouble_with_the_publication_is_the_outcome_that_it_means(
    aws: AWS, prepared: dict[str, Receipt], error: Exception, expected: type
) -> None:
    aws.before("s3.PutObject", error)
    assert isinstance(instruction.publish(publishing(prepared)), expected)


def test_an_undo_without_its_role_is_refused_for_lack_of_authority(aws: AWS) -> None:
    undo = decommissioning(created())
    aws.before("sts.AssumeRole", said("AccessDenied", 403))
    refused(environment.decommission(undo), RefusalCause.AUTHORITY)
    assert aws.buckets() == {BUCKET}


def test_one_failed_call_is_one_call(aws: AWS, prepared: dict[str, Receipt]) -> None:
    aws.calls.clear()
    aws.before("s3.PutObject", said("SlowDown", 503))
    instruction.publish(publishing(prepared))
    assert aws.sent("s3.PutObject") == 1
