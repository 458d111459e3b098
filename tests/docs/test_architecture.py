"""docs/architecture.md names files and symbols that exist: a reader follows a submission through the code by them."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
# `path/to/file.py: Class.method`
NAMED = sorted(set(re.findall(r"`([\w/.]+\.py): ([\w.]+)`", PAGE)))
# `path/to/file.py` or `path/to/folder`, without a symbol
PATHS = sorted(set(re.findall(r"`((?:grader|sandbox|web|tests|docs|scripts)/[\w/.-]+)`", PAGE)))
MOST_STEPS = 25


@cache
def symbols(path: Path) -> frozenset[str]:
    """Names that a module defines at its top level, and in its classes as ``Class.name``."""
    found: set[str] = set()

    def collect(body: list[ast.stmt], prefix: str) -> None:
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                found.add(prefix + node.name)
            if isinstance(node, ast.ClassDef):
                collect(node.body, f"{prefix}{node.name}.")
            if isinstance(node, ast.Assign):
                found.update(prefix + target.id for target in node.targets if isinstance(target, ast.Name))
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                found.add(prefix + node.target.id)

    collect(ast.parse(path.read_text(encoding="utf-8")).body, "")
    return frozenset(found)


@pytest.mark.parametrize(("path", "symbol"), NAMED, ids=[f"{path}:{symbol}" for path, symbol in NAMED])
def test_each_named_symbol_is_defined_in_its_file(path: str, symbol: str) -> None:
    assert (ROOT / path).is_file(), f"{path} does not exist"
    assert symbol in symbols(ROOT / path), f"{path} defines no {symbol}"


@pytest.mark.parametrize("path", PATHS)
def test_each_named_path_exists(path: str) -> None:
    assert (ROOT / path).exists()


def test_the_way_of_a_submission_is_short_and_each_step_names_its_code() -> None:
    way = PAGE.partition("## The way of one submission")[2].partition("\n## ")[0]
    steps = re.split(r"^\d+\. ", way, flags=re.MULTILINE)[1:]
    assert 15 <= len(steps) <= MOST_STEPS
    unnamed = [step for step in steps if not re.search(r"`[\w/.]+\.py: [\w.]+`", step)]
    assert unnamed == []


def test_the_scanner_finds_a_modules_symbols() -> None:
    found = symbols(ROOT / "grader" / "schemas" / "report.py")
    assert {"Report", "Report.redacted", "HIDDEN_PHASE"} <= found
    assert "nothing_like_it" not in found
