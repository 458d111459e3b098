"""The ABI: declarations, committed starters, and messages about each wrong ``solve``."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from grader.authoring.candidates import shows_large_alone
from grader.challenge.catalogue import find_catalogue
from grader.challenge.dtypes import DType
from grader.challenge.loader import Challenge, starter_name
from grader.challenge.model import Manifest
from grader.challenge.signature import cuda_footer, declaration, starter
from grader.languages import Language, usual
from grader.sandbox.compiler.explain import explain

CATALOGUE = find_catalogue()
SLUGS = CATALOGUE.slugs()
NEEDS_NVCC = pytest.mark.needs("nvcc")


def compile_cuda(manifest: Manifest, source: str, folder: Path) -> subprocess.CompletedProcess[str]:
    (folder / "solution.cu").write_text(source + cuda_footer(manifest))
    # Not linked: a shared library may lack symbols, so the linker would report nothing.
    command = ["nvcc", "-c", "-Xcompiler", "-fPIC", "-arch=sm_90", "-o", "solution.o", "solution.cu"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_declarations_follow_the_arguments() -> None:
    manifest = CATALOGUE.load("histogram").manifest
    assert declaration(manifest, Language.CUDA) == (
        'extern "C" void solve(const int32_t* x, int32_t* out, int64_t n, int64_t bins)'
    )
    assert declaration(manifest, Language.TRITON) == "def solve(x, out, n, bins)"


@pytest.mark.parametrize("language", usual())
@pytest.mark.parametrize("slug", SLUGS)
def test_committed_starters_are_the_generated_ones(slug: str, language: Language) -> None:
    challenge = CATALOGUE.load(slug)
    committed = (challenge.folder / starter_name(language)).read_text()
    assert committed == starter(challenge.manifest, language)


def test_triton_starters_load_and_do_nothing() -> None:
    code = (
        "import runpy, sys\nfor path in sys.argv[1:]: print(path, flush=True); runpy.run_path(path)['solve']"
    )
    starters = [str(CATALOGUE.load(slug).folder / "starter.py") for slug in SLUGS]
    environment = {**os.environ, "TRITON_INTERPRET": "1"}
    command = [sys.executable, "-c", code, *starters]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout.split()) == (0, starters), ran.stderr


def _cuda_files() -> list[tuple[str, Path]]:
    """``tests/emulator/test_challenges.py`` compiles the others, judges them on the emulated GPU, and also
    fails at a warning.
    """
    mutants = [
        (slug, path)
        for slug in SLUGS
        for path in sorted((CATALOGUE.root / "reference" / slug / "staff" / "mutants").glob("*.cu"))
        if shows_large_alone(path.read_text())
    ]
    return [*mutants, *((slug, CATALOGUE.root / "challenges" / slug / "starter.cu") for slug in SLUGS)]


def _in_matrix(files: list[tuple[str, Path]]) -> list[Any]:
    """At a second each, `make test` compiles every eighth, and the full matrix a third of the others."""
    return [
        pytest.param(slug, path, id=f"{slug}-{path.name}", marks=[pytest.mark.in_turn] if number % 8 else [])
        for number, (slug, path) in enumerate(files)
    ]


@NEEDS_NVCC
@pytest.mark.parametrize(("slug", "path"), _in_matrix(_cuda_files()))
def test_cuda_files_compile_without_a_warning(slug: str, path: Path, tmp_path: Path) -> None:
    """Protects students and authors against files of the catalogue that fail to compile or give warnings."""
    done = compile_cuda(CATALOGUE.load(slug).manifest, path.read_text(), tmp_path)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


@pytest.fixture(scope="module")
def vector_add() -> Challenge:
    return CATALOGUE.load("vector_add")


BODY = "{ add<<<1, 1>>>(a, b, out, n); }\n"
KERNEL = "__global__ void add(const float* a, const float* b, float* out, int n) {}\n"
ACCEPTED = {
    "int sizes": f'{KERNEL}extern "C" void solve(const float* a, const float* b, float* out, int n) {BODY}',
    "no extern C": f"{KERNEL}void solve(const float* a, const float* b, float* out, long n) {BODY}",
    "static": f"{KERNEL}static void solve(const float* a, const float* b, float* out, long n) {BODY}",
    "a result": "#include <cstddef>\nint solve(const float* a, const float* b, float* out, size_t n) { return 1; }",
    "inputs not const": "void solve(float* a, float* b, float* out, unsigned n) {}",
    "buffers without a type": "void solve(const void* a, const void* b, void* out, long long n) {}",
    "a default": "void solve(const float* a, const float* b, float* out, int n, int block = 256) {}",
    "a template": "template <typename T> void solve(const T* a, const T* b, T* out, long n) {}",
    "a template of everything": "template <typename P, typename N> void solve(P a, P b, P out, N n) {}",
    "another solve for other types": (
        "void solve(const float* a, const float* b, float* out, int n) {}\n"
        "void solve(const double* a, const double* b, double* out, int n) {}"
    ),
    "a backslash at the end": f"{KERNEL}void solve(const float* a, const float* b, float* out, int n) {BODY}// \\",
}
# Text of the report, and of its hint.
REFUSED = {
    "no solve": (
        KERNEL,
        'solution.cu: error: there is no function solve; the challenge calls: extern "C" void solve(const float* a',
        "Add the host function that launches the kernel",
    ),
    "another name": (
        "int main() { return 0; }\n"
        "namespace { int blocks(int n) { return n / 256; } }\n"
        "void solution(float* a, float* b,\n    float* out, size_t n) {}",
        "solution.cu(3): error: there is no function solve",
        "Rename 'solution' to 'solve'.",
    ),
    "in a namespace": (
        "namespace mine { void solve(const float* a, const float* b, float* out, int n) {} }",
        "solution.cu(1): error: solve is inside a namespace",
        "Move solve out of the namespace.",
    ),
    "too few": (
        "void solve(const float* a, const float* b, float* out) {}",
        "solve takes 3 arguments",
        "/docs/",
    ),
    "too many": (
        "void solve(const float*, const float*, float*, int n, int m) {}",
        "solve takes 5 arguments",
        "",
    ),
    "one": ("void solve(const float* a) {}", "solve takes 1 argument, the challenge passes 4", ""),
    "another type": (
        "void solve(const double* a, const float* b, float* out, int n) {}",
        "solution.cu(1): error: parameter 1 of solve, a, must be const float*: extern",
        "",
    ),
    "a pointer becomes a bool": (
        "void solve(const float* a, bool b, float* out, int n) {}",
        "parameter 2 of solve, b, must be const float*",
        "",
    ),
    "a size becomes a float": (
        "void solve(const float* a, const float* b, float* out, float n) {}",
        "parameter 4 of solve, n, is a size and must be an integer of 32 or 64 bits",
        "",
    ),
    "a size loses bits": (
        "void solve(const float* a, const float* b, float* out, short n) {}",
        "parameter 4 of solve, n, is a size and must be an integer of 32 or 64 bits",
        "",
    ),
    "a macro for a type": (
        "#define float double\nvoid solve(const float* a, const float* b, float* out, int n) {}\n#undef float",
        "parameter 3 of solve, out, must be float*",
        "Line 1 defines 'float' as a macro",
    ),
    "two that fit": (
        "void solve(const float* a, const float* b, float* out, int n) {}\n\n"
        "void solve(const float* a, const float* b, float* out, unsigned n) {}",
        "solution.cu(3): error: solve is defined more than once, in lines 1 and 3: keep one",
        "Keep the solve that has the challenge's signature.",
    ),
    "two of C": (
        'extern "C" void solve(const float* a, const float* b, float* out, int n) {}\n'
        'extern "C" void solve(const float* a, float* out, int n) {}',
        'solution.cu(2): error: more than one instance of overloaded function "solve" has "C" linkage',
        "Keep one solve",
    ),
    "solve is the kernel": (
        "\n__global__ void solve(const float* a, const float* b, float* out, int64_t n) {}",
        "solution.cu(2): error: solve is a kernel (__global__); it must be a host function",
        "launch it from a host function solve",
    ),
    "solve is no function": ("int solve = 3;", "solution.cu: error: solve must be one function", ""),
    "a template that does not fit": (
        "template <typename T> void solve(const T* a, T n) {}",
        "solution.cu(1): error: solve cannot be called with the arguments of the challenge",
        "",
    ),
    "an open brace": (
        "void solve(const float* a, const float* b, float* out, int n) {\n",
        "solution.cu(1): error: the brace { that this line opens is never closed",
        "",
    ),
    "a mistake in line 2": (
        "// one\nint broken = ;\nvoid solve(const float* a, const float* b, float* out, int n) {}",
        "solution.cu(2): error",
        "",
    ),
    "PyTorch's header": (
        "#include <torch/extension.h>\n",
        "solution.cu:1:10: fatal error",
        "A CUDA source here cannot use PyTorch",
    ),
    "a header of another platform": (
        '#include <cstdint>\n#include "solve.h"\n',
        "solution.cu:2:10: fatal error",
        "A submission is one file: paste the contents of solve.h into it.",
    ),
    "half without its header": ("__half zero;", 'identifier "__half" is undefined', "#include <cuda_fp16.h>"),
}


@NEEDS_NVCC
@pytest.mark.parametrize("what", ACCEPTED)
def test_every_valid_solve_is_accepted(vector_add: Challenge, what: str, tmp_path: Path) -> None:
    done = compile_cuda(vector_add.manifest, ACCEPTED[what], tmp_path)
    assert done.returncode == 0, done.stderr


@NEEDS_NVCC
@pytest.mark.parametrize("what", REFUSED)
def test_a_wrong_solve_is_explained(vector_add: Challenge, what: str, tmp_path: Path) -> None:
    source, said, hint = REFUSED[what]
    done = compile_cuda(vector_add.manifest, source, tmp_path)
    assert done.returncode != 0
    explained = explain(done.stdout + done.stderr, source, "solution.cu")
    assert said in explained.log
    assert not re.search("grader[-_]", explained.log)
    assert hint in explained.hint


@NEEDS_NVCC
@pytest.mark.parametrize(
    ("kind", "taken"), [("float", True), ("double", True), ("int", False), ("__half", False), ("bool", False)]
)
def test_a_scalar_parameter_must_not_narrow_its_value(kind: str, taken: bool, tmp_path: Path) -> None:
    source = f"#include <cuda_fp16.h>\nvoid solve(const float* x, float* y, {kind} alpha, int n) {{}}"
    done = compile_cuda(CATALOGUE.load("saxpy").manifest, source, tmp_path)
    said = "parameter 3 of solve, alpha, is a number and must be float"
    assert (done.returncode == 0, said in done.stdout + done.stderr) == (taken, not taken)


@NEEDS_NVCC
def test_every_dtype_has_a_starter_that_compiles(vector_add: Challenge, tmp_path: Path) -> None:
    fields = vector_add.manifest.model_dump(mode="json")
    outputs = [
        {"name": f"out_{dtype.value}", "kind": "output", "dtype": dtype.value, "shape": ["2 * n"]}
        for dtype in DType
    ]
    fields["args"] = [
        *fields["args"][:2],
        *outputs,
        *(arg for arg in fields["args"] if arg["kind"] == "size"),
    ]
    manifest = Manifest.model_validate(fields)
    done = compile_cuda(manifest, starter(manifest, Language.CUDA), tmp_path)
    assert done.returncode == 0, done.stderr
