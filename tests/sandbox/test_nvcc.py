"""Compiling CUDA in a box."""

from __future__ import annotations

import ctypes
import os
import re
import signal
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from grader import limits
from grader.errors import BoxUnavailable
from grader.sandbox.box import Box, BoxMaker
from grader.sandbox.compiler import nvcc
from grader.sandbox.compiler.nvcc import CompileRequest, CompileResult, compile_cuda
from grader.sandbox.processes import descendants
from grader.sandbox.toolkit import nvcc_version

FOOTER = """#line 1 "the grader's footer"
extern "C" void grader_entry(void** p) { solve((const float*)p[0], (float*)p[1], 4); }
"""
SOURCE = """__global__ void copy(const float* a, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i];
}
extern "C" void solve(const float* a, float* out, int n) {
    copy<<<(n + 255) / 256, 256>>>(a, out, n);
}
"""

pytestmark = pytest.mark.needs("nvcc")


@pytest.fixture(autouse=True)
def empty_cache() -> Iterator[None]:
    nvcc.cache.clear()
    yield
    nvcc.cache.clear()


def compile_source(boxes: BoxMaker, source: str, **more: str) -> CompileResult:
    return compile_cuda(boxes, CompileRequest(source, FOOTER, **more))


def test_a_good_source_becomes_a_library(boxes: BoxMaker) -> None:
    result = compile_source(boxes, SOURCE)
    assert result.ok, result.log
    assert result.artefact is not None
    assert result.artefact[:4] == b"\x7fELF"
    assert b"\0grader_entry\0" in result.artefact
    assert result.log == ""


def test_registers_and_memory_are_reported_by_kernel(boxes: BoxMaker) -> None:
    tiled = """
namespace { template <int N> __global__ void tiled(float* out) {
    __shared__ float tile[N];
    tile[threadIdx.x] = out[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[N - 1 - threadIdx.x];
} }
void unused(float* out) { tiled<64><<<1, 64>>>(out); }
"""
    result = compile_source(boxes, SOURCE + tiled)
    assert result.ok, result.log
    assert result.log == ""
    usage = {kernel.name: kernel for kernel in result.kernels}
    assert set(usage) == {"copy", "tiled<64>"}
    assert usage["tiled<64>"].shared_bytes == 256
    assert usage["copy"].shared_bytes == 0
    assert 0 < usage["copy"].registers <= 255
    assert (usage["copy"].spill_stores, usage["copy"].stack_bytes) == (0, 0)


LAUNCHES = SOURCE.replace(
    "extern", "__global__ void parent(const float* a, float* out) { copy<<<1, 4>>>(a, out, 4); }\nextern"
)


ASKS_THE_DEVICE = SOURCE.replace(
    "extern",
    "__global__ void stream(cudaStream_t* made) { cudaStreamCreateWithFlags(made, cudaStreamNonBlocking); }\nextern",
)


@pytest.mark.parametrize(
    ("source", "kernels"),
    [
        (LAUNCHES, {"copy", "parent"}),
        ("// grader: rdc\n" + LAUNCHES, {"copy", "parent"}),
        (ASKS_THE_DEVICE, {"copy", "stream"}),
    ],
    ids=["launches", "asks for it", "device runtime"],
)
def test_kernels_that_need_the_device_runtime_are_linked_with_it(
    boxes: BoxMaker, source: str, kernels: set[str]
) -> None:
    result = compile_source(boxes, source)
    assert result.ok, result.log
    assert result.log == ""
    assert {kernel.name for kernel in result.kernels} == kernels


def test_mistakes_in_a_source_with_device_launches_are_reported(local_boxes: BoxMaker) -> None:
    result = compile_source(local_boxes, LAUNCHES.replace("out[i] = a[i]", "out[i] = b[i]"))
    assert not result.ok
    assert 'identifier "b" is undefined' in result.log
    assert "separate compilation" not in result.log


def test_an_undefined_function_is_a_mistake_and_compiled_once(local_boxes: BoxMaker) -> None:
    source = SOURCE.replace("extern", "__device__ float nowhere(float);\nextern", 1)
    result = compile_source(local_boxes, source.replace("= a[i]", "= nowhere(a[i])"))
    assert not result.ok
    assert "nowhere" in result.log
    assert "nvlink" not in result.log


@pytest.mark.parametrize("define", ["", "#define CUDA_API_PER_THREAD_DEFAULT_STREAM\n"])
def test_waits_for_the_device_go_through_our_wrappers(local_boxes: BoxMaker, define: str) -> None:
    waiting = SOURCE.replace(
        "(a, out, n);\n", "(a, out, n);\n    cudaDeviceSynchronize(); cudaStreamSynchronize(0);\n"
    )
    result = compile_source(local_boxes, define + waiting)
    assert result.ok, result.log
    assert result.artefact is not None
    for name in (b"grader_gate", b"grader_gate_round", b"grader_waits_left_out", b"grader_prepare"):
        assert b"\0" + name + b"\0" in result.artefact


def test_the_same_source_is_compiled_once(local_boxes: BoxMaker) -> None:
    first = compile_source(local_boxes, SOURCE)
    again = compile_source(local_boxes, SOURCE)
    assert again.artefact is first.artefact
    assert again.seconds < first.seconds
    other = CompileRequest(SOURCE, FOOTER, arch="sm_80")
    assert other.key() != CompileRequest(SOURCE, FOOTER).key()


def test_an_error_names_the_students_file_and_line(boxes: BoxMaker) -> None:
    wrong = SOURCE.replace("out[i] = a[i]", "out[i] = b[i]")
    result = compile_source(boxes, wrong, filename="my_kernel.cu")
    assert not result.ok
    assert result.artefact is None
    assert 'my_kernel.cu(3): error: identifier "b" is undefined' in result.log
    assert "/tmp" not in result.log
    assert "tmpxft" not in result.log


def test_a_file_name_is_never_a_path(local_boxes: BoxMaker) -> None:
    for name in ("../../x.cu", "-o.cu", "a b.cu", "x.cu\n", "/etc/x.cu"):
        result = compile_source(local_boxes, "nonsense", filename=name)
        assert "solution.cu(1): error" in result.log


@pytest.mark.parametrize(
    "end",
    ["\n#if 0\n", "/*", '\nstatic const char* s = R"(', "\nnamespace x {"],
)
def test_the_footer_cannot_be_swallowed(local_boxes: BoxMaker, end: str) -> None:
    result = compile_source(local_boxes, SOURCE + end)
    assert not result.ok
    assert re.search(r"unterminated|no entry point|never closed", result.log), result.log
    assert "grader-" not in result.log


# Names and keywords of appended code, of directives, and names that many sources define.
MACROS = "".join(
    f"#define {name}\n"
    for name in "T A R f int float const void namespace template typename struct constexpr static_assert decltype std "
    "extern return reinterpret_cast unsigned grader_entry grader_gate nullptr __wrap_cudaDeviceSynchronize cudaFree "
    "cudaGetLastError undef line define include".split()
)


def test_macros_do_not_reach_the_footer(local_boxes: BoxMaker) -> None:
    result = compile_source(local_boxes, SOURCE + MACROS)
    assert result.ok, result.log
    assert result.artefact is not None
    for name in (b"grader_entry", b"grader_gate", b"grader_prepare"):
        assert b"\0" + name + b"\0" in result.artefact
    assert "warning" not in result.log


def test_a_final_backslash_does_not_join_the_footer(local_boxes: BoxMaker) -> None:
    result = compile_source(local_boxes, SOURCE + "// the end \\")
    assert result.ok, result.log


def test_an_error_of_the_assembler_has_no_path(local_boxes: BoxMaker) -> None:
    result = compile_source(local_boxes, SOURCE + '__global__ void wrong() { asm("bogus;"); }')
    assert not result.ok
    assert "ptxas solution.ptx, line" in result.log


@pytest.mark.parametrize(
    "path", ["/etc/shadow", "/proc/1/environ", str(Path(__file__).resolve().parents[2] / "pyproject.toml")]
)
def test_including_host_files_reveals_nothing(walled_boxes: BoxMaker, path: str) -> None:
    result = compile_source(walled_boxes, f'#include "{path}"\n' + SOURCE)
    assert "GRADER" not in result.log
    assert "root:*" not in result.log
    assert "kernel-grader" not in result.log


BOMB = (
    "template <int N, int M> struct T { static const int v = T<N-1, 2*M>::v + T<N-1, 2*M+1>::v; };\n"
    "template <int M> struct T<0, M> { static const int v = M; };\n"
    "int boom = T<40, 1>::v;\n"
)


def test_endless_templates_end_by_processor_time(boxes: BoxMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not by the clock, which runs on while a compiler waits for something that is timed."""
    monkeypatch.setattr(limits, "COMPILE_SECONDS", 2.0)
    monkeypatch.setattr(limits, "COMPILE_PATIENCE", 30.0)
    monkeypatch.setattr(limits, "CLOCK_PATIENCE", 1000.0)
    result = compile_source(boxes, BOMB + SOURCE)
    assert not result.ok
    assert result.log.startswith("[the compiler took longer than 2 seconds and was stopped: make")


def test_a_compiler_killed_from_outside_is_our_failure(
    local_boxes: BoxMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the host's kernel does if the host runs out of memory."""
    begun: list[Box] = []
    killed: list[int] = []
    monkeypatch.setattr(nvcc, "host_memory_kills", lambda: len(killed))
    start = local_boxes.start
    monkeypatch.setattr(local_boxes, "start", lambda spec: begun.append(start(spec)) or begun[-1])

    def kill_cicc() -> None:
        for pid in descendants(begun[0]._process.pid):  # type: ignore[attr-defined]
            with suppress(OSError):
                if Path(f"/proc/{pid}/comm").read_text().strip() in ("cudafe++", "cicc", "cc1plus"):
                    os.kill(pid, signal.SIGKILL)
                    killed.append(pid)

    with pytest.raises(BoxUnavailable, match="killed, and not by a limit of its box"):
        compile_cuda(local_boxes, CompileRequest(BOMB + SOURCE, FOOTER), kill_cicc)


def test_a_compilation_beyond_its_total_time_is_stopped(
    local_boxes: BoxMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "COMPILE_PATIENCE", 1 / limits.COMPILE_SECONDS)
    result = compile_source(local_boxes, BOMB + SOURCE)
    assert not result.ok
    assert result.log == "[the compiler took longer than 1 seconds and was stopped: make the source smaller]"
    assert "Unroll fewer loops" in result.hint


def test_a_flood_of_errors_is_cut(local_boxes: BoxMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "COMPILE_LOG_BYTES", 2000)
    many = "".join(f"#warning {'x' * 200} {number}\n" for number in range(500))
    result = compile_source(local_boxes, many + SOURCE)
    assert len(result.log.encode()) <= 2000
    assert not result.ok, "the flood ended the compiler"


def test_a_compiler_beyond_its_memory_is_stopped(boxes: BoxMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "COMPILE_MEMORY_BYTES", 48 * limits.MIB)
    macros = "#define M0 1,1,1,1,1,1,1,1\n"
    for number in range(1, 9):
        macros += f"#define M{number} {','.join([f'M{number - 1}'] * 8)}\n"
    result = compile_source(boxes, macros + "int many[] = {M7};\n" + SOURCE)
    assert not result.ok
    assert "more memory than it may, 0.0469 GiB" in result.log


def test_a_large_library_is_refused(boxes: BoxMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "ARTEFACT_BYTES", 1 * limits.MIB)
    result = compile_source(boxes, "int large[1 << 20] = {1};\n" + SOURCE)
    assert not result.ok
    assert "larger than 1048576 bytes" in result.log


def test_no_compiler_is_our_fault(local_boxes: BoxMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvcc, "cuda_home", lambda: None)
    with pytest.raises(BoxUnavailable, match="no CUDA compiler"):
        compile_source(local_boxes, SOURCE)


def test_compiled_libraries_are_not_loaded_here(
    monkeypatch: pytest.MonkeyPatch, local_boxes: BoxMaker
) -> None:
    """The parent must never load a library made from a stranger's source, not even to look for its entry point."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("loaded")

    monkeypatch.setattr(ctypes, "CDLL", refuse)
    assert compile_source(local_boxes, SOURCE).ok


def test_an_unwanted_compilation_is_interrupted(boxes: BoxMaker) -> None:
    class Unwanted(Exception):
        pass

    asked: list[None] = []

    def interrupt() -> None:
        asked.append(None)
        if len(asked) == 3:
            raise Unwanted

    with pytest.raises(Unwanted):
        compile_cuda(boxes, CompileRequest(BOMB + SOURCE, FOOTER), interrupt)


def test_an_artefact_belongs_to_source_footer_architecture_and_toolkit() -> None:
    request = CompileRequest(SOURCE, FOOTER)
    others = [
        replace(request, source=SOURCE + " "),
        replace(request, footer=FOOTER + " "),
        replace(request, arch="sm_90a"),
        replace(request, filename="a.cu"),
    ]
    keys = {request.key(), *(other.key() for other in others), request.key("12.4.0")}
    assert len(keys) == 6
    assert request.key(nvcc_version()) == request.key()
