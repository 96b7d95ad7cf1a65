"""Who may do what: every grant of every function, in one place to read.

A step's functions get the authority that the catalogue declares for their operations and nothing else. Nothing an agent can
reach may start an execution, answer a token, touch the people table or invoke a step. Only the machines' role invokes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from aws_cdk import Aws
from aws_cdk import aws_iam as iam

from functions.domain.catalogue import Authority, Catalogue, Kind, Operation, Settlement, Step

Grants = list[iam.PolicyStatement]

# A transaction is authorised by the actions of its items, there is no permission for TransactWriteItems. Everything is
# written with conditional updates: no function may put over, scan or delete.
_READ = ("dynamodb:GetItem", "dynamodb:Query")
_WRITE = ("dynamodb:GetItem", "dynamodb:Query", "dynamodb:UpdateItem")
_PERSON = ("dynamodb:GetItem", "dynamodb:UpdateItem")
_MAKE = ("states:CreateStateMachine", "states:DescribeStateMachine")
_MEMBERSHIP = ("cognito-idp:AdminGetUser", "cognito-idp:AdminListGroupsForUser")
_DRAIN = ("sqs:ReceiveMessage", "sqs:ChangeMessageVisibility", "sqs:DeleteMessage")
_ANSWER = ("states:SendTaskSuccess", "states:SendTaskFailure")
_DECLARED = re.compile(r"arn:[^:]+:(s3::|iam::[^:]+|ssm:[^:]+:[^:]+):[^*]+\*")
"""Patterns among a catalogue's permissions; each begins with a name."""


@dataclass(frozen=True, slots=True)
class Places:
    """The ARNs that grants are made of. `machines` holds what the names of our state machines begin with."""

    ledger: str
    people: str
    user_pool: str
    approvals: str
    cases: str
    bus: str
    functions_parameter: str
    machines: str
    machine_role: str
    secret_prefix: str
    settings: Mapping[str, Mapping[str, str]]
    """Values of each catalogue's settings, for the placeholders in its permissions."""
    tokens_by_machine: bool = True
    """Whether answering a token can be limited to our machines. The emulator knows no resource for these calls."""

    def machine_arns(self) -> list[str]:
        """Every state machine of our catalogues."""
        return [f"{self.machine_arn_prefix()}*"]

    def machine_arn_prefix(self) -> str:
        """What their ARNs begin with."""
        return _arn("states", f"stateMachine:{self.machines}")

    def execution_arns(self) -> list[str]:
        """Every execution of them."""
        return [_arn("states", f"execution:{self.machines}*:*")]

    def undo_role_name(self, catalogue: str, role: str) -> str:
        """The role that an undo is made under, where its authority declares one."""
        return f"{self.machines}{catalogue}-{role}"

    def undo_role(self, catalogue: str, role: str) -> str:
        """The ARN of that role."""
        name = self.undo_role_name(catalogue, role)
        return f"arn:{Aws.PARTITION}:iam::{Aws.ACCOUNT_ID}:role/{name}"

    def secret(self, catalogue: str, credential: str) -> str:
        """A credential's secret. The question marks are the six characters that Secrets Manager adds to a name."""
        return _arn(
            "secretsmanager", f"secret:{self.secret_prefix}/{catalogue}/{credential}-??????"
        )


def agent_api(at: Places, catalogues: Iterable[Catalogue]) -> Grants:
    """Writes admissions and reads facts. No people table, no queue, no execution, no token."""
    grants = [_allow(_WRITE, at.ledger), _allow(("dynamodb:Query",), f"{at.ledger}/index/listed")]
    for catalogue in catalogues:
        grants += _authorities(at, catalogue, _facts(catalogue))
    return grants


def people_api(at: Places) -> Grants:
    """Decides approvals and cases, answers the token of a decision, drains the queue of cases. Creates and starts nothing.

    Who gets a case from somebody else is looked up: whether that person belongs to its group.
    """
    return [
        _allow(_WRITE, at.ledger),
        _allow(("dynamodb:Query",), f"{at.ledger}/index/listed", f"{at.ledger}/index/review"),
        _allow(_PERSON, at.people),
        _allow(("dynamodb:Query",), f"{at.people}/index/open"),
        _allow(_DRAIN, at.cases),
        _allow(_MEMBERSHIP, at.user_pool),
        _answer_tokens(at),
    ]


def run_step(at: Places, catalogue: Catalogue, step: Step) -> Grants:
    """The step's own run and what settles it. What may be a plan's boundary also reads facts.

    A pivot uses up approvals, and asks whether those who gave them still may.
    """
    operations = [step.run, *_settling(step.settlement)]
    grants = [_allow(_WRITE, at.ledger)]
    if step.kind is Kind.PIVOT:
        grants += [_allow(_PERSON, at.people), _allow(_MEMBERSHIP, at.user_pool)]
    if step.kind is not Kind.COMPENSABLE:
        operations += _facts(catalogue)
    return grants + _authorities(at, catalogue, operations)


def undo_step(at: Places, catalogue: Catalogue, step: Step) -> Grants:
    """The undo and what settles it, and what settles the run: never the run itself."""
    if step.undo is None:
        raise ValueError(f"{step.name} has no undo")
    operations = [
        step.undo.run,
        *(replace(step.undo.run, authority=each.authority) for each in step.undo.alternates),
        *_settling(step.undo.settlement),
        *(each.run for each in step.undo.other_actions),
        *(o for each in step.undo.other_actions for o in _settling(each.settlement)),
        *_settling(step.settlement),
    ]
    return [_allow(_WRITE, at.ledger), *_authorities(at, catalogue, operations)]


def undo_role(at: Places, catalogue: Catalogue, authority: Authority) -> Grants:
    """What a role of an undo may do; each session of it is narrowed further, to what is in the receipt."""
    return _permissions(at, catalogue, [authority])


def begin_compensation(at: Places) -> Grants:
    """Turns the saga's direction and closes an open approval."""
    return [_allow(_WRITE, at.ledger), _allow(_PERSON, at.people)]


def finish_compensation(at: Places) -> Grants:
    """Ends a saga whose undo is settled."""
    return [_allow(_WRITE, at.ledger)]


def request_approval(at: Places) -> Grants:
    """The gate: keeps the token, tells the approvers; answers the token itself where they have decided already."""
    return [
        _allow(_READ, at.ledger),
        _allow(_PERSON, at.people),
        _allow(("sqs:SendMessage",), at.approvals),
        _answer_tokens(at),
    ]


def open_case(at: Places) -> Grants:
    """Hands an obligation to people."""
    return [
        _allow(_WRITE, at.ledger),
        _allow(_PERSON, at.people),
        _allow(("sqs:SendMessage",), at.cases),
    ]


def starter(at: Places) -> Grants:
    """Creates a shape's machine and starts an execution; opens the case of an escalated request."""
    return [
        _allow(_WRITE, at.ledger),
        _allow(_PERSON, at.people),
        _allow(("sqs:SendMessage",), at.cases),
        *_start_executions(at),
    ]


def recovery(at: Places) -> Grants:
    """Sweeper and rescue: whatever the stream, an execution or a person's answer left undone."""
    return [
        _allow(_WRITE, at.ledger),
        _allow(("dynamodb:Query",), f"{at.ledger}/index/due"),
        _allow(_PERSON, at.people),
        _allow(("dynamodb:Query",), f"{at.people}/index/due"),
        _allow(("sqs:SendMessage",), at.approvals, at.cases),
        *_start_executions(at),
        _answer_tokens(at),
    ]


def guard(at: Places) -> Grants:
    """Reads what open sagas need when a deployment asks. Writes nothing, and reads nothing of people."""
    return [_allow(("dynamodb:Query",), at.ledger, f"{at.ledger}/index/open")]


def known_machines(at: Places) -> Grants:
    """Makes the machines of the known shapes when they are deployed. Starts none."""
    return [_allow(_MAKE, *at.machine_arns()), _pass_machine_role(at)]


def machine_role(functions: Iterable[str]) -> Grants:
    """The only role that may invoke steps, undos and controls, by name and in any published version."""
    arns = [_arn("lambda", f"function:{name}:*") for name in functions]
    return [_allow(("lambda:InvokeFunction",), *arns)]


def why_wide(resource: str) -> str | None:
    """Why a grant may name a pattern instead of one resource; None where it may not."""
    if resource == "*":
        return "The emulator knows no resource for answering a token; on AWS it is limited to our machines."
    if ":stateMachine:" in resource or ":execution:" in resource:
        return "Machines are made at run time, one for each shape: their names begin with the catalogue's."
    if ":function:" in resource:
        return "An open saga finishes on the version it began with, so every published version may be called."
    if _DECLARED.match(resource):
        return "A catalogue declares it: what it acts on is made at run time, under a name that begins like this."
    return None


def _start_executions(at: Places) -> Grants:
    return [
        _allow(("ssm:GetParameter",), at.functions_parameter),
        _allow((*_MAKE, "states:StartExecution"), *at.machine_arns()),
        _allow(("states:DescribeExecution",), *at.execution_arns()),
        _allow(("events:PutEvents",), at.bus),
        _pass_machine_role(at),
    ]


def _pass_machine_role(at: Places) -> iam.PolicyStatement:
    return iam.PolicyStatement(
        actions=["iam:PassRole"],
        resources=[at.machine_role],
        conditions={"StringEquals": {"iam:PassedToService": "states.amazonaws.com"}},
    )


def _answer_tokens(at: Places) -> iam.PolicyStatement:
    return _allow(_ANSWER, *(at.machine_arns() if at.tokens_by_machine else ["*"]))


def _facts(catalogue: Catalogue) -> list[Operation]:
    return [fact.read for fact in catalogue.facts]


def _settling(settlement: Settlement) -> list[Operation]:
    return [o for o in (settlement.status, settlement.tombstone) if o is not None]


def _authorities(at: Places, catalogue: Catalogue, operations: Iterable[Operation]) -> Grants:
    """What the catalogue declares for these operations: their credentials, their roles, or else their permissions."""
    authorities = [operation.authority for operation in operations]
    credentials = sorted({a.credential for a in authorities if a.credential})
    grants = [
        _allow(("secretsmanager:GetSecretValue",), at.secret(catalogue.name, name))
        for name in credentials
    ]
    grants += [
        _allow(("sts:AssumeRole",), at.undo_role(catalogue.name, a.role))
        for a in authorities
        if a.role is not None
    ]
    return grants + _permissions(at, catalogue, [a for a in authorities if a.role is None])


def _permissions(at: Places, catalogue: Catalogue, authorities: Iterable[Authority]) -> Grants:
    known = {
        "partition": Aws.PARTITION,
        "region": Aws.REGION,
        "account": Aws.ACCOUNT_ID,
        **at.settings[catalogue.name],
    }
    declared = dict.fromkeys(p for a in authorities for p in a.permissions)
    return [
        _allow(p.actions, *(resource.format_map(known) for resource in p.resources))
        for p in declared
    ]


def _allow(actions: Iterable[str], *resources: str) -> iam.PolicyStatement:
    return iam.PolicyStatement(actions=list(actions), resources=list(resources))


def _arn(service: str, resource: str) -> str:
    return f"arn:{Aws.PARTITION}:{service}:{Aws.REGION}:{Aws.ACCOUNT_ID}:{resource}"
