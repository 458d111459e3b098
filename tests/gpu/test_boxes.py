"""Boxes with a GPU: the judge's memory in them, the gate across their boundary, faults and their messages."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import torch

from grader.sandbox.box import BoxMaker, BoxPurpose, BoxSpec
from tests.gpu.builders import UNWRITTEN, Builder, compiled, gpu_spec
from tests.sandbox.talk import ask

pytestmark = pytest.mark.gpu

KERNEL = """
__global__ void twice(const float* x, float* out, long n) {
    long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
    if (i < n) out[i] = 2 * x[i];
}
"""
LAUNCH = "twice<<<(n + 255) / 256, 256>>>(x, out, n);"
PYTHON = """
import torch, triton
import triton.language as tl

@triton.jit
def twice(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, 2 * tl.load(x + at, mask=at < n), mask=at < n)

def solve(x, out, n):
    twice[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
"""
TRITON = {"loader": "triton_loader", "parameters": ["x", "out", "n"], "declaration": "def solve(x, out, n)"}
MakeBuilder = Callable[..., Builder]


def solve(body: str, before: str = KERNEL) -> str:
    return f'{before}\nextern "C" void solve(const float* x, float* out, long n) {{ {body} }}\n'


@pytest.fixture
def builders(boxes: BoxMaker) -> Iterator[MakeBuilder]:
    """Makes a builder with a CUDA source, or loaded and bound as ``preload`` and ``message`` say."""
    made: list[Builder] = []

    def make(
        source: str = "", preload: str = "cuda", message: dict[str, object] | None = None, **more: int
    ) -> Builder:
        builder = Builder(boxes, preload, **more)
        made.append(builder)
        artefact = None
        if source:
            result = compiled(boxes, source)
            assert result.ok, result.log
            artefact = result.artefact
        loaded = builder.load(message or {"loader": "cuda_loader", "parameters": ["x", "out", "n"]}, artefact)
        assert loaded.error is None, loaded.error
        builder.bind()
        return builder

    yield make
    for builder in made:
        builder.close()


def assert_twice(builders: Builder) -> None:
    assert torch.equal(builders.out, 2 * builders.x)


def test_a_box_has_its_gpu_and_a_compiler_none(boxes: BoxMaker) -> None:
    if boxes.name == "local":
        pytest.skip("a local box sees the whole machine")
    nodes = {}
    for name, spec in {
        "with": gpu_spec(program="probe.py"),
        "without": BoxSpec(BoxPurpose.COMPILE, "probe.py"),
    }.items():
        box = boxes.start(spec)
        try:
            entries = ask(box, "can_read", paths=["/dev"])["can_read"]["/dev"]
            nodes[name] = {entry for entry in entries if entry.startswith("nvidia")}
        finally:
            box.kill()
    assert nodes["without"] == set()
    assert {"/dev/" + node for node in nodes["with"]} == set(gpu_spec().gpu.nodes)  # type: ignore[union-attr]


def test_nothing_runs_before_the_gate_opens(builders: MakeBuilder) -> None:
    builder = builders(solve(LAUNCH))
    for _ in range(3):
        builder.reveal()
        builder.queue()
        torch.cuda.synchronize()
        assert bool((builder.out == UNWRITTEN).all())
        assert builder.open().error is None
        assert_twice(builder)


def test_the_gate_may_be_open_from_the_start(builders: MakeBuilder) -> None:
    builder = builders(solve(LAUNCH))
    assert builder.call(closed=False).error is None
    assert_twice(builder)


def test_large_arrays_and_binding_again(builders: MakeBuilder) -> None:
    builder = builders(solve(LAUNCH), count=2**28 + 1)
    for _ in range(3):
        builder.bind()
    assert builder.call().error is None
    assert_twice(builder)


def test_waits_for_the_default_stream_return_at_once_behind_the_gate(builders: MakeBuilder) -> None:
    builder = builders(
        solve(
            LAUNCH
            + "cudaDeviceSynchronize(); cudaStreamSynchronize(0); cudaStreamSynchronize(cudaStreamLegacy);"
        )
    )
    assert builder.call().error is None
    assert_twice(builder)


def test_who_needs_what_it_waits_for_gets_it_with_the_gate_open(builders: MakeBuilder) -> None:
    """``solve`` reads its kernel's result on the host: wrong behind the gate, right when it is open."""
    source = solve(
        "float* host; cudaMallocHost((void**)&host, 4); cudaMemsetAsync(out, 0, 4 * n); host[0] = 7;"
        "cudaMemcpyAsync(host, x + 3, 4, cudaMemcpyDeviceToHost); cudaDeviceSynchronize();"
        "fill<<<(n + 255) / 256, 256>>>(out, host[0], n);",
        "__global__ void fill(float* o, float v, long n) {"
        " long i = blockIdx.x * 256L + threadIdx.x; if (i < n) o[i] = v; }",
    )
    builder = builders(source)
    assert builder.call(closed=False).error is None
    assert bool((builder.out == 3).all())


def test_a_wait_for_an_own_stream_is_a_real_one(builders: MakeBuilder) -> None:
    source = solve(
        f"static cudaStream_t s; if (!s) cudaStreamCreate(&s); {LAUNCH}"
        "touch<<<1, 1, 0, s>>>(out); cudaStreamSynchronize(s);",
        KERNEL + "__global__ void touch(float* o) { o[0] = o[0]; }",
    )
    builder = builders(source)
    assert builder.call(closed=False).error is None
    assert builder.blocks_behind_the_gate()


def test_streams_shared_memory_pools_and_cooperation(builders: MakeBuilder) -> None:
    source = """
#include <cooperative_groups.h>
__global__ void twice(const float* x, float* half, float* out, long n) {
    extern __shared__ float tile[];
    auto grid = cooperative_groups::this_grid();
    for (long i = grid.thread_rank(); i < n; i += grid.size()) {
        tile[threadIdx.x] = x[i];
        half[i] = tile[threadIdx.x];
    }
    grid.sync();
    for (long i = grid.thread_rank(); i < n; i += grid.size()) out[i] = 2 * half[i];
}
extern "C" void solve(const float* x, float* out, long n) {
    static cudaStream_t stream;
    static cudaEvent_t before, after;
    if (!stream) {
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        cudaEventCreateWithFlags(&before, cudaEventDisableTiming);
        cudaEventCreateWithFlags(&after, cudaEventDisableTiming);
        cudaFuncSetAttribute(twice, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000);
    }
    cudaEventRecord(before, 0);
    cudaStreamWaitEvent(stream, before, 0);
    float* half;
    cudaMallocAsync((void**)&half, 4 * n, stream);
    void* arguments[] = {&x, &half, &out, &n};
    cudaLaunchCooperativeKernel((void*)twice, 4, 256, arguments, 60000, stream);
    cudaFreeAsync(half, stream);
    cudaEventRecord(after, stream);
    cudaStreamWaitEvent(0, after, 0);
}
"""
    builder = builders(source)
    assert builder.call(closed=False).error is None
    for _ in range(2):
        builder.reveal()
        assert builder.call().error is None
        assert_twice(builder)


def test_kernels_launch_kernels(builders: MakeBuilder) -> None:
    parent = KERNEL + f"__global__ void parent(const float* x, float* out, long n) {{ {LAUNCH} }}\n"
    builder = builders(solve("parent<<<1, 1>>>(x, out, n);", parent))
    assert builder.call(closed=False).error is None
    builder.reveal()
    assert builder.call().error is None
    assert_twice(builder)


def test_what_kernels_print_is_captured(builders: MakeBuilder) -> None:
    say = '#include <cstdio>\n__global__ void say() { printf("thread %d says hello\\n", threadIdx.x); }\n'
    builder = builders(solve('say<<<1, 2>>>(); printf("and the host\\n");', say))
    assert builder.call().error is None
    printed = builder.printed(b"thread 1 says hello")
    assert b"thread 0 says hello\nthread 1 says hello\n" in printed
    assert b"and the host" in printed


BAD = "__global__ void bad(float* out, long n) { %s }\n"
FAULTS = {
    "past the end": ("bad<<<1, 1>>>(out, n);", "out[n + 64] = 1;", "CUDA_ERROR_ILLEGAL_ADDRESS"),
    "null": ("bad<<<1, 1>>>(nullptr, n);", "*out = 1;", "CUDA_ERROR_ILLEGAL_ADDRESS"),
    "misaligned": (
        "bad<<<1, 1>>>(out, n);",
        "*(float*)((char*)out + 1) = 1;",
        "CUDA_ERROR_MISALIGNED_ADDRESS",
    ),
    "trap": ("bad<<<1, 1>>>(out, n);", "__trap();", "CUDA_ERROR_LAUNCH_FAILED"),
    "assert": ("bad<<<1, 1>>>(out, n);", "assert(n < 0);", "CUDA_ERROR_ASSERT"),
    "no threads": ("bad<<<1, 0>>>(out, n);", "", "cudaErrorInvalidValue"),
    "too many": ("bad<<<1, 4096>>>(out, n);", "", "cudaErrorInvalidValue"),
    "much memory": ("void* p; cudaMalloc(&p, 1L << 50);", "", "cudaErrorMemoryAllocation"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_has_cudas_name_and_harms_nobody_else(builders: MakeBuilder, name: str) -> None:
    body, kernel, expected = FAULTS[name]
    # With 1024 floats the array ends where its mapping ends, so that the next element is in nobody's memory.
    builder = builders(solve(body, "#include <cassert>\n" + BAD % kernel), count=1024)
    error = builder.call(closed=name != "much memory").error
    assert error is not None
    assert error.type == expected
    assert error.kind == ("memory" if name == "much memory" else "cuda")
    assert error.message
    torch.cuda.synchronize()
    assert float(builder.x.sum()) > 0, "the judge's own context lives"


def test_triton_behind_the_gate(builders: MakeBuilder) -> None:
    builder = builders(
        "",
        "triton-gpu",
        {
            **TRITON,
            "source": PYTHON
            + "    torch.cuda.synchronize()\n    torch.cuda.current_stream().synchronize()\n",
        },
    )
    assert builder.environment["triton"]
    assert builder.call(closed=False).error is None
    for _ in range(2):
        builder.reveal()
        builder.queue()
        assert bool((builder.out == UNWRITTEN).all())
        assert builder.open().error is None
        assert_twice(builder)


def test_tritons_empty_grid_is_reported(builders: MakeBuilder) -> None:
    builder = builders("", "triton-gpu", {**TRITON, "source": PYTHON.replace("triton.cdiv(n, 1024),", "0,")})
    assert builder.call(closed=False).empty_launches == ["twice"]


def test_a_fault_of_triton_has_cudas_name(builders: MakeBuilder) -> None:
    builder = builders(
        "", "triton-gpu", {**TRITON, "source": PYTHON.replace("out + at", "out + at + (1 << 34)")}
    )
    error = builder.call(closed=False).error
    assert error is not None
    assert error.type == "CUDA_ERROR_ILLEGAL_ADDRESS"


@pytest.mark.parametrize("mode", ["eager", "compile"])
def test_the_reference_is_a_baseline(builders: MakeBuilder, mode: str) -> None:
    source = "import torch\ndef reference(x, n):\n    return torch.relu(2 * x) + 1\n"
    builder = builders(
        "", "torch-gpu", {"loader": "reference", "mode": mode, "source": source, "outputs": ["out"]}
    )
    assert builder.call(closed=False).error is None
    assert builder.call().error is None
    assert bool((builder.out == UNWRITTEN).all()), "it returns its result: nothing is copied"


def test_the_control_measures_itself(builders: MakeBuilder) -> None:
    builder = builders("", "cuda", {"loader": "control", "outputs": ["out"]}, count=2**26 + 3)
    assert builder.call(closed=False).error is None
    took = []
    for _ in range(5):
        builder.reveal()
        answer = builder.call()
        assert answer.error is None
        assert answer.control_us is not None
        took.append(answer.control_us)
        assert bool((builder.out == 0).all())
    # 512 MiB are read and written: between 10 TB/s and 50 GB/s.
    assert 50 < min(took) < 10_000
