"""The choice of a CUDA toolkit among several or none."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.cli import machine_checks
from grader.cli.checks import Level
from grader.sandbox import toolkit


def make_toolkit(home: Path, version: str, mode: int = 0o755) -> Path:
    """Its nvcc says ``version`` and compiles nothing."""
    for name in toolkit.PROGRAMS:
        program = home / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(f"#!/bin/sh\necho Cuda compilation tools, release 13.0, V{version}\n")
        program.chmod(mode)
    (home / "bin" / "nvcc.profile").touch()
    return home


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A machine without any: its PATH, /usr/local/cuda and Python packages are below the folder."""
    for name in ("CUDA_HOME", "CUDA_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", f"{tmp_path / 'path'}:/usr/bin:/bin")
    monkeypatch.setattr(toolkit, "CONVENTIONAL", str(tmp_path / "conventional"))
    (tmp_path / "packages" / "nvidia").mkdir(parents=True)
    monkeypatch.setattr(sys, "path", [str(tmp_path / "packages"), *sys.path])
    monkeypatch.setattr(
        toolkit,
        "_wheels",
        lambda found=toolkit._wheels: [home for home in found() if tmp_path in home.parents],
    )
    toolkit.nvcc_version.cache_clear()
    toolkit._home_of.cache_clear()
    yield tmp_path
    toolkit.nvcc_version.cache_clear()
    toolkit._home_of.cache_clear()


def test_toolkit_locations_have_their_order(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if Path("/usr/bin/nvcc").exists():
        pytest.skip("this machine has an nvcc beside its shell")
    assert toolkit.find_toolkit() is None
    wheels = make_toolkit(bare / "packages" / "nvidia" / "cu13", "13.0.1")
    assert toolkit.find_toolkit() == toolkit.Toolkit(wheels, toolkit.WHEELS)
    conventional = make_toolkit(bare / "conventional", "13.0.2")
    assert toolkit.find_toolkit() == toolkit.Toolkit(conventional, str(conventional))
    on_path = make_toolkit(bare / "installed", "13.0.3")
    (bare / "path").symlink_to(on_path / "bin")
    assert toolkit.find_toolkit() == toolkit.Toolkit(on_path, "PATH")
    named = make_toolkit(bare / "named", "13.0.4")
    monkeypatch.setenv("CUDA_HOME", str(named))
    assert toolkit.find_toolkit() == toolkit.Toolkit(named, "CUDA_HOME")
    assert toolkit.nvcc_version() == "13.0.4"


def test_a_wrapper_script_leads_to_the_real_nvcc(bare: Path) -> None:
    home = make_toolkit(bare / "real", "13.0.1")
    script = bare / "path" / "nvcc"
    script.parent.mkdir()
    script.write_text(f"#!/bin/sh\necho '#$ TOP={home}/bin/..'\n")
    script.chmod(0o755)
    assert toolkit.find_toolkit() == toolkit.Toolkit(home, "PATH")


def test_only_wheels_that_lost_permissions_get_them_back(bare: Path) -> None:
    wheels = make_toolkit(bare / "packages" / "nvidia" / "cu13", "13.0.1", mode=0o644)
    assert toolkit.nvcc_version() == "13.0.1"
    assert machine_checks.nvcc().message == f"13.0.1 at {wheels}, found by {toolkit.WHEELS}"
    toolkit.nvcc_version.cache_clear()
    other = make_toolkit(bare / "conventional", "13.0.2", mode=0o644)
    assert toolkit.nvcc_version() is None
    told = machine_checks.nvcc()
    assert told.level is Level.MISSING
    assert told.hint.startswith(f"chmod a+x {other / 'bin' / 'nvcc'}")


def test_doctor_reports_what_cuda_lacks(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(bare / "path"))
    assert machine_checks.nvcc().hint == toolkit.INSTALL
    assert machine_checks.host_compiler().hint.startswith("Debian, Ubuntu: apt-get install g++.")
    (bare / "path").mkdir()
    (bare / "path" / "g++").write_text("#!/bin/sh\necho g++ 99.1\n")
    (bare / "path" / "g++").chmod(0o755)
    nvcc = make_toolkit(bare / "conventional", "13.0.2") / "bin" / "nvcc"
    nvcc.write_text("#!/bin/sh\necho 'unsupported GNU version' >&2\nexit 1\n")
    told = machine_checks.host_compiler()
    assert told.level is Level.MISSING
    assert "unsupported GNU version" in told.message
