"""Reads a synthesized template the way a person would ask about it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aws_cdk import App, Validations
from cdk_nag import AwsSolutionsChecks

from infra.stacks import build

CDK_JSON = json.loads(Path("cdk.json").read_text())
CATALOGUES = [
    {
        "catalogue": "functions.catalogues.fulfilment.catalogue:CATALOGUE",
        "settings": {"FULFILMENT_SHOP_URL": "https://shop.example"},
    },
    {
        "catalogue": "tests.infra.warehouse:CATALOGUE",
        "settings": {"WAREHOUSE_QUEUE": "pallets"},
    },
]
_BESIDE = {"-sandbox": "sandbox", "-environments": "environments"}
Grant = tuple[str, str]
"""An IAM action and the resource that it is allowed on."""


@dataclass(frozen=True)
class Deployed:
    """One stack's template."""

    template: dict[str, Any]
    findings: list[dict[str, Any]]

    def resources(self, type_: str) -> dict[str, dict[str, Any]]:
        """Properties by logical id."""
        return {
            id_: {**found.get("Properties", {})}
            for id_, found in self.template["Resources"].items()
            if found["Type"] == type_
        }

    def whole(self, type_: str) -> list[dict[str, Any]]:
        """Resources with their policies and metadata."""
        return [r for r in self.template["Resources"].values() if r["Type"] == type_]

    @property
    def functions(self) -> dict[str, dict[str, Any]]:
        """Properties by function name without the deployment's prefix."""
        return {
            re.sub(r"^sagaplane-[a-z]+-", "", f["FunctionName"]): f
            for f in self.resources("AWS::Lambda::Function").values()
        }

    def role_of(self, function: str) -> str:
        """Logical id of a function's role."""
        return str(self.functions[function]["Role"]["Fn::GetAtt"][0])

    def statements(self, role: str) -> list[dict[str, Any]]:
        """All policy statements attached to a role."""
        return [
            statement
            for policy in self.resources("AWS::IAM::Policy").values()
            if {"Ref": role} in policy["Roles"]
            for statement in policy["PolicyDocument"]["Statement"]
        ]

    def grants(self, function: str) -> set[Grant]:
        """What a function may do, beside writing its log."""
        return {
            (action, resource)
            for action, resource in self.granted(self.role_of(function))
            if not action.startswith("logs:")
        }

    def granted(self, role: str) -> set[Grant]:
        """What a role may do."""
        return {
            (action, plain(resource))
            for statement in self.statements(role)
            for action in _listed(statement["Action"])
            for resource in _listed(statement["Resource"])
        }

    def environment(self, function: str) -> dict[str, str]:
        """A function's environment, rendered."""
        variables = self.functions[function]["Environment"]["Variables"]
        return {name: plain(value) for name, value in variables.items()}


def synthesize(folder: Path, stage: str, **context: Any) -> dict[str, Deployed]:
    """All stacks of a stage by the last part of their names, without bundling, and their findings.

    `product`, `sandbox`, `environments`.
    """
    app = App(
        outdir=str(folder),
        context={
            **CDK_JSON["context"],
            "aws:cdk:bundling-stacks": [],
            "catalogues": CATALOGUES,
            "stage": stage,
            **context,
        },
    )
    build(app)
    Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    assembly = app.synth()
    findings = json.loads((folder / "validation-report.json").read_text())["pluginReports"]
    return {
        _BESIDE.get(stack.stack_name.removeprefix(f"sagaplane-{stage}"), "product"): Deployed(
            stack.template, findings
        )
        for stack in assembly.stacks
    }


def plain(value: Any) -> str:
    """An intrinsic as text: `${Ledger.Arn}`, without the hash that a logical id ends in."""
    match value:
        case str():
            return value
        case {"Ref": str(id_)}:
            return f"${{{_readable(id_)}}}"
        case {"Fn::GetAtt": [id_, attribute]}:
            return f"${{{_readable(id_)}.{attribute}}}"
        case {"Fn::Join": [separator, parts]}:
            return str(separator).join(plain(part) for part in parts)
        case {"Fn::ImportValue": name}:
            return f"${{imported {plain(name)}}}"
    raise AssertionError(f"not expected in a template: {value}")


def _readable(id_: str) -> str:
    if id_.startswith("AWS::"):
        return id_
    return re.sub(
        r"[0-9A-F]{8}$", "", re.sub(r"(CurrentVersion[0-9A-F]{8})[0-9a-f]{32}$", r"\1", id_)
    )


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
