"""A source written to attack the hints costs them little, and fails no judging."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from grader.challenge.catalogue import Catalogue
from grader.judge.explaining.mistakes import Mistakes
from grader.judge.messages import Failure
from grader.languages import Language
from grader.schemas.report import Mismatch

ROOT = Path(__file__).parents[3]
MISMATCH = Mismatch(argument="c", kind="value", index=[0], expected="1", got="2", wrong=5, total=10)
FAILURES = ("out_of_bounds", "global_race")
# Enough on a busy machine; without the bounds it takes minutes or hours.
SECONDS = 20.0


def triton(*body: str) -> str:
    lines = "".join(f"    {line}\n" for line in body)
    return (
        "import triton\nimport triton.language as tl\n@triton.jit\ndef k(a, b, c, m, n, p, BLOCK: tl.constexpr):\n"
        f"{lines}def solve(a, b, c, m, n, k_):\n    k[(m,)](a, b, c, m, n, k_, BLOCK=256)\n"
    )


def cuda(*body: str) -> str:
    parameters = "const float* a, const float* b, float* c, int m, int n, int p"
    return (
        f"__global__ void k({parameters}) {{\n{' '.join(body)}\n}}\n"
        f"void solve({parameters}) {{ k<<<1, 2>>>(a, b, c, m, n, p); }}\n"
    )


def ask(language: Language, source: str) -> float:
    challenge = Catalogue(ROOT).load("matmul")
    case = next(case for case in challenge.cases if case.name == "basic")
    mistakes = Mistakes(challenge, language, source)
    began = time.process_time()
    mistakes.of_result(None, MISMATCH, case, {})
    for kind in FAILURES:
        for line in range(1, source.count("\n") + 1)[:10]:
            message = "Thread 0 reads byte 0 of c, past the end of c"
            mistakes.of_failure(Failure(kind="checker", type=kind, message=message, line=line, trace=""))
    mistakes.adds_to("c")
    return time.process_time() - began


@pytest.mark.parametrize(
    "body",
    [
        (f"tl.store(c + p{' + p' * 600}, p, mask=p < n)",),
        (f"x = {'9' * 400}", "tl.store(c, x)"),
        (f"x = 0x{'f' * 5000}", "tl.store(c + x, x, mask=x < n)"),
    ],
    ids=["deep", "large", "too_large_to_print"],
)
def test_unreadable_code_gets_no_hint(body: tuple[str, ...]) -> None:
    ask(Language.TRITON, triton(*body))


@pytest.mark.parametrize(
    ("language", "source"),
    [
        # Each name is one of thousands, and each of those is the same again.
        (
            Language.TRITON,
            triton(
                f"x = f(1 < 2, {'p, ' * 5000})",
                f"y = f(1 < 2, {'x, ' * 5000})",
                "tl.store(c + y, p, mask=y < n)",
            ),
        ),
        (Language.TRITON, triton(*["tl.store(c + p, p)"] * 2500)),
        (Language.CUDA, cuda(*["x = y; y = z; z = w; w = m;"] * 120, "c[x] += 1;")),
    ],
    ids=["values_of_values", "accesses", "assignments"],
)
def test_reading_a_source_takes_bounded_time(language: Language, source: str) -> None:
    assert ask(language, source) < SECONDS
