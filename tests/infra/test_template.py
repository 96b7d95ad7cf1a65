"""What is deployed, beside who may do what."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any, get_args

import pytest

from functions.catalogues.fulfilment.catalogue import CATALOGUE as FULFILMENT
from functions.usecases.records import Record
from infra.tables import FORGOTTEN_AT
from tests.infra.deployed import Deployed, plain
from tests.infra.warehouse import CATALOGUE as WAREHOUSE

pytestmark = pytest.mark.xdist_group("infra")

AGENT_ROUTES = {
    "GET /catalogues/{name}",
    "POST /plans",
    "GET /requests/{request_id}",
    "GET /sagas/{saga_id}",
}
PEOPLE_ROUTES = {
    "GET /sagas",
    "GET /sagas/{saga_id}/audit",
    "POST /sagas/{saga_id}/cancel",
    "GET /review",
    "GET /approvals",
    "GET /approvals/{approval_id}",
    "POST /approvals/{approval_id}/decision",
    "GET /cases",
    "GET /cases/{case_id}",
    "POST /cases/{case_id}/claim",
    "POST /cases/{case_id}/renewal",
    "POST /cases/{case_id}/release",
    "POST /cases/{case_id}/handover",
    "POST /cases/{case_id}/observations",
    "POST /cases/{case_id}/resolution",
    "POST /cases/{case_id}/proposal",
    "POST /cases/{case_id}/proposal/answer",
    "POST /notices/take",
    "POST /notices/acknowledgement",
}
PAGE = "${ApiHttp.ApiEndpoint}/console"
PAGE_ROUTES = {"GET /console", "GET /console/{file}"}


def table(product: Deployed, name: str) -> dict[str, Any]:
    tables = product.resources("AWS::DynamoDB::Table")
    return next(t for id_, t in tables.items() if id_.startswith(f"Tables{name}"))


def indexes(found: dict[str, Any]) -> dict[str, list[str]]:
    types = {a["AttributeName"]: a["AttributeType"] for a in found["AttributeDefinitions"]}
    return {
        index["IndexName"]: [
            f"{key['AttributeName']}:{types[key['AttributeName']]}" for key in index["KeySchema"]
        ]
        for index in found["GlobalSecondaryIndexes"]
    }


@pytest.mark.parametrize("name", ["Ledger", "People"])
def test_a_table_can_be_restored_and_is_not_deleted_by_a_slip(product: Deployed, name: str) -> None:
    found = table(product, name)
    assert found["BillingMode"] == "PAY_PER_REQUEST"
    assert found["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}
    assert found["DeletionProtectionEnabled"] is True
    assert found["TimeToLiveSpecification"] == {"AttributeName": FORGOTTEN_AT, "Enabled": True}
    assert [k["AttributeName"] for k in found["KeySchema"]] == ["pk", "sk"]
    assert {t["DeletionPolicy"] for t in product.whole("AWS::DynamoDB::Table")} == {"Retain"}


def test_a_record_carries_what_its_table_forgets_it_by_and_none_begins_with_it() -> None:
    """How often a document was planned for is kept for good: a new request id must not begin anew."""
    carrying = {r.__name__ for r in get_args(Record) if FORGOTTEN_AT in r.model_fields}
    assert carrying == {"Head", "StepRecord", "Approval", "Case", "RequestRecord"}
    for record in get_args(Record):
        if record.__name__ in carrying:
            assert record.model_fields[FORGOTTEN_AT].default is None


def test_the_ledger_streams_what_was_written_and_lists_what_is_due_and_what_there_is(
    product: Deployed,
) -> None:
    ledger = table(product, "Ledger")
    assert ledger["StreamSpecification"] == {"StreamViewType": "NEW_IMAGE"}
    assert indexes(ledger) == {
        "due": ["due_shard:S", "due_at:N"],
        "listed": ["listed:S", "created_at:N"],
        "review": ["review:S", "ended_at:N"],
        "open": ["open:S", "created_at:N"],
    }


def test_the_index_of_open_sagas_is_written_when_one_begins_and_when_it_ends(
    product: Deployed,
) -> None:
    [found] = [
        i for i in table(product, "Ledger")["GlobalSecondaryIndexes"] if i["IndexName"] == "open"
    ]
    kept = found["Projection"]["NonKeyAttributes"]
    assert found["Projection"]["ProjectionType"] == "INCLUDE"
    assert set(kept) == {"saga_id", "catalogue", "catalogue_version"}


def test_people_s_items_are_listed_while_open_and_never_streamed(product: Deployed) -> None:
    people = table(product, "People")
    assert "StreamSpecification" not in people
    assert indexes(people) == {
        "due": ["due_shard:S", "due_at:N"],
        "open": ["open:S", "created_at:N"],
    }


def test_the_local_stage_is_thrown_away_whole(local: Deployed) -> None:
    for name in ("Ledger", "People"):
        assert table(local, name)["DeletionProtectionEnabled"] is False
    assert {t["DeletionPolicy"] for t in local.whole("AWS::DynamoDB::Table")} == {"Delete"}


def test_every_queue_is_encrypted_keeps_two_weeks_and_refuses_plain_http(
    product: Deployed,
) -> None:
    queues = product.resources("AWS::SQS::Queue")
    refusing = {
        plain(queue)
        for policy in product.resources("AWS::SQS::QueuePolicy").values()
        for queue in policy["Queues"]
        for statement in policy["PolicyDocument"]["Statement"]
        if statement["Effect"] == "Deny"
        and statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
    }
    assert len(refusing) == len(queues) == 5
    for queue in queues.values():
        assert queue["SqsManagedSseEnabled"] is True
        assert queue["MessageRetentionPeriod"] == 14 * 24 * 60 * 60


@pytest.mark.parametrize(("name", "deliveries"), [("Approvals", 5), ("ManualResolution", 50)])
def test_a_notice_that_nobody_can_take_ends_in_a_dead_letter_queue(
    product: Deployed, name: str, deliveries: int
) -> None:
    queues = {plain({"Ref": i}): q for i, q in product.resources("AWS::SQS::Queue").items()}
    redrive = queues[f"${{Queues{name}}}"]["RedrivePolicy"]
    assert plain(redrive["deadLetterTargetArn"]) == f"${{Queues{name}Dead.Arn}}"
    assert redrive["maxReceiveCount"] == deliveries


def routes(stack: Deployed) -> dict[str, dict[str, Any]]:
    return {r["RouteKey"]: r for r in stack.resources("AWS::ApiGatewayV2::Route").values()}


def test_every_route_but_the_page_is_behind_the_token_authorizer_and_there_are_no_others(
    product: Deployed,
) -> None:
    found = routes(product)
    assert set(found) == AGENT_ROUTES | PEOPLE_ROUTES | PAGE_ROUTES
    open_ = {key for key, route in found.items() if route["AuthorizationType"] == "NONE"}
    assert open_ == PAGE_ROUTES
    assert {found[key]["AuthorizationType"] for key in found.keys() - open_} == {"JWT"}
    assert {key for key, route in found.items() if route.get("AuthorizationScopes")} == {
        "POST /plans"
    }
    assert found["POST /plans"]["AuthorizationScopes"] == ["sagaplane/plans.submit"]


def test_agents_people_and_the_page_are_answered_by_different_functions(product: Deployed) -> None:
    behind = {
        f"integrations/${{{id_}}}": plain(integration["IntegrationUri"])
        for id_, integration in product.resources("AWS::ApiGatewayV2::Integration").items()
    }
    answers: dict[str, set[str]] = {}
    for key, route in routes(product).items():
        target = "".join(
            part if isinstance(part, str) else f"${{{part['Ref']}}}"
            for part in route["Target"]["Fn::Join"][1]
        )
        answers.setdefault(behind[target], set()).add(key)
    assert answers == {
        "${AgentApiFunctionCurrentVersion}": AGENT_ROUTES,
        "${PeopleApiFunctionCurrentVersion}": PEOPLE_ROUTES,
        "${ConsoleFunctionCurrentVersion}": PAGE_ROUTES,
    }


def test_the_page_is_told_where_to_sign_in_and_nothing_else(product: Deployed) -> None:
    told = product.environment("console")
    assert told.keys() - {"SAGAPLANE_STAGE", "POWERTOOLS_SERVICE_NAME", "POWERTOOLS_LOG_LEVEL"} == {
        "AUTH_URL",
        "CLIENT_ID",
    }
    assert told["CLIENT_ID"] == "${PeoplePoolPeople}"


def test_tokens_of_this_pool_s_clients_and_of_nobody_else_are_accepted(product: Deployed) -> None:
    [authorizer] = product.resources("AWS::ApiGatewayV2::Authorizer").values()
    clients = {plain({"Ref": id_}) for id_ in product.resources("AWS::Cognito::UserPoolClient")}
    jwt = authorizer["JwtConfiguration"]
    assert {plain(audience) for audience in jwt["Audience"]} == clients
    assert plain(jwt["Issuer"]) == (
        "https://cognito-idp.${AWS::Region}.amazonaws.com/${PeoplePool}"
    )


def test_the_api_is_throttled_and_logs_who_called_but_no_header(product: Deployed) -> None:
    [stage] = product.resources("AWS::ApiGatewayV2::Stage").values()
    assert stage["DefaultRouteSettings"] == {
        "ThrottlingBurstLimit": 100,
        "ThrottlingRateLimit": 50,
    }
    logged = json.loads(stage["AccessLogSettings"]["Format"])
    assert "$context.authorizer.claims.client_id" in logged.values()
    assert not [value for value in logged.values() if "header" in value.lower()]


def test_nobody_signs_up_and_people_need_two_factors(product: Deployed) -> None:
    [pool] = product.resources("AWS::Cognito::UserPool").values()
    assert pool["AdminCreateUserConfig"] == {"AllowAdminCreateUserOnly": True}
    assert pool["MfaConfiguration"] == "ON"
    assert pool["EnabledMfas"] == ["SOFTWARE_TOKEN_MFA"]
    assert pool["DeletionProtection"] == "ACTIVE"


def clients(stack: Deployed) -> dict[str, dict[str, Any]]:
    return {c["ClientName"]: c for c in stack.resources("AWS::Cognito::UserPoolClient").values()}


def test_an_agent_has_a_secret_and_the_agents_scopes_and_no_way_to_sign_in_as_a_person(
    product: Deployed,
) -> None:
    agents = {n: c for n, c in clients(product).items() if n != "people"}
    assert set(agents) == {"agent-support", "agent-nightly"}
    for agent in agents.values():
        assert agent["GenerateSecret"] is True
        assert agent["AllowedOAuthFlows"] == ["client_credentials"]
        assert {plain(scope).rsplit("/", 1)[1] for scope in agent["AllowedOAuthScopes"]} == {
            "catalogue.read",
            "plans.submit",
            "sagas.read",
        }
        assert agent["ExplicitAuthFlows"] == ["ALLOW_REFRESH_TOKEN_AUTH"]


def test_a_person_signs_in_in_a_browser_and_by_password_on_the_local_stage_alone(
    product: Deployed, local: Deployed
) -> None:
    people = clients(product)["people"]
    assert people["GenerateSecret"] is False
    assert people["AllowedOAuthFlows"] == ["code"]
    assert people["AllowedOAuthScopes"] == ["openid", "profile"]
    for back in ("CallbackURLs", "LogoutURLs"):
        assert [plain(url) for url in people[back]] == ["http://127.0.0.1:8912/callback", PAGE]
    assert people["ExplicitAuthFlows"] == ["ALLOW_REFRESH_TOKEN_AUTH"]
    assert "ALLOW_USER_PASSWORD_AUTH" in clients(local)["people"]["ExplicitAuthFlows"]


def test_each_catalogue_s_owners_and_each_tenant_are_groups(product: Deployed) -> None:
    groups = {g["GroupName"] for g in product.resources("AWS::Cognito::UserPoolGroup").values()}
    assert groups == {
        FULFILMENT.approvers,
        FULFILMENT.operators,
        WAREHOUSE.approvers,
        WAREHOUSE.operators,
        "tenant.default",
    }


def test_the_stream_wakes_the_starter_for_what_is_wanted_and_keeps_what_it_could_not_take(
    product: Deployed,
) -> None:
    [mapping] = product.resources("AWS::Lambda::EventSourceMapping").values()
    assert plain(mapping["EventSourceArn"]) == "${TablesLedger.StreamArn}"
    [criterion] = mapping["FilterCriteria"]["Filters"]
    assert json.loads(criterion["Pattern"]) == {
        "dynamodb": {"NewImage": {"wanted": {"S": [{"exists": True}]}}}
    }
    assert mapping["BisectBatchOnFunctionError"] is True
    assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert mapping["MaximumRetryAttempts"] == 5
    dead = mapping["DestinationConfig"]["OnFailure"]["Destination"]
    assert plain(dead) == "${QueuesUnstarted.Arn}"
    [(alias, live)] = product.resources("AWS::Lambda::Alias").items()
    assert plain(live["FunctionName"]) == "${StarterFunction}"
    assert json.dumps({"Ref": alias}) in json.dumps(mapping["FunctionName"])


def test_an_execution_that_ended_badly_wakes_the_rescue(product: Deployed) -> None:
    [rule] = [r for r in product.resources("AWS::Events::Rule").values() if "EventPattern" in r]
    pattern = rule["EventPattern"]
    assert pattern["source"] == ["aws.states"]
    assert pattern["detail-type"] == ["Step Functions Execution Status Change"]
    assert pattern["detail"]["status"] == ["FAILED", "TIMED_OUT", "ABORTED"]
    prefixes = [plain(p["prefix"]) for p in pattern["detail"]["stateMachineArn"]]
    assert [p.rsplit(":", 1)[1] for p in prefixes] == ["sagaplane-production-"]
    assert [plain(t["Arn"]) for t in rule["Targets"]] == ["${RecoveryrescueFunctionCurrentVersion}"]


def test_the_sweeper_runs_each_minute(product: Deployed) -> None:
    [rule] = [r for r in product.resources("AWS::Events::Rule").values() if "EventPattern" not in r]
    assert rule["ScheduleExpression"] == "rate(1 minute)"
    assert [plain(t["Arn"]) for t in rule["Targets"]] == [
        "${RecoverysweeperFunctionCurrentVersion}"
    ]


@pytest.mark.parametrize("catalogue", [FULFILMENT, WAREHOUSE], ids=lambda c: str(c.name))
def test_a_step_s_function_outlives_its_calls(product: Deployed, catalogue: Any) -> None:
    for step in catalogue.steps:
        run = product.functions[f"{catalogue.name}-{step.name}-run"]
        assert run["Timeout"] == math.ceil(step.function_timeout.total_seconds())
        if step.undo:
            undo = product.functions[f"{catalogue.name}-{step.name}-undo"]
            assert undo["Timeout"] == math.ceil(step.undo_function_timeout.total_seconds())


def test_a_function_runs_arm_python_on_aws_and_our_bootstrap_on_the_emulator(
    product: Deployed, local: Deployed
) -> None:
    for function in product.functions.values():
        assert (function["Runtime"], function["Architectures"]) == ("python3.13", ["arm64"])
    assert {f["Runtime"] for f in local.functions.values()} == {"provided.al2023"}


def test_a_published_version_stays_for_the_sagas_that_began_with_it(product: Deployed) -> None:
    versions = product.whole("AWS::Lambda::Version")
    assert len(versions) == len(product.functions)
    assert {v["DeletionPolicy"] for v in versions} == {"Retain"}


def test_the_starter_finds_every_published_version_in_one_parameter(product: Deployed) -> None:
    [parameter] = product.resources("AWS::SSM::Parameter").values()
    assert parameter["Name"] == "/sagaplane/production/functions"
    assert product.environment("starter")["FUNCTIONS_PARAMETER"] == parameter["Name"]
    versions = json.loads(plain(parameter["Value"]))
    steps = versions.pop("steps")
    assert set(versions) == {"begin", "finish", "gate", "open_case"}
    for catalogue in (FULFILMENT, WAREHOUSE):
        assert set(steps[catalogue.name]) == {s.name for s in catalogue.steps}
        for step in catalogue.steps:
            sides = steps[catalogue.name][step.name]
            assert set(sides) == ({"run", "undo"} if step.undo else {"run"})
            assert all("CurrentVersion" in arn for arn in sides.values())


def test_a_step_s_function_knows_one_step_one_catalogue_and_where_its_secrets_are(
    product: Deployed,
) -> None:
    environment = product.environment("warehouse-move-run")
    assert environment == {
        "SAGAPLANE_STAGE": "production",
        "SAGAPLANE_STEP": "warehouse/move",
        "CATALOGUES": "tests.infra.warehouse:CATALOGUE",
        "SECRET_PREFIX": "sagaplane/production",
        "LEDGER_TABLE": "${TablesLedger}",
        "WAREHOUSE_QUEUE": "pallets",
        "POWERTOOLS_SERVICE_NAME": "warehouse-move-run",
        "POWERTOOLS_LOG_LEVEL": "INFO",
    }
    assert "PEOPLE_TABLE" in product.environment("warehouse-load-run")


def test_the_agents_function_knows_each_client_s_name_tenant_and_owner(product: Deployed) -> None:
    agents = json.loads(product.environment("agent-api")["AGENTS"])
    assert agents["${PeoplePoolAgentsupport}"] == {
        "name": "support",
        "tenant": "default",
        "owner": "customer support",
    }
    assert len(agents) == 2


def test_no_credential_is_in_any_environment(product: Deployed, sandbox: Deployed) -> None:
    for stack in (product, sandbox):
        for name in stack.functions:
            text = json.dumps(stack.functions[name]["Environment"])
            assert "resolve:secretsmanager" not in text
            assert "ClientSecret" not in text


def test_a_new_secret_opens_nothing_until_its_owner_fills_it(product: Deployed) -> None:
    for secret in product.resources("AWS::SecretsManager::Secret").values():
        assert "SecretString" not in secret
        assert secret["GenerateSecretString"] == {
            "ExcludePunctuation": True,
            "PasswordLength": 40,
        }


def test_work_that_nobody_took_raises_an_alarm(product: Deployed) -> None:
    alarms = product.resources("AWS::CloudWatch::Alarm").values()
    watched = {(a["MetricName"], plain(a["Dimensions"][0]["Value"])) for a in alarms}
    assert {
        ("ApproximateNumberOfMessagesVisible", "${QueuesUnstarted.QueueName}"),
        ("ApproximateNumberOfMessagesVisible", "${QueuesApprovalsDead.QueueName}"),
        ("ApproximateNumberOfMessagesVisible", "${QueuesManualResolutionDead.QueueName}"),
        ("ApproximateAgeOfOldestMessage", "${QueuesApprovals.QueueName}"),
        ("ApproximateAgeOfOldestMessage", "${QueuesManualResolution.QueueName}"),
    } <= watched
    assert {value for metric, value in watched if metric == "Errors"} == {
        "${StarterFunction}",
        "${RecoverysweeperFunction}",
        "${RecoveryrescueFunction}",
    }


def test_the_sandbox_has_its_own_table_and_reaches_nothing_of_the_product(
    sandbox: Deployed,
) -> None:
    assert {resource for _, resource in sandbox.grants("sandbox")} == {"${SandboxBooks.Arn}"}
    assert {r["AuthorizationType"] for r in routes(sandbox).values()} == {"NONE"}


def test_nothing_waits_for_itself_to_be_made(product: Deployed) -> None:
    """The sign-in knows the page's address, the page's function the sign-in, the API's authorizer both."""
    made = product.template["Resources"]
    needs = {id_: set(_named(resource)) & made.keys() - {id_} for id_, resource in made.items()}
    while ready := {id_ for id_, needed in needs.items() if not needed}:
        needs = {id_: needed - ready for id_, needed in needs.items() if id_ not in ready}
    assert needs == {}


def _named(value: Any) -> Iterator[str]:
    """Every logical id that a resource refers to or depends on."""
    match value:
        case {"Ref": str(id_)}:
            yield id_
        case {"Fn::GetAtt": [str(id_), *_]}:
            yield id_
        case {"Fn::Sub": text}:
            yield from re.findall(r"\$\{(\w+)", json.dumps(text))
        case dict():
            for name, inner in value.items():
                yield from (
                    ([inner] if isinstance(inner, str) else inner)
                    if name == "DependsOn"
                    else _named(inner)
                )
        case list():
            for inner in value:
                yield from _named(inner)


def test_the_template_leaves_room_under_cloudformation_s_limit(product: Deployed) -> None:
    assert len(product.template["Resources"]) < 300
