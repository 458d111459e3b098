"""The editor's formatters: text in, text out, within bounds."""

from __future__ import annotations

import contextlib
import time

import pytest

from grader import limits
from grader.errors import BadRequest, BadSource, UnknownLanguage
from grader.languages import Language
from grader.schemas.formatting import FormatBody
from grader.service.submissions import formatting

KERNEL = """#include <cuda_runtime.h>
__global__ void k(float*x,int n){int i=blockIdx.x*blockDim.x+threadIdx.x;if(i<n)x[i]=0;}
void f(float*x,int n){k<<<n/256,256>>>(x,n);}
"""


def formatted(language: str, source: str) -> str:
    assert formatting.can_format(Language.named(language)), "make setup installs both formatters"
    return formatting.formatted(FormatBody(language=language, source=source)).source


def test_cuda() -> None:
    text = formatted("cuda", KERNEL)
    assert "__global__ void k(float* x, int n) {\n    int i = blockIdx.x * blockDim.x + threadIdx.x;" in text
    assert "k<<<n / 256, 256>>>(x, n);" in text
    assert formatted("cuda", text) == text


def test_triton_and_its_syntax() -> None:
    assert formatted("triton", "def solve( a,b ):\n  return a+b") == "def solve(a, b):\n    return a + b\n"
    with pytest.raises(BadSource, match="It cannot be formatted: line 1: "):
        formatted("triton", "def (")


@pytest.mark.parametrize(
    ("language", "source"),
    [
        ("cuda", "{" * 60_000),
        ("cuda", "x=(" * 20_000),
        ("triton", "[" * 60_000),
        ("triton", "-" * 60_000 + "1"),
    ],
)
def test_hostile_text_costs_no_more_than_its_bounds(language: str, source: str) -> None:
    began = time.monotonic()
    with contextlib.suppress(BadSource):
        assert len(formatted(language, source)) <= limits.FORMAT_OUTPUT_BYTES
    assert time.monotonic() - began < 6 * limits.FORMAT_SECONDS


def test_what_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnknownLanguage):
        formatting.formatted(FormatBody(language="fortran", source=""))
    with pytest.raises(BadSource, match="65,536 at most"):
        formatted("cuda", " " * (limits.FORMAT_BYTES + 1))
    monkeypatch.setattr(formatting, "_program", lambda name: None)
    with pytest.raises(BadRequest, match="no formatter for CUDA"):
        formatting.formatted(FormatBody(language="cuda", source=""))
