"""The layers: import-linter sees the packages behind the links, and its contracts hold."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).resolve().parents[2]
LINT_IMPORTS = Path(sys.executable).with_name("lint-imports")


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph("grader", cache_dir=None)


@pytest.mark.parametrize("module", ["grader.sandbox.box", "grader.web.app", "grader.judge.job"])
def test_linked_packages_are_seen(graph: grimp.ImportGraph, module: str) -> None:
    assert module in graph.modules


def test_the_import_contracts_hold() -> None:
    ran = subprocess.run(
        [str(LINT_IMPORTS), "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False, timeout=120
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_a_broken_contract_is_noticed(tmp_path: Path) -> None:
    """A copy of the package in which the sandbox imports the service."""
    ignore = shutil.ignore_patterns("__pycache__", "static", "templates")
    shutil.copytree(ROOT / "grader", tmp_path / "grader", ignore=ignore)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    box = tmp_path / "grader" / "sandbox" / "box.py"
    box.write_text(box.read_text() + "\nimport grader.service.submissions.submit\n")
    code = (
        "import sys; sys.path.insert(0, sys.argv.pop())\n"
        "from importlinter.cli import lint_imports; sys.exit(lint_imports())"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert ran.returncode != 0
    assert "grader.sandbox is not allowed to import grader.service" in ran.stdout
