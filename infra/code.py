"""The one asset that every function runs from: our packages, the catalogues' and, on AWS, the locked dependencies."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import jsii
from aws_cdk import AssetHashType, BundlingOptions, DockerImage, ILocalBundling
from aws_cdk import aws_lambda as lambda_

from infra.sources import BOOTSTRAP, NOT_SHIPPED, ROOT, Packages, packages_for, source_digest


def function_code(*, local: bool, catalogues: Iterable[str] = ()) -> lambda_.Code:
    """The functions' code. Its hash covers sources and lock file, so unchanged code publishes no new version."""
    packages = packages_for(catalogues)
    return lambda_.Code.from_asset(
        str(ROOT),
        asset_hash=source_digest(local=local, packages=packages),
        asset_hash_type=AssetHashType.CUSTOM,
        bundling=BundlingOptions(
            image=DockerImage.from_registry("not-used"),
            local=_Bundle(packages, local=local),
        ),
    )


@jsii.implements(ILocalBundling)
class _Bundle:
    """Builds the asset on this machine: no Docker, on any architecture."""

    def __init__(self, packages: Packages, *, local: bool) -> None:
        self._packages = packages
        self._local = local

    def try_bundle(self, output_dir: str, *_: Any, **__: Any) -> bool:
        target = Path(output_dir)
        for name, place in self._packages.items():
            if place.is_dir():
                ignored = shutil.ignore_patterns(*NOT_SHIPPED)
                shutil.copytree(place, target / name, ignore=ignored)
            else:
                shutil.copy2(place, target / place.name)
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
