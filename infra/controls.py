"""The four functions that every machine calls beside its steps: begin and finish compensation, the gate, open a case."""

from __future__ import annotations

from collections.abc import Mapping

from aws_cdk import Duration
from constructs import Construct

from infra import roles
from infra.function import PublishedFunction, Runtime

CONTROL_TIMEOUT = Duration.seconds(30)


class Controls(Construct):
    """They decide from the ledger and call no target."""

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        runtime: Runtime,
        at: roles.Places,
        tables: Mapping[str, str],
        queues: Mapping[str, str],
    ) -> None:
        super().__init__(scope, id_)
        known = {**tables, **queues}

        def control(name: str, handler: str, grants: roles.Grants, *told: str) -> PublishedFunction:
            return PublishedFunction(
                self,
                name,
                runtime=runtime,
                name=name,
                handler=f"functions.handlers.{handler}.handler",
                grants=grants,
                environment={variable: known[variable] for variable in ("LEDGER_TABLE", *told)},
                timeout=CONTROL_TIMEOUT,
            )

        self.begin = control(
            "begin-compensation",
            "begin_compensation",
            roles.begin_compensation(at),
            "PEOPLE_TABLE",
        )
        self.finish = control(
            "finish-compensation", "finish_compensation", roles.finish_compensation(at)
        )
        self.gate = control(
            "gate",
            "request_approval",
            roles.request_approval(at),
            "PEOPLE_TABLE",
            "APPROVALS_QUEUE_URL",
        )
        self.open_case = control(
            "open-case", "open_case", roles.open_case(at), "PEOPLE_TABLE", "CASES_QUEUE_URL"
        )

    def versions(self) -> dict[str, str]:
        """ARNs of the published versions, by the names that a machine is bound with."""
        return {
            "begin": self.begin.version.function_arn,
            "finish": self.finish.version.function_arn,
            "gate": self.gate.version.function_arn,
            "open_case": self.open_case.version.function_arn,
        }

    @property
    def functions(self) -> list[PublishedFunction]:
        """All four."""
        return [self.begin, self.finish, self.gate, self.open_case]
