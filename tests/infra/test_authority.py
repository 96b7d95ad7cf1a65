"""Least privilege, read from the template and compared with what the catalogues declare."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from functions.catalogues.fulfilment.catalogue import CATALOGUE as FULFILMENT
from functions.domain.catalogue import Catalogue, Kind, Operation, Settlement, Step
from tests.infra.deployed import Deployed, Grant, plain
from tests.infra.warehouse import CATALOGUE as WAREHOUSE

pytestmark = pytest.mark.xdist_group("infra")

POOL = "${PeoplePool.Arn}"
MEMBERSHIP = ("cognito-idp:AdminGetUser", "cognito-idp:AdminListGroupsForUser")
LEDGER = "${TablesLedger.Arn}"
PEOPLE = "${TablesPeople.Arn}"
APPROVALS = "${QueuesApprovals.Arn}"
CASES = "${QueuesManualResolution.Arn}"
OURS = "arn:${AWS::Partition}:%s:${AWS::Region}:${AWS::AccountId}:%s"
SETTINGS = {
    "partition": "${AWS::Partition}",
    "region": "${AWS::Region}",
    "account": "${AWS::AccountId}",
    "WAREHOUSE_QUEUE": "pallets",
}
STEPS = [(c, s) for c in (FULFILMENT, WAREHOUSE) for s in c.steps]
CONTROLS = ["begin-compensation", "finish-compensation", "gate", "open-case"]
DRIVERS = ["starter", "sweeper", "rescue"]
DEPLOYING = ["known-machines", "guard"]
IDS = [f"{c.name}-{s.name}" for c, s in STEPS]


def on(resource: str, *actions: str) -> set[Grant]:
    return {(action, resource) for action in actions}


def use_of(table: str) -> set[Grant]:
    """A saga's records are read as a collection; people's are looked up one by one. Nobody puts over or deletes."""
    reads = ["dynamodb:GetItem"] if table == PEOPLE else ["dynamodb:GetItem", "dynamodb:Query"]
    return on(table, *reads, "dynamodb:UpdateItem")


def declared(catalogue: Catalogue, operations: Iterable[Operation | None]) -> set[Grant]:
    grants: set[Grant] = set()
    for operation in operations:
        if operation is None:
            continue
        authority = operation.authority
        if authority.credential:
            name = f"secret:sagaplane/production/{catalogue.name}/{authority.credential}-??????"
            grants.add(("secretsmanager:GetSecretValue", OURS % ("secretsmanager", name)))
        for permission in authority.permissions:
            for resource in permission.resources:
                grants |= on(resource.format_map(SETTINGS), *permission.actions)
    return grants


def settling(settlement: Settlement) -> list[Operation | None]:
    return [settlement.status, settlement.tombstone]


def facts(catalogue: Catalogue) -> list[Operation]:
    return [fact.read for fact in catalogue.facts]


@pytest.mark.parametrize(("catalogue", "step"), STEPS, ids=IDS)
def test_a_step_s_run_may_do_what_its_run_and_its_settling_declare_and_nothing_else(
    product: Deployed, catalogue: Catalogue, step: Step
) -> None:
    expected = use_of(LEDGER) | declared(catalogue, [step.run, *settling(step.settlement)])
    if step.kind is not Kind.COMPENSABLE:
        expected |= declared(catalogue, facts(catalogue))
    if step.kind is Kind.PIVOT:
        expected |= use_of(PEOPLE) | on(POOL, *MEMBERSHIP)
    assert product.grants(f"{catalogue.name}-{step.name}-run") == expected


@pytest.mark.parametrize(
    ("catalogue", "step"),
    [(c, s) for c, s in STEPS if s.undo],
    ids=[i for i, (_, s) in zip(IDS, STEPS, strict=True) if s.undo],
)
def test_an_undo_may_do_what_it_declares_and_what_settles_its_step_but_never_the_run(
    product: Deployed, catalogue: Catalogue, step: Step
) -> None:
    assert step.undo is not None
    operations = [
        *(replace(step.undo.run, authority=each) for each in step.undo.authorities),
        *settling(step.undo.settlement),
        *(o for other in step.undo.other_actions for o in settling(other.settlement)),
        *settling(step.settlement),
    ]
    granted = product.grants(f"{catalogue.name}-{step.name}-undo")
    assert granted == use_of(LEDGER) | declared(catalogue, operations)


def test_an_undo_cannot_read_the_credential_of_its_run(product: Deployed) -> None:
    granted = product.grants("warehouse-move-undo")
    assert not [resource for _, resource in granted if "move_run" in resource]


def test_pivots_and_the_people_s_function_ask_who_belongs_to_what_and_nobody_changes_it(
    product: Deployed,
) -> None:
    asking = {n for n in product.functions for a, _ in product.grants(n) if "cognito" in a}
    pivots = {f"{c.name}-{s.name}-run" for c, s in STEPS if s.kind is Kind.PIVOT}
    assert asking == pivots | {"people-api"}
    assert {n for n in product.functions if "USER_POOL_ID" in product.environment(n)} == asking


def test_the_agents_function_writes_admissions_and_reads_facts(product: Deployed) -> None:
    expected = use_of(LEDGER) | on(f"{LEDGER}/index/listed", "dynamodb:Query")
    for catalogue in (FULFILMENT, WAREHOUSE):
        expected |= declared(catalogue, facts(catalogue))
    assert product.grants("agent-api") == expected


@pytest.mark.parametrize("service", ["states", "lambda", "sqs", "ssm", "iam", "sts"])
def test_nothing_an_agent_reaches_may_use(product: Deployed, service: str) -> None:
    assert not [a for a, _ in product.grants("agent-api") if a.startswith(f"{service}:")]


def test_nothing_an_agent_reaches_touches_the_people_table(product: Deployed) -> None:
    assert not [r for _, r in product.grants("agent-api") if PEOPLE in r]
    assert "PEOPLE_TABLE" not in product.environment("agent-api")


DRAINING = ("sqs:ReceiveMessage", "sqs:ChangeMessageVisibility", "sqs:DeleteMessage")


def test_the_people_s_function_decides_and_answers_but_starts_and_sends_nothing(
    product: Deployed,
) -> None:
    assert product.grants("people-api") == (
        use_of(LEDGER)
        | on(f"{LEDGER}/index/listed", "dynamodb:Query")
        | on(f"{LEDGER}/index/review", "dynamodb:Query")
        | use_of(PEOPLE)
        | on(f"{PEOPLE}/index/open", "dynamodb:Query")
        | on(CASES, *DRAINING)
        | on(POOL, "cognito-idp:AdminGetUser", "cognito-idp:AdminListGroupsForUser")
        | answering()
    )


def test_the_page_s_function_may_do_nothing(product: Deployed) -> None:
    assert product.grants("console") == set()


def machines() -> list[str]:
    return [OURS % ("states", "stateMachine:sagaplane-production-*")]


def answering() -> set[Grant]:
    actions = ("states:SendTaskSuccess", "states:SendTaskFailure")
    return {grant for machine in machines() for grant in on(machine, *actions)}


def making() -> set[Grant]:
    actions = ("states:CreateStateMachine", "states:DescribeStateMachine")
    grants = {g for m in machines() for g in on(m, *actions)}
    return grants | on("${MachinesRole.Arn}", "iam:PassRole")


def starting() -> set[Grant]:
    grants = making() | {("states:StartExecution", machine) for machine in machines()}
    executions = [m.replace(":stateMachine:", ":execution:") + ":*" for m in machines()]
    grants |= {("states:DescribeExecution", execution) for execution in executions}
    grants |= on("${EventsBus.Arn}", "events:PutEvents")
    return grants | on(
        OURS % ("ssm", "parameter/sagaplane/production/functions"), "ssm:GetParameter"
    )


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        ("begin-compensation", use_of(LEDGER) | use_of(PEOPLE)),
        ("finish-compensation", use_of(LEDGER)),
        (
            "gate",
            on(LEDGER, "dynamodb:GetItem", "dynamodb:Query")
            | use_of(PEOPLE)
            | on(APPROVALS, "sqs:SendMessage")
            | answering(),
        ),
        ("open-case", use_of(LEDGER) | use_of(PEOPLE) | on(CASES, "sqs:SendMessage")),
    ],
)
def test_a_control_may_do_just_its_part(
    product: Deployed, function: str, expected: set[Grant]
) -> None:
    assert product.grants(function) == expected


def test_the_starter_creates_and_starts_but_cannot_answer_for_people(product: Deployed) -> None:
    stream = "${TablesLedger.StreamArn}"
    reading = ("DescribeStream", "GetRecords", "GetShardIterator")
    assert product.grants("starter") == (
        use_of(LEDGER)
        | use_of(PEOPLE)
        | on(CASES, "sqs:SendMessage")
        | on("${QueuesUnstarted.Arn}", *_SEND_TO_DEAD)
        | starting()
        | on(stream, *(f"dynamodb:{action}" for action in reading))
        | on("*", "dynamodb:ListStreams")
    )


_SEND_TO_DEAD = ("sqs:SendMessage", "sqs:GetQueueAttributes", "sqs:GetQueueUrl")


@pytest.mark.parametrize("function", ["sweeper", "rescue"])
def test_what_recovers_a_saga_may_do_all_that_drives_one(product: Deployed, function: str) -> None:
    assert product.grants(function) == (
        use_of(LEDGER)
        | on(f"{LEDGER}/index/due", "dynamodb:Query")
        | use_of(PEOPLE)
        | on(f"{PEOPLE}/index/due", "dynamodb:Query")
        | on(APPROVALS, "sqs:SendMessage")
        | on(CASES, "sqs:SendMessage")
        | starting()
        | answering()
    )


def test_what_makes_the_known_machines_starts_none_and_reads_no_record(product: Deployed) -> None:
    assert product.grants("known-machines") == making()


def test_what_a_deployment_asks_reads_sagas_and_nothing_else(product: Deployed) -> None:
    assert product.grants("guard") == (
        on(LEDGER, "dynamodb:Query") | on(f"{LEDGER}/index/open", "dynamodb:Query")
    )


def step_functions() -> set[str]:
    names = {f"{c.name}-{s.name}-run" for c, s in STEPS}
    return names | {f"{c.name}-{s.name}-undo" for c, s in STEPS if s.undo}


def test_every_step_and_every_undo_has_a_function_and_there_are_no_others(
    product: Deployed,
) -> None:
    expected = step_functions() | {*CONTROLS, *DRIVERS, *DEPLOYING}
    assert set(product.functions) == expected | {"agent-api", "people-api", "console"}


def test_a_retired_step_keeps_its_function_its_rights_and_its_version(product: Deployed) -> None:
    """No new plan may use it; a saga that is open may still need it."""
    weigh = WAREHOUSE.step("weigh")
    assert weigh is not None
    assert weigh.retired
    assert declared(WAREHOUSE, [weigh.run]) <= product.grants("warehouse-weigh-run")
    [parameter] = product.resources("AWS::SSM::Parameter").values()
    assert "StepswarehouseweighrunFunctionCurrentVersion" in plain(parameter["Value"])
    [guard] = product.resources("Custom::Guard").values()
    assert "weigh" in guard["Offers"]["warehouse"]["steps"]


def test_the_machines_role_invokes_exactly_the_steps_and_the_controls(product: Deployed) -> None:
    [role] = [id_ for id_ in product.resources("AWS::IAM::Role") if id_.startswith("Machines")]
    called = step_functions() | set(CONTROLS)
    arns = [OURS % ("lambda", f"function:sagaplane-production-{name}:*") for name in called]
    assert product.granted(role) == {("lambda:InvokeFunction", arn) for arn in arns}


def test_step_functions_alone_takes_the_machines_role_on_and_for_this_account(
    product: Deployed,
) -> None:
    [role] = [
        role
        for id_, role in product.resources("AWS::IAM::Role").items()
        if id_.startswith("Machines")
    ]
    [statement] = role["AssumeRolePolicyDocument"]["Statement"]
    assert statement["Principal"] == {"Service": "states.amazonaws.com"}
    assert statement["Condition"] == {
        "StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}
    }


def test_nobody_but_the_machines_role_may_invoke(product: Deployed, sandbox: Deployed) -> None:
    for stack in (product, sandbox):
        for id_ in stack.resources("AWS::IAM::Role"):
            may = [a for a, _ in stack.granted(id_) if a.startswith("lambda:")]
            assert not may or id_.startswith("Machines"), id_


def test_no_resource_policy_lets_anybody_invoke_a_step_an_undo_or_a_control(
    product: Deployed,
) -> None:
    opened = {
        plain(permission["FunctionName"])
        for permission in product.resources("AWS::Lambda::Permission").values()
    }
    assert opened == {
        "${AgentApiFunctionCurrentVersion}",
        "${PeopleApiFunctionCurrentVersion}",
        "${ConsoleFunctionCurrentVersion}",
        "${RecoverysweeperFunctionCurrentVersion}",
        "${RecoveryrescueFunctionCurrentVersion}",
    }


def test_each_function_has_a_role_of_its_own_that_lambda_alone_takes_on(product: Deployed) -> None:
    roles = [product.role_of(name) for name in product.functions]
    assert len(set(roles)) == len(roles)
    trusted = product.resources("AWS::IAM::Role")
    for role in roles:
        [statement] = trusted[role]["AssumeRolePolicyDocument"]["Statement"]
        assert statement["Principal"] == {"Service": "lambda.amazonaws.com"}
        assert "ManagedPolicyArns" not in trusted[role]


def test_each_function_writes_its_own_log_and_no_other(product: Deployed) -> None:
    for name, function in product.functions.items():
        log = plain(function["LoggingConfig"]["LogGroup"]).removesuffix("}")
        granted = product.granted(product.role_of(name))
        assert {g for g in granted if g[0].startswith("logs:")} == on(
            f"{log}.Arn}}", "logs:CreateLogStream", "logs:PutLogEvents"
        )


def test_only_the_machines_role_is_passed_and_only_to_step_functions(product: Deployed) -> None:
    passing = [
        statement
        for role in product.resources("AWS::IAM::Role")
        for statement in product.statements(role)
        if "iam:PassRole" in statement["Action"]
    ]
    assert len(passing) == len([*DRIVERS, "known-machines"])
    for statement in passing:
        assert plain(statement["Resource"]) == "${MachinesRole.Arn}"
        assert statement["Condition"] == {
            "StringEquals": {"iam:PassedToService": "states.amazonaws.com"}
        }


def test_no_policy_has_a_wildcard_for_an_action_or_for_a_resource_that_could_be_named(
    product: Deployed, sandbox: Deployed
) -> None:
    wide = set()
    for stack in (product, sandbox):
        for role in stack.resources("AWS::IAM::Role"):
            for action, resource in stack.granted(role):
                assert "*" not in action
                if resource == "*":
                    wide.add(action)
    assert wide == {"dynamodb:ListStreams"}


def test_only_the_emulator_gets_tokens_answered_on_any_machine(local: Deployed) -> None:
    anywhere = {action for action, resource in local.grants("people-api") if resource == "*"}
    assert anywhere == {"states:SendTaskSuccess", "states:SendTaskFailure"}


def test_a_secret_is_granted_by_the_name_that_it_has(product: Deployed) -> None:
    made = {s["Name"] for s in product.resources("AWS::SecretsManager::Secret").values()}
    read = {
        resource.rsplit(":secret:", 1)[1].removesuffix("-??????")
        for name in product.functions
        for action, resource in product.grants(name)
        if action == "secretsmanager:GetSecretValue"
    }
    assert read == made
