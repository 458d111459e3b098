"""A small valid catalogue in a temporary folder, for each test to spoil."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from grader.challenge.catalogue import Catalogue
from grader.challenge.loader import Challenge

MANIFEST = """
title = "Scaled rows"
track = "tests"
order = 3
difficulty = "easy"
tags = ["one"]
version = 1
languages = ["cuda", "triton"]
allow = []
args = [
  { name = "x", kind = "input", dtype = "float32", shape = ["rows", "cols"] },
  { name = "pick", kind = "input", dtype = "int32", shape = ["rows"], values = { dist = "integers", high = "cols" } },
  { name = "out", kind = "output", dtype = "float32", shape = ["rows"] },
  { name = "count", kind = "output", dtype = "int64", shape = ["1"] },
  { name = "alpha", kind = "scalar", dtype = "float32", value = 2.0 },
  { name = "rows", kind = "size" },
  { name = "cols", kind = "size" },
]
workloads = [
  { name = "small", on = "cpu", sizes = { rows = 4, cols = 8 } },
  { name = "big", sizes = { rows = 400, cols = 800 } },
]
grading = { correctness_points = 60, tiers = [{ speedup = 0.5, points = 40 }] }

[tolerance]
atol = 1e-9
rtol = 1e-6

[compare.out]
first = "count"

[cost]
bytes = "4 * rows * cols"
flops = "rows"

[limits]
case_seconds = 5
memory_bytes = 1073741824
"""
CASES = """
from grader.challenge.cases import Constant, case

def cases():
    return [case("basic", "basic", rows=2, cols=3), case("ones", "ones", rows=2, cols=3, inputs={"x": Constant(1)})]
"""
REFERENCE = """
def reference(x, pick, alpha, rows, cols):
    return x.sum(1) * alpha, x.new_full((1,), rows).long()
"""
Write = Callable[..., Challenge]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes the catalogue, with the given files replaced, and loads its only challenge, ``rows``."""

    def write(
        manifest: str = MANIFEST, cases: str = CASES, reference: str = REFERENCE, hidden: str = ""
    ) -> Challenge:
        folder, twin = tmp_path / "challenges" / "rows", tmp_path / "reference" / "rows"
        (twin / "staff").mkdir(parents=True, exist_ok=True)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "challenge.toml").write_text(manifest)
        (folder / "cases.py").write_text(cases)
        (twin / "reference.py").write_text(reference)
        if hidden:
            (twin / "staff" / "hidden_cases.py").write_text(hidden)
        return Catalogue(tmp_path).load("rows")

    return write
