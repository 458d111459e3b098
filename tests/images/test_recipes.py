"""Dockerfile, pins and compose.yaml, as far as reading them goes: nothing is built here."""

from __future__ import annotations

import importlib.util
import re
import subprocess
from pathlib import Path
from types import ModuleType

import pytest
from packaging.requirements import Requirement

from tests.components import need

ROOT = Path(__file__).resolve().parents[2]
COMPOSE = (ROOT / "compose.yaml").read_text()
DOCKERFILE = (ROOT / "Dockerfile").read_text()
PARTS = ("toolchain", "platform", "build")
VERSION_OF_TORCH = "2.13.0"


@pytest.fixture(scope="module")
def wheelhouse() -> ModuleType:
    spec = importlib.util.spec_from_file_location("wheelhouse", ROOT / "scripts" / "wheelhouse.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("part", PARTS)
def test_everything_that_is_needed_is_pinned(wheelhouse: ModuleType, part: str) -> None:
    """When it fails: `.venv/bin/python scripts/wheelhouse.py --pin`."""
    pins = wheelhouse.pins(part) | ({"torch": VERSION_OF_TORCH} if part == "toolchain" else {})
    for line in wheelhouse.wanted()[part]:
        needed = Requirement(line)
        assert needed.specifier.contains(pins[wheelhouse.plain(needed.name)]), line


def test_torch_is_the_same_everywhere(wheelhouse: ModuleType) -> None:
    assert wheelhouse.TORCH.partition("+")[0] == VERSION_OF_TORCH
    assert f"ARG TORCH={VERSION_OF_TORCH}\n" in DOCKERFILE
    assert f"${{TORCH:-{VERSION_OF_TORCH}}}" in COMPOSE


def test_the_compilers_version_is_the_pinned_one(wheelhouse: ModuleType) -> None:
    (said,) = re.findall(r"CUDA_VERSION=(\S+)", DOCKERFILE)
    assert said == wheelhouse.pins("toolchain")["nvidia-cuda-nvcc"]


def test_the_dockerfile_works_with_the_classic_builder() -> None:
    for text in (DOCKERFILE, (ROOT / "images" / "services.Dockerfile").read_text()):
        assert not re.search(r"--mount|--link|--chmod|<<|# *syntax", text)


def test_every_variable_of_the_example_is_used() -> None:
    names = re.findall(r"^(\w+)=", (ROOT / "images" / "example.env").read_text(), re.MULTILINE)
    assert [name for name in names if f"${{{name}:" not in COMPOSE] == []


def test_every_variable_is_documented() -> None:
    page = (ROOT / "docs" / "deploying.md").read_text()
    assert [name for name in sorted(set(re.findall(r"\$\{(\w+):", COMPOSE))) if f"`{name}`" not in page] == []


def config(**environment: str) -> subprocess.CompletedProcess[str]:
    need("images")
    return subprocess.run(
        ["docker-compose", "--profile", "worker", "config"],
        cwd=ROOT,
        env={"PATH": "/usr/local/bin:/usr/bin:/bin"} | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_there_is_no_password_by_default() -> None:
    assert config(POSTGRES_PASSWORD="one", REDIS_PASSWORD="two").returncode == 0
    for missing in (
        {"REDIS_PASSWORD": "two"},
        {"POSTGRES_PASSWORD": "one"},
        {"POSTGRES_PASSWORD": "", "REDIS_PASSWORD": "two"},
    ):
        refused = config(**missing)
        assert refused.returncode != 0
        assert "set a password" in refused.stderr


def test_compose_starts_workers_only_on_request() -> None:
    """Only they get the engine's socket."""
    worker = COMPOSE.partition("\n  worker:\n")[2].partition("\nvolumes:\n")[0]
    assert "profiles: [worker]" in worker
    mounts = [
        line for line in COMPOSE.splitlines() if line.lstrip().startswith("- ") and "docker.sock" in line
    ]
    assert len(mounts) == 1
    assert mounts[0] in worker
