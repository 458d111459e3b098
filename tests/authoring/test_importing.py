"""Problems of other platforms become challenges that their own reference answers."""

from __future__ import annotations

import runpy
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch

from grader.authoring.importing.challenge import write_imported
from grader.authoring.importing.published import check_solution
from grader.authoring.importing.shapes import Seen, expression_of
from grader.authoring.importing.source import licence_of, read
from grader.challenge.catalogue import Catalogue
from grader.challenge.loader import Challenge
from grader.challenge.model import Kind
from grader.errors import BadRequest
from grader.judge.oracle import ask

KERNELBENCH = '''
import torch
import torch.nn as nn


class Model(nn.Module):
    """A layer and its bend."""

    def __init__(self, in_features, out_features, slope):
        super().__init__()
        self.layer = nn.Linear(in_features, out_features)
        self.slope = slope

    def forward(self, x):
        return torch.nn.functional.leaky_relu(self.layer(x), self.slope).sum()


batch_size = 64
in_features, out_features = 128, 2 * 48
slope = 0.25


def get_inputs():
    return [torch.rand(batch_size, in_features)]


def get_init_inputs():
    return [in_features, out_features, slope]
'''
LEETGPU = """
import ctypes
import torch
from core.challenge_base import ChallengeBase, OutTensor, RandTensor


class Challenge(ChallengeBase):
    name = "Window sums"
    atol, rtol = 1e-5, 1e-4

    def reference_impl(self, A, B, scale, N, width):
        assert A.dtype == torch.float32
        B.copy_(A.unfold(0, width, 1).sum(1) * scale)

    def get_solve_signature(self):
        floats = ctypes.POINTER(ctypes.c_float)
        return {
            "A": (floats, "in"), "B": (floats, "out"), "scale": (ctypes.c_float, "in"),
            "N": (ctypes.c_size_t, "in"), "width": (ctypes.c_int, "in"),
        }

    def one(self, n, width):
        a = torch.ones(n, device=self.device)
        return {"A": a, "B": torch.empty(n - width + 1, device=self.device), "scale": 2.0, "N": n, "width": width}

    def generate_functional_test(self):
        return [self.one(8, 3), self.one(5, 1), self.one(40, 7)]

    def generate_example_test(self):
        return self.one(4, 2)

    def generate_performance_test(self):
        n = 1 << 22
        return {"A": RandTensor((n,)), "B": OutTensor((n - 7,)), "scale": 2.0, "N": n, "width": 8}
"""
TASK = """
files:
  - {"name": "reference.py", "source": "reference.py"}
  - {"name": "utils.py", "source": "../utils.py"}
description: Adds.
tests:
  - {"size": 100, "seed": 1}
  - {"size": 37, "seed": 2}
benchmarks:
  - {"size": 1048576, "seed": 3}
"""
GPUMODE = """
import torch
from task import input_t, output_t
from utils import make_match_reference


def generate_input(size: int, seed: int) -> input_t:
    gen = torch.Generator(device="cuda")
    gen.manual_seed(seed)
    a = torch.randn(size, device="cuda", dtype=torch.float16, generator=gen)
    return a, torch.randint(0, size, (9,), device="cuda", generator=gen), torch.empty_like(a)


def ref_kernel(data: input_t) -> output_t:
    a, place, output = data
    output[...] = a + a[place].sum()
    return output


check_implementation = make_match_reference(ref_kernel, rtol=1e-2)
"""


# Published solutions, in their platforms' forms.
MODEL_NEW = """
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features, slope):
        super().__init__()
        self.layer = nn.Linear(in_features, out_features)
        self.slope = slope

    def forward(self, x):
        bent = x @ self.layer.weight.T + self.layer.bias
        return torch.where(bent > 0, bent, bent * self.slope).sum()
"""
WINDOWS = """
import torch


def solve(A: torch.Tensor, B: torch.Tensor, scale: float, N: int, width: int):
    B.copy_(torch.stack([A[i : N - width + 1 + i] for i in range(width)]).sum(0) * scale)
"""
CUSTOM_KERNEL = """
from task import input_t, output_t
from utils import make_match_reference


def custom_kernel(data: input_t) -> output_t:
    a, place, output = data
    return a + a[place].sum()
"""


def is_right(challenge: Challenge) -> bool:
    case = next(case for case in challenge.cases if case.name == "odd")
    question = ask(challenge, case, 1)
    results = {
        arg.name: torch.full(
            challenge.manifest.shape(arg, case.sizes), 7, dtype=getattr(torch, arg.dtype.value)
        )
        for arg in challenge.manifest.results
    }
    scalars = {arg.name: arg.value for arg in challenge.manifest.scalars}
    solution = runpy.run_path(str(challenge.reference_folder / "staff" / "solution.py"))
    solution["solve"](**question.inputs, **results, **scalars, **case.sizes)
    return all(
        torch.allclose(
            got.reshape(-1).double(), question.outputs[name].reshape(-1).double(), rtol=1e-2, atol=1e-2
        )
        for name, got in results.items()
    )


def imported(path: Path, root: Path, slug: str, published: str) -> tuple[Challenge, list[str]]:
    for part in ("challenges", "reference"):
        (root / part).mkdir(parents=True, exist_ok=True)
    catalogue = Catalogue(root)
    _, left = write_imported(catalogue, read(str(path), path), slug, "tests", "easy", published)
    return catalogue.load(slug), left


def shapes(challenge: Challenge) -> dict[str, list[str]]:
    return {arg.name: arg.shape for arg in challenge.manifest.buffers}


def test_a_model_with_weights_becomes_a_challenge(tmp_path: Path) -> None:
    path = tmp_path / "7_layer_and_bend.py"
    path.write_text(KERNELBENCH)
    challenge, left = imported(path, tmp_path / "course", "bend", MODEL_NEW)
    assert shapes(challenge) == {
        "x": ["batch_size", "in_features"],
        "layer_weight": ["out_features", "in_features"],
        "layer_bias": ["out_features"],
        "out": ["1"],
    }
    assert challenge.manifest.sizes == ["batch_size", "in_features", "out_features"]
    assert [each.sizes for each in challenge.manifest.workloads if each.name == "64 x 128 x 96"]
    case = next(case for case in challenge.cases if case.name == "odd")
    question = ask(challenge, case, 1)
    layer = question.inputs["x"].double() @ question.inputs["layer_weight"].double().T
    layer += question.inputs["layer_bias"].double()
    expected = layer.where(layer > 0, layer * 0.25).sum()
    assert float(question.outputs["out"]) == pytest.approx(float(expected), rel=1e-5)
    assert any("licence is not stated" in line for line in left)
    assert is_right(challenge)


def test_a_class_with_outputs_in_place_becomes_a_challenge(tmp_path: Path) -> None:
    (tmp_path / "LICENSE").write_text("Some Licence, NoDerivatives\n")
    folder = tmp_path / "3_window_sums"
    folder.mkdir()
    (folder / "challenge.py").write_text(LEETGPU)
    challenge, left = imported(folder, tmp_path / "course", "window_sums", WINDOWS)
    assert shapes(challenge) == {"a": ["n"], "b": ["n - width + 1"]}
    assert [arg.name for arg in challenge.manifest.args if arg.kind is Kind.SCALAR] == ["scale"]
    assert (challenge.manifest.tolerance.atol, challenge.manifest.tolerance.rtol) == (1e-5, 1e-4)
    question = ask(challenge, challenge.cases[0], 1)
    width = challenge.cases[0].sizes["width"]
    assert float(question.outputs["b"][0]) == pytest.approx(
        2 * float(question.inputs["a"][:width].sum()), rel=1e-4
    )
    assert any("forbids derived works" in line for line in left)
    assert is_right(challenge)


def test_a_task_with_a_tuple_becomes_a_challenge(tmp_path: Path) -> None:
    folder = tmp_path / "adding_py"
    folder.mkdir()
    (folder / "task.yml").write_text(TASK)
    (folder / "reference.py").write_text(GPUMODE)
    (folder / "task.py").write_text("input_t = output_t = tuple\n")
    (tmp_path / "utils.py").write_text("def make_match_reference(*_, **__):\n    return None\n")
    challenge, left = imported(folder, tmp_path / "course", "adding", CUSTOM_KERNEL)
    assert shapes(challenge) == {"a": ["size"], "place": ["9"], "output": ["size"]}
    (place,) = [arg for arg in challenge.manifest.args if arg.name == "place"]
    assert (place.values.dist, place.values.high) == ("integers", "size")
    assert challenge.manifest.tolerance.rtol == 1e-2
    assert any(each.sizes == {"size": 1 << 20} for each in challenge.manifest.workloads)
    assert len(challenge.cases) > 10
    assert is_right(challenge)
    assert not any("stand-in" in line for line in left)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (
            "self.slope)",
            "self.slope) + torch.nn.functional.dropout(x).sum()",
            "its result is random (dropout)",
        ),
        ("return [torch.rand(batch_size", "return [{}, torch.rand(batch_size", "other things than tensors"),
        ("class Model", "raise ValueError('no')\nclass Model", "ValueError: no"),
        ("torch.rand(batch_size, in_features)", "torch.rand(batch_size, 3)", "Model fails"),
    ],
)
def test_a_problem_that_cannot_be_said_says_why(tmp_path: Path, old: str, new: str, says: str) -> None:
    path = tmp_path / "bad.py"
    assert old in KERNELBENCH
    path.write_text(KERNELBENCH.replace(old, new, 1))
    with pytest.raises(BadRequest) as caught:
        read(str(path), path)
    assert says in caught.value.message


def test_what_is_no_published_solution_is_refused() -> None:
    with pytest.raises(BadRequest, match="defines no ModelNew"):
        check_solution(CUSTOM_KERNEL, "kernelbench")
    with pytest.raises(BadRequest, match="no Python"):
        check_solution('extern "C" void solve() {}', "leetgpu")
    check_solution("custom_kernel = compiled(run)", "gpumode")


def test_an_unknown_form_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    with pytest.raises(BadRequest, match="in no form that is known"):
        read("a.py", tmp_path / "a.py")
    assert licence_of(tmp_path / "a.py").asks == "is not stated"


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([(8, 3, 8), (5, 1, 5)], "n"),
        ([(8, 3, 6), (5, 1, 5)], "n - k + 1"),
        ([(8, 3, 24), (5, 1, 5)], "n * k"),
        ([(8, 3, 3), (9, 2, 5)], "cdiv(n, k)"),
        ([(8, 3, 4), (5, 1, 4)], "4"),
        ([(8, 3, 21), (9, 3, 23), (8, 4, 22)], "2 * n + k + 2"),
        ([(8, 3, 7), (9, 3, 1), (8, 4, 50), (9, 4, 3)], None),
    ],
)
def test_dimensions_are_said_in_sizes(values: Sequence[tuple[int, int, int]], expected: str | None) -> None:
    assert expression_of([Seen({"n": n, "k": k}, value) for n, k, value in values]) == expected
