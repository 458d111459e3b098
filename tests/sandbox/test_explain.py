"""Messages of nvcc and gcc, reworded. ``tests/challenge/test_signature.py`` runs the real compilers."""

from __future__ import annotations

import time

import pytest

from grader import limits
from grader.sandbox.compiler.explain import clean_log, explain
from grader.sandbox.compiler.outline import outline_of

SOURCE = 'extern "C" void solve(const float* a) {}\n'


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            "gcc: internal compiler error: Segmentation fault signal terminated program cc1plus\n"
            "Please submit a full bug report, with preprocessed source (by using -freport-bug).\n"
            "See <file:///usr/share/doc/gcc-12/README.Bugs> for instructions.\n",
            "[the compiler crashed on this source",
        ),
        (
            "gcc: internal compiler error: File size limit exceeded signal terminated program as\n"
            "Please submit a full bug report, with preprocessed source (by using -freport-bug).\n",
            "[the compiler's output is larger than a file may be",
        ),
        (
            "[the compiler took longer than 60 seconds and was stopped]\n"
            "Internal error: CPU time limit exceeded.\nCompilation aborted.\nAborted\n",
            "[the compiler took longer than 60 seconds and was stopped: make the source smaller]",
        ),
        (
            "nvcc error   : 'cicc' died due to signal 11 (Invalid memory reference)",
            "[the compiler crashed on this",
        ),
    ],
)
def test_a_compiler_crash_names_its_cause(said: str, told: str) -> None:
    explained = explain(clean_log(said), SOURCE, "solution.cu")
    assert explained.log.startswith(told)
    assert "\n" not in explained.log


def test_python_in_a_cuda_source_is_explained() -> None:
    source = "# a Triton kernel\nimport triton\n\ndef solve(x, out, n):\n    pass\n"
    explained = explain("solution.cu(2): error: this declaration has no type\n" * 9, source, "solution.cu")
    assert explained.log.splitlines() == [
        "solution.cu(2): error: this is Python, but a CUDA source is expected",
        "  import triton",
        "  ^",
    ]
    assert "choose Triton as the language" in explained.hint
    said = "solution.cu(3): error: expected a ;"
    assert explain(said, f"#include <cstdint>\n/*\nimport triton\n*/\n{SOURCE}", "solution.cu").log == said


def test_too_much_static_shared_memory_has_a_hint() -> None:
    said = "ptxas error   : Entry function '_Z3addPf' uses too much shared data (0x20000 bytes, 0xc000 max)"
    hint = explain(said, SOURCE, "solution.cu").hint
    assert hint.startswith("Its __shared__ arrays have 131,072 bytes; a block has 49,152")
    assert "cudaFuncAttributeMaxDynamicSharedMemorySize" in hint


def test_messages_about_appended_lines_are_removed() -> None:
    said = """\
solution.cu(1): warning #177-D: variable "x" was declared but never referenced
  extern "C" void solve(const float* a) {}
                  ^

grader-footer(4): error: a template declaration is not allowed here
  template <typename A, typename B> constexpr bool grader_same = false;
  ^

solution.cu(1): error: no operator "+" matches these operands
          detected during instantiation of "void solve(T *) [with T=float]" at line 124 of grader-footer

2 errors detected in the compilation of "solution.cu".
"""
    assert (
        explain(said, SOURCE, "solution.cu").log
        == """\
solution.cu(1): warning #177-D: variable "x" was declared but never referenced
  extern "C" void solve(const float* a) {}
                  ^

solution.cu(1): error: no operator "+" matches these operands
          detected during instantiation of "void solve(T *) [with T=float]" at the grader's call of solve"""
    )


def test_an_unknown_error_in_the_footer_points_to_solve() -> None:
    said = "grader-footer(9): error: solve is strange\n  solve(*arguments);\n  ^\n\n1 error detected"
    assert explain(said, f"\n\t{SOURCE}", "solution.cu").log == (
        "solution.cu(2): error: solve cannot be called by the grader: solve is strange\n"
        f"  \t{SOURCE}  \t{' ' * 16}^"
    )


def test_headers_are_named_without_their_folders() -> None:
    said = (
        "/usr/local/cuda/bin/../targets/x86_64-linux/include/cuda_fp16.hpp(12): error: no\n"
        "In file included from /usr/include/c++/12/vector:64,\n"
        '  float m = a /two/ b; "/opt/x"\n'
        "          instantiation of class at line 3 of /usr/include/c++/12/bits/stl_vector.h"
    )
    assert clean_log(said) == (
        "cuda_fp16.hpp(12): error: no\n"
        "In file included from vector:64,\n"
        '  float m = a /two/ b; "/opt/x"\n'
        "          instantiation of class at line 3 of stl_vector.h"
    )


def test_functions_are_found_between_literals_macros_and_attributes() -> None:
    source = """\
// void comment() {
#define BODY(x) { x; \\
    void no() {
namespace { template <typename T = int> __device__ __host__ T both(T a, T b) { if (a) { return b; } return a; } }
extern "C" {
__global__ void __launch_bounds__(256) k(float (*f)(int, int), const char* s = "){ int g() {") noexcept {}
struct S { void member(int) {} };
float table[] = { 1, f(2) };
}
void solve(
    void) {
"""
    outline = outline_of(source)
    found = [
        (
            function.name,
            function.line,
            function.parameters,
            function.kernel,
            function.host,
            function.namespace,
        )
        for function in outline.functions
    ]
    assert found == [
        ("both", 4, 2, False, True, True),
        ("k", 6, 2, True, False, False),
        ("solve", 10, 0, False, True, False),
    ]
    assert (outline.open_brace, dict(outline.macros)) == (11, {"BODY": 2})


@pytest.mark.parametrize(
    "piece", ["(", "a(", "{", "/*", '"', 'R"x(', "#define a\n", "grader-footer(1): error: ", "<", "}"]
)
def test_no_source_or_log_takes_long(piece: str) -> None:
    text = piece * (limits.SOURCE_BYTES // len(piece))
    began = time.monotonic()
    explain(clean_log(text), text, "solution.cu")
    assert time.monotonic() - began < 5.0
