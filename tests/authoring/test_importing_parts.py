"""The parts of an import, without a box: nested data, own checks and draws, constraints, tolerances."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import pytest
import torch

from grader.authoring.importing import gpumode, kernelbench, tensara
from grader.authoring.importing.challenge import ImportedDraft, _needed, our_names
from grader.authoring.importing.constrained import needed_constraints
from grader.authoring.importing.drawn import Drawn
from grader.authoring.importing.published import check_text
from grader.authoring.scaffold.answers import Answers
from grader.authoring.scaffold.signature_line import read_signature
from grader.authoring.scaffold.suite import Planned
from grader.challenge.cases import Case, Category
from grader.challenge.draw import draw_inputs
from grader.challenge.model import Manifest
from grader.errors import BadRequest
from grader.languages import Language

TASK = """
files: []
description: A factor, held to its residual.
tests:
  - {"batch": 2, "n": 4, "seed": 1, "case": "plain"}
  - {"batch": 3, "n": 8, "seed": 2, "case": "scaled"}
benchmarks:
  - {"batch": 8, "n": 16, "seed": 3, "case": "plain"}
"""
REFERENCE = """
import torch
from task import input_t, output_t

_ALLOWED = 1e-3


def _definite(a):
    return a @ a.mT + torch.eye(a.shape[-1], device="cuda")


def generate_input(batch: int, n: int, seed: int, case: str) -> input_t:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    gen = torch.Generator(device="cuda")
    gen.manual_seed(seed)
    a = _definite(torch.randn(batch, n, n, device=device, generator=gen)) * (3.0 if case == "scaled" else 1.0)
    weights = {"row.scale": torch.rand(n, device="cuda", generator=gen), "all": torch.ones(1)}
    return a.mT, weights, {"side": n, "kind": "lower", "steps": 2}


def ref_kernel(data: input_t) -> output_t:
    a, weights, config = data
    return torch.linalg.cholesky(a) * weights["row.scale"][:, None], torch.zeros(config["side"])


def check_implementation(data: input_t, output: output_t) -> tuple[bool, str]:
    a, weights, config = data
    factor = output[0] / weights["row.scale"][:, None]
    residual = (factor @ factor.mT - a).abs().max().item()
    return residual <= _ALLOWED * config["side"], f"residual={residual:.3g}"
"""


POOLING = """
from problem import Problem
import torch


class pooling(Problem):
    parameters = [
        {"name": "input", "type": "float", "pointer": True, "const": True},
        {"name": "kernel_size", "type": "int", "pointer": False, "const": False},
        {"name": "stride", "type": "int", "pointer": False, "const": False},
        {"name": "scale", "type": "float", "pointer": False, "const": False},
        {"name": "output", "type": "float", "pointer": True, "const": False},
        {"name": "h", "type": "size_t", "pointer": False, "const": False},
    ]

    def __init__(self):
        super().__init__(name="pooling")

    def reference_solution(self, x, kernel_size, stride, scale):
        with torch.autocast("cuda", enabled=False, dtype=x.dtype):
            return scale * torch.nn.functional.max_pool1d(x.view(1, 1, -1), kernel_size, stride)[0, 0]

    def case(self, h, kernel_size, stride):
        return {"h": h, "create_inputs": lambda: (
            torch.rand(h, device="cuda", dtype=self.param_dtype(0),
                       generator=torch.Generator(device="cuda").manual_seed(1)) * 2 - 1,
            kernel_size, stride, 0.5)}

    def generate_test_cases(self):
        return [self.case(2**30, 3, 2), self.case(1000, 5, 3), self.case(2048, 2, 2)]

    def generate_sample(self):
        return self.case(64, 3, 1)

    def verify_result(self, expected, actual):
        return torch.allclose(actual, expected, rtol=2e-4, atol=1e-5), {}

    def get_extra_params(self, case):
        return [case["h"]]
"""


@pytest.fixture
def _reader(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reader changes its process for good."""
    monkeypatch.setattr(torch, "Generator", torch.Generator)
    monkeypatch.setattr(torch.cuda, "synchronize", torch.cuda.synchronize)
    monkeypatch.setattr(sys, "path", [*sys.path])


@pytest.fixture
def found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, _reader: None) -> Iterator[Mapping[str, Any]]:
    (tmp_path / "task.yml").write_text(TASK)
    (tmp_path / "reference.py").write_text(REFERENCE)
    (tmp_path / "task.py").write_text("input_t = output_t = tuple\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield gpumode.read(tmp_path)
    sys.modules.pop("task", None)


def test_nested_data_is_taken_apart_and_put_together_again(found: Mapping[str, Any]) -> None:
    arguments = {each["name"]: each["kind"] for each in found["arguments"]}
    assert arguments == {
        "a": "input", "row_scale": "input", "all": "input", "out": "output", "out2": "output",
        "batch": "size", "n": "size",
    }  # fmt: skip
    assert found["data"] == (
        "(a, {'row.scale': row_scale, 'all': all}, {'side': n, 'kind': 'lower', 'steps': 2},)"
    )
    assert any(sample["strides"].get("a", [])[-2:] == [1, 4] for sample in found["samples"])
    names: dict[str, Any] = {}
    exec(found["reference"].replace("{shape:", "("), names)
    a = torch.eye(4).expand(2, 4, 4) * 4
    factor, zeros = names["reference"](a, 2 * torch.ones(4), torch.ones(1), 2, 4)
    assert torch.equal(factor, 4 * torch.eye(4).expand(2, 4, 4))
    assert zeros.shape == (4,)


def test_memory_of_one_element_takes_a_result_without_dimensions() -> None:
    x, output = torch.arange(4.0), torch.empty(1)
    data = gpumode._Data().take((x, output), ["x", "output"])
    run = gpumode._run({}, data, dict(data.leaves), x.sum(), ["output"])
    assert (run.returned, run.results, run.order) == ({"output"}, {}, ["output"])
    assert data.leaves["output"].shape == (), "so reference.py gives it a dimension"


def test_its_own_check_becomes_check_py(found: Mapping[str, Any]) -> None:
    names: dict[str, Any] = {}
    exec(check_text(found, our_names(found["arguments"]), "# From there.\n\n"), names)
    a = torch.eye(4).expand(1, 4, 4) * 4
    given = {"a": a, "row_scale": torch.ones(4), "all": torch.ones(1), "batch": 1, "n": 4}
    right = {"out": -torch.linalg.cholesky(a), "out2": torch.zeros(4)}
    assert names["check"](given, right, {}) is None
    assert "residual=" in names["check"](given, {**right, "out": a}, {})
    assert (found["tolerance"], found["stated"]) == (None, [])


def test_its_own_code_draws_inputs_that_belong_together(found: Mapping[str, Any]) -> None:
    drawn = Drawn.of(found, our_names(found["arguments"]))
    assert drawn is not None
    assert [dict(options) for options in drawn.special] == [{"case": "scaled"}]
    usual, names = drawn.recipes()
    manifest = factor_manifest(list(usual))
    case = Case("basic", Category.BASIC, {"batch": 2, "n": 4}, usual)
    first, again = draw_inputs(manifest, case, 5), draw_inputs(manifest, case, 5)
    assert all(torch.equal(first[name], again[name]) for name in first)
    matrix = first["a"].double()
    assert torch.equal(matrix, matrix.mT)
    assert bool((torch.linalg.eigvalsh(matrix) > 0).all())
    draw = cast(Any, names["drawn"])
    scaled = replace(case, inputs={**usual, "a": draw("a", case="scaled")})
    assert torch.allclose(draw_inputs(manifest, scaled, 5)["a"], first["a"] * 3)


def factor_manifest(names: Sequence[str]) -> Manifest:
    line = f"f(a: f32[batch, n, n], row_scale: f32[n], {names[2]}: f32[1]) -> out: f32[batch, n, n]"
    workload = {"name": "w", "sizes": {"batch": 8, "n": 16}}
    return Manifest.model_validate(
        {
            "title": "factor", "track": "tests", "difficulty": "easy", "version": 1, "languages": ["triton"],
            "args": read_signature(line), "cost": {"bytes": "n", "flops": "n"}, "workloads": [workload],
        }
    )  # fmt: skip


@pytest.mark.parametrize(
    ("check", "tolerance", "stated"),
    [
        ("make_match_reference(ref_kernel)", (1e-8, 1e-5), []),
        ("make_match_reference(ref_kernel, rtol=1e-2)", (1e-8, 1e-2), ["rtol"]),
        ("make_match_reference(ref_kernel, rtol=1e-2, atol=0.5)", (0.5, 1e-2), ["atol", "rtol"]),
    ],
)
def test_a_tolerance_is_the_authors_as_far_as_it_is_stated(
    check: str, tolerance: tuple[float, float], stated: list[str]
) -> None:
    import ast

    found, said, own = gpumode._tolerance(ast.parse(f"check_implementation = {check}").body)
    assert found == dict(zip(("atol", "rtol"), tolerance, strict=True))
    assert (sorted(said), own) == (stated, False)


def test_what_is_not_stated_is_what_the_reference_needs() -> None:
    right = torch.linspace(1.0, 2.0, 1000, dtype=torch.float64)
    exact = _needed([(torch.zeros_like(right), right)], {}, 2.0**-10)
    assert exact == {"rtol": 1e-5, "atol": 1e-8}
    half = _needed([(right * 2.0**-11, right)], {}, 2.0**-10)
    assert half["rtol"] == pytest.approx(2e-3)
    cancelled = _needed([(torch.full_like(right, 0.1), right)], {"rtol": 1e-3}, 2.0**-10)
    assert cancelled["rtol"] == 1e-3
    assert 0.3 < cancelled["atol"] <= 0.5


@dataclass
class _Multiples:
    """Answers cases whose ``t`` is a multiple of 64, as a reference in chunks does."""

    source: str = ""
    asked: list[Manifest] = field(default_factory=list)

    def ask_about(self, manifest: Manifest, source: str) -> None:
        self.asked.append(manifest)

    def of(self, cases: Sequence[Planned]) -> list[Planned]:
        return [case for case in cases if case.sizes["t"] % 64 == 0]


def test_sizes_that_the_reference_needs_become_constraints() -> None:
    sizes = [{"t": 64, "h": 2, "k": 64}, {"t": 256, "h": 3, "k": 64}, {"t": 128, "h": 2, "k": 128}]
    samples = [
        {
            "sizes": one, "shapes": {"x": [one["t"], one["h"], one["k"]], "out": [one["t"], one["h"]]},
            "strides": {}, "bounds": {}, "spread": {"x": [0.0, 0.997, 0.288, 4096]}, "timed": False,
        }
        for one in sizes
    ]  # fmt: skip
    arguments = [
        {"name": "x", "kind": "input", "dtype": "float32"},
        {"name": "out", "kind": "output", "dtype": "float32"},
        *[{"name": name, "kind": "size"} for name in sizes[0]],
    ]
    draft = ImportedDraft(
        slug="chunks", title="chunks", track="tests", languages=[Language.TRITON],
        problem={"arguments": arguments, "samples": samples},
    )  # fmt: skip
    answers = cast(Answers, _Multiples())
    assert needed_constraints(sizes, draft.manifest_with, answers) == ["t % 64 == 0"]
    manifest = draft.manifest_with(["t % 64 == 0"])
    assert all(workload.sizes["t"] % 64 == 0 for workload in manifest.workloads)
    assert (manifest.args[0].values.dist, manifest.args[0].values.high) == ("uniform", 1.0)


def test_arrays_that_some_tests_flatten_keep_their_dimensions() -> None:
    def problem(flat: int) -> Mapping[str, Any]:
        sample = {"strides": {}, "bounds": {}, "spread": {}, "timed": False}
        shapes: list[list[int]] = [[4, 6], [2, 3], [flat]]
        sizes = [{"m": 4, "n": 6}, {"m": 2, "n": 3}, {"m": 5, "n": 7}]
        return {
            "arguments": [
                {"name": "a", "kind": "input", "dtype": "float32"},
                {"name": "out", "kind": "output", "dtype": "float32"},
                {"name": "m", "kind": "size"},
                {"name": "n", "kind": "size"},
            ],
            "samples": [
                {**sample, "sizes": one, "shapes": {"a": shape, "out": [one["m"]]}}
                for one, shape in zip(sizes, shapes, strict=True)
            ],
        }

    draft = ImportedDraft(
        slug="flat", title="flat", track="tests", languages=[Language.TRITON], problem=problem(35)
    )
    assert draft.manifest().args[0].shape == ["m", "n"]
    with pytest.raises(BadRequest, match="different numbers of dimensions, and of elements"):
        replace(draft, problem=problem(36)).manifest()


def test_memory_for_a_result_that_the_reference_computes_more_exactly_is_an_output() -> None:
    x, output = torch.ones(4), torch.empty(4)
    data = gpumode._Data().take((x, output), ["x", "output"])
    run = gpumode._run({}, data, dict(data.leaves), x.double().cumsum(0), [])
    assert (run.order, run.returned, run.dtypes["output"]) == (["output"], {"output"}, "float32")


@pytest.mark.usefixtures("_reader")
def test_a_problem_of_tensara_is_read_without_the_memory_of_its_tests(tmp_path: Path) -> None:
    (tmp_path / "def.py").write_text(POOLING)
    (tmp_path / "problem.md").write_text('---\ntitle: "A Pooling"\n---\n\nThe largest of each window.\n')
    found = tensara.read(tmp_path)
    assert (found["title"], found["about"]) == ("A Pooling", "The largest of each window.")
    assert [(each["name"], each["kind"]) for each in found["arguments"]] == [
        ("input", "input"), ("kernel_size", "size"), ("stride", "size"), ("scale", "scalar"),
        ("output", "output"), ("h", "size"),
    ]  # fmt: skip
    assert [sample["shapes"]["input"] for sample in found["samples"]] == [[64], [2**30], [1000], [2048]]
    assert (found["tolerance"], found["stated"]) == ({"atol": 1e-5, "rtol": 2e-4}, ["rtol", "atol"])
    manifest = ImportedDraft("pooling", "A pooling", "any", problem=found).manifest()
    assert manifest.results[0].shape == ["(h - kernel_size) // stride + 1"]
    names: dict[str, Any] = {}
    exec(found["reference"], names)
    given = torch.tensor([1.0, 3, 2, 5], dtype=torch.float64)
    assert names["reference"](given, 2, 2, 0.5, 4).tolist() == [1.5, 2.5]
    sys.modules.pop("problem", None)


def test_the_dimensions_of_a_shape_become_sizes(tmp_path: Path) -> None:
    path = tmp_path / "89_cumsum.py"
    path.write_text("""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, x):
        return torch.cumsum(x, dim=self.dim)


batch_size = 32768
input_shape = (32768,)
dim = 1


def get_inputs():
    return [torch.rand(batch_size, *input_shape)]


def get_init_inputs():
    return [dim]
""")
    found = kernelbench.read(path)
    sizes = [each["name"] for each in found["arguments"] if each["kind"] == "size"]
    assert sizes == ["batch_size", "input_shape_1"]
    manifest = ImportedDraft("cumsum", "A sum", "any", problem=found).manifest()
    assert manifest.results[0].shape == ["batch_size", "input_shape_1"]
