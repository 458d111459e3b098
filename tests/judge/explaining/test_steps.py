"""Results of a reference with one step done otherwise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from grader.challenge.cases import Case, Category
from grader.challenge.catalogue import Catalogue
from grader.challenge.loader import Challenge, ChallengeReference
from grader.judge.explaining.questions.steps import Steps
from grader.judge.explaining.wrong import Pattern, Wrong
from grader.judge.oracle import right_answers

CATALOGUE = Catalogue(Path(__file__).parents[3])
Given = dict[str, torch.Tensor]


def noise(*shape: int, seed: int = 5) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def wrong(challenge: Challenge, got: torch.Tensor, want: torch.Tensor) -> Wrong:
    result = challenge.manifest.results[0]
    flat = got.to(want.dtype).reshape(-1), want.reshape(-1)
    off = (flat[0].double() - flat[1].double()).abs() > 1e-5
    return Wrong(
        result, tuple(want.shape), *flat, off, None, None, challenge.manifest.allowance(result, {}, {})
    )


def found(
    slug: str,
    sizes: dict[str, int],
    given: Given,
    got: Callable[..., torch.Tensor],
    scalars: dict[str, float],
) -> Pattern | None:
    challenge = CATALOGUE.load(slug)
    case = Case("case", Category.BASIC, sizes, scalars=scalars)
    want = right_answers(challenge, case, given)[challenge.manifest.results[0].name]
    answer = got(*(values.double() for values in given.values()))
    return Steps(challenge, 60.0).find(case, given, wrong(challenge, answer, want), None)


ROWS = {"x": noise(8, 40)}
NORM = {"x": noise(8, 40) + 1, "gamma": noise(40, seed=6), "beta": noise(40, seed=7)}
HEADS = {name: noise(2, 24, 16, seed=seed) for seed, name in enumerate(("q", "k", "v"))}


CHANNELS = {"x": noise(4, 6, 10) + 1, "gamma": noise(6, seed=6), "beta": noise(6, seed=7)}
SMALL = {"x": noise(8, 40) * 1e-2, "gamma": noise(40, seed=6)}


def of_channels(x: torch.Tensor, gamma: torch.Tensor, beta: torch.Tensor, correction: int) -> torch.Tensor:
    rstd = torch.rsqrt(x.var((0, 2), correction=correction, keepdim=True) + 1e-5)
    return (x - x.mean((0, 2), keepdim=True)) * rstd * gamma[:, None] + beta[:, None]


def of_groups(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    grouped = x.reshape(4, 3, 20)
    rstd = torch.rsqrt(grouped.var(2, correction=1, keepdim=True) + 1e-5)
    found = ((grouped - grouped.mean(2, keepdim=True)) * rstd).reshape(4, 6, 10)
    return found * weight[:, None] + bias[:, None]


def normalised(x: torch.Tensor, gamma: torch.Tensor, beta: torch.Tensor) -> torch.Tensor:
    return (x - x.mean(1, keepdim=True)) * torch.rsqrt(x.square().mean(1, keepdim=True) + 1e-5) * gamma + beta


def of_four_rows(x: torch.Tensor) -> torch.Tensor:
    weights = torch.exp(x - x.amax(1, keepdim=True))
    sums = weights.sum(1).reshape(2, 4).sum(1).repeat_interleave(4)
    return weights / sums[:, None]


def lanes(x: torch.Tensor) -> torch.Tensor:
    weights = torch.exp(x - x.amax(1, keepdim=True))
    return weights / weights[:, torch.arange(40) % 16 < 8].sum(1, keepdim=True)


@pytest.mark.parametrize(
    ("slug", "sizes", "given", "got", "scalars", "text"),
    [
        (
            "layernorm",
            {"rows": 8, "cols": 40},
            NORM,
            normalised,
            {"eps": 1e-5},
            "out is what you get without subtracting the mean of x from x, in the variance of x.",
        ),
        (
            "softmax",
            {"rows": 8, "cols": 40},
            ROWS,
            of_four_rows,
            {},
            "out is what you get if every 4 neighbouring rows share the sum of exp(x - its maximum): theirs are added "
            "up.",
        ),
        (
            "softmax",
            {"rows": 8, "cols": 40},
            ROWS,
            lanes,
            {},
            "out is what you get if in the sum of exp(x - its maximum) only the elements count whose number modulo 16 "
            "is below 8: half of the lanes.",
        ),
        (
            "attention",
            {"heads": 2, "seq": 24, "dim": 16},
            HEADS,
            lambda q, k, v: torch.softmax(q @ k.transpose(1, 2) * 0.25, 1) @ v,
            {"scale": 0.25},
            "out is what you get if softmax((q @ k) * scale) is along the other axis: each column adds up to 1.",
        ),
        (
            "causal_attention_fp16",
            {"heads": 2, "seq": 24, "dim": 16},
            {name: values.half() for name, values in HEADS.items()},
            lambda q, k, v: torch.softmax((q @ k.transpose(1, 2) * 0.25).tril(), 2) @ v,
            {"scale": 0.25},
            "out is what you get if masked elements of (q @ k) * scale are 0, not -inf.",
        ),
        (
            "rmsnorm",
            {"rows": 8, "cols": 40},
            {"x": ROWS["x"], "gamma": NORM["gamma"]},
            lambda x, gamma: x * torch.rsqrt(x.square().sum(1, keepdim=True) / 39 + 1e-5) * gamma,
            {"eps": 1e-5},
            "out is what you get if the mean of x squared is divided by cols - 1, not by cols.",
        ),
        (
            "rmsnorm",
            {"rows": 8, "cols": 40},
            SMALL,
            lambda x, gamma: x / (x.square().mean(1, keepdim=True).sqrt() + 1e-5) * gamma,
            {"eps": 1e-5},
            "out is what you get with 1 / (sqrt(the mean of x squared) + eps) in place of 1 / sqrt((the mean of x "
            "squared) + eps).",
        ),
        (
            "batch_norm",
            {"batch": 4, "channels": 6, "spatial": 10},
            CHANNELS,
            lambda x, gamma, beta: of_channels(x, gamma, beta, 1),
            {"eps": 1e-5},
            "out is what you get if the variance of x is divided by batch * spatial - 1, not by batch * spatial.",
        ),
        (
            "group_norm",
            {"batch": 4, "channels": 6, "spatial": 10, "groups": 3},
            {"x": CHANNELS["x"], "weight": CHANNELS["gamma"], "bias": CHANNELS["beta"]},
            of_groups,
            {"eps": 1e-5},
            "out is what you get if the variance of a group of x is divided by 20 - 1, not by 20.",
        ),
        (
            "gelu",
            {"n": 300},
            {"x": noise(300)},
            lambda x: 0.5 * x + torch.erf(x * 0.5**0.5),
            {},
            "out is what you get with (x * 0.5) * 1 + (erf(x * 0.707107)) in place of (x * 0.5) * (1 + "
            "(erf(x * 0.707107))): is a parenthesis missing?",
        ),
        (
            "dot",
            {"n": 300},
            {"a": noise(300), "b": noise(300, seed=8)},
            lambda a, b: (a + b).sum().reshape(1),
            {},
            "out is what you get if b is added to a, not multiplied.",
        ),
    ],
)
def test_a_step_done_otherwise_is_named(
    slug: str,
    sizes: dict[str, int],
    given: Given,
    got: Callable[..., torch.Tensor],
    scalars: dict[str, float],
    text: str,
) -> None:
    pattern = found(slug, sizes, given, got, scalars)
    assert pattern is not None
    assert pattern.text == text


def test_no_step_is_named_for_noise() -> None:
    assert found("softmax", {"rows": 8, "cols": 40}, ROWS, lambda x: noise(8, 40, seed=9), {}) is None


def test_a_reference_elsewhere_has_no_steps() -> None:
    challenge = CATALOGUE.load("softmax")
    right = torch.softmax(ROWS["x"].double(), 1)
    reference = ChallengeReference(lambda **given: right, None)
    case = Case("case", Category.BASIC, {"rows": 8, "cols": 40})
    boxed = replace(challenge)
    boxed.__dict__["reference"] = reference
    result = wrong(challenge, right * 2, right.float())
    assert Steps(boxed, 60.0).find(case, ROWS, result, None) is None
