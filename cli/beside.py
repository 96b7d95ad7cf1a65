"""The catalogues of the folder that the command is run in. Here alone does the command line meet the product's own code.

It is imported at the first use: what only talks to the API never loads it.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from cli.errors import Stop

if TYPE_CHECKING:
    from functions.catalogues.checking import Checked

_REFERENCE = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")
_DEPLOYMENT = Path("cdk.json")


def checked(reference: str) -> Checked:
    """A catalogue by `package.module:NAME`, tried. Raises Stop for what is no such reference."""
    if not _REFERENCE.fullmatch(reference):
        raise Stop(f"{reference!r} is not PACKAGE.MODULE:NAME, as in acme.catalogue:CATALOGUE.")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    from functions.catalogues.checking import check  # noqa: PLC0415 - see above

    return check(reference)


def deployed_references() -> list[str]:
    """What the deployment in this folder names. Raises Stop where cdk.json is there and cannot be read."""
    if not _DEPLOYMENT.exists():
        return []
    try:
        named = json.loads(_DEPLOYMENT.read_text(encoding="utf-8"))["context"]["catalogues"]
        return [str(each["catalogue"]) for each in named]
    except (ValueError, KeyError, TypeError):
        raise Stop("cdk.json names no catalogues that can be read.") from None
