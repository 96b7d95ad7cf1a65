"""Who is signed in where: one file for each profile, readable by its owner alone, so that several can be used side by side.

An approver, an operator and an agent are three profiles. A file holds a token and, for an agent, what a new one is asked
for with; nothing of it is ever printed.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from cli.errors import NotSignedIn, Stop

DEFAULT = "default"
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True, slots=True)
class Profile:
    """One sign-in and the deployment it belongs to: its token is sent to that API and to no other."""

    name: str
    kind: Literal["person", "agent"]
    api_url: str
    auth_url: str
    client_id: str
    access: str = field(repr=False)
    expires_at: int
    refresh: str | None = field(default=None, repr=False)
    client_secret: str | None = field(default=None, repr=False)
    agent: str | None = None


def folder() -> Path:
    """`$XDG_STATE_HOME/sagaplane/profiles`, by default below `~/.local/state`."""
    home = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(home) / "sagaplane" / "profiles"


def checked_name(name: str) -> str:
    """The name, if it can be a file's."""
    if not _NAME.fullmatch(name):
        raise Stop(f"“{name}” is no profile name: letters, digits, dots, dashes and underscores.")
    return name


def save(profile: Profile) -> None:
    """Write it down, whole or not at all, mode 0600."""
    place = folder()
    place.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, temporary = tempfile.mkstemp(dir=place, prefix=".new-")
    try:
        with os.fdopen(handle, "w") as file:
            json.dump(asdict(profile), file)
        Path(temporary).replace(_path(profile.name))
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def load(name: str) -> Profile:
    """The profile. Raises NotSignedIn where there is none that can be used."""
    try:
        found: dict[str, Any] = json.loads(_path(name).read_text())
        return Profile(**found)
    except FileNotFoundError:
        raise NotSignedIn(f"Profile “{name}” is not signed in.", _advice(name)) from None
    except (ValueError, TypeError):
        raise NotSignedIn(f"Profile “{name}” cannot be read.", _advice(name)) from None


def forget(name: str) -> bool:
    """Remove it. False where there was none."""
    try:
        _path(name).unlink()
    except FileNotFoundError:
        return False
    return True


def _path(name: str) -> Path:
    return folder() / f"{checked_name(name)}.json"


def _advice(name: str) -> str:
    suffix = "" if name == DEFAULT else f" --profile {name}"
    return f"Sign in with: sagaplane login{suffix}"
