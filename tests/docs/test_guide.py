"""The kernels that the student's guide shows are accepted, as the guide says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from grader.challenge.catalogue import find_catalogue
from grader.challenge.signature import cuda_footer
from grader.judge.at_home import judge_at_home
from grader.languages import Language
from grader.manual.pages import Manual
from grader.sandbox.forked_box import ForkedBoxes
from grader.schemas.report import Verdict
from tests.components import need


def shown(docs: Manual, language: str) -> str:
    (source,) = re.findall(
        rf"^```{language}\n(.*?)^```", docs.page("first-kernel").text, re.MULTILINE | re.DOTALL
    )
    return str(source)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="judging needs Linux")
def test_the_triton_kernel_is_accepted(docs: Manual, forked_boxes: ForkedBoxes) -> None:
    challenge = find_catalogue().load("vector_add")
    source = shown(docs, "python")
    report = judge_at_home(challenge, source, Language.TRITON, forked_boxes, timing=False)
    assert report.verdict is Verdict.ACCEPTED, report.detail


def test_the_cuda_kernel_compiles(docs: Manual, tmp_path: Path) -> None:
    need("nvcc")
    manifest = find_catalogue().load("vector_add").manifest
    (tmp_path / "solution.cu").write_text(shown(docs, "cuda") + cuda_footer(manifest))
    command = [
        "nvcc",
        "-std=c++17",
        "-shared",
        "-Xcompiler",
        "-fPIC",
        "-arch=sm_90",
        "-o",
        "a.so",
        "solution.cu",
    ]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=240)
    assert ran.returncode == 0, ran.stderr
