"""Runs the real `cdk bootstrap` and `cdk deploy` against the emulator, and only when there is something to deploy."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from infra.local.place import ACCOUNT, REGION, ROOT, LocalProblem, Place, read_json, write_json
from infra.sources import Packages, packages_for, source_digest

_CDK = ROOT / "node_modules" / ".bin" / "cdk"
_OLDEST_NODE = 20
_TAIL = 15


Catalogues = Sequence[Mapping[str, Any]]
"""As the list `catalogues` in cdk.json has them."""


def deploy(place: Place, catalogues: Catalogues | None = None) -> bool:
    """Bring the emulator to what the checkout says. False if it is there already. Raises LocalProblem.

    `catalogues` stand in for those that cdk.json names.
    """
    wanted = {
        "digest": _digest(place, catalogues),
        "emulator": read_json(place.emulator_file)["pid"],
    }
    record = place.folder / "deployed.json"
    deployed = read_json(record)
    if deployed == wanted:
        return False
    _check_tools()
    place.deploy_log.write_text("")
    out = place.folder / ("cdk.out" if catalogues is None else "cdk.other.out")
    synthesized = out.with_suffix(".json")
    if read_json(synthesized).get("digest") != wanted["digest"]:
        _synthesize(place, out, catalogues)
        write_json(synthesized, {"digest": wanted["digest"]})
    app = f"--app={out}"
    if deployed.get("emulator") != wanted["emulator"]:
        _cdk(place, "bootstrap", f"aws://{ACCOUNT}/{REGION}", app)
    _cdk(
        place,
        "deploy",
        "--all",
        app,
        "--method=direct",
        "--require-approval=never",
        f"--outputs-file={place.folder / 'cdk-outputs.json'}",
    )
    write_json(record, wanted)
    return True


def _synthesize(place: Place, out: Path, catalogues: Catalogues | None) -> None:
    token = place.credentials()["sandbox_admin_token"]
    shutil.rmtree(out, ignore_errors=True)
    other = [] if catalogues is None else [f"--context=catalogues={json.dumps(catalogues)}"]
    _cdk(
        place,
        "synth",
        "--quiet",
        f"--output={out}",
        "--context=stage=local",
        f"--context=endpoint={place.endpoint}",
        f"--context=sandbox_admin_token_hash={hashlib.sha256(token.encode()).hexdigest()}",
        *other,
    )


def _digest(place: Place, catalogues: Catalogues | None) -> str:
    """Changes whenever another deploy would do something."""
    seen = hashlib.sha256(source_digest(local=True, packages=_packages(catalogues)).encode())
    token = place.credentials()["sandbox_admin_token"]
    seen.update(f"{place.endpoint} {token} {json.dumps(catalogues)}".encode())
    infra = [p for p in (ROOT / "infra").glob("*.py") if p.is_file()]
    for path in [ROOT / "app.py", ROOT / "cdk.json", *sorted(infra)]:
        seen.update(path.read_bytes())
    return seen.hexdigest()


def _packages(catalogues: Catalogues | None) -> Packages:
    """Ours, and those of the catalogues that cdk.json names, or of those given. Raises LocalProblem."""
    if catalogues is None:
        catalogues = read_json(ROOT / "cdk.json").get("context", {}).get("catalogues", ())
    try:
        return packages_for(each["catalogue"] for each in catalogues)
    except ValueError as missing:
        raise LocalProblem(f"cdk.json: {missing}") from missing


def _check_tools() -> None:
    node = shutil.which("node")
    if node is None:
        raise LocalProblem(f"node is missing: install Node.js {_OLDEST_NODE} or later")
    if not _CDK.exists():
        raise LocalProblem("the CDK command line is not installed: run `make setup`")


def _cdk(place: Place, *arguments: str) -> None:
    environment = place.environment() | {
        "CDK_DISABLE_CLI_TELEMETRY": "true",
        "JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION": "20",
    }
    with place.deploy_log.open("a") as log:
        log.write(f"$ cdk {' '.join(arguments)}\n")
        log.flush()
        ran = subprocess.run(
            [_CDK, *arguments, "--ci", "--no-color"],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            check=False,
        )
    if ran.returncode != 0:
        raise LocalProblem(
            f"cdk {arguments[0]} failed, see {place.deploy_log}:\n{_tail(place.deploy_log)}"
        )


def _tail(log: Path) -> str:
    return "\n".join(f"  {line}" for line in log.read_text().splitlines()[-_TAIL:])
