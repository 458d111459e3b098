"""docs/reference/ is what `make reference` would write, wherever and however often it runs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MADE = ("cli", "api", "settings", "pages", "errors")


def make(*arguments: str, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "scripts" / "reference.py"), *arguments]
    return subprocess.run(command, cwd="/", env=environment, capture_output=True, text=True, timeout=120)


def test_nothing_is_stale() -> None:
    ran = make("--check")
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_it_does_not_depend_on_who_makes_it(tmp_path: Path) -> None:
    strange = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(tmp_path),
        "COLUMNS": "40",
        "TERM": "dumb",
        "PYTHONHASHSEED": "7",
        "GRADER_TOKEN_DAYS": "3",
        "GRADER_HOST": "0.0.0.0",
        "GRADER_DEVICE": "strange",
    }
    ran = make("--check", environment=strange)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_a_stale_page_is_named_and_not_touched(tmp_path: Path) -> None:
    copy = tmp_path / "scripts"
    copy.mkdir()
    for path in (ROOT / "scripts" / "reference.py", *sorted((ROOT / "scripts" / "references").glob("*.py"))):
        target = tmp_path / path.relative_to(ROOT)
        target.parent.mkdir(exist_ok=True)
        target.write_text(path.read_text())
    folder = tmp_path / "docs" / "reference"
    folder.mkdir(parents=True)
    for name in MADE:
        (folder / f"{name}.md").write_text((ROOT / "docs" / "reference" / f"{name}.md").read_text())
    (folder / "errors.md").write_text("# Errors\n")
    command = [sys.executable, str(copy / "reference.py"), "--check"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert (ran.returncode, ran.stdout) == (1, "docs/reference/errors.md is stale: make reference\n")
    assert (folder / "errors.md").read_text() == "# Errors\n"


@pytest.mark.parametrize("name", MADE)
def test_no_path_of_a_machine_is_in_it(name: str) -> None:
    text = (ROOT / "docs" / "reference" / f"{name}.md").read_text()
    for noise in (
        str(ROOT),
        str(Path.home()) + "/",
        "object at 0x",
        "<function",
        "`None`",
        "PydanticUndefined",
    ):
        assert noise not in text, noise
