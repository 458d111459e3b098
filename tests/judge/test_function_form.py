"""Challenges on gradients: the oracle by autograd, and ``torch.autograd.Function`` as a form of submission."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from grader.authoring.gradients import gradient_checks
from grader.challenge.catalogue import Catalogue
from grader.challenge.loader import Challenge
from grader.challenge.model import Manifest
from grader.challenge.signature import starter
from grader.device_kinds import CPU, EMULATED
from grader.errors import ChallengeInvalid
from grader.judge.at_home import judge_at_home
from grader.judge.compilation import kernels_request
from grader.judge.oracle import ask
from grader.languages import Language
from grader.sandbox.box import BoxMaker
from grader.schemas.proof import Status
from grader.schemas.report import Flag, Report, Verdict
from tests.components import need

MANIFEST = """
title = "Scaled square"
track = "tests"
difficulty = "easy"
version = 1
languages = ["triton", "cuda"]
args = [
  { name = "x", kind = "input", dtype = "float32", shape = ["n"] },
  { name = "w", kind = "input", dtype = "float32", shape = ["n"] },
  { name = "dout", kind = "input", dtype = "float32", shape = ["n"] },
  { name = "out", kind = "output", dtype = "float32", shape = ["n"] },
  { name = "dx", kind = "output", dtype = "float32", shape = ["n"] },
  { name = "dw", kind = "output", dtype = "float32", shape = ["n"] },
  { name = "scale", kind = "scalar", dtype = "float32", value = 1.5 },
  { name = "n", kind = "size" },
]
workloads = [{ name = "small", on = "cpu", sizes = { n = 5000 } }, { name = "big", sizes = { n = 1000000 } }]

[autograd]
upstream = { dout = "out" }
gradients = { dx = "x", dw = "w" }

[cost]
bytes = "24 * n"
flops = "8 * n"

[tolerance]
rtol = 1e-6
"""
FORWARD = """import torch


def forward(x: torch.Tensor, w: torch.Tensor, scale: float, n: int) -> torch.Tensor:
    return scale * w * x.square()
"""
CASES = """from grader.challenge.cases import Category, case

def cases():
    return [case("tiny", Category.BASIC, n=5), case("empty", Category.EMPTY, n=0), case("odd", Category.ODD, n=777)]
"""
KERNELS = """import torch
import triton
import triton.language as tl


@triton.jit
def forth(x, w, out, scale, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at, mask=at < n)
    tl.store(out + at, scale * tl.load(w + at, mask=at < n) * value * value, mask=at < n)


@triton.jit
def back(x, w, dout, dx, dw, scale, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value, up = tl.load(x + at, mask=at < n), tl.load(dout + at, mask=at < n)
    tl.store(dx + at, 2 * scale * tl.load(w + at, mask=at < n) * value * up, mask=at < n)
    tl.store(dw + at, scale * value * value * up, mask=at < n)
"""
FUNCTION = (
    KERNELS
    + """

class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w, scale, n):
        ctx.save_for_backward(x, w)
        ctx.scale, out = scale, torch.empty_like(x)
        if n:
            forth[(triton.cdiv(n, 256),)](x, w, out, scale, n, BLOCK=256)
        return out

    @staticmethod
    def backward(ctx, dout):
        x, w = ctx.saved_tensors
        dx, dw, n = torch.empty_like(x), torch.empty_like(w), x.numel()
        if n:
            back[(triton.cdiv(n, 256),)](x, w, dout, dx, dw, ctx.scale, n, BLOCK=256)
        return dx, dw, None, None
"""
)
SOLVE = (
    KERNELS
    + """

def solve(x, w, dout, out, dx, dw, scale, n):
    if n:
        forth[(triton.cdiv(n, 256),)](x, w, out, scale, n, BLOCK=256)
        back[(triton.cdiv(n, 256),)](x, w, dout, dx, dw, scale, n, BLOCK=256)
"""
)
Make = Callable[..., Challenge]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    def made(reference: str = FORWARD) -> Challenge:
        for path, text in {
            "challenges/tracks.toml": '[[tracks]]\ntitle = "tests"\n',
            "challenges/square/challenge.toml": MANIFEST,
            "challenges/square/cases.py": CASES,
            "reference/square/reference.py": reference,
        }.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text)
        return Catalogue(tmp_path).load("square")

    return made


@pytest.fixture
def run(make: Make, boxes: BoxMaker) -> Callable[..., Report]:
    def ran(source: str, timing: bool = False, device: str = CPU) -> Report:
        return judge_at_home(make(), source, Language.TRITON, boxes, device=device, timing=timing)

    return ran


def test_the_oracle_differentiates_the_forward_pass(make: Make) -> None:
    challenge = make()
    question = ask(challenge, challenge.case("odd"), 7)
    x, w, dout = (question.inputs[name].double() for name in ("x", "w", "dout"))
    assert torch.allclose(question.outputs["out"], (1.5 * w * x * x).float())
    assert torch.allclose(question.outputs["dx"], (3 * w * x * dout).float())
    assert torch.allclose(question.outputs["dw"], (1.5 * x * x * dout).float())
    assert "def reference(x, w, dout, scale, n):" in challenge.reference_source, (
        "boxes and pages have it, too"
    )


@pytest.mark.parametrize("source", [FUNCTION, SOLVE], ids=["Function", "solve"])
def test_a_function_and_a_solve_are_accepted(run: Callable[..., Report], source: str) -> None:
    report = run(source)
    assert report.verdict is Verdict.ACCEPTED, report
    assert Flag.LIBRARY_KERNEL not in report.flags


WRONG = {
    "gradients in the wrong order": (FUNCTION.replace("return dx, dw", "return dw, dx"), "dx"),
    "a wrong forward pass": (FUNCTION.replace("* value * value, mask", "* value, mask"), "out"),
    "PyTorch that says it is right": (
        FUNCTION.replace("2 * scale", "scale")
        + "\ntorch.autograd.gradcheck = lambda *a, **k: True\ntorch.allclose = lambda *a, **k: True\n",
        "dx",
    ),
}


@pytest.mark.parametrize(("source", "name"), WRONG.values(), ids=WRONG.keys())
def test_wrong_gradients_are_wrong_answers(run: Callable[..., Report], source: str, name: str) -> None:
    report = run(source)
    assert report.verdict is Verdict.WRONG_ANSWER, report
    mismatch = report.cases[0].mismatch
    assert mismatch is not None
    assert mismatch.argument == name


BROKEN = {
    "no gradient": (
        FUNCTION.replace("return dx, dw", "return None, dw"),
        Verdict.RUNTIME_ERROR,
        "Square.backward: the gradient of x is None, not a tensor",
    ),
    "another shape": (
        FUNCTION.replace("        return out\n", "        return out.reshape(-1, 1)\n"),
        Verdict.RUNTIME_ERROR,
        r"Square.forward: out is torch.float32 \[5, 1\], expected torch.float32 \[5\]",
    ),
    "no class": (
        KERNELS,
        Verdict.COMPILE_ERROR,
        "defines no torch.autograd.Function and no function 'solve'",
    ),
}


@pytest.mark.parametrize(("source", "verdict", "said"), BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_function_is_explained(
    run: Callable[..., Report], source: str, verdict: Verdict, said: str
) -> None:
    report = run(source)
    assert report.verdict is verdict, report

    assert re.search(said, report.detail or report.cases[0].detail), report


def test_the_emulated_gpu_times_a_function(run: Callable[..., Report]) -> None:
    need("emulator")
    report = run(FUNCTION, timing=True, device=EMULATED)
    assert report.verdict is Verdict.ACCEPTED, report
    assert report.score.time_us is not None, report.score.unranked
    assert report.speedups["eager"] > 0


def test_kernels_are_compiled_ahead_by_the_same_form(make: Make) -> None:
    request = kernels_request(make(), Language.TRITON, FUNCTION, "sm_90a")
    assert request.autograd is not None
    assert request.autograd["forward"] == ["x", "w", "scale", "n"]


def test_starters_have_the_form(make: Make) -> None:
    manifest = make().manifest
    text = starter(manifest, Language.TRITON)
    assert "def forward(ctx, x, w, scale, n):" in text
    assert "def backward(ctx, dout):" in text
    assert "dx, dw, None, None" in text
    assert "solve" in starter(manifest, Language.CUDA)
    compile(text, "starter.py", "exec")


def test_gradients_of_the_reference_are_proven(make: Make) -> None:
    (found,) = gradient_checks(make())
    assert found.status is Status.OK, found
    (found,) = gradient_checks(make(FORWARD.replace("x.square()", "x * x.detach()")))
    assert found.status is Status.ERROR
    assert "Jacobian mismatch" in str(found)


def test_a_reference_without_forward_is_refused(make: Make) -> None:
    with pytest.raises(ChallengeInvalid, match="no function 'forward'"):
        _ = make(FORWARD.replace("def forward", "def backwards")).reference
    with pytest.raises(ChallengeInvalid, match=r"forward\(x, w, scale, n\)|forward: "):
        _ = make(FORWARD.replace("w: torch.Tensor, ", "")).reference


@pytest.mark.parametrize(
    ("table", "why"),
    [
        ({"upstream": {"dout": "x"}, "gradients": {"dx": "x"}}, "'x' is no output"),
        ({"upstream": {"dout": "out"}, "gradients": {"dy": "x"}}, "'dy' is no output"),
        ({"upstream": {"dout": "out"}, "gradients": {"dx": "x", "dw": "x"}}, "more than once"),
        ({"upstream": {"dout": "dx"}, "gradients": {"dx": "x"}}, "are gradients themselves"),
        ({"upstream": {}, "gradients": {"dx": "x"}}, "at least 1"),
    ],
)
def test_bad_tables_are_refused(make: Make, table: dict[str, dict[str, str]], why: str) -> None:
    fields = make().manifest.model_dump(mode="json", exclude_defaults=True)
    with pytest.raises(ValueError, match=why):
        Manifest.model_validate({**fields, "autograd": table})
