"""What a deployment is told: the context of `cdk.json` and of `cdk … -c key=value`, parsed once, strictly."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from constructs import Node
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

Slug = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([a-z0-9-]{0,18}[a-z0-9])?$")]
Reference = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$")]
LOCAL = "local"


class _Closed(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class CatalogueSetting(_Closed):
    """A catalogue to deploy, as `package.module:NAME`, and the values of the settings that it declares.

    `{sandbox_url}` and `{environments_…}` in a value stand for what is deployed beside it: see `infra/catalogues.py`.
    """

    catalogue: Reference
    settings: dict[str, str] = {}


class AgentSetting(_Closed):
    """An agent that may submit plans: it becomes one app client. `owner` is who answers for it."""

    name: Slug
    tenant: Slug = "default"
    owner: Annotated[str, StringConstraints(min_length=1, max_length=100)]


class Settings(_Closed):
    """Everything that differs between two deployments."""

    stage: Slug
    catalogues: Annotated[list[CatalogueSetting], Field(min_length=1)]
    agents: list[AgentSetting] = []
    tenants: Annotated[list[Slug], Field(min_length=1)] = ["default"]
    sandbox: bool = False
    sandbox_admin_token_hash: str = ""
    environments: bool = False
    """Whether what the environments catalogue acts on is deployed too: a channel, a topic, a few teams."""
    console_url: str | None = None
    endpoint: str | None = None
    """Where AWS answers, on the local stage alone."""
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    log_retention_days: Literal[7, 30, 90, 365] = 90

    @property
    def local(self) -> bool:
        """Whether this is the stage on an emulator, which is thrown away with everything in it."""
        return self.stage == LOCAL

    @property
    def prefix(self) -> str:
        """What the names of this deployment's functions and machines begin with."""
        return f"sagaplane-{self.stage}"

    @property
    def secret_prefix(self) -> str:
        """A credential is the secret `<secret prefix>/<catalogue>/<credential>`."""
        return f"sagaplane/{self.stage}"

    @classmethod
    def from_context(cls, node: Node) -> Settings:
        """Read the context. Values given with `-c` arrive as text; the local stage has something to act on by default."""
        given = {name: node.try_get_context(name) for name in cls.model_fields}
        values: dict[str, Any] = {k: _parsed(v) for k, v in given.items() if v is not None}
        for beside in ("sandbox", "environments"):
            values.setdefault(beside, values.get("stage") == LOCAL)
        return cls.model_validate(values)


def _parsed(value: Any) -> Any:
    if isinstance(value, str) and value[:1] in {"[", "{"}:
        return json.loads(value)
    return value
