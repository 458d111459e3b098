"""Right and wrong submissions in both languages, through the gate, on the GPU."""

from __future__ import annotations

import pytest

from grader.challenge.catalogue import Catalogue, find_catalogue
from grader.judge.compilation import compile_kernels, kernels_request
from grader.judge.device import Device
from grader.languages import Language, usual
from grader.sandbox.box import BoxMaker
from grader.schemas.report import CaseVerdict, Verdict
from tests.gpu.conftest import Judge
from tests.judge.kernels import HEAD
from tests.judge.kernels import RIGHT as RIGHT_TRITON
from tests.judge.test_cuda import RIGHT as RIGHT_CUDA

RIGHT = {Language.CUDA: RIGHT_CUDA, Language.TRITON: RIGHT_TRITON}
SERVED = find_catalogue()
# ``test_two_gpus.py`` judges the others.
ON_ONE_GPU = [slug for slug in SERVED.slugs() if SERVED.load(slug).manifest.gpus == 1]


@pytest.mark.parametrize("language", usual())
def test_a_right_kernel_is_accepted_and_timed(judge: Judge, language: Language) -> None:
    report = judge(RIGHT[language], language, timing=True)
    assert report.verdict is Verdict.ACCEPTED, report
    (workload,) = report.workloads
    assert workload.time_us > 0
    assert set(workload.baselines_us) == {"eager", "compile"}


@pytest.mark.parametrize("language", usual())
@pytest.mark.parametrize("slug", ON_ONE_GPU)
def test_the_catalogues_solutions_are_accepted(
    judge: Judge, served: Catalogue, slug: str, language: Language
) -> None:
    source = (served.root / "reference" / slug / "staff" / f"solution{language.suffix}").read_text()
    report = judge(source, language, slug=slug, of=served)
    assert report.verdict is Verdict.ACCEPTED, [case for case in report.cases if case.detail] or report


@pytest.mark.parametrize("language", usual())
def test_a_missing_tail_is_named(judge: Judge, language: Language) -> None:
    wrong = {
        Language.CUDA: RIGHT_CUDA.replace("(n + 255) / 256", "n / 64").replace(", 256>>>", ", 64>>>"),
        Language.TRITON: HEAD + "\ndef solve(x, out, n):\n    if n >= 64:\n"
        "        twice[(n // 64,)](x, out, n, BLOCK=64)\n",
    }[language]
    report = judge(wrong, language)
    prime = next(case for case in report.cases if case.name == "prime")
    assert prime.mismatch is not None, report
    assert (prime.mismatch.kind, prime.mismatch.index) == ("unwritten", [64])


def cuda(body: str) -> str:
    return RIGHT_CUDA.replace("if (i < n) out[i] = 2 * x[i];", body)


FAULTS = {
    "illegal-address": (cuda("out[i + (1ll << 40)] = x[i];"), "CUDA_ERROR_ILLEGAL_ADDRESS"),
    "misaligned": (
        cuda("if (i < n) *(float2*)((char*)out + 4) = make_float2(x[i], 0);"),
        "CUDA_ERROR_MISALIGNED_ADDRESS",
    ),
    "trap": (cuda("__trap();"), "CUDA_ERROR_LAUNCH_FAILED"),
}


@pytest.mark.parametrize(("source", "name"), FAULTS.values(), ids=FAULTS.keys())
def test_a_fault_has_its_cuda_name_and_the_next_submission_is_unharmed(
    judge: Judge, source: str, name: str
) -> None:
    report = judge(source, Language.CUDA)
    assert report.verdict is Verdict.RUNTIME_ERROR
    assert name in report.cases[0].detail
    assert judge(RIGHT_CUDA, Language.CUDA).verdict is Verdict.ACCEPTED


def test_an_endless_kernel_ends_with_time_limit(judge: Judge) -> None:
    source = cuda("while (*(volatile const float*)x == *(volatile const float*)x) {}")
    report = judge(source, Language.CUDA)
    assert report.cases[0].verdict is CaseVerdict.TIME_LIMIT
    assert judge(RIGHT_CUDA, Language.CUDA).verdict is Verdict.ACCEPTED


def test_zero_blocks_are_explained(judge: Judge) -> None:
    report = judge(RIGHT_CUDA.replace("if (n > 0) ", ""), Language.CUDA)
    empty = next(case for case in report.cases if case.name == "empty")
    assert empty.verdict is CaseVerdict.RUNTIME_ERROR
    assert "zero blocks" in empty.hint


def test_device_printf_is_shown(judge: Judge) -> None:
    report = judge(
        cuda('if (i < n) { out[i] = 2 * x[i]; if (i == 0) printf("hello from the GPU\\n"); }').replace(
            "#include <cstdint>", "#include <cstdint>\n#include <cstdio>"
        ),
        Language.CUDA,
    )
    assert report.verdict is Verdict.ACCEPTED, report
    assert "hello from the GPU" in report.cases[0].output


def test_own_memory_streams_and_synchronise(judge: Judge) -> None:
    source = RIGHT_CUDA.replace(
        "if (n > 0) twice<<<(n + 255) / 256, 256>>>(x, out, n);",
        """if (n == 0) return;
    float* temporary;
    cudaMallocAsync(&temporary, n * sizeof(float), 0);
    cudaStream_t side;
    cudaStreamCreate(&side);
    twice<<<(n + 255) / 256, 256, 0, side>>>(x, temporary, n);
    cudaEvent_t joined;
    cudaEventCreateWithFlags(&joined, cudaEventDisableTiming);
    cudaEventRecord(joined, side);
    cudaStreamWaitEvent(0, joined, 0);
    cudaMemcpyAsync(out, temporary, n * sizeof(float), cudaMemcpyDeviceToDevice, 0);
    cudaFreeAsync(temporary, 0);
    cudaDeviceSynchronize();""",
    )
    report = judge(source, Language.CUDA)
    assert report.verdict is Verdict.ACCEPTED, report


def test_kernels_compiled_ahead_are_not_compiled_again(
    judge: Judge, catalogue: Catalogue, device: Device, boxes: BoxMaker
) -> None:
    source = (
        RIGHT_TRITON + "\ntriton.knobs.compilation.listener = lambda cache_hit, **_: print(f'{cache_hit=}')\n"
    )
    request = kernels_request(catalogue.load("twice"), Language.TRITON, source, device.architecture)
    report = judge(source, Language.TRITON, artefact=compile_kernels(boxes, request))
    assert report.verdict is Verdict.ACCEPTED, report
    printed = "".join(case.output for case in report.cases)
    assert "cache_hit=True" in printed
    assert "cache_hit=False" not in printed


def test_triton_autotune(judge: Judge) -> None:
    configs = '[triton.Config({"BLOCK": b}) for b in (64, 128, 256)]'
    source = HEAD.replace("@triton.jit", f'@triton.autotune(configs={configs}, key=["n"])\n@triton.jit') + (
        "\ndef solve(x, out, n):\n    if n:\n"
        "        twice[lambda meta: (triton.cdiv(n, meta['BLOCK']),)](x, out, n)\n    torch.cuda.synchronize()\n"
    )
    report = judge(source, Language.TRITON)
    assert report.verdict is Verdict.ACCEPTED, report


# Each call waits for something that cannot happen while the gate is closed, and no such wait blocks there.
TUNING = HEAD.replace(
    "@triton.jit",
    '@triton.autotune([triton.Config({"BLOCK": b}) for b in (64, 128)], key=["n"])\n@triton.jit',
) + (
    "\ndef solve(x, out, n):\n    twice.cache.clear()\n    if n:\n"
    "        twice[lambda meta: (triton.cdiv(n, meta['BLOCK']),)](x, out, n)\n"
)
READING = (
    RIGHT_CUDA.replace("int64_t n) {\n    int64_t i", "int64_t n, unsigned first) {\n    int64_t i")
    .replace(
        "if (i < n) out[i] = 2 * x[i];", "if (i < n) out[i] = (first == *(const unsigned*)x ? 2 : 3) * x[i];"
    )
    .replace(
        "if (n > 0) twice<<<(n + 255) / 256, 256>>>(x, out, n);",
        """if (n == 0) return;
    static unsigned* first = nullptr;
    if (!first) cudaMallocHost(&first, sizeof(unsigned));
    *first = 0;
    cudaMemcpyAsync(first, x, sizeof(unsigned), cudaMemcpyDeviceToHost, 0);
    cudaStreamSynchronize(0);
    twice<<<(n + 255) / 256, 256>>>(x, out, n, *first);""",
    )
)


@pytest.mark.parametrize(
    ("source", "language"),
    [(TUNING, Language.TRITON), (READING, Language.CUDA)],
    ids=["tunes in each call", "reads pinned memory"],
)
def test_what_needs_its_waits_is_called_with_the_gate_open(
    judge: Judge, source: str, language: Language
) -> None:
    report = judge(source, language, timing=True)
    assert report.verdict is Verdict.ACCEPTED, report
    assert not any(workload.gated for workload in report.workloads)


HOARD = RIGHT_CUDA.replace(
    "if (n > 0) twice",
    """static bool full = false;
    for (size_t piece = size_t(1) << 32; !full && piece >= (size_t(1) << 21); piece /= 2) {
        void* kept;
        while (cudaMallocAsync(&kept, piece, 0) == cudaSuccess) cudaMemsetAsync(kept, 1, piece, 0);
        cudaGetLastError();
    }
    full = true;
    if (n > 0) twice""",
)


def test_a_submission_that_takes_all_memory_is_no_failure_of_ours(judge: Judge) -> None:
    """The judge allocates its memory before the box may use the GPU; otherwise it raises JudgeFailure."""
    report = judge(HOARD, Language.CUDA, timing=True)
    assert report.verdict in (Verdict.ACCEPTED, Verdict.MEMORY_LIMIT, Verdict.RUNTIME_ERROR), report
    assert judge(RIGHT_CUDA, Language.CUDA, timing=True).verdict is Verdict.ACCEPTED
