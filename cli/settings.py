"""Where a deployment is: from options, the environment, or the file of its outputs, in this order."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cli.errors import Stop


@dataclass(frozen=True, slots=True)
class Deployment:
    """Addresses and client ids of one deployment; nothing secret. Empty where nothing says it."""

    api_url: str = ""
    auth_url: str = ""
    people_client_id: str = ""
    agents: dict[str, str] = field(default_factory=dict)


def deployment(outputs: Path | None = None) -> Deployment:
    """What an outputs file says. `.local/outputs.json` of the working folder is read where no other is named."""
    path = outputs or Path(os.environ.get("SAGAPLANE_LOCAL", ".local")) / "outputs.json"
    try:
        found = json.loads(path.read_text())
    except FileNotFoundError:
        if outputs is None:
            return Deployment()
        raise Stop(f"There is no outputs file {path}.") from None
    except (OSError, ValueError) as error:
        raise Stop(f"Cannot read the outputs file {path}: {error}") from None
    return _read(found, path)


def _read(found: Any, path: Path) -> Deployment:
    if not isinstance(found, dict):
        raise Stop(f"{path} holds no outputs.")
    if "api_url" in found:
        return Deployment(
            found["api_url"],
            found.get("auth_url", ""),
            found.get("people_client_id", ""),
            dict(found.get("agents", {})),
        )
    # As `cdk deploy --outputs-file` writes it: outputs by stack.
    stacks = [s for s in found.values() if isinstance(s, dict) and "ApiUrl" in s]
    if len(stacks) != 1:
        raise Stop(
            f"{path} describes {len(stacks)} deployments of sagaplane; one is needed.",
            "Name the addresses with --api and --auth instead.",
        )
    stack = stacks[0]
    pairs = (pair.partition("=") for pair in stack.get("AgentClients", "").split(",") if pair)
    return Deployment(
        stack["ApiUrl"],
        stack.get("AuthUrl", ""),
        stack.get("PeopleClientId", ""),
        {name: client_id for name, _, client_id in pairs},
    )
