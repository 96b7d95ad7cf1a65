"""The one asset that every function runs from: `functions/`, `statemachines/` and, on AWS, the locked dependencies."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import jsii
from aws_cdk import AssetHashType, BundlingOptions, DockerImage, ILocalBundling
from aws_cdk import aws_lambda as lambda_

from infra.sources import BOOTSTRAP, PACKAGES, ROOT, source_digest


def function_code(*, local: bool) -> lambda_.Code:
    """The functions' code. Its hash covers sources and lock file, so unchanged code publishes no new version."""
    return lambda_.Code.from_asset(
        str(ROOT),
        asset_hash=source_digest(local=local),
        asset_hash_type=AssetHashType.CUSTOM,
        bundling=BundlingOptions(
            image=DockerImage.from_registry("not-used"),
            local=_Bundle(local=local),
        ),
    )


@jsii.implements(ILocalBundling)
class _Bundle:
    """Builds the asset on this machine: no Docker, on any architecture."""

    def __init__(self, *, local: bool) -> None:
        self._local = local

    def try_bundle(self, output_dir: str, *_: Any, **__: Any) -> bool:
        target = Path(output_dir)
        for package in PACKAGES:
            shutil.copytree(
                ROOT / package, target / package, ignore=shutil.ignore_patterns("__pycache__")
            )
        if self._local:
            shutil.copy2(BOOTSTRAP, target / "bootstrap")
        else:
            _install_dependencies(target)
        return True


def _install_dependencies(target: Path) -> None:
    """Put the locked run-time dependencies beside the code, as wheels for Lambda's platform."""
    locked = _run_uv("export", "--frozen", "--no-default-groups", "--no-emit-project")
    with tempfile.TemporaryDirectory() as folder:
        requirements = Path(folder) / "requirements.txt"
        requirements.write_text(locked)
        platform = ["--python-platform", "aarch64-manylinux2014", "--python-version", "3.13"]
        exactly = ["--only-binary", ":all:", "--require-hashes", "--no-deps"]
        _run_uv("pip", "install", *platform, *exactly, "--target", target, "-r", requirements)


def _run_uv(*arguments: str | Path) -> str:
    ran = subprocess.run(
        [_uv(), "--quiet", "--color=never", *arguments],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
    )
    if ran.returncode != 0:
        raise RuntimeError(f"uv {arguments[0]} failed: {ran.stderr.strip()}")
    return ran.stdout


def _uv() -> str:
    path = f"{ROOT / '.tools' / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}"
    found = shutil.which("uv", path=path)
    if found is None:
        raise RuntimeError("uv is needed to bundle the functions: run `make setup`")
    return found
