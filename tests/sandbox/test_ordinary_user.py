"""Boxes for an unprivileged user, as on a cluster: runs the tests of boxes as nobody."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.components import need
from tests.sandbox import ordinary

HERE = Path(__file__).resolve().parent
FIRST = ("test_hardening.py",)
REST = (
    "test_box.py",
    "test_bubblewrap_box.py",
    "test_tmp.py",
    "test_compute_libraries.py",
    "test_nvcc.py::test_a_good_source_becomes_a_library",
)


@pytest.mark.bubblewrap
@pytest.mark.timeout(900)
@pytest.mark.skipif(os.geteuid() != 0, reason="whoever runs the tests is one already")
@pytest.mark.parametrize(
    "names", [FIRST, pytest.param(REST, marks=pytest.mark.matrix)], ids=["first", "rest"]
)
def test_box_tests_pass_as_an_ordinary_user(names: tuple[str, ...]) -> None:
    """Protects workers without root, whose boxes must be as strong as root's."""
    need("bubblewrap")
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "bubblewrap"]
    ran = subprocess.run(
        [
            *("unshare", "--mount", "--propagation", "private"),
            *(sys.executable, ordinary.__file__, *words, *(f"{HERE}/{name}" for name in names)),
        ],
        cwd=HERE.parents[1],
        capture_output=True,
        text=True,
        check=False,
        timeout=800,
    )
    assert ran.returncode == 0, f"{ran.stdout[-6000:]}{ran.stderr[-2000:]}"
    assert " passed" in ran.stdout
