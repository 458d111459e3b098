"""SECURITY.md names an existing test for each promise."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "SECURITY.md").read_text()
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)))
PROMISES = (
    "Separate clock and answers",
    "Fresh work, all of it checked",
    "Early and late work is charged",
    "Alone on the GPU",
    "One box, one submission",
    "Not the student's fault",
    "SQL is the truth",
    "The host never trusts a path or bytes from a box",
    "Compilation is untrusted too",
    "Same rules everywhere",
    "Reproducible",
)


@pytest.mark.parametrize(("path", "test"), NAMED, ids=[test for _, test in NAMED])
def test_each_named_test_exists(path: str, test: str) -> None:
    tree = ast.parse((ROOT / path).read_text())
    assert test in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("promise", PROMISES)
def test_each_promise_is_named_with_its_tests(promise: str) -> None:
    rows = [line for line in PAGE.splitlines() if line.startswith(f"| {promise} |")]
    assert len(rows) == 1
    assert len(re.findall(r"`tests/[\w/]+\.py::test_\w+`", rows[0])) >= 2


def test_nothing_else_is_named_as_a_test() -> None:
    """Nothing would check a name that the pattern above does not match."""
    assert len(re.findall(r"::\w+", PAGE)) == len(re.findall(r"`tests/[\w/]+\.py::test_\w+`", PAGE))


def test_files_and_commands_of_the_page_exist() -> None:
    named = re.findall(r"`((?:sandbox|tests|grader|docs)/[\w/.]+)`", PAGE)
    assert [path for path in named if not (ROOT / path).exists()] == []
    assert "grader doctor --security" in PAGE
