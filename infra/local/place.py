"""Where the local stage lives: its folder, its port, its files, and the environment that reaches it."""

from __future__ import annotations

import json
import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
REGION = "us-east-1"
ACCOUNT = "000000000000"
_DEFAULT_PORT = 4566


class LocalProblem(Exception):
    """Something a person has to put right; the message is one clear line."""


@dataclass(frozen=True, slots=True)
class Place:
    """One local stage. Everything it writes is under `folder`, which is never committed."""

    folder: Path
    port: int

    @classmethod
    def here(cls) -> Place:
        """As the environment says: SAGAPLANE_LOCAL (a folder, `.local`) and GATEWAY_PORT (the running one's, or 4566)."""
        folder = Path(os.environ.get("SAGAPLANE_LOCAL", ROOT / ".local")).resolve()
        running = read_json(folder / "emulator.json").get("port", _DEFAULT_PORT)
        return cls(folder, int(os.environ.get("GATEWAY_PORT", running)))

    @property
    def endpoint(self) -> str:
        """Where AWS answers. By number, since SDKs then address buckets by path."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def emulator_file(self) -> Path:
        """Process id and port of what `up` started."""
        return self.folder / "emulator.json"

    @property
    def emulator_log(self) -> Path:
        """What the emulator printed."""
        return self.folder / "emulator.log"

    @property
    def deploy_log(self) -> Path:
        """What cdk printed."""
        return self.folder / "deploy.log"

    @property
    def outputs_file(self) -> Path:
        """Addresses, names and ids of what is deployed; nothing secret."""
        return self.folder / "outputs.json"

    @property
    def credentials_file(self) -> Path:
        """Passwords and client secrets, readable by the owner alone."""
        return self.folder / "credentials.json"

    def environment(self) -> dict[str, str]:
        """What a program needs to reach this AWS as its root user, and nothing of the caller's own AWS."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith("AWS_")}
        return {
            **kept,
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_REGION": REGION,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
            "AWS_EC2_METADATA_DISABLED": "true",
        }

    def credentials(self) -> dict[str, Any]:
        """Made up once and kept: the sandbox's admin token, passwords of users, secrets of agents."""
        known = read_json(self.credentials_file)
        if "sandbox_admin_token" not in known:
            known["sandbox_admin_token"] = secrets.token_urlsafe(32)
            self.keep_credentials(known)
        return known

    def keep_credentials(self, known: dict[str, Any]) -> None:
        """Write the credentials down, for the owner's eyes alone."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.credentials_file.touch(mode=0o600)
        write_json(self.credentials_file, known)


def read_json(path: Path) -> dict[str, Any]:
    """What the file holds, or nothing where there is none."""
    try:
        found: dict[str, Any] = json.loads(path.read_text())
    except FileNotFoundError:
        return {}
    return found


def write_json(path: Path, value: dict[str, Any]) -> None:
    """Write readable JSON."""
    path.write_text(json.dumps(value, indent=2, sort_keys=True) + "\n")
