"""docs/reference/ equals the output of `make reference`, wherever and however often it runs."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks" / "results"
MADE = ("cli", "settings", "pages", "errors", "figures", "approximations")


def make(*arguments: str, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "scripts" / "reference.py"), *arguments]
    return subprocess.run(command, cwd="/", env=environment, capture_output=True, text=True, timeout=120)


def test_the_reference_is_up_to_date() -> None:
    ran = make("--check")
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_the_reference_does_not_depend_on_the_environment(tmp_path: Path) -> None:
    strange = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(tmp_path),
        "COLUMNS": "40",
        "TERM": "dumb",
        "PYTHONHASHSEED": "7",
        "GRADER_TOKEN_DAYS": "3",
        "GRADER_HOST": "0.0.0.0",
        "GRADER_DEVICE": "h200",
    }
    ran = make("--check", environment=strange)
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    sources = [ROOT / "scripts" / "reference.py", *(ROOT / "scripts" / "references").glob("*.py")]
    for path in [*sources, *RESULTS.glob("*.json"), *(ROOT / "docs" / "reference").glob("*.md")]:
        target = tmp_path / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    return tmp_path


def remake(folder: Path, *arguments: str) -> tuple[int, str]:
    command = [sys.executable, str(folder / "scripts" / "reference.py"), *arguments]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    return ran.returncode, ran.stdout


def test_check_names_a_stale_page_and_leaves_it(copied: Path) -> None:
    errors = copied / "docs" / "reference" / "errors.md"
    errors.write_text("# Errors\n")
    assert remake(copied, "--check") == (1, "docs/reference/errors.md is stale: make reference\n")
    assert errors.read_text() == "# Errors\n"


def test_the_figures_list_missed_targets(copied: Path) -> None:
    results = copied / "benchmarks" / "results"

    def change(name: str, edit: Callable[[Any], None]) -> None:
        kept = json.loads((results / name).read_text())
        edit(kept["figures"])
        (results / name).write_text(json.dumps(kept))

    def miss(figures: Any) -> None:
        rows = {row["slug"]: row for row in figures["rows"]}
        relu, saxpy, dot = (rows[slug] for slug in ("relu", "saxpy", "dot"))
        relu["met"], relu["bandwidth_share"] = False, 0.7531
        del saxpy["times"]["triton"], dot["times"]["cuda"], dot["times"]["triton"]

    change("solutions-nvidia-h200.json", miss)
    change("gpu_proofs-nvidia-h200.json", lambda figures: figures["rows"][0].update(strong=False))
    change(
        "gpu_proofs-nvidia-h200.json", lambda figures: figures.update(whole_run=None)
    )  # only some were proven there
    change("repeatability-nvidia-h200.json", lambda figures: figures["rows"][0].update(spread=0.0321))
    change(
        "band-nvidia-h200.json", lambda figures: figures["attacks"][0].update(outcome="VULNERABLE", gain=8.5)
    )
    assert remake(copied) == (0, "docs/reference/figures.md is new\n")
    text = (copied / "docs" / "reference" / "figures.md").read_text()
    lines = text.splitlines()

    def told(head: str, part: str) -> bool:
        return any(line.startswith(f"| {head} |") and part in line for line in lines)

    assert told("`relu`", "| 0.753, missed |")
    assert told("`saxpy`", "| failed |")
    assert told("`dot`", "| missed |")
    assert told("matmul fp16, Triton", "| 3.21% | 0.2%, missed |")
    assert told("`argmax_rows`", "| `argmax_rows` | no |")
    assert text.count("The last run over all") == 1, "that without a GPU"
    assert re.search(r"(\d+) of (?!\1)\d+ held\. The best gained 8\.50 %", text)


@pytest.mark.parametrize("name", MADE)
def test_the_reference_holds_no_local_path(name: str) -> None:
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
